//! What a follower remembers of the blocks it settled.

use std::time::Instant;

use trawl_core::primitives::BlockNumber;

/// Whether final blocks wait until there are enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settle {
    /// They wait until enough are final.
    WhenDue,
    /// They do not.
    Now,
}

/// When blocks were settled, and what is to be removed for it.
#[derive(Debug, Default)]
pub(super) struct SettledBlocks {
    pub(super) at: Option<Instant>,
    /// Rows up to this height can go from this moment on.
    pub(super) leaving: Option<(BlockNumber, Instant)>,
}
