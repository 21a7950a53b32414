//! Blocks that are settled together.

use trawl_core::primitives::BlockRange;

use super::branch_segment::BranchSegment;

/// Most segments of a group, each of which is a read: a chain that reorganises all the time has one for each block.
const MAX_SEGMENTS: usize = 32;

/// Consecutive blocks with the same parts, of one generation or several: what one commit names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettlingGroup {
    segments: Vec<BranchSegment>,
}

impl SettlingGroup {
    /// The first of `segments`, and those after it that have the same parts, up to [`MAX_SEGMENTS`].
    pub(super) fn first_of(mut segments: Vec<BranchSegment>) -> Option<Self> {
        let parts = &segments.first()?.parts;
        let count = segments.iter().take(MAX_SEGMENTS).take_while(|segment| segment.parts == *parts).count();
        segments.truncate(count);
        Some(Self { segments })
    }

    /// Where the rows are: a segment for each generation, ascending.
    #[must_use]
    pub fn segments(&self) -> &[BranchSegment] {
        &self.segments
    }

    /// The heights of all of them.
    #[must_use]
    pub fn blocks(&self) -> BlockRange {
        self.joined().range.blocks
    }

    /// The group as if it were of one generation: that of its first block, which a commit does not name.
    #[must_use]
    pub fn joined(&self) -> BranchSegment {
        let mut joined = self.segments[0].clone();
        for segment in &self.segments[1..] {
            let first = joined.range.blocks.first();
            joined.range.blocks = BlockRange::new(first, segment.range.blocks.last()).expect("segments ascend");
            joined.last_hash = segment.last_hash;
            joined.last_total_difficulty = segment.last_total_difficulty;
            joined.transactions += segment.transactions;
            joined.logs += segment.logs;
        }
        joined
    }
}
