//! Logs of the Etherscan-compatible interface, whose numbers are hexadecimal.

use super::super::JsonWriter;
use super::super::logs::write_topics;
use super::{TransactionGas, write_known};
use trawl_core::primitives::Timestamp;
use trawl_core::schema::LogView;

/// Writes a log with what its transaction paid.
pub fn write_log(writer: &mut JsonWriter, view: &LogView<'_>, row: usize, gas: Option<&TransactionGas>) {
    writer.object(|item| {
        item.key("address").hex(view.address.bytes(row));
        item.key("topics").array(|topics| write_topics(topics, view, row));
        item.key("data").hex(view.data.value(row));
        item.key("blockNumber").quantity(view.block_number[row]);
        item.key("blockHash").hex(view.block_hash.bytes(row));
        item.key("timeStamp").quantity(Timestamp::from_micros(view.block_timestamp[row]).seconds());
        write_known(item.key("gasPrice"), gas.and_then(|gas| gas.price), JsonWriter::quantity_256);
        write_known(item.key("gasUsed"), gas.and_then(|gas| gas.used), JsonWriter::quantity);
        item.key("logIndex").quantity(view.log_index[row].into());
        item.key("transactionHash").hex(view.transaction_hash.bytes(row));
        item.key("transactionIndex").quantity(view.transaction_index[row].into());
    });
}
