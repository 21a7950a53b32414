//! What is summed over a token (docs/reference/http-contract.md#tokens).

use super::JsonWriter;

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
