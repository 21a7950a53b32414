//! Answers of the methods that Otterscan adds to JSON-RPC (docs/reference/json-rpc.md#otterscan).

use super::blocks::{write_header_fields, write_size_and_uncles};
use serde_json::{Map, Value};

use super::transactions::{LogsAndFailure, type_of, write_outcome, write_receipt_members, write_with_input};
use super::{JsonWriter, Object};
use trawl_core::primitives::{Address, Timestamp, U256};
use trawl_core::schema::{BlockView, Column, InternalTransactionView, TransactionView};

/// Bytes of an input that lists of a block show: the selector.
const SHOWN_INPUT: usize = 4;

/// What a block adds to the coins there are, in wei.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Issuance {
    /// To its miner.
    pub block: U256,
    /// To the miners of its uncles.
    pub uncles: U256,
}

/// A block without its filter of logs and with the number of its transactions. `body` adds further members.
pub fn write_block(writer: &mut JsonWriter, blocks: &BlockView<'_>, row: usize, body: impl FnOnce(&mut Object<'_>)) {
    writer.object(|block| {
        write_header_fields(block, blocks, row, None);
        write_size_and_uncles(block, blocks, row);
        if let Some(total) = Option::<U256>::get(&blocks.total_difficulty, row) {
            block.key("totalDifficulty").quantity_256(total);
        }
        block.key("transactionCount").number(blocks.transactions_count[row].into());
        body(block);
    });
}

/// What a block issued; null if that is not known.
pub fn write_issuance(writer: &mut JsonWriter, issuance: Option<Issuance>) {
    writer.object(|object| {
        let both = issuance.map(|issuance| issuance.block.saturating_add(issuance.uncles));
        object.key("blockReward").option(issuance.map(|issuance| issuance.block), JsonWriter::quantity_256);
        object.key("uncleReward").option(issuance.map(|issuance| issuance.uncles), JsonWriter::quantity_256);
        object.key("issuance").option(both, JsonWriter::quantity_256);
    });
}

/// A transaction of a block's list: with the selector of its input.
pub fn write_short_transaction(writer: &mut JsonWriter, transactions: &TransactionView<'_>, row: usize) {
    let input = transactions.input.value(row);
    write_with_input(writer, transactions, row, &input[..input.len().min(SHOWN_INPUT)]);
}

/// A receipt of a block's list: without logs and their filter, and with the members of its chain alone, such as the fee
/// for data on L1. `has_failed`: of a transaction whose receipt does not say it.
pub fn write_short_receipt(
    writer: &mut JsonWriter,
    transactions: &TransactionView<'_>,
    row: usize,
    has_failed: Option<bool>,
) {
    writer.object(|receipt| {
        if type_of(transactions, row).has_columns() {
            write_outcome(receipt, transactions, row, has_failed);
            receipt.members_of(transactions.receipt_extra_fields.value(row));
        } else {
            receipt.members_of(&without_bloom(transactions.raw_receipt.value(row)));
        }
        receipt.key("logsBloom").null();
        receipt.key("logs").null();
    });
}

/// The JSON of a receipt without the filter of its logs; nothing if it is no object.
fn without_bloom(receipt: &[u8]) -> Vec<u8> {
    let mut members: Map<String, Value> = serde_json::from_slice(receipt).unwrap_or_default();
    members.remove("logsBloom");
    Value::Object(members).to_string().into_bytes()
}

/// A whole receipt with the time of its block.
pub fn write_timed_receipt(
    writer: &mut JsonWriter,
    transactions: &TransactionView<'_>,
    row: usize,
    logs_and_failure: LogsAndFailure<'_, '_>,
) {
    writer.object(|receipt| {
        write_receipt_members(receipt, transactions, row, logs_and_failure);
        receipt.key("timestamp").number(Timestamp::from_micros(transactions.block_timestamp[row]).seconds());
    });
}

/// What a call within a transaction did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    /// It sent coins.
    Transfer = 0,
    /// A contract destroyed itself.
    Destruction = 1,
    /// It made a contract.
    Creation = 2,
    /// It made a contract by CREATE2.
    SaltedCreation = 3,
}

/// An operation within a transaction. `to`: who receives, or the created contract.
pub fn write_operation(writer: &mut JsonWriter, kind: OperationKind, from: &Address, to: &Address, value: U256) {
    writer.object(|operation| {
        operation.key("type").number(kind as u64);
        operation.key("from").hex(from.as_slice());
        operation.key("to").hex(to.as_slice());
        operation.key("value").quantity_256(value);
    });
}

/// A frame of a trace. `to`: the callee, the created contract or the beneficiary, null where that is not known.
pub fn write_frame(writer: &mut JsonWriter, frames: &InternalTransactionView<'_>, row: usize, to: Option<Address>) {
    let name = match (String::get(&frames.frame_type, row), String::get(&frames.call_type, row)) {
        ("selfdestruct", _) => "SELFDESTRUCT",
        ("create", "create2") => "CREATE2",
        ("create", _) => "CREATE",
        (_, "staticcall") => "STATICCALL",
        (_, "delegatecall") => "DELEGATECALL",
        (_, "callcode") => "CALLCODE",
        _ => "CALL",
    };
    let sends = !matches!(name, "STATICCALL" | "DELEGATECALL");
    writer.object(|frame| {
        frame.key("type").string(name);
        frame.key("depth").number(frames.trace_address.items::<u32>(row).count() as u64);
        frame.key("from").hex(frames.from_address.bytes(row));
        frame.key("to").option(to, |writer, to| writer.hex(to.as_slice()));
        frame.key("value").option(sends.then(|| U256::get(&frames.value, row)), JsonWriter::quantity_256);
        frame.key("input").hex(frames.input.value(row));
        frame.key("output").hex(frames.output.value(row));
    });
}

/// The transaction that created a contract, and who did.
pub fn write_creator(writer: &mut JsonWriter, hash: &[u8], creator: &Address) {
    writer.object(|object| {
        object.key("hash").hex(hash);
        object.key("creator").hex(creator.as_slice());
    });
}
