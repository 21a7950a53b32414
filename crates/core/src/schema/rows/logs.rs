//! `logs` and `logs_by_block`: the same rows in two orders.

use crate::primitives::{Address, B256, Bytes, Timestamp};
use crate::schema::columns::table;

table! {
    /// An event log.
    pub struct LogRow / LogView / LogBuilder in "logs" "logs_by_block" {
        /// Emitting contract; raw bytes, show with hex().
        address: Address,
        /// Height of its block.
        block_number: u64,
        /// Position in the block, 0-based.
        log_index: u32,
        /// Position of its transaction in the block, 0-based.
        transaction_index: u32,
        /// Hash of its transaction.
        transaction_hash: B256,
        /// Hash of its block.
        block_hash: B256,
        /// Timestamp of its block.
        block_timestamp: Timestamp,
        /// How many topics it has, 0 to 4.
        topics_count: u8,
        /// First topic, the event signature hash unless anonymous; zero if absent.
        topic0: B256,
        /// Second topic; zero if absent.
        topic1: B256,
        /// Third topic; zero if absent.
        topic2: B256,
        /// Fourth topic; zero if absent.
        topic3: B256,
        /// Unindexed arguments; raw bytes.
        data: Bytes,
    }
}
