//! Logs in `eth_getLogs` and receipts, and in REST (docs/reference/http-contract.md#logs).

use super::scan_rows::write_cell;
use super::vocabulary::Vocabulary;
use super::{Array, JsonWriter};
use crate::addresses::address::Addresses;
use crate::vocabulary::decoded::{EventColumns, write_decoded};
use trawl_core::primitives::{Address, B256, Timestamp};
use trawl_core::schema::LogView;

fn topics<'a>(logs: &LogView<'a>, row: usize) -> impl Iterator<Item = &'a [u8; 32]> {
    let columns = [&logs.topic0, &logs.topic1, &logs.topic2, &logs.topic3];
    columns.map(|column| column.bytes(row)).into_iter().take(logs.topics_count[row].into())
}

pub(super) fn write_topics(array: &mut Array<'_>, logs: &LogView<'_>, row: usize) {
    topics(logs, row).for_each(|topic| array.item().fixed_hex(topic));
}

/// A log entry of the Ethereum JSON-RPC specification.
pub fn write_rpc_log(writer: &mut JsonWriter, logs: &LogView<'_>, row: usize) {
    write_entry(writer, logs, row, ",\"removed\":false");
    writer.raw("}");
}

/// [`write_rpc_log`] with the values of an event as `decoded`, which is null if the log does not fit.
pub fn write_event_log(writer: &mut JsonWriter, logs: &LogView<'_>, row: usize, event: &EventColumns) {
    write_entry(writer, logs, row, ",\"removed\":false,\"decoded\":");
    event.write(writer, &topic_hashes(logs, row), logs.data.value(row));
    writer.raw("}");
}

/// The values of an event, as texts; `None` where the log does not fit.
#[must_use]
pub fn event_texts(logs: &LogView<'_>, row: usize, event: &EventColumns) -> Option<Vec<String>> {
    event.texts(&topic_hashes(logs, row), logs.data.value(row))
}

pub(super) fn topic_hashes(logs: &LogView<'_>, row: usize) -> Vec<B256> {
    topics(logs, row).map(|topic| B256::from(*topic)).collect()
}

/// [`write_rpc_log`] for a log whose block another branch replaced.
pub fn write_removed_log(writer: &mut JsonWriter, logs: &LogView<'_>, row: usize) {
    write_entry(writer, logs, row, ",\"removed\":true");
    writer.raw("}");
}

/// The members up to `last`, which are text. Wide responses consist of these, so keys are written together with the
/// punctuation around them instead of one by one.
fn write_entry(writer: &mut JsonWriter, logs: &LogView<'_>, row: usize, last: &str) {
    writer.raw("{\"address\":");
    writer.fixed_hex(logs.address.bytes(row));
    writer.raw(",\"topics\":");
    writer.array(|array| write_topics(array, logs, row));
    writer.raw(",\"data\":");
    writer.hex(logs.data.value(row));
    writer.raw(",\"blockNumber\":");
    writer.quantity(logs.block_number[row]);
    writer.raw(",\"transactionHash\":");
    writer.fixed_hex(logs.transaction_hash.bytes(row));
    writer.raw(",\"transactionIndex\":");
    writer.quantity(logs.transaction_index[row].into());
    writer.raw(",\"blockHash\":");
    writer.fixed_hex(logs.block_hash.bytes(row));
    writer.raw(",\"blockTimestamp\":");
    writer.quantity(Timestamp::from_micros(logs.block_timestamp[row]).seconds());
    writer.raw(",\"logIndex\":");
    writer.quantity(logs.log_index[row].into());
    writer.raw(last);
}

/// The names of the columns that [`write_csv_log`] writes, as a line.
pub const CSV_HEADER: &str = "block_number,log_index,transaction_index,transaction_hash,block_hash,block_timestamp,address,topic0,topic1,topic2,topic3,data\n";

/// A log as a line of CSV: numbers in decimal digits, seconds since 1970, the rest in hexadecimal ones; topics that the
/// log does not have are empty.
pub fn write_csv_log(writer: &mut JsonWriter, logs: &LogView<'_>, row: usize) {
    write_cells(writer, logs, row);
    writer.raw("\n");
}

/// [`write_csv_log`] followed by the values of an event, which are empty if the log does not fit.
pub fn write_csv_event(writer: &mut JsonWriter, logs: &LogView<'_>, row: usize, event: &EventColumns) {
    write_cells(writer, logs, row);
    let texts = event_texts(logs, row, event).unwrap_or_default();
    for position in 0..event.names().len() {
        writer.raw(",");
        write_cell(writer, texts.get(position).map_or("", String::as_str));
    }
    writer.raw("\n");
}

fn write_cells(writer: &mut JsonWriter, logs: &LogView<'_>, row: usize) {
    let numbers = [logs.block_number[row], logs.log_index[row].into(), logs.transaction_index[row].into()];
    for number in numbers {
        writer.digits(number);
        writer.raw(",");
    }
    writer.bare_hex(logs.transaction_hash.bytes(row));
    writer.raw(",");
    writer.bare_hex(logs.block_hash.bytes(row));
    writer.raw(",");
    writer.digits(Timestamp::from_micros(logs.block_timestamp[row]).seconds());
    writer.raw(",");
    writer.bare_hex(logs.address.bytes(row));
    let mut given = topics(logs, row);
    for _ in 0..4 {
        writer.raw(",");
        if let Some(topic) = given.next() {
            writer.bare_hex(topic);
        }
    }
    writer.raw(",");
    writer.bare_hex(logs.data.value(row));
}

/// A log of the transaction logs list. `recipient`: the transaction's `to`.
pub fn write_rest_log(
    writer: &mut JsonWriter,
    logs: &LogView<'_>,
    row: usize,
    recipient: Option<&Address>,
    addresses: &Addresses,
    known: &Vocabulary,
) {
    let address = Address::from(logs.address.bytes(row));
    writer.object(|log| {
        // Clients use two names for the emitter (docs/reference/http-contract.md#family).
        addresses.write(log.key("address_hash"), &address);
        addresses.write(log.key("address"), &address);
        log.key("smart_contract").option(recipient, |writer, recipient| addresses.write(writer, recipient));
        log.key("block_hash").hex(logs.block_hash.bytes(row));
        log.key("block_number").number(logs.block_number[row]);
        log.key("block_timestamp").timestamp(Timestamp::from_micros(logs.block_timestamp[row]));
        log.key("transaction_hash").hex(logs.transaction_hash.bytes(row));
        log.key("index").number(logs.log_index[row].into());
        log.key("topics").array(|topics| write_topics(topics, logs, row));
        log.key("data").hex(logs.data.value(row));
        let topics = topic_hashes(logs, row);
        let candidates = known.events(&address, logs.block_number[row], &topics);
        write_decoded(log.key("decoded"), &topics, logs.data.value(row), candidates);
    });
}
