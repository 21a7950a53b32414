//! Fields of internal transactions in scans.

use super::{Field, Kind, ScanRow, Value, field};
use trawl_core::primitives::{Address, B256, Timestamp, U256};
use trawl_core::schema::{Column, ScannedInternalTransaction, ScannedInternalTransactionView};

impl ScanRow for ScannedInternalTransaction {
    const FIELDS: &'static [Field] = &[
        field("blockNumber", "block_number", Kind::Number),
        field("blockHash", "block_hash", Kind::Word),
        field("blockTimestamp", "block_timestamp", Kind::Time),
        field("transactionIndex", "transaction_index", Kind::Number),
        field("transactionHash", "transaction_hash", Kind::Word),
        field("frameIndex", "frame_index", Kind::Number),
        field("type", "frame_type", Kind::Text),
        field("callType", "call_type", Kind::Text),
        field("from", "from_address", Kind::Address),
        field("to", "to_address", Kind::Address),
        field("createdContract", "created_contract", Kind::Address),
        field("value", "value", Kind::Wide).in_unit("wei"),
        field("gas", "gas_limit", Kind::Number).in_unit("gas"),
        field("error", "error", Kind::Text),
        field("isUndone", "is_undone", Kind::Flag),
    ];

    fn block_hash(_: &ScannedInternalTransactionView<'_>, _: usize) -> Option<B256> {
        None
    }

    fn values<'a>(
        frames: &ScannedInternalTransactionView<'a>,
        row: usize,
        block_hash: B256,
        put: &mut dyn FnMut(Value<'a>),
    ) {
        put(Value::Number(frames.block_number[row]));
        put(Value::Word(block_hash));
        put(Value::Time(Timestamp::from_micros(frames.block_timestamp[row])));
        put(Value::Number(frames.transaction_index[row].into()));
        put(Value::Word(frames.transaction_hash.bytes(row).into()));
        put(Value::Number(frames.frame_index[row].into()));
        put(Value::Text(String::get(&frames.frame_type, row)));
        put(Value::non_empty(String::get(&frames.call_type, row)));
        put(Value::Address(Address::get(&frames.from_address, row)));
        put(Value::of(Option::<Address>::get(&frames.to_address, row), Value::Address));
        put(Value::of(Option::<Address>::get(&frames.created_contract, row), Value::Address));
        put(Value::Wide(U256::get(&frames.value, row)));
        put(Value::Number(frames.gas_limit[row]));
        put(Value::non_empty(String::get(&frames.error, row)));
        put(Value::Flag(frames.is_undone[row] == 1));
    }
}
