//! What accounts received, of the Etherscan-compatible interface.

use super::super::JsonWriter;
use super::transactions::write_time;
use trawl_core::primitives::{Address, B256, BlockNumber, Timestamp, U256};
use trawl_core::schema::{Column, WithdrawalView};

/// Wei of a gwei.
const GWEI: u64 = 1_000_000_000;

/// Writes what a validator paid out, in gwei.
pub fn write_withdrawal(writer: &mut JsonWriter, view: &WithdrawalView<'_>, row: usize) {
    writer.object(|item| {
        item.key("withdrawalIndex").decimal(view.withdrawal_index[row]);
        item.key("validatorIndex").decimal(view.validator_index[row]);
        item.key("address").hex(view.address.bytes(row));
        item.key("amount").decimal_256(U256::get(&view.amount, row) / U256::from(GWEI));
        item.key("blockNumber").decimal(view.block_number[row]);
        item.key("timestamp").decimal(Timestamp::from_micros(view.block_timestamp[row]).seconds());
    });
}

/// Who first gave coins to an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Funding {
    /// Height of the block.
    pub block: BlockNumber,
    /// Timestamp of the block.
    pub timestamp: Timestamp,
    /// Sender, caller or the contract that destroyed itself; `fundingAddress`.
    pub giver: Address,
    /// Hash of the transaction; `fundingTxn`.
    pub transaction: B256,
    /// Wei that the account received.
    pub value: U256,
}

/// Writes who first gave coins to an account. The height alone is a number.
pub fn write_funding(writer: &mut JsonWriter, funding: &Funding) {
    writer.object(|item| {
        item.key("block").number(funding.block);
        write_time(item, funding.timestamp.micros());
        item.key("fundingAddress").hex(funding.giver.as_slice());
        item.key("fundingTxn").hex(funding.transaction.as_slice());
        item.key("value").decimal_256(funding.value);
    });
}
