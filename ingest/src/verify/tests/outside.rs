//! Transactions that stand outside of the roots: what nodes say of their gas is no fault.

use alloy_primitives::{Address, B256, U256};
use serde_json::{Value, json};
use trawl_chains::{ETHEREUM, Family, by_chain_id, state_sync_hash};
use trawl_core::primitives::TransactionType;

use super::super::{Check, Depth, Outcome, VerifyError, verify};
use super::{names, with_logs};
use crate::block::{Block, Log, Receipt};
use crate::decode::decode;
use crate::rows::rows;

const POLYGON: u64 = 137;
const HYPEREVM: u64 = 999;
/// HyperCore, where it sends HYPE.
const HYPE: Address = Address::repeat_byte(0x22);

/// A recorded block of Polygon with four transactions, the first one of a sprint.
fn plain() -> Value {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/polygon-137.ndjson");
    let text = std::fs::read_to_string(file).expect("the fixture");
    let mut all = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    all.find(|line| line["block"]["number"] == "0x898a00").expect("block 9013760")
}

/// The same with a state sync at its end, whose receipt says this of gas.
fn with_state_sync(cumulative: &str, gas_used: &str) -> Value {
    let mut line = plain();
    let zero = Address::ZERO;
    let block_hash = line["block"]["hash"].clone();
    let hash = state_sync_hash(9_013_760, &block_hash.as_str().expect("text").parse().expect("a hash"));
    let logs: usize = receipts(&line).iter().map(|receipt| receipt["logs"].as_array().map_or(0, Vec::len)).sum();
    let position = json!(format!("{:#x}", receipts(&line).len()));
    let transaction = json!({
        "hash": hash, "type": "0x0", "from": zero, "to": zero, "nonce": "0x0", "value": "0x0", "gas": "0x0",
        "gasPrice": "0x0", "input": "0x", "v": "0x0", "r": "0x0", "s": "0x0", "blockHash": block_hash,
        "blockNumber": "0x898a00", "transactionIndex": position,
    });
    // Erigon gives a price that nobody paid.
    let receipt = json!({
        "transactionHash": hash, "transactionIndex": position, "blockHash": block_hash, "blockNumber": "0x898a00",
        "type": "0x0", "status": "0x1", "from": zero, "to": zero, "contractAddress": null, "gasUsed": gas_used,
        "cumulativeGasUsed": cumulative, "effectiveGasPrice": "0xb298d26c9d",
        "logs": [{"address": zero, "topics": [], "data": "0x", "logIndex": format!("{logs:#x}")}],
    });
    line["block"]["transactions"].as_array_mut().expect("transactions").push(transaction);
    line["receipts"].as_array_mut().expect("receipts").push(receipt);
    line
}

fn receipts(line: &Value) -> &Vec<Value> {
    line["receipts"].as_array().expect("receipts")
}

fn proven(line: &Value) -> Result<Outcome, VerifyError> {
    verify(&decode(&line.to_string()).expect("a block"), Depth::Full, by_chain_id(POLYGON))
}

#[test]
fn gas_of_a_state_sync_is_what_the_block_used() {
    let plain = plain();
    let sum = receipts(&plain).last().expect("a receipt")["cumulativeGasUsed"].as_str().expect("text").to_owned();
    let made = |line: &Value| rows(decode(&line.to_string()).expect("a block"), by_chain_id(POLYGON)).expect("rows");
    let before = made(&plain);
    // As Bor, Erigon and Erigon of some years ago say it.
    for (cumulative, gas_used) in [("0x0", "0x0"), (sum.as_str(), "0x0"), ("0xffffff", "0x5208")] {
        let line = with_state_sync(cumulative, gas_used);
        let outcome = proven(&line).unwrap_or_else(|error| panic!("{cumulative} {gas_used}: {error}"));
        assert_eq!(outcome.verdict(Depth::Full), "verified", "{outcome:?}");
        assert!(names(&outcome).contains(&"transactions outside of the roots".into()), "{outcome:?}");
        let found = made(&line);
        let (sync, last) = (found.transactions.last().expect("a row"), before.transactions.last().expect("a row"));
        assert_eq!((sync.cumulative_gas_used, sync.gas_used), (last.cumulative_gas_used, 0));
        let fees = |rows: &crate::write::batch::BlockRows| (rows.blocks[0].transaction_fees, rows.blocks[0].burnt_fees);
        assert_eq!(fees(&found), fees(&before));
        assert_eq!(found.logs.len(), before.logs.len() + 1);
    }
}

/// It is the first of a sprint that has one.
#[test]
fn a_state_sync_in_the_middle_of_a_sprint_is_none() {
    let mut block = decode(&with_state_sync("0x0", "0x0").to_string()).expect("a block");
    block.header.number += 1;
    let refused = checked(&block, by_chain_id(POLYGON)).expect_err("its receipt is in no root");
    assert!(matches!(refused.check, Check::CumulativeGas | Check::ReceiptsRoot), "{refused:?}");
}

/// As Ethereum ETL exports it: without signatures, of the state sync alone or of all transactions.
#[test]
fn a_state_sync_is_known_without_signatures() {
    let polygon = by_chain_id(POLYGON);
    for unsigned in [4..5, 0..5] {
        let mut block = decode(&with_state_sync("0x0", "0x0").to_string()).expect("a block");
        for transaction in &mut block.transactions[unsigned.clone()] {
            (transaction.v, transaction.r, transaction.s) = Default::default();
            transaction.lacking = vec!["chain_id", "v", "r", "s"];
        }
        // Nor does the root need its status.
        block.receipts.as_mut().expect("receipts")[4].status = None;
        let outcome = checked(&block, polygon).expect("not refused");
        for check in ["receipts root", "logs bloom", "gas used"] {
            assert!(outcome.checked().contains(&check.into()), "{unsigned:?} {check}: {outcome:?}");
        }
        let found = names(&outcome);
        assert!(found.contains(&"transactions outside of the roots".into()), "{unsigned:?}: {outcome:?}");
        let lacks_others = unsigned.start == 0;
        assert_eq!(found.contains(&"transactions root".into()), lacks_others, "{unsigned:?}: {outcome:?}");
        let mut other = block.clone();
        other.transactions[4].hash = B256::repeat_byte(0x77);
        other.receipts.as_mut().expect("receipts")[4].transaction_hash = B256::repeat_byte(0x77);
        assert_eq!(checked(&other, polygon).expect_err("refused").check, Check::TransactionHash);
        // Whose sender is not known may be anything.
        let mut other = block;
        other.transactions[4].lacking.push("from_address");
        assert!(checked(&other, polygon).is_err(), "its receipt is taken for one in the root");
    }
}

#[test]
fn gas_beside_a_state_sync_still_adds_up() {
    let mut line = with_state_sync("0x0", "0x0");
    line["receipts"][3]["cumulativeGasUsed"] = json!("0x0");
    assert_eq!(proven(&line).expect_err("refused").check, Check::CumulativeGas);
    // What only looks like one, as it is not the last.
    let mut line = with_state_sync("0x0", "0x0");
    for path in ["/block/transactions", "/receipts"] {
        let part = line.pointer_mut(path).and_then(Value::as_array_mut).expect("an array");
        part.swap(3, 4);
        (part[3]["transactionIndex"], part[4]["transactionIndex"]) = (json!("0x3"), json!("0x4"));
    }
    assert!(proven(&line).is_err());
}

/// A system transaction in front of the others, as nodes on hl-archive-node/nanoreth give it, with its receipt.
fn with_system_transaction() -> Block {
    let mut block = with_logs();
    let hash = B256::repeat_byte(0x77);
    let mut system = block.transactions[0].clone();
    (system.hash, system.from, system.transaction_type) = (hash, HYPE, TransactionType::Legacy);
    (system.gas_price, system.max_fee_per_gas, system.max_priority_fee_per_gas) = (Some(U256::ZERO), None, None);
    (system.v, system.r, system.s) = (U256::from(0x7f2), U256::from(1), U256::from(1));
    system.access_list.clear();
    block.transactions.insert(0, system);
    for (index, transaction) in (0..).zip(&mut block.transactions) {
        transaction.index = index;
    }
    let receipt = system_receipt(&block, hash);
    let receipts = block.receipts.as_mut().expect("receipts");
    receipts.iter_mut().flat_map(|receipt| &mut receipt.logs).for_each(|log| log.index += 1);
    receipts.insert(0, receipt);
    block
}

fn system_receipt(block: &Block, transaction_hash: B256) -> Receipt {
    let log = Log { address: HYPE, topics: vec![B256::repeat_byte(9)], data: vec![1].into(), index: 0 };
    let zero = block.receipts.as_ref().expect("receipts")[0].clone();
    Receipt {
        transaction_hash,
        status: Some(1),
        cumulative_gas_used: 0,
        gas_used: 0,
        effective_gas_price: Some(U256::ZERO),
        contract_address: None,
        logs_bloom: None,
        logs: vec![log],
        ..zero
    }
}

fn checked(block: &Block, family: &Family) -> Result<Outcome, VerifyError> {
    verify(block, Depth::Full, family)
}

#[test]
fn system_transactions_of_hyperevm_are_in_no_root() {
    let hyperevm = by_chain_id(HYPEREVM);
    let block = with_system_transaction();
    let outcome = checked(&block, hyperevm).expect("not refused");
    assert_eq!(outcome.verdict(Depth::Full), "verified", "{outcome:?}");
    let named = outcome.impossible().into_iter().find(|row| row.check == "transactions outside of the roots");
    assert!(named.is_some_and(|row| row.reason.starts_with("a system transaction")), "{outcome:?}");
    assert!(checked(&block, &ETHEREUM).is_err(), "on Ethereum it is none");
    // The others are proven all the same.
    let mut changed = block.clone();
    changed.transactions[1].value += U256::from(1);
    assert_eq!(checked(&changed, hyperevm).expect_err("refused").check, Check::TransactionHash);
    let mut changed = block;
    changed.receipts.as_mut().expect("receipts")[2].logs.clear();
    changed.receipts.as_mut().expect("receipts")[2].logs_bloom = None;
    let had_logs = with_system_transaction().receipts.expect("receipts")[2].logs.len();
    assert_eq!(checked(&changed, hyperevm).is_err(), had_logs > 0);
}

#[test]
fn receipts_of_system_transactions_that_the_block_does_not_have_are_left_out() {
    let hyperevm = by_chain_id(HYPEREVM);
    let mut stray = with_logs();
    let receipt = system_receipt(&stray, B256::repeat_byte(0x77));
    stray.receipts.as_mut().expect("receipts").insert(0, receipt);
    assert_eq!(stray.clone().remove_system_receipts(&ETHEREUM), 0);
    assert_eq!(checked(&stray, hyperevm).expect_err("refused").check, Check::ReceiptCount);
    assert_eq!(stray.remove_system_receipts(hyperevm), 1);
    assert_eq!(stray, with_logs());
    // Nodes may count the logs that are left out.
    let logs = stray.receipts.iter_mut().flatten().flat_map(|receipt| &mut receipt.logs);
    logs.for_each(|log| log.index += 1);
    let outcome = checked(&stray, hyperevm).expect("not refused");
    assert!(names(&outcome).contains(&"log index".into()), "{outcome:?}");
    assert_eq!(checked(&stray, &ETHEREUM).expect_err("refused").check, Check::LogIndex);
}
