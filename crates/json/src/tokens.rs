//! What is summed over a token, and who holds it (docs/reference/http-contract.md#tokens).

pub mod balances;
mod data_uri;
pub mod id_metadata;
pub mod instances;
pub mod known_tokens;
pub mod prices;
pub mod transfers;

use super::JsonWriter;
use crate::addresses::address::Addresses;
use trawl_core::primitives::{Address, U256};

/// Sums over one token; `None` is what is not known.
#[derive(Debug, Clone, Copy, Default)]
pub struct TokenTotals {
    /// Addresses that hold some.
    pub holders: Option<u64>,
    /// Token transfers, mints and burns among them.
    pub transfers: Option<u64>,
}

impl TokenTotals {
    /// Writes the totals, as texts of decimal digits.
    pub fn write(&self, writer: &mut JsonWriter) {
        writer.object(|totals| {
            totals.key("token_holders_count").option(self.holders, JsonWriter::decimal);
            totals.key("transfers_count").option(self.transfers, JsonWriter::decimal);
        });
    }
}

/// Who holds a token, or an id of it, and how much; without an id it is the sum over all of them.
pub fn write_holder(writer: &mut JsonWriter, holder: &Address, value: U256, id: Option<U256>, addresses: &Addresses) {
    writer.object(|item| {
        addresses.write(item.key("address"), holder);
        item.key("token_id").option(id, JsonWriter::decimal_256);
        item.key("value").decimal_256(value);
    });
}
