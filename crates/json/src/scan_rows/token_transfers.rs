//! Fields of token transfers in scans.

use super::{Field, Kind, ScanRow, Value, field};
use trawl_core::primitives::{Address, B256, Timestamp, U256};
use trawl_core::schema::{BlockTokenTransferRow, BlockTokenTransferView, Column};

impl ScanRow for BlockTokenTransferRow {
    const FIELDS: &'static [Field] = &[
        field("blockNumber", "block_number", Kind::Number),
        field("blockHash", "block_hash", Kind::Word),
        field("blockTimestamp", "block_timestamp", Kind::Time),
        field("transactionIndex", "transaction_index", Kind::Number),
        field("transactionHash", "transaction_hash", Kind::Word),
        field("logIndex", "log_index", Kind::Number),
        field("batchIndex", "batch_index", Kind::Number),
        field("tokenType", "token_type", Kind::Text),
        field("token", "token_address", Kind::Address),
        field("from", "from_address", Kind::Address),
        field("to", "to_address", Kind::Address),
        field("tokenId", "token_id", Kind::Wide),
        field("value", "value", Kind::Wide).in_unit("smallest unit of the token"),
    ];

    fn block_hash(transfers: &BlockTokenTransferView<'_>, row: usize) -> Option<B256> {
        Some(transfers.block_hash.bytes(row).into())
    }

    fn values<'a>(
        transfers: &BlockTokenTransferView<'a>,
        row: usize,
        block_hash: B256,
        put: &mut dyn FnMut(Value<'a>),
    ) {
        put(Value::Number(transfers.block_number[row]));
        put(Value::Word(block_hash));
        put(Value::Time(Timestamp::from_micros(transfers.block_timestamp[row])));
        put(Value::Number(transfers.transaction_index[row].into()));
        put(Value::Word(transfers.transaction_hash.bytes(row).into()));
        put(Value::Number(transfers.log_index[row].into()));
        put(Value::Number(transfers.batch_index[row].into()));
        put(Value::Text(String::get(&transfers.token_type, row)));
        put(Value::Address(Address::get(&transfers.token_address, row)));
        put(Value::Address(Address::get(&transfers.from_address, row)));
        put(Value::Address(Address::get(&transfers.to_address, row)));
        put(Value::of(Option::<U256>::get(&transfers.token_id, row), Value::Wide));
        put(Value::Wide(U256::get(&transfers.value, row)));
    }
}
