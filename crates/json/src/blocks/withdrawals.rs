//! Withdrawals: gwei in JSON-RPC, wei in REST (docs/reference/http-contract.md#withdrawals).

use crate::JsonWriter;
use crate::addresses::address::Addresses;
use trawl_core::primitives::{Address, Timestamp, U256};
use trawl_core::schema::{Column, WithdrawalView};

/// The list of a REST withdrawal, which determines the fields of its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// In the list of an address: with block and time.
    Address,
    /// In the list of a block, which needs neither.
    Block,
}

/// A withdrawal of a REST list.
pub fn write_rest_withdrawal(
    writer: &mut JsonWriter,
    withdrawals: &WithdrawalView<'_>,
    row: usize,
    scope: Scope,
    addresses: &Addresses,
) {
    writer.object(|withdrawal| {
        withdrawal.key("index").number(withdrawals.withdrawal_index[row]);
        withdrawal.key("amount").decimal_256(U256::get(&withdrawals.amount, row));
        withdrawal.key("validator_index").number(withdrawals.validator_index[row]);
        addresses.write(withdrawal.key("receiver"), &Address::get(&withdrawals.address, row));
        if scope == Scope::Address {
            withdrawal.key("block_number").number(withdrawals.block_number[row]);
            withdrawal.key("timestamp").timestamp(Timestamp::from_micros(withdrawals.block_timestamp[row]));
        }
    });
}

/// How many withdrawals there are, and their sum in wei; `None` is what is not known.
#[must_use]
pub fn write_counters(count: Option<u64>, sum: Option<U256>) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|counters| {
        counters.key("withdrawals_count").option(count, JsonWriter::decimal);
        counters.key("withdrawals_sum").option(sum, JsonWriter::decimal_256);
    });
    writer.into_bytes()
}

/// A withdrawal of a JSON-RPC block.
pub fn write_rpc_withdrawal(writer: &mut JsonWriter, withdrawals: &WithdrawalView<'_>, row: usize) {
    let gwei = U256::get(&withdrawals.amount, row) / U256::from(1_000_000_000);
    writer.object(|withdrawal| {
        withdrawal.key("index").quantity(withdrawals.withdrawal_index[row]);
        withdrawal.key("validatorIndex").quantity(withdrawals.validator_index[row]);
        withdrawal.key("address").hex(withdrawals.address.bytes(row));
        withdrawal.key("amount").quantity_256(gwei);
    });
}
