//! Blocks that nodes are compared with.

use trawl_core::primitives::{B256, BlockNumber};

/// A block that cannot change any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownBlock {
    /// Height of the block.
    pub number: BlockNumber,
    /// Keccak-256 of the header.
    pub hash: B256,
}
