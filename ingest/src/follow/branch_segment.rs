//! What several blocks of the branch have in common.

use trawl_core::primitives::{B256, BlockRange, HotRange, U256};

/// Consecutive members of one generation with the same parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchSegment {
    /// Heights and generation of the members.
    pub range: HotRange,
    /// What is there of every one of them.
    pub parts: Vec<String>,
    /// Hash of the block below the first.
    pub first_parent_hash: B256,
    /// Hash of the last.
    pub last_hash: B256,
    /// Sum of difficulties up to the last, if known.
    pub last_total_difficulty: Option<U256>,
    /// Transactions in them.
    pub transactions: u64,
    /// Logs in them.
    pub logs: u64,
}

impl BranchSegment {
    /// Adds the segment that follows, and keeps the generation and the parts.
    pub(super) fn append(&mut self, next: &Self) {
        let first = self.range.blocks.first();
        self.range.blocks = BlockRange::new(first, next.range.blocks.last()).unwrap_or(self.range.blocks);
        self.last_hash = next.last_hash;
        self.last_total_difficulty = next.last_total_difficulty;
        self.transactions += next.transactions;
        self.logs += next.logs;
    }
}
