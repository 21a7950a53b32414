//! Some of the newest blocks.

use std::sync::Arc;

use super::blocks::{NewestBlock, NewestBlocks};
use crate::primitives::{BlockNumber, BlockRange};

/// Blocks in memory, by heights.
#[derive(Clone, Default)]
pub struct NewestSpan {
    blocks: Arc<NewestBlocks>,
    ranges: Vec<BlockRange>,
}

impl NewestSpan {
    /// The blocks of `ranges`, which are ascending and all there.
    #[must_use]
    pub fn new(blocks: &Arc<NewestBlocks>, ranges: Vec<BlockRange>) -> Self {
        Self { blocks: Arc::clone(blocks), ranges }
    }

    /// Other blocks of the same view.
    #[must_use]
    pub fn of(&self, ranges: Vec<BlockRange>) -> Self {
        Self { blocks: Arc::clone(&self.blocks), ranges }
    }

    /// The heights, ascending.
    #[must_use]
    pub fn ranges(&self) -> &[BlockRange] {
        &self.ranges
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The parts within `range`.
    #[must_use]
    pub fn within(&self, range: BlockRange) -> Self {
        let ranges = self.ranges.iter().filter_map(|own| own.intersection(range)).collect();
        Self { blocks: Arc::clone(&self.blocks), ranges }
    }

    /// The blocks, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &NewestBlock> {
        self.ranges.iter().flat_map(|range| self.blocks.range(*range))
    }

    /// A block of the span by its height.
    #[must_use]
    pub fn get(&self, number: BlockNumber) -> Option<&NewestBlock> {
        self.ranges.iter().any(|range| range.contains(number)).then(|| self.blocks.get(number))?
    }

    /// The block at a position, counted from the lowest height, or from the highest.
    pub(super) fn block(&self, position: usize, is_descending: bool) -> Option<&NewestBlock> {
        let mut position = position as u64;
        let heights = |range: &BlockRange| range.count();
        let number = if is_descending {
            let range = self.ranges.iter().rev().find(|range| skip(&mut position, heights(range)))?;
            range.last() - position
        } else {
            let range = self.ranges.iter().find(|range| skip(&mut position, heights(range)))?;
            range.first() + position
        };
        self.blocks.get(number)
    }
}

/// Whether a position lies in the next `count`; else it is counted from their end.
fn skip(position: &mut u64, count: u64) -> bool {
    if *position < count {
        return true;
    }
    *position -= count;
    false
}

impl std::fmt::Debug for NewestSpan {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("NewestSpan").field(&self.ranges).finish()
    }
}

impl PartialEq for NewestSpan {
    /// The same heights of the same view.
    fn eq(&self, other: &Self) -> bool {
        self.ranges == other.ranges && (self.ranges.is_empty() || Arc::ptr_eq(&self.blocks, &other.blocks))
    }
}

impl Eq for NewestSpan {}
