//! What several blocks of the branch have in common.

use trawl_core::primitives::{B256, HotRange, U256};

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
