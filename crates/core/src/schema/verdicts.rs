//! `block_verdicts`.

use super::columns::table;
use super::lists::NotCheckable;
use crate::primitives::{B256, Timestamp};

table! {
    /// What one verification of a block came to.
    pub struct VerdictRow / VerdictView / VerdictBuilder in "block_verdicts" {
        /// Height of the block.
        block_number: u64,
        /// Hash the source gave.
        block_hash: B256,
        /// `verified`, `partial`, `refused` or `unverified`.
        verdict: String,
        /// Names of the checks that ran and held.
        checked: Vec<String>,
        /// Checks that apply and could not run.
        not_checkable: Vec<NotCheckable>,
        /// Name of the check that failed; empty if none did.
        failed_check: String,
        /// What it expected.
        expected: String,
        /// What it found.
        found: String,
        /// Kind of source; `tables` for a later proof from what is stored.
        source: String,
        /// The run that decided.
        run: String,
        /// When.
        decided_at: Timestamp,
    }
}
