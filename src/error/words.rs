//! Parts of the texts of problems.

use trawl_core::primitives::{BlockNumber, BlockRange};

pub(super) fn counted(reach: Option<BlockNumber>) -> String {
    match reach {
        Some(reach) => format!("token transfers are counted up to block {reach}"),
        None => "token transfers are counted from the chain's first block on, which is not loaded with receipts".into(),
    }
}

pub(super) fn ranges(ranges: &[BlockRange]) -> String {
    ranges.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
