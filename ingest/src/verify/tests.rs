//! Real blocks pass, and no single byte of one can change unnoticed.

mod access_lists;
mod chains;
mod committee;
mod headers;
mod missing_receipts;
mod outside;
mod tolerated;

use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use proptest::prelude::*;
use trawl_chains::{ETHEREUM, by_chain_id};
use trawl_core::primitives::{B256, TransactionType};
use trawl_core::store::CommitEdges;

use super::{Depth, Outcome, verify};
use crate::block::Block;
use crate::decode::decode;
use crate::rows::rows;
use crate::verify::links::{Link, Links};
use crate::write::batch::BlockRows;

/// The lines of a recorded chain.
fn lines(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(name).join("chain.ndjson.gz");
    let file = std::fs::File::open(path).expect("a fixture");
    BufReader::new(MultiGzDecoder::new(file)).lines().map(|line| line.expect("text")).collect()
}

/// The block below a recorded one, as in a database.
fn below(text: &str) -> Vec<CommitEdges> {
    let block = decode(text).expect("a recorded block");
    let below = |number: u64| CommitEdges {
        first_block: number,
        first_parent_hash: B256::ZERO,
        last_block: number,
        last_hash: block.header.parent_hash,
        last_total_difficulty: block.total_difficulty.map(|sum| sum - block.header.difficulty),
    };
    block.header.number.checked_sub(1).map(below).into_iter().collect()
}

/// The result of loading a line: its rows and its verdict, or the name of the check that refused it.
fn load(text: &str, below: &[CommitEdges]) -> Result<(BlockRows, Outcome), String> {
    let mut block: Block = decode(text).map_err(|error| format!("decoding: {error}"))?;
    let family = block.chain_id().map_or(&ETHEREUM, by_chain_id);
    let mut outcome =
        verify(&block, Depth::Full, family).map_err(|error| format!("{}: {error}", error.check.name()))?;
    Links::new(below).check(Link::of(&block, family), &mut outcome).map_err(|error| error.check.name().to_owned())?;
    block.header.size = block.header.size.or(outcome.size);
    let rows = rows(block, family).map_err(|error| format!("timestamp: {error}"))?;
    Ok((rows, outcome))
}

#[test]
fn every_recorded_block_is_verified() {
    for name in ["hive", "devchain", "mainnet"] {
        for line in lines(name) {
            let (rows, outcome) = load(&line, &below(&line)).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(outcome.verdict(Depth::Full), "verified", "{name}: block {}", rows.blocks[0].block_number);
        }
    }
}

/// A recorded block with several transactions and logs.
fn with_logs() -> Block {
    let mut all = lines("devchain").into_iter().map(|line| decode(&line).expect("a block"));
    let mut block = all.find(|block| block.transactions.len() > 2 && block.log_count() > 1).expect("one with logs");
    block.traces = None;
    block
}

/// A recorded block of the newest fork with more than one transaction.
fn newest() -> Block {
    let mut blocks = lines("hive").into_iter().map(|line| decode(&line).expect("a recorded block"));
    let newest = blocks.rfind(|block| block.transactions.len() > 1 && block.withdrawals == Some(vec![]));
    newest.expect("one without withdrawals")
}

/// The same after a change to it, under the hash that its header has now.
fn changed(change: impl FnOnce(&mut Block)) -> Result<Outcome, super::VerifyError> {
    let mut block = newest();
    block.traces = None;
    change(&mut block);
    block.header.hash = super::header::header_hash(&block.header).unwrap_or(B256::ZERO);
    for receipt in block.receipts.iter_mut().flatten() {
        receipt.block_hash = Some(block.header.hash);
    }
    verify(&block, Depth::Full, &ETHEREUM)
}

/// Why a check could not run; empty if it did.
fn reason(outcome: &Outcome, check: &str) -> String {
    let found = outcome.impossible().into_iter().find(|row| row.check == check);
    found.map(|row| row.reason).unwrap_or_default()
}

fn names(outcome: &Outcome) -> Vec<String> {
    outcome.impossible().into_iter().map(|check| check.check).collect()
}

#[test]
fn a_withdrawals_root_of_another_meaning_is_not_checkable() {
    let other = Some(B256::repeat_byte(0x12));
    // On Ethereum it is wrong.
    let refused = changed(|block| block.header.withdrawals_root = other).expect_err("refused");
    assert_eq!(refused.check, super::Check::WithdrawalsRoot);
    // Under an OP-stack deposit it is the storage root of L2ToL1MessagePasser.
    let deposit = |block: &mut Block| {
        block.transactions[0].transaction_type = TransactionType::Other(0x7e);
        block.transactions[0].raw = Some("{}".into());
    };
    let outcome = changed(|block| {
        block.header.withdrawals_root = other;
        deposit(block);
    });
    let outcome = outcome.expect("not refused");
    assert!(names(&outcome).contains(&"withdrawals root".into()), "{outcome:?}");
    assert_eq!(outcome.verdict(Depth::Full), "partial");
    // The root of an empty list proves that the list is empty.
    let outcome = changed(deposit).expect("not refused");
    assert!(!names(&outcome).contains(&"withdrawals root".into()), "{outcome:?}");
}

#[test]
fn a_receipt_of_an_unsigned_transaction_may_not_be_in_the_root() {
    let unsigned = |block: &mut Block| {
        (block.transactions[0].r, block.transactions[0].s) = Default::default();
        block.header.receipts_root = B256::repeat_byte(0x12);
    };
    let outcome = changed(unsigned).expect("not refused");
    assert!(names(&outcome).contains(&"receipts root".into()), "{outcome:?}");
    // A source without signatures proves no such thing.
    let refused = changed(|block| {
        unsigned(block);
        block.transactions[0].lacking = vec!["v", "r", "s"];
    });
    assert_eq!(refused.expect_err("refused").check, super::Check::ReceiptsRoot);
}

#[test]
fn a_receipt_without_an_outcome_is_not_a_failure() {
    // RLP writes both alike: found by the property below.
    let has_failed = |block: &Block| block.receipts.iter().flatten().any(|receipt| receipt.status == Some(0));
    let blocks = lines("devchain").into_iter().map(|line| decode(&line).expect("a block"));
    let mut block = { blocks }.find(has_failed).expect("a block with a failure");
    for receipt in block.receipts.iter_mut().flatten().filter(|receipt| receipt.status == Some(0)) {
        receipt.status = None;
    }
    let outcome = verify(&block, Depth::Full, &ETHEREUM).expect("not refused");
    assert!(names(&outcome).contains(&"receipts root".into()), "{outcome:?}");
    assert_eq!(outcome.verdict(Depth::Full), "partial");
}

#[test]
fn traces_are_not_looked_at_where_nothing_is() {
    let mut block =
        lines("hive").iter().map(|line| decode(line).expect("a block")).rfind(|block| block.traces.is_some());
    let block = block.as_mut().expect("one with traces");
    block.traces.as_mut().expect("traces").transactions.clear();
    assert!(verify(block, Depth::Full, &ETHEREUM).is_err());
    let outcome = verify(block, Depth::Off, &ETHEREUM).expect("not checked");
    assert!(!outcome.checked().contains(&"traces".into()));
}

#[test]
fn gas_that_the_header_does_not_tell_is_not_compared() {
    let outcome = changed(|block| {
        block.header.gas_used = 0;
        block.header.lacking = vec!["gas_used"];
        block.transactions[0].lacking = vec!["cumulative_gas_used"];
    });
    let outcome = outcome.expect("not refused");
    for check in ["gas used", "cumulative gas of a receipt"] {
        assert!(!outcome.checked().contains(&check.into()) && names(&outcome).contains(&check.into()), "{outcome:?}");
    }
}

/// What a block's hash commits to, and what follows from it: inner call frames and state are not covered.
fn bound(line: String) -> String {
    let mut parts: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&line).expect("a recorded block");
    parts.retain(|name, _| ["block", "receipts", "uncleHeaders", "totalDifficulty"].contains(&name.as_str()));
    serde_json::to_string(&parts).expect("it was JSON")
}

/// Blocks of every fork that have something of everything, and are short enough to be changed often.
fn subjects() -> Vec<String> {
    let mut subjects: Vec<String> = lines("hive").into_iter().filter(|line| line.len() < 60_000).collect();
    subjects.extend(lines("devchain").into_iter().step_by(11));
    subjects.into_iter().map(bound).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_changed_byte_is_refused_or_changes_nothing(
        subject in any::<prop::sample::Index>(),
        position in any::<prop::sample::Index>(),
        digit in prop::sample::select(b"0123456789abcdef\"{}[],:xnt ".to_vec()),
    ) {
        let subjects = SUBJECTS.with(Clone::clone);
        let line = &subjects[subject.index(subjects.len())];
        let below = below(line);
        let (expected, _) = load(line, &below).expect("it holds");
        let mut changed = line.clone().into_bytes();
        let at = position.index(changed.len());
        changed[at] = digit;
        let Ok(changed) = String::from_utf8(changed) else { return Ok(()) };
        match load(&changed, &below) {
            Err(named) => prop_assert!(!named.is_empty()),
            // Named too: the verdict names the check that could not run, and why.
            Ok((_, outcome)) if outcome.verdict(Depth::Full) == "partial" => {}
            Ok((mut found, outcome)) => {
                // A sum under an unknown name is a sum that is not there, and the row shows it.
                if found.blocks[0].total_difficulty.is_none() {
                    found.blocks[0].total_difficulty = expected.blocks[0].total_difficulty;
                }
                // A field under an unknown name is one that the verdict names.
                if outcome.impossible().iter().any(|check| check.check == "fields of the chain's own") {
                    found.blocks[0].extra_fields = Vec::new().into();
                    for transaction in &mut found.transactions {
                        (transaction.extra_fields, transaction.receipt_extra_fields) = Default::default();
                    }
                }
                // A verdict also shows that a size is not that of the block.
                let names_size = outcome.impossible().iter().any(|check| check.check == "block size");
                let is_absent = decode(&changed).is_ok_and(|block| block.header.size.is_none());
                if names_size || is_absent {
                    found.blocks[0].size = expected.blocks[0].size;
                }
                for (found, expected) in found.uncles.iter_mut().zip(&expected.uncles) {
                    if names_size || found.size.is_none() {
                        found.size = expected.size;
                    }
                }
                let around = &changed[at.saturating_sub(60)..(at + 20).min(changed.len())];
                prop_assert!(found == expected, "other rows after a change in {around}");
            }
        }
    }
}

thread_local! {
    static SUBJECTS: std::rc::Rc<Vec<String>> = std::rc::Rc::new(subjects());
}

fn cases() -> u32 {
    if std::env::var_os("TRAWL_TEST_SLOW").is_some() { 60_000 } else { 1_500 }
}

#[test]
fn a_transaction_that_is_not_known_costs_no_other_its_proof() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/chains/optimism-goerli-5003318.json");
    let line = std::fs::read_to_string(file).expect("a block whose first transaction is an OP-stack deposit");
    let line = line.replace("\"0x7e\"", "\"0x55\"");
    let (_, outcome) = load(&line, &below(&line)).expect("not refused");
    assert_eq!(outcome.verdict(Depth::Full), "partial");
    let reason =
        |name: &str| outcome.impossible().into_iter().find(|check| check.check == name).map(|check| check.reason);
    assert_eq!(
        reason("transaction hash").as_deref(),
        Some("transaction type 85 is not known; 1 of 2 transactions are not affected")
    );
    assert_eq!(reason("transactions root").as_deref(), Some("transaction type 85 is not known"));
    for (field, check) in [("value", "transaction hash"), ("input", "transaction hash"), ("from", "sender")] {
        let mut json: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let value = json["block"]["transactions"][1][field].as_str().expect("text");
        let changed = match value.strip_suffix('1') {
            Some(rest) => format!("{rest}2"),
            None => format!("{}1", &value[..value.len() - 1]),
        };
        json["block"]["transactions"][1][field] = changed.into();
        let refused = load(&json.to_string(), &below(&line)).map(|_| ()).expect_err(field);
        assert!(refused.starts_with(check), "{field}: {refused}");
    }
}
