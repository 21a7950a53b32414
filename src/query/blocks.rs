//! Plans for block reads.

use super::select::Select;
use crate::primitives::{B256, BlockNumber, BlockRange, hash_prefix};
use crate::schema::BlockRow;
use crate::schema::columns::columns;
use crate::statement::Statement;

columns! {
    /// A block that a hash may mean.
    pub struct BlockCandidate / BlockCandidateView {
        /// Its height.
        block_number: u64,
        /// Its whole hash.
        hash: B256,
    }
}

/// Blocks of `ranges` (ascending) from the highest down.
#[must_use]
pub fn newest(ranges: &[BlockRange], limit: u64) -> Statement<BlockRow> {
    Select::default().blocks("block_number", ranges).page("blocks", "block_number DESC", limit)
}

/// The block at a height.
#[must_use]
pub fn at(number: BlockNumber) -> Statement<BlockRow> {
    newest(&[BlockRange::single(number)], 1)
}

/// The heights at which blocks have hashes that start like `hash`, with their whole hashes.
#[must_use]
pub fn by_hash(hash: &B256) -> Statement<BlockCandidate> {
    Statement::page(include_str!("../../sql/queries/block_by_hash.sql")).with("hash_prefix", hash_prefix(hash))
}
