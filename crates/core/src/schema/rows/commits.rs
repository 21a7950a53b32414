//! `ingest_commits` and `ingest_intents`.

use crate::primitives::{B256, Timestamp, U256};
use crate::schema::columns::table;
use crate::schema::lists::{ReplacedCommit, TableRows};

table! {
    /// A range of blocks that is complete and readable.
    pub struct CommitRow / CommitView / CommitBuilder in "ingest_commits" {
        /// First block of the range.
        first_block: u64,
        /// Last block of the range, inclusive.
        last_block: u64,
        /// The parts that every block of the range has: blocks, transactions, withdrawals, uncles, receipts.
        parts: Vec<String>,
        /// Chain the blocks belong to; NULL if the source did not report it.
        chain_id: Option<u64>,
        /// Parent hash of the first block.
        first_parent_hash: B256,
        /// Hash of the last block.
        last_hash: B256,
        /// Transactions in the range.
        transactions: u64,
        /// Logs in the range.
        logs: u64,
        /// Rows that were written to each table for the range; tables without any are left out.
        rows: Vec<TableRows>,
        /// Kind of source: rpc, dump.
        source: String,
        /// The run of trawl-ingest that wrote it.
        run: String,
        /// Time of the write.
        committed_at: Timestamp,
        /// Total difficulty of the last block, if the source gave it.
        last_total_difficulty: Option<U256>,
        /// Commits that this one replaces.
        replaced: Vec<ReplacedCommit>,
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
        /// Time of the write.
        started_at: Timestamp,
    }
}
