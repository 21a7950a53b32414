//! Internal transactions in lists (docs/reference/http-contract.md#internal-transactions).

use crate::JsonWriter;
use crate::addresses::address::Addresses;
use trawl_core::primitives::{Address, Timestamp, U256};
use trawl_core::schema::{Column, ScannedInternalTransactionView};

/// An internal transaction of a list.
pub fn write_internal_transaction(
    writer: &mut JsonWriter,
    frames: &ScannedInternalTransactionView<'_>,
    row: usize,
    addresses: &Addresses,
) {
    let created = Option::<Address>::get(&frames.created_contract, row);
    let to = Option::<Address>::get(&frames.to_address, row);
    let error = String::get(&frames.error, row);
    let error = (!error.is_empty()).then_some(error);
    writer.object(|item| {
        item.key("block_number").number(frames.block_number[row]);
        item.key("transaction_index").number(frames.transaction_index[row].into());
        item.key("index").number(frames.frame_index[row].into());
        item.key("transaction_hash").hex(frames.transaction_hash.bytes(row));
        item.key("timestamp").timestamp(Timestamp::from_micros(frames.block_timestamp[row]));
        item.key("type").string(kind(String::get(&frames.frame_type, row), String::get(&frames.call_type, row)));
        addresses.write(item.key("from"), &Address::get(&frames.from_address, row));
        item.key("to").option(to, |writer, to| addresses.write(writer, &to));
        item.key("created_contract").option(created, |writer, created| addresses.write(writer, &created));
        item.key("value").decimal_256(U256::get(&frames.value, row));
        item.key("gas_limit").decimal(frames.gas_limit[row]);
        item.key("success").bool(error.is_none());
        item.key("error").option(error, JsonWriter::string);
        item.key("is_undone").bool(frames.is_undone[row] == 1);
    });
}

/// A call by its flavour, a creation by its opcode, everything else by its kind.
fn kind<'t>(frame_type: &'t str, call_type: &'t str) -> &'t str {
    if call_type.is_empty() { frame_type } else { call_type }
}

/// The addresses an item shows.
pub fn shown(frames: &ScannedInternalTransactionView<'_>, row: usize) -> impl Iterator<Item = Address> {
    let optional = [&frames.to_address, &frames.created_contract].map(|column| Option::<Address>::get(column, row));
    [Address::get(&frames.from_address, row)].into_iter().chain(optional.into_iter().flatten())
}
