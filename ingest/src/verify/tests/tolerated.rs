//! Blocks by rules that are not known, or were never tested on a real block, are named and not refused.

use alloy_consensus::{Eip658Value, Receipt as ConsensusReceipt};
use alloy_primitives::{Address, B256, Bloom, Log as ConsensusLog, LogData, U256};
use alloy_rlp::Encodable;
use trawl_chains::{ETHEREUM, Family, by_chain_id};
use trawl_core::primitives::TransactionType;

use super::super::{Check, Depth, Outcome, VerifyError, header, verify};
use super::{lines, names, newest, reason, with_logs};
use crate::block::{Block, Log, Receipt};
use crate::decode::decode;

fn proven(block: &Block, family: &Family) -> Result<Outcome, VerifyError> {
    verify(block, Depth::Full, family)
}

/// The same with another emitter of its first log.
fn with_another_log(mut block: Block) -> Block {
    let mut logs = block.receipts.iter_mut().flatten().flat_map(|receipt| &mut receipt.logs);
    logs.next().expect("a log").address = Address::repeat_byte(0x12);
    block
}

#[test]
fn a_header_of_a_family_that_was_never_tried_is_not_refused() {
    let mut block = with_logs();
    block.header.state_root = B256::repeat_byte(0x12);
    for chain_id in [1, 56, 137, 42_220] {
        assert_eq!(proven(&block, by_chain_id(chain_id)).expect_err("refused").check, Check::HeaderHash, "{chain_id}");
    }
    for chain_id in [5000, 43_114] {
        let outcome = proven(&block, by_chain_id(chain_id)).expect("not refused");
        assert_eq!(outcome.verdict(Depth::Full), "partial");
        assert!(reason(&outcome, "header hash").contains("never tested on a real block"), "{outcome:?}");
    }
    // What it commits to is compared as before.
    block.transactions.pop();
    block.receipts.as_mut().map(Vec::pop);
    assert!(proven(&block, by_chain_id(5000)).is_err());
}

#[test]
fn gas_that_a_later_fork_counts_otherwise_is_not_refused() {
    let mut block = with_logs();
    block.header.gas_used += 4_800;
    let last = block.receipts.as_mut().and_then(|receipts| receipts.last_mut()).expect("a receipt");
    last.cumulative_gas_used += 4_800;
    for depth in [Depth::Full, Depth::Header, Depth::Off] {
        assert_eq!(verify(&block, depth, &ETHEREUM).expect_err("refused").check, Check::CumulativeGas);
    }
    block.header.extra = Some(r#"{"nextForkField":"0x12"}"#.into());
    for depth in [Depth::Full, Depth::Header, Depth::Off] {
        let outcome = verify(&block, depth, &ETHEREUM).expect("not refused");
        for check in ["cumulative gas of a receipt", "gas used"] {
            assert!(reason(&outcome, check).ends_with("fields of its own: nextForkField"), "{outcome:?}");
        }
    }
    // Transactions and logs are what they were, whatever the fork.
    assert!(proven(&block, &ETHEREUM).expect("not refused").checked().contains(&"transactions root".into()));
    let other = with_another_log(block.clone());
    assert_eq!(proven(&other, &ETHEREUM).expect_err("refused").check, Check::LogsBloom);
    let mut other = block.clone();
    other.header.transactions_root = B256::repeat_byte(0x12);
    assert_eq!(proven(&other, &ETHEREUM).expect_err("refused").check, Check::TransactionsRoot);
    // Fields that are not hashed are of no fork.
    let mut hashed = block.clone();
    hashed.header.hash = header::header_hash(&hashed.header).expect("a whole header");
    hashed.receipts.iter_mut().flatten().for_each(|receipt| receipt.block_hash = Some(hashed.header.hash));
    assert_eq!(proven(&hashed, &ETHEREUM).expect_err("refused").check, Check::CumulativeGas);
    // Fields that a chain is known to have are of no fork, nor are made-up ones.
    for (chain_id, known) in [
        (137, "{}"),
        (137, r#"{"x":"0x1"}"#),
        (10, r#"{"nextForkField":"0x1"}"#),
        (100, r#"{"auraSeal":null,"auraStep":"0x0","blockAccessListHash":null}"#),
        (42_161, r#"{"sendCount":"0x1"}"#),
        (4217, r#"{"timestampMillis":"0x1"}"#),
    ] {
        block.header.extra = Some(known.into());
        let refused = proven(&block, by_chain_id(chain_id)).expect_err("refused");
        assert_eq!(refused.check, Check::CumulativeGas, "{chain_id}");
    }
}

/// One unknown member makes no hash of a family that knows its fields unprovable.
#[test]
fn a_made_up_field_hides_no_fault() {
    let polygon = by_chain_id(137);
    let mut block = with_logs();
    block.header.state_root = B256::repeat_byte(0x12);
    for (extra, expected) in [
        (r#"{"x":"0x1"}"#, Some(Check::HeaderHash)),
        (r#"{"blockAccessListHash":null,"slotnumber":"0x1"}"#, Some(Check::HeaderHash)),
        (r#"{"slotNumber":"0x1"}"#, Some(Check::HeaderHash)),
    ] {
        block.header.extra = Some(extra.into());
        assert_eq!(proven(&block, polygon).err().map(|error| error.check), expected, "{extra}");
    }
}

/// As on zkSync, where the call of a system contract creates one.
#[test]
fn a_contract_of_another_formula_is_named() {
    let mut block = with_logs();
    let receipts = block.receipts.as_mut().expect("receipts");
    receipts[0].contract_address = Some(Address::repeat_byte(0x12));
    assert_eq!(proven(&block, &ETHEREUM).expect_err("refused").check, Check::ContractAddress);
    let outcome = proven(&block, by_chain_id(324)).expect("not refused");
    assert!(reason(&outcome, "contract address").contains("another formula"), "{outcome:?}");
    assert!(outcome.checked().contains(&"effective gas price".into()), "{outcome:?}");
}

/// As in blocks of Arbitrum before Nitro, all of whose transactions have a type of their own.
#[test]
fn gas_of_a_transaction_type_that_is_not_known_is_not_refused() {
    let mut block = with_logs();
    block.transactions[0].transaction_type = TransactionType::Other(0x78);
    block.transactions[0].raw = Some("{}".into());
    block.receipts.as_mut().expect("receipts")[0].gas_used += 1;
    let outcome = proven(&block, by_chain_id(137)).expect("not refused");
    for check in ["cumulative gas of a receipt", "receipts root"] {
        assert_eq!(reason(&outcome, check), "transaction type 120 is not known", "{outcome:?}");
    }
    // The others go on from there.
    assert!(outcome.checked().contains(&"gas used".into()), "{outcome:?}");
    let mut other = block.clone();
    other.receipts.as_mut().expect("receipts")[1].gas_used += 1;
    assert_eq!(proven(&other, by_chain_id(137)).expect_err("refused").check, Check::CumulativeGas);
    block.header.gas_used += 1;
    assert_eq!(proven(&block, by_chain_id(137)).expect_err("refused").check, Check::GasUsed);
}

/// A block of Mainnet before Byzantium, as a node gives it that runs all blocks by the rules of today.
#[test]
fn a_status_in_place_of_a_state_root_is_named() {
    let mut all = lines("mainnet").into_iter().map(|line| decode(&line).expect("a block"));
    let mut block = all.find(|block| block.header.number == 1_755_635).expect("the block");
    let before = proven(&block, &ETHEREUM).expect("it holds");
    assert_eq!(before.verdict(Depth::Full), "verified");
    for receipt in block.receipts.iter_mut().flatten() {
        (receipt.root, receipt.status) = (None, Some(1));
    }
    let outcome = proven(&block, &ETHEREUM).expect("not refused");
    assert_eq!(names(&outcome).len(), names(&before).len() + 1, "{outcome:?}");
    assert_eq!(reason(&outcome, "receipts root"), "the node gives a status in place of the state root");
    assert!(outcome.checked().contains(&"logs bloom".into()), "{outcome:?}");
    // The filters of the receipts prove nothing then: the logs do.
    let other = with_another_log(block.clone());
    assert_eq!(proven(&other, &ETHEREUM).expect_err("refused").check, Check::LogsBloom);
    // A family that never hashed state roots.
    assert_eq!(proven(&block, by_chain_id(137)).expect_err("refused").check, Check::ReceiptsRoot);
}

/// A block of Polygon that ends with a state sync as it is since Madhugiri.
fn with_typed_state_sync() -> Block {
    let mut block = with_logs();
    let mut sync = block.transactions[0].clone();
    let index = block.transactions.len();
    (sync.hash, sync.from, sync.to) = (B256::repeat_byte(0x77), Address::ZERO, Some(Address::ZERO));
    (sync.transaction_type, sync.index) = (TransactionType::Other(0x7f), u32::try_from(index).expect("few"));
    (sync.gas_price, sync.max_fee_per_gas, sync.max_priority_fee_per_gas) = (Some(U256::ZERO), None, None);
    sync.raw = Some(r#"{"type":"0x7f"}"#.into());
    let log = Log {
        address: Address::repeat_byte(0x10),
        topics: vec![B256::repeat_byte(9)],
        data: vec![1].into(),
        index: u32::try_from(block.log_count()).expect("few"),
    };
    let receipts = block.receipts.as_mut().expect("receipts");
    let last = receipts.last().expect("a receipt").clone();
    receipts.push(Receipt {
        transaction_hash: sync.hash,
        status: Some(1),
        gas_used: 0,
        effective_gas_price: Some(U256::ZERO),
        contract_address: None,
        logs_bloom: None,
        logs: vec![log],
        raw: Some(r#"{"type":"0x7f"}"#.into()),
        ..last
    });
    block.transactions.push(sync);
    let encoded: Vec<(Vec<u8>, Bloom)> =
        block.outcomes().map(|(transaction, receipt)| encode(transaction.transaction_type, receipt)).collect();
    block.header.receipts_root =
        alloy_trie::root::ordered_trie_root_with_encoder(&encoded, |(bytes, _), out: &mut Vec<u8>| {
            out.extend_from_slice(bytes);
        });
    block.header.logs_bloom = encoded.iter().fold(Bloom::ZERO, |all, (_, bloom)| all | *bloom).0;
    block.header.hash = header::header_hash(&block.header).expect("a whole header");
    for receipt in block.receipts.iter_mut().flatten() {
        receipt.block_hash = Some(block.header.hash);
    }
    block
}

/// A receipt as the library encodes it.
pub(super) fn encode(kind: TransactionType, receipt: Option<&Receipt>) -> (Vec<u8>, Bloom) {
    let receipt = receipt.expect("a receipt");
    let log = |log: &Log| ConsensusLog {
        address: log.address,
        data: LogData::new_unchecked(log.topics.clone(), log.data.clone()),
    };
    let status = Eip658Value::Eip658(receipt.status == Some(1));
    let logs = receipt.logs.iter().map(log).collect();
    let whole = ConsensusReceipt { status, cumulative_gas_used: receipt.cumulative_gas_used, logs }.with_bloom();
    let mut bytes = Vec::new();
    if kind != TransactionType::Legacy {
        bytes.push(kind.byte());
    }
    whole.encode(&mut bytes);
    (bytes, whole.logs_bloom)
}

/// The same with another receipts root.
fn with_another_root(mut block: Block) -> Block {
    block.header.receipts_root = B256::repeat_byte(0x12);
    block.header.hash = header::header_hash(&block.header).expect("a whole header");
    block.receipts.iter_mut().flatten().for_each(|receipt| receipt.block_hash = Some(block.header.hash));
    block
}

#[test]
fn the_receipt_of_a_typed_state_sync_is_in_the_root() {
    let polygon = by_chain_id(137);
    let block = with_typed_state_sync();
    let outcome = proven(&block, polygon).expect("not refused");
    assert_eq!(outcome.verdict(Depth::Full), "partial");
    let missing = "a transaction of type 127 (state sync): the source has no list of synced states";
    assert_eq!(reason(&outcome, "transactions root"), missing, "{outcome:?}");
    for check in ["receipts root", "logs bloom", "gas used", "effective gas price", "contract address"] {
        assert!(outcome.checked().contains(&check.into()), "{check}: {outcome:?}");
    }
    // No real block was tried: another root is named, and not refused; the bloom is of the logs all the same.
    let outcome = proven(&with_another_root(block.clone()), polygon).expect("not refused");
    assert!(reason(&outcome, "receipts root").contains("(state sync) were never tested"), "{outcome:?}");
    assert!(outcome.checked().contains(&"logs bloom".into()), "{outcome:?}");
    assert_eq!(proven(&with_another_log(block), polygon).expect_err("refused").check, Check::LogsBloom);
    // Beside types that were tried it is refused.
    let mut other = newest();
    other.traces = None;
    assert_eq!(proven(&with_another_root(other), polygon).expect_err("refused").check, Check::ReceiptsRoot);
}
