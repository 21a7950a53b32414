//! Blocks that are settled together.

use trawl_core::primitives::{BlockRange, HotRange};

use super::branch_segment::BranchSegment;

/// Most generations of a group, each of which is a read: a chain that reorganises all the time has one for each block.
const MAX_GENERATIONS: usize = 32;

/// Consecutive blocks with the same parts, of one generation or several: what one commit names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettlingGroup {
    /// Where the packed rows are, ascending: a range for each generation.
    pub ranges: Vec<HotRange>,
    /// All of the blocks as one segment. Its generation is that of the first, which a commit does not name.
    pub blocks: BranchSegment,
}

impl SettlingGroup {
    /// The first of `segments`, and those after it that have the same parts, up to [`MAX_GENERATIONS`].
    pub(super) fn first_of(segments: Vec<BranchSegment>) -> Option<Self> {
        let mut segments = segments.into_iter().take(MAX_GENERATIONS);
        let mut blocks = segments.next()?;
        let mut ranges = vec![blocks.range];
        for segment in segments {
            if segment.parts != blocks.parts {
                break;
            }
            ranges.push(segment.range);
            blocks.append(&segment);
        }
        Some(Self { ranges, blocks })
    }

    /// The heights of the blocks.
    #[must_use]
    pub fn heights(&self) -> BlockRange {
        self.blocks.range.blocks
    }
}
