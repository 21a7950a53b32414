//! Plans for the blocks that an address made: of settled blocks a range of `blocks_by_miner`, of the newest a search of
//! few.

use crate::account::at_keys;
use crate::select::{Select, settled_blocks};
use crate::walk::Order;
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, BlockNumber, BlockRange};
use trawl_core::readable::Span;
use trawl_core::schema::BlockRow;
use trawl_core::schema::columns::columns;
use trawl_core::statement::{SUM_SETTINGS, Statement, Workload};

columns! {
    /// The height of a block.
    pub struct MadeBlock / MadeBlockView {
        /// Height of the block.
        block_number: u64,
    }
}

columns! {
    /// Number of blocks that an address made.
    pub struct MinedTotal / MinedTotalView {
        /// Settled blocks whose beneficiary is the address.
        blocks: u64,
    }
}

/// The rows of a maker. A block may be there twice.
const OF_MINER: &str = "has_miner = 1\n  AND miner = toFixedString(unhex({miner:String}), 20)";

/// The heights of settled blocks that `miner` made, from either end.
#[must_use]
pub fn heights(miner: &Address, settled: &[BlockRange], order: Order, limit: u64) -> Statement<MadeBlock> {
    let select = Select::default().blocks("block_number", &settled.to_vec().into());
    let mut statement = select.with("miner", miner).with("limit", limit).statement(heights_sql(settled, order));
    statement.is_in_tables = !settled.is_empty();
    statement.is_settled = true;
    statement
}

fn heights_sql(settled: &[BlockRange], order: Order) -> String {
    format!(
        "SELECT block_number
FROM blocks_by_miner
WHERE {OF_MINER}
  AND {}
ORDER BY block_number {}
LIMIT 1 BY block_number
LIMIT {{limit:UInt64}}",
        settled_blocks("block_number", settled).join("\n  AND "),
        order.word()
    )
}

/// The heights of the blocks that `miner` made, of those that are not settled.
#[must_use]
pub fn newest_heights(miner: &Address, blocks: &Span, order: Order, limit: u64) -> Statement<MadeBlock> {
    let select = made_by(Select::default().blocks("block_number", &blocks.without_settled()), miner);
    select.page("blocks", &format!("block_number {}", order.word()), limit)
}

fn made_by(select: Select, miner: &Address) -> Select {
    let test = Predicate::among("producer", &[miner]);
    select.newest_condition("producer = toFixedString(unhex({miner:String}), 20)", test).with("miner", miner)
}

/// The blocks that `miner` made, from the highest down.
#[must_use]
pub fn blocks(miner: &Address, blocks: &Span, limit: u64) -> Statement<BlockRow> {
    let heights = heights_sql(&blocks.settled, Order::NewestFirst);
    let select = Select::default()
        .blocks("block_number", blocks)
        .settled_condition(format!("block_number GLOBAL IN (\n{heights}\n)"));
    made_by(select, miner).page("blocks", "block_number DESC", limit)
}

/// The blocks at `heights`, in either order.
#[must_use]
pub fn at(heights: &[BlockNumber], blocks: &Span, order: Order) -> Statement<BlockRow> {
    let keys: Vec<Vec<u64>> = heights.iter().map(|height| vec![*height]).collect();
    let among = "block_number IN {heights:Array(UInt64)}";
    let count = heights.len() as u64;
    at_keys(&["block_number"], &keys, blocks, among).page("blocks", &format!("block_number {}", order.word()), count)
}

/// How many settled blocks `miner` made: rows of a height, which are next to each other, are grouped as they are read.
#[must_use]
pub fn total(miner: &Address, settled: &[BlockRange]) -> Statement<MinedTotal> {
    let sql = format!(
        "SELECT count() AS blocks
FROM
(
  SELECT block_number
  FROM blocks_by_miner
  WHERE {}
    AND {}
  GROUP BY has_miner, miner, block_number
)",
        OF_MINER.replace("\n", "\n  "),
        settled_blocks("block_number", settled).join("\n    AND ")
    );
    let select = Select::default().blocks("block_number", &settled.to_vec().into());
    let mut statement: Statement<MinedTotal> = select.with("miner", miner).statement(sql);
    statement.settings = SUM_SETTINGS;
    statement.workload = Workload::Scan;
    statement.is_in_tables = !settled.is_empty();
    statement.is_settled = true;
    statement
}

/// A settled block whose source did not report its miner, if there is one.
#[must_use]
pub fn without_miner(settled: &[BlockRange]) -> Statement<MadeBlock> {
    let sql = format!(
        "SELECT block_number
FROM blocks_by_miner
WHERE has_miner = 0
  AND miner = toFixedString(unhex(repeat('00', 20)), 20)
  AND {}
ORDER BY block_number
LIMIT 1",
        settled_blocks("block_number", settled).join("\n  AND ")
    );
    let select = Select::default().blocks("block_number", &settled.to_vec().into());
    let mut statement: Statement<MadeBlock> = select.statement(sql);
    statement.is_in_tables = !settled.is_empty();
    statement.is_settled = true;
    statement
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_a_miner_are_found_through_its_heights() {
        let span: Span = vec![BlockRange::new(5, 900).expect("ordered")].into();
        let sql = blocks(&Address::ZERO, &span, 51).sql;
        let (_, conditions) = sql.split_once("FROM blocks\n").expect("a table");
        insta::assert_snapshot!(conditions, @r"
        WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
          AND block_number GLOBAL IN (
        SELECT block_number
        FROM blocks_by_miner
        WHERE has_miner = 1
          AND miner = toFixedString(unhex({miner:String}), 20)
          AND block_number BETWEEN {first:UInt64} AND {last:UInt64}
        ORDER BY block_number DESC
        LIMIT 1 BY block_number
        LIMIT {limit:UInt64}
        )
        ORDER BY block_number DESC
        LIMIT {limit:UInt64}
        ");
    }
}
