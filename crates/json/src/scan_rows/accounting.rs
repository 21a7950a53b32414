//! Exports of an address for accounting (docs/reference/scans.md#for-accounting): what came in and what went out, in whole
//! coins and tokens, with the same columns for each kind of rows. What is not known is empty.

use super::csv_line::Line;
use super::exports::{TransactionFacts, created_contract, fee, has_failed};
use crate::JsonWriter;
use crate::amount::{COIN_DECIMALS, decimal};
use crate::tokens::transfers::Tokens;
use trawl_chains::Family;
use trawl_core::primitives::{Address, BlockNumber, TransactionType, U256};
use trawl_core::schema::{BlockTokenTransferView, Column, ScannedInternalTransactionView, ScannedTransactionView};

/// The columns.
pub const HEADER: &str = "Date (UTC),Block,Transaction,Type,Direction,Counterparty,Amount,RawAmount,Asset,AssetContract,\
                          TokenId,Fee,FeeAsset,Status,Method\r\n";

/// Whose export it is, and on what chain.
#[derive(Debug, Clone)]
pub struct Account {
    /// The account.
    pub address: Address,
    /// Symbol of the chain's coin; empty if it is not known.
    pub coin: String,
    /// The family of the chain, whose fees may be paid in tokens; `None` if the chain is not known.
    pub family: Option<&'static Family>,
}

/// The side of the account, and the address on the other one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    In(Address),
    Out(Option<Address>),
    Own,
}

impl Side {
    fn of(account: Address, from: Address, to: Option<Address>) -> Self {
        match (from == account, to == Some(account)) {
            (true, true) => Self::Own,
            (true, false) => Self::Out(to),
            (false, _) => Self::In(from),
        }
    }

    /// Direction and counterparty.
    fn write(self, line: &mut Line<'_>, account: Address) {
        let (direction, counterparty) = match self {
            Self::In(from) => ("IN", Some(from)),
            Self::Out(to) => ("OUT", to),
            Self::Own => ("SELF", Some(account)),
        };
        line.text(direction);
        line.address(counterparty);
    }
}

/// The first cells of a line: when, and in which block and transaction.
fn begin<'w>(writer: &'w mut JsonWriter, micros: i64, block: BlockNumber, transaction: &[u8]) -> Line<'w> {
    let mut line = Line::new(writer);
    line.date(micros);
    line.number(block);
    line.hex(transaction);
    line
}

/// Writes the amount in whole units, if the decimals are known, and in the smallest unit.
fn write_amount(line: &mut Line<'_>, amount: Option<U256>, decimals: Option<u8>) {
    line.text(&amount.zip(decimals).map(|(amount, decimals)| decimal(amount, decimals)).unwrap_or_default());
    line.wide(amount);
}

/// Writes a transaction: its value unless it failed, and its fee, blobs included, if the account sent it. Who pays for
/// a chain's own types of transactions, and in what, is not known here. `for_blobs`: wei, if known; 0 for a transaction
/// without blobs.
pub fn write_transaction(
    writer: &mut JsonWriter,
    view: &ScannedTransactionView<'_>,
    row: usize,
    account: &Account,
    facts: &TransactionFacts,
    for_blobs: Option<U256>,
) {
    let from = Address::get(&view.from_address, row);
    let to = Option::<Address>::get(&view.to_address, row).or_else(|| created_contract(view, row));
    let failed = has_failed(view, row, facts);
    let value = U256::get(&view.value, row);
    let amount =
        if value.is_zero() { Some(value) } else { failed.map(|failed| if failed { U256::ZERO } else { value }) };
    let fee = fee(view, row).zip(for_blobs).and_then(|(fee, for_blobs)| fee.checked_add(for_blobs));
    let byte = view.transaction_type[row];
    let is_in_coins = account.family.is_none_or(|family| family.has_coin_fees(byte));
    let is_paid = is_in_coins && TransactionType::from(byte).has_columns();
    let fee = fee.filter(|_| is_paid && from == account.address);
    let mut line = begin(writer, view.block_timestamp[row], view.block_number[row], view.hash.bytes(row));
    line.text("transaction");
    Side::of(account.address, from, to).write(&mut line, account.address);
    write_amount(&mut line, amount, Some(COIN_DECIMALS));
    line.literal(&account.coin);
    (0..2).for_each(|_| line.text(""));
    line.text(&fee.map(|fee| decimal(fee, COIN_DECIMALS)).unwrap_or_default());
    line.literal(if fee.is_some() { &account.coin } else { "" });
    line.outcome(failed);
    line.literal(facts.method.as_deref().unwrap_or_default());
    line.end();
}

/// What a call frame moved.
#[derive(Debug, Clone, Copy)]
struct FrameValue<'a> {
    kind: &'a str,
    call_type: &'a str,
    index: u32,
    is_undone: bool,
    to: Option<Address>,
    value: U256,
}

impl FrameValue<'_> {
    /// Wei, if known: nothing if the frame was undone. The outermost frame of a creation has the value of its
    /// transaction, and a `callcode` gives its value to itself.
    fn moved(self) -> Option<U256> {
        if self.is_undone || self.index == 0 || self.call_type == "callcode" {
            return Some(U256::ZERO);
        }
        // Old nodes report neither the beneficiary nor the balance.
        (self.kind != "selfdestruct" || self.to.is_some()).then_some(self.value)
    }
}

/// Writes an internal transaction.
pub fn write_frame(writer: &mut JsonWriter, view: &ScannedInternalTransactionView<'_>, row: usize, account: &Account) {
    let from = Address::get(&view.from_address, row);
    let to =
        Option::<Address>::get(&view.to_address, row).or_else(|| Option::<Address>::get(&view.created_contract, row));
    let is_undone = view.is_undone[row] == 1;
    let value = FrameValue {
        kind: String::get(&view.frame_type, row),
        call_type: String::get(&view.call_type, row),
        index: view.frame_index[row],
        is_undone,
        to,
        value: U256::get(&view.value, row),
    };
    let mut line = begin(writer, view.block_timestamp[row], view.block_number[row], view.transaction_hash.bytes(row));
    line.text("internal transaction");
    Side::of(account.address, from, to).write(&mut line, account.address);
    write_amount(&mut line, value.moved(), Some(COIN_DECIMALS));
    line.literal(&account.coin);
    (0..4).for_each(|_| line.text(""));
    line.outcome(Some(is_undone));
    line.text("");
    line.end();
}

/// Writes a token transfer.
pub fn write_token_transfer(
    writer: &mut JsonWriter,
    view: &BlockTokenTransferView<'_>,
    row: usize,
    account: &Account,
    tokens: &Tokens,
) {
    let (from, to) = (Address::get(&view.from_address, row), Address::get(&view.to_address, row));
    let token = Address::get(&view.token_address, row);
    let symbol = tokens.metadata.get(&token).and_then(|token| token.symbol.as_deref());
    let id = Option::<U256>::get(&view.token_id, row);
    // Tokens with ids are counted in pieces.
    let decimals = if id.is_some() { Some(0) } else { tokens.decimals(&token) };
    let mut line = begin(writer, view.block_timestamp[row], view.block_number[row], view.transaction_hash.bytes(row));
    line.text("token transfer");
    Side::of(account.address, from, Some(to)).write(&mut line, account.address);
    write_amount(&mut line, Some(U256::get(&view.value, row)), decimals);
    line.literal(symbol.unwrap_or_default());
    line.address(token);
    line.wide(id);
    (0..2).for_each(|_| line.text(""));
    line.text("ok");
    line.text("");
    line.end();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_side_is_the_counterparty() {
        let [own, other] = [1, 2].map(Address::repeat_byte);
        assert_eq!(Side::of(own, own, Some(other)), Side::Out(Some(other)));
        assert_eq!(Side::of(own, own, None), Side::Out(None));
        assert_eq!(Side::of(own, other, Some(own)), Side::In(other));
        assert_eq!(Side::of(own, own, Some(own)), Side::Own);
    }

    #[test]
    fn frames_move_what_is_known_to_have_moved() {
        let [value, none] = [Some(U256::from(5)), Some(U256::ZERO)];
        let call = FrameValue {
            kind: "call",
            call_type: "call",
            index: 3,
            is_undone: false,
            to: Some(Address::ZERO),
            value: U256::from(5),
        };
        assert_eq!(call.moved(), value);
        assert_eq!(FrameValue { is_undone: true, ..call }.moved(), none);
        assert_eq!(FrameValue { call_type: "callcode", ..call }.moved(), none);
        assert_eq!(FrameValue { kind: "create", index: 0, ..call }.moved(), none);
        let destroyed = FrameValue { kind: "selfdestruct", call_type: "", ..call };
        assert_eq!(destroyed.moved(), value);
        assert_eq!(FrameValue { to: None, ..destroyed }.moved(), None);
    }

    #[test]
    fn an_amount_without_decimals_is_raw() {
        let mut writer = JsonWriter::new();
        let mut line = Line::new(&mut writer);
        write_amount(&mut line, Some(U256::from(1_500_000)), Some(6));
        write_amount(&mut line, Some(U256::from(7)), None);
        write_amount(&mut line, None, Some(18));
        line.end();
        assert_eq!(String::from_utf8(writer.into_bytes()).expect("text"), "1.5,1500000,,7,,\r\n");
    }
}
