//! Plans for block reads.

use super::select::Select;
use crate::primitives::{B256, Span, hash_prefix};
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
        /// Which writing of the height it is, for a block that is not settled; else 0.
        generation: u64,
    }
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

/// The settled heights at which blocks have hashes that start like `hash`, and the newer ones at which blocks have it.
#[must_use]
pub fn by_hash(hash: &B256) -> Statement<BlockCandidate> {
    Statement::page(include_str!("../../sql/queries/block_by_hash.sql"))
        .with("hash_prefix", hash_prefix(hash))
        .with("hash", hash)
}
