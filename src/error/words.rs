//! Parts of the texts of problems.

use trawl_core::primitives::{BlockNumber, BlockRange};

/// Why balances of tokens are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Uncounted {
    /// The transfers of the token do not tell them.
    #[error("the transfers of this token do not tell who holds how much")]
    Untold,
    /// They are counted up to a block that is too far behind.
    #[error("token transfers are counted up to block {0}")]
    Behind(BlockNumber),
    /// None is counted.
    #[error("token transfers are counted from the chain's first block on, which is not loaded with receipts")]
    NoBeginning,
}

/// One wrong REST parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidParameter {
    /// The parameter, as clients of this API family know it.
    pub name: String,
    /// The reason why it is wrong.
    pub detail: String,
}

pub(super) fn ranges(ranges: &[BlockRange]) -> String {
    ranges.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
