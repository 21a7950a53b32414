//! What transactions of the chain paid for gas, by period.

use super::by_period;
use crate::select::settled_blocks;
use trawl_core::primitives::{BlockNumber, BlockRange, U256};
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// Prices of a period in wei for each gas, each within 1 % of the exact percentile.
    pub struct PriceSum / PriceSumView {
        /// The block that the period starts with.
        start: u64,
        /// A tenth of the transactions paid this or less.
        tenth: U256,
        /// Half of them did.
        median: U256,
        /// Nine tenths of them did.
        ninetieth: U256,
    }
}

/// The prices of the transactions in settled blocks whose receipts are known, by the last one of `starts`, ascending,
/// that is not above their block. The sketch of a period has a fixed size and an error of at most 1 %
/// (<https://clickhouse.com/docs/sql-reference/aggregate-functions/reference/quantileddsketch>).
#[must_use]
pub fn sums(starts: &[BlockNumber], settled: &[BlockRange]) -> Statement<PriceSum> {
    let sql = format!(
        "SELECT start, toUInt256(round(prices[1])) AS tenth, toUInt256(round(prices[2])) AS median,
  toUInt256(round(prices[3])) AS ninetieth
FROM
(
  SELECT roundDown(block_number, {{starts:Array(UInt64)}}) AS start,
    quantilesDD(0.01, 0.1, 0.5, 0.9)(toFloat64(effective_gas_price)) AS prices
  FROM transactions
  WHERE has_receipt = 1
    AND NOT has(lacking, 'effective_gas_price')
    AND {}
  GROUP BY start
)
ORDER BY start",
        settled_blocks("block_number", settled).join("\n    AND ")
    );
    by_period(starts, settled, sql)
}
