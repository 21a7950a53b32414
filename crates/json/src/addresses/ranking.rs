//! An account in the list of all accounts (docs/reference/http-contract.md#accounts).

use super::address::Addresses;
use crate::JsonWriter;
use trawl_core::primitives::{Address, U256};

/// An account, what it has and how many transactions it takes part in; `None` is what is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankedAddress {
    /// Address of the account.
    pub address: Address,
    /// Balance in wei.
    pub balance: Option<U256>,
    /// How many transactions it takes part in.
    pub transactions: Option<u64>,
}

impl RankedAddress {
    /// Writes the address object with two more members.
    pub fn write(&self, writer: &mut JsonWriter, addresses: &Addresses) {
        writer.object(|item| {
            addresses.write_members(item, &self.address, addresses.has_code(&self.address));
            item.key("coin_balance").option(self.balance, JsonWriter::decimal_256);
            item.key("transactions_count").option(self.transactions, JsonWriter::decimal);
        });
    }
}
