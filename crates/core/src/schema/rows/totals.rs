//! `transaction_totals`.

use crate::primitives::{Timestamp, U256};
use crate::schema::columns::table;

table! {
    /// What the transactions of a day, a week, a month or a year add up to.
    pub struct TransactionTotalsRow / TransactionTotalsView / TransactionTotalsBuilder in "transaction_totals" {
        /// First block of the period.
        first_block: u64,
        /// Last block of the period, inclusive.
        last_block: u64,
        /// Fingerprint of the commits of these blocks.
        commits: u64,
        /// Transactions of all accounts.
        transactions: u64,
        /// Transactions with status 0.
        failed: u64,
        /// Transactions whose status is not known.
        without_status: u64,
        /// Gas that they used.
        gas: U256,
        /// Gas that failed ones used.
        failed_gas: U256,
        /// Wei that they paid.
        fees: U256,
        /// Wei that failed ones paid.
        failed_fees: U256,
        /// Transactions whose gas or price is not known.
        without_gas: u64,
        /// Accounts that sent one, each once.
        senders: u64,
        /// Senders of a transaction with nonce 0.
        new_senders: u64,
        /// Transactions whose nonce is not known.
        without_nonce: u64,
        /// 10th percentile of the effective gas price, in wei; `None` without receipts.
        price_p10: Option<U256>,
        /// Median of the effective gas price.
        price_p50: Option<U256>,
        /// 90th percentile of the effective gas price.
        price_p90: Option<U256>,
        /// When they were added up.
        added_up_at: Timestamp,
    }
}
