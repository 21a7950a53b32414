//! The logs of a contract by day and event.

use super::{DAY, MAX_NEWEST, grouped};
use crate::select::{participant, settled_blocks};
use trawl_core::primitives::{Address, B256, BlockRange, Timestamp};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// How many logs of an event there are on a day.
    pub struct EventSum / EventSumView {
        /// Days since 1970.
        day: u64,
        /// 1 if the logs have a first topic.
        has_topic: u8,
        /// Their first topic; zero without one.
        topic0: B256,
        /// How many they are.
        logs: u64,
    }
}

columns! {
    /// A log of the contract, with what it is counted by.
    pub struct Event / EventView {
        /// Time of its block.
        block_timestamp: Timestamp,
        /// How many topics it has.
        topics_count: u8,
        /// The first of them; zero without one.
        topic0: B256,
    }
}

/// The sums of the logs that `contract` emitted in settled blocks.
#[must_use]
pub fn sums(contract: &Address, settled: &[BlockRange]) -> Statement<EventSum> {
    let sql = format!(
        "SELECT {DAY} AS day, toUInt8(topics_count > 0) AS has_topic, topic0, count() AS logs
FROM logs
WHERE address = toFixedString(unhex({{address:String}}), 20)
  AND {}
GROUP BY day, has_topic, topic0
ORDER BY day, has_topic, topic0
LIMIT {{limit:UInt64}}",
        settled_blocks("block_number", settled).join("\n  AND ")
    );
    grouped(contract, settled, sql)
}

/// The logs that it emitted in the blocks of `span`.
#[must_use]
pub fn newest(contract: &Address, span: &Span) -> Statement<Event> {
    participant(contract, None).blocks("block_number", span).page("logs", "block_number, log_index", MAX_NEWEST)
}
