//! The blocks that a load requests.

use trawl_core::primitives::{BlockNumber, BlockRange, Coverage};

use super::error::Failure;
use super::flags::{LoadFlags, RangeEnd, Slice};

/// The whole range, which slices divide. Without an end it ends at `latest`.
pub fn whole(flags: &LoadFlags, latest: u64) -> Result<BlockRange, Failure> {
    let to = match flags.to {
        Some(RangeEnd::Block(number)) => number,
        Some(RangeEnd::Latest) | None if flags.slice.is_some() => return Err(Failure::SliceOfOpenRange),
        Some(RangeEnd::Latest) | None => latest,
    };
    BlockRange::new(flags.from, to).ok_or(Failure::EmptyRange { from: flags.from, to })
}

/// The blocks that must be stored after the load.
pub fn requested(flags: &LoadFlags, latest: u64) -> Result<BlockRange, Failure> {
    let whole = whole(flags, latest)?;
    match flags.slice {
        Some(slice) => slice.of(whole).ok_or(Failure::EmptySlice { slice, whole }),
        None => Ok(whole),
    }
}

/// The block below a slice, which another load writes, if its first block is to be linked to it and it is
/// not there yet.
pub fn below(flags: &LoadFlags, committed: &Coverage) -> Result<Option<BlockNumber>, Failure> {
    if flags.slice.is_none_or(Slice::is_first) {
        return Ok(None);
    }
    let first = requested(flags, u64::MAX)?.first();
    let is_known = |number: BlockNumber| committed.contains(number);
    Ok(first.checked_sub(1).filter(|below| !is_known(first) && !is_known(*below)))
}

/// The blocks to read from a source unless they are stored: those requested, and the one `below` a slice.
pub fn source_range(flags: &LoadFlags, latest: u64, below: Option<BlockNumber>) -> Result<BlockRange, Failure> {
    let requested = requested(flags, latest)?;
    Ok(below.and_then(|below| BlockRange::new(below, requested.last())).unwrap_or(requested))
}
