//! Plans for reads of reorged blocks: blocks that another branch replaced.

use crate::select::hot_blocks;
use trawl_core::primitives::{B256, BlockNumber, BlockRange, hash_prefix};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::schema::{BlockRow, WithdrawalRow};
use trawl_core::statement::{Parameter, Statement};

columns! {
    /// The height of a block.
    pub struct BlockHeight / BlockHeightView {
        /// Height of the block.
        block_number: u64,
    }
}

/// Reorged blocks from the highest down, strictly below the height `before`; `blocks` are the readable ones.
#[must_use]
pub fn newest(blocks: &Span, before: BlockNumber, limit: u64) -> Statement<BlockRow> {
    between(blocks, 0, before, limit)
}

/// The reorged blocks at one height.
#[must_use]
pub fn at(blocks: &Span, number: BlockNumber) -> Statement<BlockRow> {
    between(blocks, number, number.saturating_add(1), 1_000)
}

fn between(blocks: &Span, from: BlockNumber, before: BlockNumber, limit: u64) -> Statement<BlockRow> {
    let sql = include_str!("../../../../sql/queries/reorged_blocks.sql");
    let heights = before.checked_sub(1).and_then(|last| BlockRange::new(from, last));
    let newest = heights.map(|heights| blocks.newest.within(heights)).unwrap_or_default();
    let newest: Vec<u64> = newest.iter().map(|block| hash_prefix(&block.hash)).collect();
    let statement = if blocks.hot.is_empty() {
        Statement::page(sql)
    } else {
        let in_hot_tables = format!(
            "  AND hash GLOBAL NOT IN (\n    SELECT hash\n    FROM hot_blocks\n    WHERE {}\n)\n",
            hot_blocks("block_number")[1]
        );
        let sql = sql.replacen("ORDER BY", &format!("{in_hot_tables}ORDER BY"), 1);
        Statement::page(sql).with("generations", blocks.hot.as_slice())
    };
    statement.with("from", from).with("before", before).with("newest", Parameter::Numbers(newest)).with("limit", limit)
}

/// The height of the reorged block with a hash. The table is small, so all its hashes are read.
#[must_use]
pub fn by_hash(hash: &B256) -> Statement<BlockHeight> {
    let sql = "SELECT block_number\nFROM reorged_blocks\nWHERE hash = toFixedString(unhex({hash:String}), 32)\nLIMIT 1";
    Statement::page(sql).with("hash", hash)
}

/// Withdrawals of a reorged block, from the highest index down, below `before`.
#[must_use]
pub fn withdrawals(hash: &B256, before: Option<u64>, limit: u64) -> Statement<WithdrawalRow> {
    Statement::page(include_str!("../../../../sql/queries/reorged_withdrawals.sql"))
        .with("hash", hash)
        .with("before", before.unwrap_or(u64::MAX))
        .with("limit", limit)
}
