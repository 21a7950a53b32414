//! `withdrawals` and `withdrawals_by_block`: the same rows in two orders.

use crate::primitives::{Address, Timestamp, U256};
use crate::schema::columns::table;

table! {
    /// A validator withdrawal, EIP-4895.
    pub struct WithdrawalRow / WithdrawalView / WithdrawalBuilder in "withdrawals" "withdrawals_by_block" {
        /// Recipient of the amount; raw bytes, show with hex().
        address: Address,
        /// Running number over all blocks.
        withdrawal_index: u64,
        /// Height of its block.
        block_number: u64,
        /// Timestamp of its block.
        block_timestamp: Timestamp,
        /// Validator the amount comes from.
        validator_index: u64,
        /// Wei (the beacon chain counts in gwei).
        amount: U256,
    }
}
