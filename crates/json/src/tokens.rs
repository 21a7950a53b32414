//! What is summed over a token, and what an address holds of it (docs/reference/http-contract.md#tokens).

use super::JsonWriter;
use super::token_transfers::Tokens;
use trawl_core::primitives::{Address, U256};

/// Sums over one token; `None` is what is not known.
#[derive(Debug, Clone, Copy, Default)]
pub struct TokenTotals {
    /// Addresses that hold some.
    pub holders: Option<u64>,
    /// Transfers.
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

/// A token that an address holds: contract, standard and balance. What it holds of single ids is not told.
pub fn write_holding(writer: &mut JsonWriter, (token, standard, balance): (&Address, &str, U256), tokens: &Tokens) {
    writer.object(|item| {
        tokens.write(item.key("token"), token, standard);
        item.key("token_id").null();
        item.key("token_instance").null();
        item.key("value").decimal_256(balance);
    });
}
