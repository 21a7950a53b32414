//! How long the lists of an address are (docs/reference/http-contract.md#address-pages).

use crate::JsonWriter;
use trawl_core::primitives::U256;

/// Lengths of lists; `None` is what is not known.
#[derive(Debug, Clone, Copy, Default)]
pub struct AddressCounts {
    /// Transactions with the address on any side.
    pub transactions: Option<u64>,
    /// Token transfers with the address on any side.
    pub token_transfers: Option<u64>,
    /// Tokens that it holds.
    pub token_balances: Option<u64>,
    /// Logs that it emitted.
    pub logs: Option<u64>,
    /// Internal transactions: call frames with the address on any side.
    pub internal_transactions: Option<u64>,
    /// Withdrawals that it received (EIP-4895).
    pub withdrawals: Option<u64>,
    /// Blocks that it made.
    pub validations: Option<u64>,
}

impl AddressCounts {
    /// Writes the counts.
    pub fn write(&self, writer: &mut JsonWriter) {
        writer.object(|counts| {
            let members = [
                ("transactions_count", self.transactions),
                ("token_transfers_count", self.token_transfers),
                ("token_balances_count", self.token_balances),
                ("logs_count", self.logs),
                ("internal_transactions_count", self.internal_transactions),
                ("withdrawals_count", self.withdrawals),
                ("validations_count", self.validations),
            ];
            members.into_iter().for_each(|(key, count)| counts.key(key).option(count, JsonWriter::number));
        });
    }
}

/// What is summed over all transactions, transfers and blocks of an address; `None` is what is not known.
#[derive(Debug, Clone, Copy, Default)]
pub struct AddressTotals {
    /// Transactions that it takes part in.
    pub transactions: Option<u64>,
    /// Token transfers that it takes part in.
    pub token_transfers: Option<u64>,
    /// Gas of the transactions sent to it; of an address that none was sent to, of those that it sent.
    pub gas: Option<U256>,
    /// Blocks that it made.
    pub validations: Option<u64>,
}

impl AddressTotals {
    /// Writes the totals, as texts of decimal digits.
    pub fn write(&self, writer: &mut JsonWriter) {
        writer.object(|totals| {
            totals.key("transactions_count").option(self.transactions, JsonWriter::decimal);
            totals.key("token_transfers_count").option(self.token_transfers, JsonWriter::decimal);
            totals.key("gas_usage_count").option(self.gas, JsonWriter::decimal_256);
            totals.key("validations_count").option(self.validations, JsonWriter::decimal);
        });
    }
}
