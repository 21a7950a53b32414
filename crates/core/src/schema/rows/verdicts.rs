//! `block_verdicts`.

use crate::primitives::{B256, Timestamp};
use crate::schema::columns::table;
use crate::schema::lists::NotCheckable;

table! {
    /// The result of a verification of a block.
    pub struct VerdictRow / VerdictView / VerdictBuilder in "block_verdicts" {
        /// Height of the block.
        block_number: u64,
        /// Hash the source gave.
        block_hash: B256,
        /// `verified`, `partial`, `refused` or `unverified`.
        verdict: String,
        /// Names of the checks that passed.
        checked: Vec<String>,
        /// Checks that apply and could not run.
        not_checkable: Vec<NotCheckable>,
        /// Name of the check that failed; empty if none did.
        failed_check: String,
        /// The value it expected.
        expected: String,
        /// The value it found.
        found: String,
        /// Kind of source; `tables` for a later verification of the stored rows.
        source: String,
        /// The run that decided.
        run: String,
        /// Time of the verification.
        decided_at: Timestamp,
    }
}
