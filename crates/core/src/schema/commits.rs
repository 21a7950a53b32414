//! `ingest_commits` and `ingest_intents`.

use super::columns::table;
use crate::primitives::{B256, Timestamp, U256};

table! {
    /// A range of blocks that is complete and readable.
    pub struct CommitRow / CommitView / CommitBuilder in "ingest_commits" {
        /// First block of the range.
        first_block: u64,
        /// Last block of the range, inclusive.
        last_block: u64,
        /// What is there for every block of the range: blocks, transactions, withdrawals, uncles, receipts.
        parts: Vec<String>,
        /// Chain the blocks belong to; NULL while the source has not told it.
        chain_id: Option<u64>,
        /// Parent hash of the first block.
        first_parent_hash: B256,
        /// Hash of the last block.
        last_hash: B256,
        /// Transactions in the range.
        transactions: u64,
        /// Logs in the range.
        logs: u64,
        /// Kind of source: rpc, dump.
        source: String,
        /// The run of trawl-ingest that wrote it.
        run: String,
        /// When.
        committed_at: Timestamp,
        /// Total difficulty of the last block, if the source gave it.
        last_total_difficulty: Option<U256>,
    }
}

table! {
    /// A range of blocks that is being written.
    pub struct IntentRow / IntentView / IntentBuilder in "ingest_intents" {
        /// The run of trawl-ingest that is writing.
        run: String,
        /// First block of the range.
        first_block: u64,
        /// Last block of the range, inclusive.
        last_block: u64,
        /// When.
        started_at: Timestamp,
    }
}
