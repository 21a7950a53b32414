//! Parts of the texts of problems.

use std::fmt;

use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_core::store::Head;

/// Why balances of tokens are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UncountedReason {
    /// The transfers of the token do not determine them.
    #[error("the transfers of this token do not determine its balances")]
    Undetermined,
    /// They are counted up to a block that is too far behind.
    #[error("token transfers are counted up to block {0}")]
    Behind(BlockNumber),
    /// None is counted.
    #[error("token transfers are counted from the chain's first block on, which is not loaded with receipts")]
    NoBeginning,
}

/// Blocks whose changes of the state are not all indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingState {
    /// Ranges of heights, ascending.
    pub blocks: Vec<BlockRange>,
    /// Whether what their transactions change is indexed, of all of them.
    has_transactions: bool,
}

impl MissingState {
    /// Of blocks under a head.
    #[must_use]
    pub fn new(blocks: Vec<BlockRange>, head: &Head) -> Self {
        let has_transactions = blocks.iter().all(|range| head.state_transactions.missing(*range).is_empty());
        Self { blocks, has_transactions }
    }
}

impl fmt::Display for MissingState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blocks = ranges(&self.blocks);
        match self.has_transactions {
            true => write!(
                formatter,
                "of blocks {blocks} only the changes of their transactions are indexed, and not those of the chain beside them, \
                 such as rewards, or fees that accounts of the chain get"
            ),
            false => write!(formatter, "the changes of blocks {blocks} are not indexed"),
        }
    }
}

/// One wrong REST parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidParameter {
    /// The parameter, as clients of this API family know it.
    pub name: String,
    /// The reason why it is wrong.
    pub detail: String,
}

/// A limit that a query of logs exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// Time or memory of a statement.
    #[error("the query exceeds the limits of this server")]
    Statement,
    /// The length of a message of a WebSocket.
    #[error("response is too big for a message of a WebSocket")]
    Message,
}

/// The range for the next attempt, as reth names it.
pub(super) fn retry(range: BlockRange) -> String {
    format!("retry with the range {}-{}", range.first(), range.last())
}

/// The range for the next attempt, as Infura names it.
pub(super) fn try_range(range: BlockRange) -> String {
    format!("Try with this block range [{:#X}, {:#X}].", range.first(), range.last())
}

pub(super) fn ranges(ranges: &[BlockRange]) -> String {
    ranges.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
