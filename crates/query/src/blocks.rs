//! Plans for block reads.

pub mod reorged;
pub mod uncles;
pub mod verdicts;
pub mod withdrawals;

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::select::{Select, hot_blocks};
use crate::transactions::positions::at_heights;
use trawl_core::primitives::{
    Address, B256, BlockNumber, BlockRange, Coverage, HotRange, Timestamp, U256, hash_prefix,
};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::schema::{BlockRow, Columns, Reward};
use trawl_core::statement::{Parameter, Statement};

columns! {
    /// A block whose hash may be the given one.
    pub struct BlockCandidate / BlockCandidateView {
        /// Height of the block.
        block_number: u64,
        /// Its whole hash.
        hash: B256,
        /// Its generation, if the block is not settled; else 0.
        generation: u64,
    }
}

columns! {
    /// Height and hash of a block.
    pub struct BlockHash / BlockHashView {
        /// Height of the block.
        block_number: u64,
        /// Keccak-256 of the header.
        hash: B256,
    }
}

columns! {
    /// Totals over the call frames of a block.
    pub struct BlockFrames / BlockFramesView {
        /// Height of the block.
        block_number: u64,
        /// Internal transactions in it.
        internal_transactions: u64,
        /// Rewards for making it.
        rewards: Vec<Reward>,
    }
}

columns! {
    /// The fields of a call frame for the totals of a block.
    pub struct BlockFrame / BlockFrameView {
        /// Height of its block.
        block_number: u64,
        /// `call`, `create`, `selfdestruct` or `reward`.
        frame_type: String,
        /// Position in the transaction.
        frame_index: u32,
        /// Of a reward: its kind.
        call_type: String,
        /// Of a reward: its recipient.
        to_address: Option<Address>,
        /// Wei moved; of a reward its amount.
        value: U256,
    }
}

/// Totals over the frames of the blocks at `numbers`, as far as these are in tables; all are within `traced`.
#[must_use]
pub fn frames(numbers: &[BlockNumber], traced: &Span) -> Statement<BlockFrames> {
    let is_settled = |number: &BlockNumber| traced.settled.iter().any(|range| range.contains(*number));
    let settled: Vec<BlockNumber> = numbers.iter().copied().filter(is_settled).collect();
    let has_numbers = |range: &HotRange| numbers.iter().any(|number| range.blocks.contains(*number));
    let generations: Vec<HotRange> = traced.hot.iter().copied().filter(has_numbers).collect();
    let rows = |table: &str, blocks: &str| {
        format!(
            "    SELECT block_number, frame_type, frame_index, call_type, to_address, value\n    FROM {table}\n    WHERE {blocks}"
        )
    };
    let mut parts = Vec::new();
    if !settled.is_empty() {
        parts.push(rows("internal_transactions", "block_number IN {settled:Array(UInt64)}"));
    }
    if !generations.is_empty() {
        parts.push(rows("hot_internal_transactions", &hot_blocks("block_number")[1]));
    }
    let sql = include_str!("../../../sql/queries/block_frames.sql");
    let mut statement =
        Statement::page(sql.replace("frames_of_blocks", &format!("(\n{}\n)", parts.join("\n    UNION ALL\n"))));
    statement.is_in_tables = !parts.is_empty();
    statement.is_settled = generations.is_empty();
    statement.with("settled", Parameter::Numbers(settled)).with("generations", generations.as_slice())
}

/// The frames of those of the blocks at `numbers` that are in memory.
#[must_use]
pub fn newest_frames(numbers: &[BlockNumber], traced: &Span) -> Statement<BlockFrame> {
    let heights: Coverage = numbers.iter().map(|number| BlockRange::single(*number)).collect();
    let ranges = heights.ranges().iter().flat_map(|range| traced.newest.within(*range).ranges().to_vec());
    let newest = Span { newest: traced.newest.of(ranges.collect()), ..Span::default() };
    Select::default().blocks("block_number", &newest).page("internal_transactions", "block_number", u64::MAX)
}

/// Columns of the blocks at `numbers`, and maybe of others; all are within `blocks`.
fn of_heights<R: Columns>(numbers: &BTreeSet<BlockNumber>, blocks: &Span) -> Statement<R> {
    Select::default()
        .blocks("block_number", &at_heights(numbers, blocks))
        .settled_condition("block_number IN {numbers:Array(UInt64)}")
        .with("numbers", Parameter::Numbers(numbers.iter().copied().collect()))
        .page("blocks", "block_number", 1_000_000)
}

columns! {
    /// The base fee of a block.
    pub struct BaseFee / BaseFeeView {
        /// Height of the block.
        block_number: u64,
        /// Wei, EIP-1559; none before London.
        base_fee_per_gas: Option<U256>,
        /// Columns that the source did not have; their values here mean nothing.
        lacking: Vec<String>,
    }
}

/// The base fees of the blocks at `numbers`, and maybe of others; all are within `blocks`.
#[must_use]
pub fn base_fees(numbers: &BTreeSet<BlockNumber>, blocks: &Span) -> Statement<BaseFee> {
    of_heights(numbers, blocks)
}

columns! {
    /// The time of a block.
    pub struct BlockTime / BlockTimeView {
        /// Height of the block.
        block_number: u64,
        /// Timestamp of its header.
        timestamp: Timestamp,
    }
}

/// The times of the blocks at `numbers`, and maybe of others; all are within `blocks`.
#[must_use]
pub fn times(numbers: &BTreeSet<BlockNumber>, blocks: &Span) -> Statement<BlockTime> {
    of_heights(numbers, blocks)
}

columns! {
    /// Fees of the transactions of a block.
    pub struct BlockFeeSum / BlockFeeSumView {
        /// Height of the block.
        block_number: u64,
        /// Wei; none if the source had no receipts.
        transaction_fees: Option<U256>,
        /// Columns that the source did not have.
        lacking: Vec<String>,
    }
}

/// Fees of the transactions of each block of `span`.
#[must_use]
pub fn transaction_fees(span: &Span) -> Statement<BlockFeeSum> {
    Select::default().blocks("block_number", span).page("blocks", "block_number", 1_000_000)
}

/// Blocks of `span` from the highest down.
#[must_use]
pub fn newest(span: &Span, limit: u64) -> Statement<BlockRow> {
    Select::default().blocks("block_number", span).page("blocks", "block_number DESC", limit)
}

/// The block of a `span` of one.
#[must_use]
pub fn at(span: &Span) -> Statement<BlockRow> {
    newest(span, 1)
}

/// The hashes of the blocks of `span`, ascending.
#[must_use]
pub fn hashes(span: &Span) -> Statement<BlockHash> {
    Select::default().blocks("block_number", span).page("blocks", "block_number", 1_000_000)
}

/// The hashes of the blocks at settled heights.
#[must_use]
pub fn hashes_at(numbers: Vec<BlockNumber>) -> Statement<BlockHash> {
    Select::default()
        .settled_condition("block_number IN {numbers:Array(UInt64)}")
        .with("numbers", Parameter::Numbers(numbers))
        .page("blocks", "block_number", 1_000_000)
}

/// Settled blocks whose hashes share the prefix of `hash`; and blocks of the hot tables with exactly this hash, if some
/// of `blocks` are read there.
#[must_use]
pub fn by_hash(hash: &B256, blocks: &Span) -> Statement<BlockCandidate> {
    let with_hot = |settled: &'static str| {
        if blocks.hot.is_empty() {
            return Cow::Borrowed(settled);
        }
        Cow::Owned(format!(
            "{settled}UNION ALL\nSELECT block_number, hash, generation\nFROM hot_blocks\nWHERE hash = toFixedString(unhex({{hash:String}}), 32)"
        ))
    };
    Statement::page(with_hot(include_str!("../../../sql/queries/block_by_hash.sql")))
        .on_shards(with_hot(include_str!("../../../sql/queries/block_by_hash_on_shards.sql")))
        .with("hash_prefix", hash_prefix(hash))
        .with("hash", hash)
}
