//! What the blocks of a period say of mining, and what their transactions paid for gas.

use super::by_period;
use crate::select::settled_blocks;
use trawl_core::primitives::{BlockNumber, BlockRange, U256};
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// What the headers of a period say of mining.
    pub struct HeaderSum / HeaderSumView {
        /// The block that the period starts with.
        start: u64,
        /// Number of blocks.
        blocks: u64,
        /// Those with a difficulty above zero: of proof of work.
        mined: u64,
        /// The sum of the difficulties.
        difficulty: U256,
        /// Blocks of which it is not known.
        without_difficulty: u64,
        /// Wei of base fees that were burnt; before London none.
        burnt: U256,
        /// Blocks of which it is not known.
        without_burnt: u64,
    }
}

columns! {
    /// What makers of blocks and of uncles were given by the rules in a period, as traces say.
    pub struct RewardSum / RewardSumView {
        /// The block that the period starts with.
        start: u64,
        /// Wei for makers of blocks, those for including uncles among them.
        of_blocks: U256,
        /// Rewards for making uncles, one for each uncle.
        uncles: u64,
        /// Wei for their makers.
        of_uncles: U256,
    }
}

columns! {
    /// The prices that the transactions of a period paid, in wei for each gas.
    pub struct GasPriceSum / GasPriceSumView {
        /// The block that the period starts with.
        start: u64,
        /// Number of transactions.
        transactions: u64,
        /// The lowest price in wei for each gas.
        lowest: U256,
        /// The highest price in wei for each gas.
        highest: U256,
        /// The sum of them.
        sum: U256,
        /// Transactions of which it is not known.
        without_price: u64,
    }
}

/// The headers of settled blocks, by the last one of `starts`, ascending, that is not above their block.
#[must_use]
pub fn headers(starts: &[BlockNumber], settled: &[BlockRange]) -> Statement<HeaderSum> {
    let sql = format!(
        "SELECT roundDown(block_number, {{starts:Array(UInt64)}}) AS start, count() AS blocks,
  countIf(headers.difficulty > 0) AS mined, sum(headers.difficulty) AS difficulty,
  countIf(has(lacking, 'difficulty')) AS without_difficulty, sum(ifNull(burnt_fees, 0)) AS burnt,
  countIf(isNull(burnt_fees) OR hasAny(lacking, ['base_fee_per_gas', 'gas_used'])) AS without_burnt
FROM blocks AS headers
WHERE {}
GROUP BY start
ORDER BY start",
        settled_blocks("block_number", settled).join("\n  AND ")
    );
    by_period(starts, settled, sql)
}

/// The rewards that the traces of settled blocks state, by the last one of `starts`, ascending, that is not above their
/// block.
#[must_use]
pub fn rewards(starts: &[BlockNumber], settled: &[BlockRange]) -> Statement<RewardSum> {
    let sql = format!(
        "SELECT roundDown(block_number, {{starts:Array(UInt64)}}) AS start, sumIf(value, call_type = 'block') AS of_blocks,
  countIf(call_type = 'uncle') AS uncles, sumIf(value, call_type = 'uncle') AS of_uncles
FROM internal_transactions
WHERE frame_type = 'reward'
  AND {}
GROUP BY start
ORDER BY start",
        settled_blocks("block_number", settled).join("\n  AND ")
    );
    by_period(starts, settled, sql)
}

/// What the transactions of settled blocks paid, by the last one of `starts`, ascending, that is not above their block.
#[must_use]
pub fn gas_prices(starts: &[BlockNumber], settled: &[BlockRange]) -> Statement<GasPriceSum> {
    let sql = format!(
        "SELECT roundDown(block_number, {{starts:Array(UInt64)}}) AS start, count() AS transactions,
  min(effective_gas_price) AS lowest, max(effective_gas_price) AS highest, sum(effective_gas_price) AS sum,
  countIf(has_receipt = 0 OR has(lacking, 'effective_gas_price')) AS without_price
FROM transactions
WHERE {}
GROUP BY start
ORDER BY start",
        settled_blocks("block_number", settled).join("\n  AND ")
    );
    by_period(starts, settled, sql)
}
