//! How far settling is, and which rows are to be removed for it.

use std::time::Instant;

use trawl_core::primitives::BlockNumber;

/// What a follower has to know from one step to the next.
#[derive(Debug, Default)]
pub(super) struct SettledBlocks {
    /// The last block of the round that is going on: each step settles a group of it.
    pub(super) through: Option<BlockNumber>,
    /// When the last round ended.
    pub(super) at: Option<Instant>,
    /// Rows up to this height can go from this moment on.
    pub(super) leaving: Option<(BlockNumber, Instant)>,
}
