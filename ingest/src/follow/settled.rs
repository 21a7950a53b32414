//! What a follower remembers of the blocks it settled.

use std::time::Instant;

use trawl_core::primitives::BlockNumber;

/// When blocks were settled, and what is to be removed for it.
#[derive(Debug, Default)]
pub(super) struct SettledBlocks {
    /// Up to where the final blocks are being settled, a group at each step.
    pub(super) through: Option<BlockNumber>,
    /// When the last of them were.
    pub(super) at: Option<Instant>,
    /// Rows up to this height can go from this moment on.
    pub(super) leaving: Option<(BlockNumber, Instant)>,
}
