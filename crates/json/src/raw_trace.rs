//! The raw trace of a transaction, in the shape of Parity's `trace` module
//! (docs/reference/http-contract.md#raw-traces).

use super::{JsonWriter, Object};
use trawl_core::primitives::{Address, B256, U256};
use trawl_core::schema::{Column, InternalTransactionView};

/// A frame of the trace.
pub fn write_frame(writer: &mut JsonWriter, frames: &InternalTransactionView<'_>, row: usize) {
    writer.object(|frame| write_members(frame, frames, row));
}

/// A frame or a reward with its place in the chain, for lists over several transactions.
pub fn write_trace(writer: &mut JsonWriter, frames: &InternalTransactionView<'_>, row: usize, block_hash: &B256) {
    // A reward belongs to no transaction.
    let is_frame = frames.transaction_index[row] != u32::MAX;
    let position = is_frame.then(|| frames.transaction_index[row].into());
    writer.object(|trace| {
        write_members(trace, frames, row);
        trace.key("blockHash").hex(block_hash.as_slice());
        trace.key("blockNumber").number(frames.block_number[row]);
        let hash = is_frame.then(|| frames.transaction_hash.bytes(row));
        trace.key("transactionHash").option(hash, |writer, hash| writer.hex(hash));
        trace.key("transactionPosition").option(position, JsonWriter::number);
    });
}

fn write_members(frame: &mut Object<'_>, frames: &InternalTransactionView<'_>, row: usize) {
    let kind = String::get(&frames.frame_type, row);
    let error = String::get(&frames.error, row);
    frame.key("action").object(|action| write_action(action, frames, row, kind));
    let returns = error.is_empty() && !matches!(kind, "selfdestruct" | "reward");
    frame.key("result").option(returns.then_some(()), |writer, ()| {
        writer.object(|result| write_result(result, frames, row, kind));
    });
    if !error.is_empty() {
        frame.key("error").string(error);
    }
    frame.key("subtraces").number(frames.subtraces[row].into());
    frame.key("traceAddress").array(|path| {
        for step in Vec::<u32>::own(Vec::<u32>::get(&frames.trace_address, row)) {
            path.item().number(step.into());
        }
    });
    frame.key("type").string(if kind == "selfdestruct" { "suicide" } else { kind });
}

fn write_action(action: &mut Object<'_>, frames: &InternalTransactionView<'_>, row: usize, kind: &str) {
    let to = Option::<Address>::get(&frames.to_address, row);
    let value = U256::get(&frames.value, row);
    // Parity excludes the intrinsic cost of the transaction from the gas of the outermost frame.
    let gas = Option::<u64>::get(&frames.execution_gas_limit, row).unwrap_or(frames.gas_limit[row]);
    match kind {
        "create" => {
            action.key("creationMethod").string(String::get(&frames.call_type, row));
            action.key("from").hex(frames.from_address.bytes(row));
            action.key("gas").quantity(gas);
            action.key("init").hex(frames.input.value(row));
            action.key("value").quantity_256(value);
        }
        "selfdestruct" => {
            action.key("address").hex(frames.from_address.bytes(row));
            action.key("balance").quantity_256(value);
            action.key("refundAddress").option(to, |writer, to| writer.hex(to.as_slice()));
        }
        "reward" => {
            action.key("author").option(to, |writer, to| writer.hex(to.as_slice()));
            action.key("rewardType").string(String::get(&frames.call_type, row));
            action.key("value").quantity_256(value);
        }
        _ => {
            action.key("callType").string(String::get(&frames.call_type, row));
            action.key("from").hex(frames.from_address.bytes(row));
            action.key("gas").quantity(gas);
            action.key("input").hex(frames.input.value(row));
            action.key("to").option(to, |writer, to| writer.hex(to.as_slice()));
            action.key("value").quantity_256(value);
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
