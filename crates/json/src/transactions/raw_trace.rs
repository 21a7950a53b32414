//! The raw trace of a transaction, in the shape of Parity's `trace` module
//! (docs/reference/http-contract.md#raw-traces).

mod call_values;

pub use call_values::CallValues;

use std::collections::HashMap;

use crate::{JsonWriter, Object};
use trawl_core::primitives::{Address, B256, U256};
use trawl_core::schema::{Column, InternalTransactionView};

/// What failed calls reverted with, as JSON, by their position in the transaction; what nothing known fits is left out.
pub type RevertReasons = HashMap<u32, Vec<u8>>;

/// A frame of the trace; with `reasons`, what it reverted with if it failed.
pub fn write_frame(
    writer: &mut JsonWriter,
    frames: &InternalTransactionView<'_>,
    row: usize,
    reasons: Option<&RevertReasons>,
) {
    let error = String::get(&frames.error, row);
    writer.object(|frame| {
        let fields = TraceFields { error, has_result: error.is_empty(), value: Some(U256::get(&frames.value, row)) };
        write_members(frame, frames, row, &fields);
        let Some(reasons) = reasons.filter(|_| !error.is_empty()) else { return };
        let output = Some(frames.output.value(row)).filter(|output| !output.is_empty());
        frame.key("revert_reason").option(output, |writer, output| match reasons.get(&frames.frame_index[row]) {
            Some(reason) => writer.raw(reason),
            None => writer.object(|reason| reason.key("raw").hex(output)),
        });
    });
}

/// A frame or a reward with its position in the chain, for lists over several transactions; with the value that it
/// shows.
pub fn write_trace(
    writer: &mut JsonWriter,
    frames: &InternalTransactionView<'_>,
    row: usize,
    value: Option<U256>,
    block_hash: &B256,
) {
    // A reward belongs to no transaction.
    let is_frame = frames.transaction_index[row] != u32::MAX;
    let position = is_frame.then(|| frames.transaction_index[row].into());
    writer.object(|trace| {
        write_members(trace, frames, row, &TraceFields::of_node(frames, row, value));
        trace.key("blockHash").hex(block_hash.as_slice());
        trace.key("blockNumber").number(frames.block_number[row]);
        let hash = is_frame.then(|| frames.transaction_hash.bytes(row));
        trace.key("transactionHash").option(hash, |writer, hash| writer.hex(hash));
        trace.key("transactionPosition").option(position, JsonWriter::number);
    });
}

/// Fields that are shown differently from how they are stored: the outcome of a frame, and its value.
struct TraceFields<'a> {
    /// Empty if it succeeded.
    error: &'a str,
    has_result: bool,
    /// `None` if it is not known.
    value: Option<U256>,
}

impl<'a> TraceFields<'a> {
    /// As Erigon and reth show it: what a reverted call returned is its result, under the one word of Parity.
    fn of_node(frames: &'a InternalTransactionView<'_>, row: usize, value: Option<U256>) -> Self {
        let error = String::get(&frames.error, row);
        // Every node words a revert with this word.
        if !error.to_ascii_lowercase().contains("revert") {
            return Self { error, has_result: error.is_empty(), value };
        }
        Self { error: "Reverted", has_result: returned(frames, row), value }
    }
}

/// Whether the output of a reverted call and its gas are known. An empty output may mean that the source did not report
/// it, except for outermost calls, which every source with their gas reports in full. A creation would need its address
/// too.
fn returned(frames: &InternalTransactionView<'_>, row: usize) -> bool {
    let is_outermost = frames.frame_index[row] == 0;
    let is_of_execution = Option::<u64>::get(&frames.execution_gas_limit, row).is_some();
    let gas_used = if is_outermost && is_of_execution { &frames.execution_gas_used } else { &frames.gas_used };
    let has_output = is_outermost || !frames.output.value(row).is_empty();
    String::get(&frames.frame_type, row) == "call" && has_output && Option::<u64>::get(gas_used, row).is_some()
}

fn write_members(frame: &mut Object<'_>, frames: &InternalTransactionView<'_>, row: usize, fields: &TraceFields<'_>) {
    let kind = String::get(&frames.frame_type, row);
    frame.key("action").object(|action| write_action(action, frames, row, kind, fields.value));
    let returns = fields.has_result && !matches!(kind, "selfdestruct" | "reward");
    frame.key("result").option(returns.then_some(()), |writer, ()| {
        writer.object(|result| write_result(result, frames, row, kind));
    });
    if !fields.error.is_empty() {
        frame.key("error").string(fields.error);
    }
    frame.key("subtraces").number(frames.subtraces[row].into());
    frame.key("traceAddress").array(|path| {
        for step in Vec::<u32>::own(Vec::<u32>::get(&frames.trace_address, row)) {
            path.item().number(step.into());
        }
    });
    frame.key("type").string(if kind == "selfdestruct" { "suicide" } else { kind });
}

fn write_action(
    action: &mut Object<'_>,
    frames: &InternalTransactionView<'_>,
    row: usize,
    kind: &str,
    value: Option<U256>,
) {
    let to = Option::<Address>::get(&frames.to_address, row);
    // Parity excludes the intrinsic cost of the transaction from the gas of the outermost frame.
    let gas = Option::<u64>::get(&frames.execution_gas_limit, row).unwrap_or(frames.gas_limit[row]);
    match kind {
        "create" => {
            action.key("creationMethod").string(String::get(&frames.call_type, row));
            action.key("from").hex(frames.from_address.bytes(row));
            action.key("gas").quantity(gas);
            action.key("init").hex(frames.input.value(row));
            action.key("value").option(value, JsonWriter::quantity_256);
        }
        "selfdestruct" => {
            action.key("address").hex(frames.from_address.bytes(row));
            action.key("balance").option(value, JsonWriter::quantity_256);
            action.key("refundAddress").option(to, |writer, to| writer.hex(to.as_slice()));
        }
        "reward" => {
            action.key("author").option(to, |writer, to| writer.hex(to.as_slice()));
            action.key("rewardType").string(String::get(&frames.call_type, row));
            action.key("value").option(value, JsonWriter::quantity_256);
        }
        _ => {
            action.key("callType").string(String::get(&frames.call_type, row));
            action.key("from").hex(frames.from_address.bytes(row));
            action.key("gas").quantity(gas);
            action.key("input").hex(frames.input.value(row));
            action.key("to").option(to, |writer, to| writer.hex(to.as_slice()));
            action.key("value").option(value, JsonWriter::quantity_256);
        }
    }
}

fn write_result(result: &mut Object<'_>, frames: &InternalTransactionView<'_>, row: usize, kind: &str) {
    if kind == "create" {
        let created = Option::<Address>::get(&frames.created_contract, row);
        result.key("address").option(created, |writer, created| writer.hex(created.as_slice()));
        result.key("code").hex(frames.output.value(row));
    }
    let used = Option::<u64>::get(&frames.execution_gas_used, row);
    let used = used.or(Option::<u64>::get(&frames.gas_used, row));
    result.key("gasUsed").option(used, JsonWriter::quantity);
    if kind != "create" {
        result.key("output").hex(frames.output.value(row));
    }
}
