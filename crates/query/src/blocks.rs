//! Plans for block reads.

use super::select::Select;
use trawl_core::primitives::{B256, BlockNumber, HotRange, Span, hash_prefix};
use trawl_core::schema::columns::columns;
use trawl_core::schema::{BlockRow, Reward};
use trawl_core::statement::{Parameter, Statement};

columns! {
    /// A block whose hash may be the given one.
    pub struct BlockCandidate / BlockCandidateView {
        /// Its height.
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
        /// Its height.
        block_number: u64,
        /// Its hash.
        hash: B256,
    }
}

columns! {
    /// Totals over the call frames of a block.
    pub struct BlockFrames / BlockFramesView {
        /// Its height.
        block_number: u64,
        /// Internal transactions in it.
        internal_transactions: u64,
        /// Rewards for making it.
        rewards: Vec<Reward>,
    }
}

/// Totals over the frames of the blocks at `numbers`, all within `traced`.
#[must_use]
pub fn frames(numbers: &[BlockNumber], traced: &Span) -> Statement<BlockFrames> {
    let is_hot = |number: &BlockNumber| traced.hot.iter().any(|range| range.blocks.contains(*number));
    let (hot, settled): (Vec<BlockNumber>, Vec<BlockNumber>) = numbers.iter().copied().partition(is_hot);
    let wanted = |range: &HotRange| hot.iter().any(|number| range.blocks.contains(*number));
    let generations: Vec<HotRange> = traced.hot.iter().copied().filter(wanted).collect();
    Statement::page(include_str!("../../../sql/queries/block_frames.sql"))
        .with("settled", Parameter::Numbers(settled))
        .with("generations", generations.as_slice())
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
        .condition("block_number IN (SELECT arrayJoin({numbers:Array(UInt64)}))")
        .with("numbers", Parameter::Numbers(numbers))
        .page("blocks", "block_number", 1_000_000)
}

/// Settled blocks whose hashes share the prefix of `hash`, and newer blocks with exactly this hash.
#[must_use]
pub fn by_hash(hash: &B256) -> Statement<BlockCandidate> {
    Statement::page(include_str!("../../../sql/queries/block_by_hash.sql"))
        .with("hash_prefix", hash_prefix(hash))
        .with("hash", hash)
}
