//! A transaction with its logs, of the Etherscan-compatible interface.

use super::super::logs::write_topics;
use super::super::{Array, JsonWriter};
use super::transactions::{PresentColumns, write_address, write_confirmations, write_time};
use super::write_known;
use trawl_core::primitives::{Address, BlockNumber, Bytes, U256};
use trawl_core::schema::{Column, LogView, TransactionView};

/// Logs of a transaction, in order.
pub struct LogsOfTransaction<'l> {
    /// The rows; one more than `most` if there are more.
    pub batches: Vec<LogView<'l>>,
    /// Most logs that are written.
    pub most: u64,
}

impl LogsOfTransaction<'_> {
    /// Writes the logs; the result is the index of the last one if there are more.
    fn write(&self, list: &mut Array<'_>) -> Option<u64> {
        let mut last = None;
        let rows = self.batches.iter().flat_map(|view| (0..view.block_number.len()).map(move |row| (view, row)));
        for (written, (view, row)) in (0..).zip(rows) {
            if written == self.most {
                return last;
            }
            last = Some(view.log_index[row].into());
            list.item().object(|item| {
                item.key("address").hex(view.address.bytes(row));
                item.key("data").hex(view.data.value(row));
                item.key("index").decimal(view.log_index[row].into());
                item.key("topics").array(|topics| write_topics(topics, view, row));
            });
        }
        None
    }
}

/// How the outermost call of a transaction ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// The failure; empty without one.
    pub error: String,
    /// What it returned.
    pub output: Bytes,
}

/// Writes a transaction. `newest` is the highest block; the `ending` is `None` if it is not known.
pub fn write_transaction_info(
    writer: &mut JsonWriter,
    view: &TransactionView<'_>,
    row: usize,
    newest: BlockNumber,
    ending: Option<&Ending>,
    logs: &LogsOfTransaction<'_>,
) {
    let known = PresentColumns::new(view, row);
    writer.object(|item| {
        item.key("blockNumber").decimal(view.block_number[row]);
        write_time(item, view.block_timestamp[row]);
        write_confirmations(item, newest, view.block_number[row]);
        item.key("hash").hex(view.hash.bytes(row));
        item.key("from").hex(view.from_address.bytes(row));
        write_address(item.key("to"), Option::<Address>::get(&view.to_address, row));
        let value = known.row("value").map(|()| U256::get(&view.value, row));
        write_known(item.key("value"), value, JsonWriter::decimal_256);
        write_known(item.key("input"), known.row("input").map(|()| view.input.value(row)), JsonWriter::hex);
        write_known(item.key("gasLimit"), known.row("gas_limit").map(|()| view.gas_limit[row]), JsonWriter::decimal);
        let gas = known.outcome("gas_used").map(|()| view.gas_used[row]);
        write_known(item.key("gasUsed"), gas, JsonWriter::decimal);
        write_known(item.key("gasPrice"), known.price(), JsonWriter::decimal_256);
        let status = known.outcome("status").and_then(|()| Option::<u8>::get(&view.status, row));
        // Receipts before Byzantium have no status.
        let success = status.map(|status| status == 1).or(ending.map(|ending| ending.error.is_empty()));
        item.key("success").option(success, JsonWriter::bool);
        let failure = ending.filter(|ending| !ending.error.is_empty() && !ending.output.is_empty());
        write_known(item.key("revertReason"), failure, |writer, failure| writer.hex(&failure.output));
        let mut next = None;
        item.key("logs").array(|list| next = logs.write(list));
        item.key("next_page_params").option(next, |writer, index| {
            writer.object(|next| next.key("index").decimal(index));
        });
    });
}
