//! How long the lists of an address are (docs/reference/http-contract.md#address-pages).

use super::JsonWriter;

/// Lengths of lists; `None` is what is not known.
#[derive(Debug, Clone, Copy, Default)]
pub struct AddressCounts {
    /// Transactions.
    pub transactions: Option<u64>,
    /// Token transfers.
    pub token_transfers: Option<u64>,
    /// Logs.
    pub logs: Option<u64>,
    /// Call frames.
    pub internal_transactions: Option<u64>,
    /// Withdrawals.
    pub withdrawals: Option<u64>,
}

impl AddressCounts {
    /// Writes the counts.
    pub fn write(&self, writer: &mut JsonWriter) {
        writer.object(|counts| {
            let members = [
                ("transactions_count", self.transactions),
                ("token_transfers_count", self.token_transfers),
                ("token_balances_count", None),
                ("logs_count", self.logs),
                ("internal_transactions_count", self.internal_transactions),
                ("withdrawals_count", self.withdrawals),
                ("validations_count", None),
                ("beacon_deposits_count", None),
            ];
            members.into_iter().for_each(|(key, count)| counts.key(key).option(count, JsonWriter::number));
        });
    }
}
