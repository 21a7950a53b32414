//! Exports of an address with the columns of Blockscout (docs/reference/scans.md#exports-of-an-address): RFC 4180,
//! addresses with their checksums, amounts in the smallest unit. What is not known is empty.

use super::csv_line::Line;
use crate::JsonWriter;
use crate::tokens::transfers::Tokens;
use trawl_core::primitives::{Address, B256, TransactionFee, U256};
use trawl_core::schema::{
    BlockTokenTransferView, Column, LogView, ScannedInternalTransactionView, ScannedTransactionView,
};

/// The columns of transactions.
pub const TRANSACTIONS: &str = "TxHash,BlockNumber,UnixTimestamp,FromAddress,ToAddress,ContractAddress,Type,Value,Fee,\
                                Status,ErrCode,CurrentPrice,TxDateOpeningPrice,TxDateClosingPrice,MethodName\r\n";
/// The columns of token transfers.
pub const TOKEN_TRANSFERS: &str = "TxHash,BlockNumber,UnixTimestamp,FromAddress,ToAddress,TokenContractAddress,Type,\
                                   TokenDecimals,TokenSymbol,TokensTransferred,TransactionFee,Status,ErrCode\r\n";
/// The columns of internal transactions.
pub const INTERNAL_TRANSACTIONS: &str = "TxHash,Index,BlockNumber,BlockHash,TxIndex,BlockIndex,UnixTimestamp,\
                                         FromAddress,ToAddress,ContractAddress,Type,CallType,Gas,GasUsed,Value,Input,\
                                         Output,ErrCode,Fee\r\n";
/// The columns of logs.
pub const LOGS: &str = "TxHash,Index,BlockNumber,BlockHash,ContractAddress,Data,FirstTopic,SecondTopic,ThirdTopic,\
                        FourthTopic\r\n";

/// What is known of a transaction beside its row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransactionFacts {
    /// What it calls.
    pub method: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
    /// Whether it failed, of one whose receipt does not say it.
    pub has_failed: Option<bool>,
}

/// Whether the source of a transaction had this column of its receipt.
fn has(view: &ScannedTransactionView<'_>, row: usize, column: &str) -> bool {
    view.has_receipt[row] == 1 && view.lacking.items::<String>(row).all(|lacking| lacking != column)
}

/// The contract that a transaction created.
pub(super) fn created_contract(view: &ScannedTransactionView<'_>, row: usize) -> Option<Address> {
    Option::<Address>::get(&view.contract_address, row).filter(|_| has(view, row, "contract_address"))
}

/// What the sender of a transaction paid for it, in wei, if that is known.
pub(super) fn fee(view: &ScannedTransactionView<'_>, row: usize) -> Option<U256> {
    let fee = TransactionFee {
        gas_used: view.gas_used[row],
        gas_price: U256::get(&view.effective_gas_price, row),
        l1_fee: Option::<U256>::get(&view.l1_fee, row),
        operator_fee: Option::<U256>::get(&view.operator_fee, row),
    };
    let parts = ["gas_used", "effective_gas_price", "l1_fee", "operator_fee"];
    fee.total().filter(|_| parts.iter().all(|part| has(view, row, part)))
}

/// Whether a transaction failed, if its receipt or its frames tell it.
pub(super) fn has_failed(view: &ScannedTransactionView<'_>, row: usize, facts: &TransactionFacts) -> Option<bool> {
    let status = Option::<u8>::get(&view.status, row).filter(|_| has(view, row, "status"));
    status.map(|status| status == 0).or(facts.has_failed)
}

/// Writes a transaction of the export of an `address`.
pub fn write_transaction(
    writer: &mut JsonWriter,
    view: &ScannedTransactionView<'_>,
    row: usize,
    address: &Address,
    facts: &TransactionFacts,
) {
    let (from, to) = (Address::get(&view.from_address, row), Option::<Address>::get(&view.to_address, row));
    let mut line = Line::new(writer);
    line.hex(view.hash.bytes(row));
    line.number(view.block_number[row]);
    line.time(view.block_timestamp[row]);
    line.address(from);
    line.address(to);
    line.address(created_contract(view, row));
    line.side(address, from, to);
    line.wide(Some(U256::get(&view.value, row)));
    line.wide(fee(view, row));
    line.outcome(has_failed(view, row, facts));
    line.text(facts.error.as_deref().unwrap_or_default());
    // Prices of the coin: now, and at the beginning and the end of the day.
    (0..3).for_each(|_| line.text(""));
    line.text(facts.method.as_deref().unwrap_or_default());
    line.end();
}

/// Writes a token transfer of the export of an `address`. A transaction that failed has none. `fee`: of its
/// transaction, in wei.
pub fn write_token_transfer(
    writer: &mut JsonWriter,
    view: &BlockTokenTransferView<'_>,
    row: usize,
    address: &Address,
    tokens: &Tokens,
    fee: Option<U256>,
) {
    let (from, to) = (Address::get(&view.from_address, row), Address::get(&view.to_address, row));
    let token = Address::get(&view.token_address, row);
    let symbol = tokens.metadata.get(&token).and_then(|token| token.symbol.as_deref());
    // One of an ERC-721 is an id, and no amount.
    let amount = (String::get(&view.token_type, row) != "ERC-721").then(|| U256::get(&view.value, row));
    let mut line = Line::new(writer);
    line.hex(view.transaction_hash.bytes(row));
    line.number(view.block_number[row]);
    line.time(view.block_timestamp[row]);
    line.address(from);
    line.address(to);
    line.address(token);
    line.side(address, from, Some(to));
    line.number(tokens.decimals(&token).map(u64::from));
    line.text(symbol.unwrap_or_default());
    line.wide(amount);
    line.wide(fee);
    line.text("ok");
    line.text("");
    line.end();
}

/// What is known of a call frame beside its row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrameFacts {
    /// Gas it used.
    pub gas_used: Option<u64>,
    /// What its transaction paid for a unit of gas, in wei.
    pub gas_price: Option<U256>,
    /// Call data, or code that a creation runs; and what it returned.
    pub data: Option<(Vec<u8>, Vec<u8>)>,
}

/// Writes an internal transaction.
pub fn write_frame(
    writer: &mut JsonWriter,
    view: &ScannedInternalTransactionView<'_>,
    row: usize,
    block_hash: B256,
    facts: &FrameFacts,
) {
    let (kind, flavour) = (String::get(&view.frame_type, row), String::get(&view.call_type, row));
    let (kind, call_type) = match (kind, flavour) {
        ("create", "create2") => ("create2", ""),
        ("call", flavour) => (kind, flavour),
        _ => (kind, ""),
    };
    let fee = facts.gas_used.zip(facts.gas_price).and_then(|(used, price)| price.checked_mul(U256::from(used)));
    let mut line = Line::new(writer);
    line.hex(view.transaction_hash.bytes(row));
    line.number(u64::from(view.frame_index[row]));
    line.number(view.block_number[row]);
    line.hex(block_hash.as_slice());
    line.number(u64::from(view.transaction_index[row]));
    // The position among all frames of the block is not known here.
    line.text("");
    line.time(view.block_timestamp[row]);
    line.address(Address::get(&view.from_address, row));
    line.address(Option::<Address>::get(&view.to_address, row));
    line.address(Option::<Address>::get(&view.created_contract, row));
    line.text(kind);
    line.text(call_type);
    line.number(view.gas_limit[row]);
    line.number(facts.gas_used);
    line.wide(Some(U256::get(&view.value, row)));
    match &facts.data {
        Some((input, output)) => [input, output].into_iter().for_each(|bytes| line.hex(bytes)),
        None => (0..2).for_each(|_| line.text("")),
    }
    line.text(String::get(&view.error, row));
    line.wide(fee);
    line.end();
}

/// Writes a log.
pub fn write_log(writer: &mut JsonWriter, view: &LogView<'_>, row: usize) {
    let topics = [&view.topic0, &view.topic1, &view.topic2, &view.topic3];
    let mut line = Line::new(writer);
    line.hex(view.transaction_hash.bytes(row));
    line.number(u64::from(view.log_index[row]));
    line.number(view.block_number[row]);
    line.hex(view.block_hash.bytes(row));
    line.address(Address::get(&view.address, row));
    line.hex(view.data.value(row));
    for (position, topic) in topics.into_iter().enumerate() {
        match position < usize::from(view.topics_count[row]) {
            true => line.hex(topic.bytes(row)),
            false => line.text(""),
        }
    }
    line.end();
}
