//! Some of the newest blocks.

use std::sync::Arc;

use super::block::{NewestBlock, NewestRow};
use super::blocks::NewestBlocks;
use super::lookup::Lookup;
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

    /// The blocks to search, ascending.
    pub(super) fn having(&self, lookup: &Lookup) -> impl DoubleEndedIterator<Item = &NewestBlock> {
        let heights = self.ranges.first().zip(self.ranges.last());
        let heights = heights.and_then(|(lowest, highest)| BlockRange::new(lowest.first(), highest.last()));
        let runs = heights.map_or(&[][..], |heights| self.blocks.index().within(heights));
        runs.iter().flat_map(move |run| {
            let own = run.within(&self.ranges);
            let found = if own == 0 { 0 } else { own & lookup.mask(run) };
            let offsets = (0..u64::from(u64::BITS)).filter(move |offset| found >> offset & 1 == 1);
            offsets.filter_map(move |offset| self.blocks.get(run.first() + offset))
        })
    }

    /// The last row of a table in the highest block that has these bytes in these columns, and the height of that
    /// block.
    #[must_use]
    pub fn find_newest(&self, table: &str, values: &[(&str, &[u8])]) -> Option<(BlockNumber, NewestRow<'_>)> {
        let lookup = Lookup::of_values(table, values);
        self.having(&lookup).rev().find_map(|block| Some((block.number, block.find(table, values)?)))
    }

    /// The rows of a table that have these bytes in these columns, ascending.
    #[must_use]
    pub fn find_all(&self, table: &str, values: &[(&str, &[u8])]) -> Vec<NewestRow<'_>> {
        let lookup = Lookup::of_values(table, values);
        self.having(&lookup).flat_map(|block| block.find_all(table, values)).collect()
    }
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
