//! How many addresses sent and received a token by period.

use super::by_period;
use crate::select::settled_blocks;
use crate::tokens::{OF_TOKEN, TRANSFERS_OF_LOG};
use trawl_core::primitives::{Address, BlockNumber, BlockRange};
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// Who moved a token in a period.
    pub struct ParticipantSum / ParticipantSumView {
        /// The block that the period starts with.
        start: u64,
        /// Addresses that gave some of it, the zero address not counted.
        senders: u64,
        /// Addresses that received some, likewise.
        receivers: u64,
    }
}

/// Most transfers whose participants are counted.
pub const MAX_TRANSFERS: u64 = 40_000_000;

/// Those of the transfers of `token` in settled blocks, by the last one of `starts`, ascending, that is not above their
/// block. An address is counted once for each period and side.
#[must_use]
pub fn sums(token: &Address, starts: &[BlockNumber], settled: &[BlockRange]) -> Statement<ParticipantSum> {
    let sql = format!(
        "SELECT start, countIf(gave > 0) AS senders, countIf(got > 0) AS receivers
FROM
(
  SELECT start, side.1 AS participant, countIf(side.2 = 'gave') AS gave, countIf(side.2 = 'got') AS got
  FROM
  (
    SELECT roundDown(block_number, {{starts:Array(UInt64)}}) AS start, {TRANSFERS_OF_LOG} AS found,
      hex(topic0) = 'DDF252AD1BE2C89B69C2B068FC378DAA952BA7F163C4A11628F55A4DF523B3EF' AS is_plain,
      [(if(is_plain, topic1, topic2), 'gave'), (if(is_plain, topic2, topic3), 'got')] AS sides
    FROM logs
    WHERE {OF_TOKEN}
      AND {}
  )
  ARRAY JOIN sides AS side
  WHERE found > 0 AND participant != toFixedString('', 32)
  GROUP BY start, participant
)
GROUP BY start
ORDER BY start",
        settled_blocks("block_number", settled).join("\n      AND ")
    );
    by_period(starts, settled, sql).with("address", token)
}
