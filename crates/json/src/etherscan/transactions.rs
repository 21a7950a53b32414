//! Transactions of the Etherscan-compatible interface.

use super::super::{JsonWriter, Object};
use super::write_known;
use trawl_core::primitives::{Address, BlockNumber, Timestamp, U256};
use trawl_core::schema::{Column, TransactionView};

/// What is known of a transaction beside its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransactionFacts<'f> {
    /// The highest block.
    pub newest: BlockNumber,
    /// What it calls, if that has a name.
    pub method: Option<&'f str>,
    /// Whether its outermost call frame failed, where a receipt has no status.
    pub has_failed: Option<bool>,
}

/// Writes a transaction of a list.
pub fn write_transaction(
    writer: &mut JsonWriter,
    view: &TransactionView<'_>,
    row: usize,
    facts: &TransactionFacts<'_>,
) {
    let TransactionFacts { newest, method, has_failed } = *facts;
    let known = PresentColumns::new(view, row);
    writer.object(|item| {
        item.key("blockNumber").decimal(view.block_number[row]);
        write_time(item, view.block_timestamp[row]);
        item.key("hash").hex(view.hash.bytes(row));
        write_known(item.key("nonce"), known.row("nonce").map(|()| view.nonce[row]), JsonWriter::decimal);
        item.key("blockHash").hex(view.block_hash.bytes(row));
        item.key("transactionIndex").decimal(view.transaction_index[row].into());
        item.key("from").hex(view.from_address.bytes(row));
        write_address(item.key("to"), Option::<Address>::get(&view.to_address, row));
        let value = known.row("value").map(|()| U256::get(&view.value, row));
        write_known(item.key("value"), value, JsonWriter::decimal_256);
        write_known(item.key("gas"), known.row("gas_limit").map(|()| view.gas_limit[row]), JsonWriter::decimal);
        write_known(item.key("gasPrice"), known.price(), JsonWriter::decimal_256);
        let status = known.outcome("status").and_then(|()| Option::<u8>::get(&view.status, row));
        let has_failed = status.map(|status| status == 0).or(has_failed);
        item.key("isError").string(has_failed.map_or("", |has_failed| if has_failed { "1" } else { "0" }));
        item.key("txreceipt_status").string(status.map_or("", |status| if status == 1 { "1" } else { "0" }));
        let input = known.row("input").map(|()| view.input.value(row));
        write_known(item.key("input"), input, JsonWriter::hex);
        write_address(item.key("contractAddress"), Option::<Address>::get(&view.contract_address, row));
        let cumulative = known.outcome("cumulative_gas_used").map(|()| view.cumulative_gas_used[row]);
        write_known(item.key("cumulativeGasUsed"), cumulative, JsonWriter::decimal);
        let gas = known.outcome("gas_used").map(|()| view.gas_used[row]);
        write_known(item.key("gasUsed"), gas, JsonWriter::decimal);
        write_confirmations(item, newest, view.block_number[row]);
        write_method(item, input.map(|input| input.get(..4).unwrap_or_default()), method);
    });
}

/// Which columns of a row say something.
pub(super) struct PresentColumns<'t, 'v> {
    view: &'t TransactionView<'v>,
    row: usize,
    lacking: Vec<&'t str>,
}

impl<'t, 'v> PresentColumns<'t, 'v> {
    pub fn new(view: &'t TransactionView<'v>, row: usize) -> Self {
        Self { view, row, lacking: view.lacking.items::<String>(row).collect() }
    }

    /// Whether a column of the transaction itself is known.
    pub fn row(&self, column: &str) -> Option<()> {
        (!self.lacking.contains(&column)).then_some(())
    }

    /// Whether a column of the receipt is known.
    pub fn outcome(&self, column: &str) -> Option<()> {
        (self.view.has_receipt[self.row] == 1 && !self.lacking.contains(&column)).then_some(())
    }

    /// What was paid for gas, else what was offered.
    pub fn price(&self) -> Option<U256> {
        let paid = self.outcome("effective_gas_price").map(|()| U256::get(&self.view.effective_gas_price, self.row));
        paid.or_else(|| Option::<U256>::get(&self.view.gas_price, self.row))
    }
}

/// Writes the time of a block, in seconds.
pub(super) fn write_time(item: &mut Object<'_>, micros: i64) {
    item.key("timeStamp").decimal(Timestamp::from_micros(micros).seconds());
}

/// Writes an address; no address is an empty text.
pub(super) fn write_address(writer: &mut JsonWriter, address: Option<Address>) {
    match address {
        Some(address) => writer.hex(address.as_slice()),
        None => writer.string(""),
    }
}

/// Writes what a transaction calls: the first bytes of its input, and a name. A selector is no name.
pub(super) fn write_method(item: &mut Object<'_>, selector: Option<&[u8]>, method: Option<&str>) {
    match selector {
        Some(selector) => item.key("methodId").hex(selector),
        None => item.key("methodId").string(""),
    }
    item.key("functionName").string(method.filter(|name| !name.starts_with("0x")).unwrap_or_default());
}

/// Writes how many blocks there are from that of an item to the newest.
pub(super) fn write_confirmations(item: &mut Object<'_>, newest: BlockNumber, block: BlockNumber) {
    item.key("confirmations").decimal(newest.saturating_sub(block) + 1);
}

/// Nonce and gas of the transaction of an item. What is `None` is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransactionGas {
    /// Sender's count of transactions before this one.
    pub nonce: Option<u64>,
    /// Gas it may use.
    pub limit: Option<u64>,
    /// Wei per gas.
    pub price: Option<U256>,
    /// Gas it used.
    pub used: Option<u64>,
    /// Gas used in the block up to and with it.
    pub cumulative: Option<u64>,
}
