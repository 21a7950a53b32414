//! What an earlier run left: the branch, and the blocks that the typed hot tables lack.

use std::pin::pin;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use trawl_core::primitives::{BlockNumber, BlockRange, HotRange};
use trawl_core::schema::Segment;
use trawl_core::schema::packed::HotRowsRow;
use trawl_core::store::Reader;

use super::branch::{Base, Branch, StoredBlock};
use super::error::FollowError;
use super::unpacked::header;
use crate::write::retry::retry_transient;

/// Blocks whose packed rows are read at once.
const READ_BLOCKS: u64 = 32;
/// Such reads at once: beside many readers each waits its turn, and a head of Arbitrum's has a hundred and fifty.
const READS: usize = 4;

/// The branch on top of `base`, and its blocks from height `pending` on, with their rows.
pub(super) async fn stored(
    reader: &Reader,
    base: Option<Base>,
    segments: &[Segment],
    ranges: &[HotRange],
    pending: BlockNumber,
) -> Result<(Branch, Vec<HotRowsRow>), FollowError> {
    let (mut found, mut above) = (Vec::new(), Vec::new());
    let pieces = ranges.iter().flat_map(|range| pieces(range.blocks).map(|blocks| HotRange { blocks, ..*range }));
    let read = |piece| async move { retry_transient(|| reader.packed_range(piece)).await };
    let mut read = pin!(stream::iter(pieces).map(read).buffered(READS));
    while let Some(blocks) = read.try_next().await? {
        for packed in blocks {
            found.extend(header(&packed)?.map(|block| StoredBlock::new(&block, &packed)));
            if packed.block_number >= pending {
                above.push(packed);
            }
        }
    }
    let branch = Branch::stored(base, segments, found);
    above.retain(|block| branch.has(block.block_number, block.generation));
    Ok((branch, above))
}

fn pieces(range: BlockRange) -> impl Iterator<Item = BlockRange> {
    let firsts = (range.first()..=range.last()).step_by(READ_BLOCKS as usize);
    firsts.filter_map(move |first| BlockRange::new(first, range.last().min(first + READ_BLOCKS - 1)))
}
