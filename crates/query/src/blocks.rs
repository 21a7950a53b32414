//! Plans for block reads.

use super::select::Select;
use trawl_core::primitives::{B256, BlockNumber, HotRange, Span, hash_prefix};
use trawl_core::schema::columns::columns;
use trawl_core::schema::{BlockRow, Reward};
use trawl_core::statement::{Parameter, Statement};

columns! {
    /// A block that a hash may mean.
    pub struct BlockCandidate / BlockCandidateView {
        /// Its height.
        block_number: u64,
        /// Its whole hash.
        hash: B256,
        /// Which writing of the height it is, for a block that is not settled; else 0.
        generation: u64,
    }
}

columns! {
    /// Just the name of a block.
    pub struct BlockHash / BlockHashView {
        /// Its height.
        block_number: u64,
        /// Its hash.
        hash: B256,
    }
}

columns! {
    /// What the call frames of a block add up to.
    pub struct BlockFrames / BlockFramesView {
        /// Its height.
        block_number: u64,
        /// Internal transactions in it.
        internal_transactions: u64,
        /// What was paid for making it.
        rewards: Vec<Reward>,
    }
}

/// What the frames of the blocks at `numbers` add up to; all of them are among `traced`.
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

/// The settled heights at which blocks have hashes that start like `hash`, and the newer ones at which blocks have it.
#[must_use]
pub fn by_hash(hash: &B256) -> Statement<BlockCandidate> {
    Statement::page(include_str!("../../../sql/queries/block_by_hash.sql"))
        .with("hash_prefix", hash_prefix(hash))
        .with("hash", hash)
}
