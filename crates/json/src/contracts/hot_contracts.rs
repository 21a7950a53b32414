//! A contract among those that are called most (docs/reference/http-contract.md#figures).

use crate::JsonWriter;
use crate::addresses::address::Addresses;
use trawl_core::primitives::{Address, U256};

/// A contract, and the transactions that called it in some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HotContract {
    /// Address of the contract.
    pub address: Address,
    /// How many transactions there are.
    pub transactions: u64,
    /// Gas that they used, if all receipts are loaded.
    pub gas: Option<u64>,
    /// Wei that it has, if that is known.
    pub balance: Option<U256>,
}

impl HotContract {
    /// Writes an item of the list: the address object as `contract_address`, and the figures.
    pub fn write(&self, writer: &mut JsonWriter, addresses: &Addresses) {
        writer.object(|item| {
            addresses.write(item.key("contract_address"), &self.address);
            item.key("balance").option(self.balance, JsonWriter::decimal_256);
            item.key("transactions_count").number(self.transactions);
            item.key("total_gas_used").option(self.gas, JsonWriter::number);
        });
    }
}
