//! Real blocks of other chains: proven whole by the rules of their families.

use std::path::PathBuf;

use alloy_primitives::address;
use proptest::prelude::*;
use trawl_chains::by_chain_id;

use super::super::{Depth, Outcome, verify};
use super::cases;
use crate::block::Block;
use crate::decode::decode;
use crate::rows::rows;
use crate::write::batch::BlockRows;

/// The recorded blocks of other chains, with the chain's id; of a folder that `TRAWL_TEST_CHAINS` names, if it does.
fn recorded() -> Vec<(String, u64, String)> {
    let ours = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/chains");
    let folder = std::env::var_os("TRAWL_TEST_CHAINS").map_or(ours, PathBuf::from);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("fixtures").map(|entry| entry.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "ndjson"));
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let chain_id = name.rsplit('-').next().and_then(|id| id.parse().ok()).expect("a chain id at the end");
        let text = std::fs::read_to_string(&file).expect("text");
        found.extend(text.lines().map(|line| (name.clone(), chain_id, line.to_owned())));
    }
    found
}

fn proven(chain_id: u64, line: &str) -> Result<Outcome, String> {
    let block = decode(line).map_err(|error| format!("{error:?}"))?;
    verify(&block, Depth::Full, by_chain_id(chain_id)).map_err(|error| error.to_string())
}

/// What is wrong with a block that should be proven whole, but for receipts that its source did not have.
fn fault(chain_id: u64, line: &str) -> Option<String> {
    match proven(chain_id, line) {
        Ok(outcome) if outcome.verdict(Depth::Full) == "verified" => None,
        Ok(outcome) => {
            let reasons = outcome.impossible().into_iter().filter(|row| row.reason != "the source has no receipts");
            let beside = ["block size", "fields of the chain's own"];
            let proving = reasons
                .filter(|row| !beside.contains(&row.check.as_str()))
                .map(|row| format!("{}: {}", row.check, row.reason));
            Some(proving.collect::<Vec<_>>().join("; ")).filter(|reasons| !reasons.is_empty())
        }
        Err(error) => Some(error),
    }
}

/// The signers are those that `eth-keys` for Python recovers, from lists that `rlp` for Python encodes.
#[test]
fn sealed_blocks_are_of_their_signer() {
    let signers = [
        (137, 2_233_682, address!("5973918275c01f50555d44e92c9d9b353cadad54")),
        (137, 9_013_760, address!("5973918275c01f50555d44e92c9d9b353cadad54")),
        // Among the blocks of `TRAWL_TEST_CHAINS` alone; its base fee is sealed too.
        (137, 50_000_000, address!("9ead03f7136fc6b4bdb0780b00a1c14ae5a8b6d0")),
        (80_001, 135_808, address!("c26880a0af2ea0c7e8130e6ec47af756465452e8")),
        (80_001, 20_062_432, address!("c275dc8be39f50d12f66b6a63629c39da5bae5bd")),
    ];
    let mut compared = 0;
    for (name, chain_id, line) in recorded() {
        let block = decode(&line).expect("a block");
        let (number, miner) = (block.header.number, block.header.miner);
        let row = rows(block, by_chain_id(chain_id)).expect("rows").blocks.remove(0);
        assert_eq!(row.miner, miner, "{name} {number}");
        match signers.iter().find(|(chain, height, _)| (*chain, *height) == (chain_id, number)) {
            Some((.., signer)) => {
                assert_eq!(row.producer, *signer, "{name} {number}");
                compared += 1;
            }
            None if !name.starts_with("polygon") => assert_eq!(row.producer, miner, "{name} {number}"),
            None => {}
        }
    }
    assert!(compared >= 4, "{compared} blocks");
}

#[test]
fn recorded_blocks_of_other_chains_are_verified() {
    let faults = recorded().into_iter().filter_map(|(name, chain_id, line)| {
        let number = decode(&line).map_or(0, |block| block.header.number);
        fault(chain_id, &line).map(|fault| format!("{name} {number}: {fault}"))
    });
    let faults: Vec<String> = faults.collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Nethermind's names for step and seal, without mix hash and nonce; OpenEthereum's, in digits without a prefix.
#[test]
fn blocks_of_authority_round_are_verified_under_all_names() {
    let is_sealed = |(_, chain_id, line): &(String, u64, String)| *chain_id == 100 && line.contains("auraSeal");
    let sealed: Vec<String> = recorded().into_iter().filter(is_sealed).map(|(.., line)| line).collect();
    assert_eq!(sealed.len(), 2);
    for line in sealed {
        let json: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let (step, seal) = (json["block"]["auraStep"].as_str(), json["block"]["auraSeal"].as_str());
        let step = u64::from_str_radix(&step.expect("a step")[2..], 16).expect("a number");
        let seal = seal.expect("a seal");
        let under_other_names = |step: serde_json::Value, seal: &str| {
            let mut changed = json.clone();
            let block = changed["block"].as_object_mut().expect("a block");
            ["auraStep", "auraSeal", "mixHash", "nonce"].iter().for_each(|name| drop(block.remove(*name)));
            let author = block.get("miner").cloned().expect("a beneficiary");
            block.extend([("step".into(), step), ("signature".into(), seal.into()), ("author".into(), author)]);
            changed.to_string()
        };
        for same in [under_other_names(step.into(), seal), under_other_names(step.to_string().into(), &seal[2..])] {
            assert_eq!(fault(100, &same), None);
        }
        let forged = under_other_names((step + 1).into(), seal);
        assert!(fault(100, &forged).is_some_and(|fault| fault.contains("header hash")), "another step");
    }
}

/// What no hash covers of a transaction that the chain itself writes, but what is the same in all of them.
#[test]
fn what_is_the_same_in_all_transactions_of_a_type_is_checked() {
    let of_arbitrum = |(_, _, line): &(String, u64, String)| line.contains("\"0x6a\"");
    let (_, chain_id, line) = recorded().into_iter().find(of_arbitrum).expect("a block of Arbitrum");
    let json: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    for (name, value) in [
        ("to", "0x00000000000000000000000000000000000a4b06".into()),
        ("value", "0x1".into()),
        ("gas", "0x1".into()),
        ("to", serde_json::Value::Null),
    ] {
        let mut changed = json.clone();
        changed["block"]["transactions"][0][name] = value;
        let error = proven(chain_id, &changed.to_string()).map(|_| ()).expect_err(name);
        assert!(error.contains("fields of the chain's own") && error.contains(name), "{name}: {error}");
    }
    let mut changed = json;
    drop(changed["block"]["transactions"][0].as_object_mut().and_then(|transaction| transaction.remove("to")));
    proven(chain_id, &changed.to_string()).map(|_| ()).expect_err("no recipient");
}

/// What nodes repeat of extra data and mix hash.
#[test]
fn what_a_header_repeats_is_checked() {
    let of_arbitrum = |(_, _, line): &(String, u64, String)| line.contains("\"sendRoot\"");
    let (_, chain_id, line) = recorded().into_iter().find(of_arbitrum).expect("a block of Arbitrum");
    let json: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    let outcome = proven(chain_id, &line).expect("not refused");
    let uncovered = outcome.impossible().into_iter().find(|row| row.check == "fields of the chain's own");
    assert!(uncovered.is_none_or(|row| !row.reason.contains("sendRoot")), "{outcome:?}");
    for (name, value) in [
        ("sendRoot", format!("0x{}", "12".repeat(32))),
        ("sendCount", "0xfff".into()),
        ("l1BlockNumber", "0xfff".into()),
    ] {
        let mut changed = json.clone();
        changed["block"][name] = value.into();
        let error = proven(chain_id, &changed.to_string()).map(|_| ()).expect_err(name);
        assert!(error.contains("repeated field") && error.contains(name), "{name}: {error}");
    }
}

/// Blocks with receipts, of each file the shortest with transactions.
fn subjects() -> Vec<(u64, String)> {
    let mut whole = recorded();
    whole.retain(|(_, _, line)| {
        decode(line).is_ok_and(|block| block.receipts.is_some() && !block.transactions.is_empty())
    });
    whole.sort_by_key(|(name, _, line)| (name.clone(), line.len()));
    whole.dedup_by_key(|(name, _, _)| name.clone());
    whole.into_iter().map(|(_, chain_id, line)| (chain_id, line)).collect()
}

/// The rows without what no hash of the chain covers, which the verdict names.
fn covered(chain_id: u64, line: &str) -> Option<BlockRows> {
    let mut block: Block = decode(line).ok()?;
    block.header.extra = None;
    block.header.size = None;
    block.total_difficulty = None;
    for transaction in &mut block.transactions {
        transaction.extra = None;
        if transaction.raw.take().is_some() {
            (transaction.nonce, transaction.gas_price) = Default::default();
            (transaction.v, transaction.r, transaction.s) = Default::default();
        }
    }
    for receipt in block.receipts.iter_mut().flatten() {
        (receipt.extra, receipt.raw) = (None, None);
    }
    rows(block, by_chain_id(chain_id)).ok()
}

/// The logs of a state sync and its receipt, which stand in no root.
fn without_state_sync(mut rows: BlockRows) -> BlockRows {
    let Some(last) = rows.transactions.pop().filter(|last| last.from_address.is_zero()) else { return rows };
    rows.logs.retain(|log| log.transaction_index != last.transaction_index);
    BlockRows { transactions: rows.transactions, logs: rows.logs, ..BlockRows::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_changed_byte_of_another_chain_is_refused_or_named_or_changes_nothing(
        subject in any::<prop::sample::Index>(),
        position in any::<prop::sample::Index>(),
        digit in prop::sample::select(b"0123456789abcdef\"{}[],:xnt ".to_vec()),
    ) {
        let subjects = SUBJECTS.with(Clone::clone);
        let (chain_id, line) = &subjects[subject.index(subjects.len())];
        let mut changed = line.clone().into_bytes();
        let at = position.index(changed.len());
        changed[at] = digit;
        let Ok(changed) = String::from_utf8(changed) else { return Ok(()) };
        match proven(*chain_id, &changed) {
            Err(named) => prop_assert!(!named.is_empty()),
            Ok(outcome) if outcome.verdict(Depth::Full) == "partial" => {}
            Ok(outcome) => {
                let around = &changed[at.saturating_sub(60)..(at + 20).min(changed.len())];
                let (mut found, mut expected) = (covered(*chain_id, &changed), covered(*chain_id, line));
                if outcome.impossible().iter().any(|row| row.check == "transactions outside of the roots") {
                    (found, expected) = (found.map(without_state_sync), expected.map(without_state_sync));
                }
                prop_assert!(found == expected, "other rows after a change in {around}");
            }
        }
    }
}

thread_local! {
    static SUBJECTS: std::rc::Rc<Vec<(u64, String)>> = std::rc::Rc::new(subjects());
}
