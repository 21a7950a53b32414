//! Readable blocks of a part of the chain: settled blocks by ranges, the newest blocks by branch.

use std::ops::Deref;

use super::{BlockNumber, BlockRange, Coverage};

/// Blocks of one branch that are not settled yet. Rows of several branches lie side by side in the hot tables; height
/// and generation together name a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HotRange {
    /// The heights.
    pub blocks: BlockRange,
    /// The generation of the rows: it grows each time a height is written again.
    pub generation: u64,
}

/// The blocks one statement reads: settled ones in the main tables, the others in the hot tables. Both ascending; every
/// hot block lies above every settled one or in a hole between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Span {
    /// Ranges of settled blocks.
    pub settled: Vec<BlockRange>,
    /// Ranges of hot blocks.
    pub hot: Vec<HotRange>,
}

impl Span {
    /// Whether there is nothing to read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.settled.is_empty() && self.hot.is_empty()
    }

    /// The parts at or above `first`.
    #[must_use]
    pub fn from(&self, first: BlockNumber) -> Self {
        let at_least = BlockRange::new(first, BlockNumber::MAX);
        at_least.map_or_else(Self::default, |range| self.within(range))
    }

    /// The parts within `range`.
    #[must_use]
    pub fn within(&self, range: BlockRange) -> Self {
        Self {
            settled: self.settled.iter().filter_map(|own| own.intersection(range)).collect(),
            hot: hot_within(&self.hot, range),
        }
    }
}

impl From<Vec<BlockRange>> for Span {
    /// Settled blocks only.
    fn from(settled: Vec<BlockRange>) -> Self {
        Self { settled, hot: Vec::new() }
    }
}

fn hot_within(hot: &[HotRange], range: BlockRange) -> Vec<HotRange> {
    let cut = |own: &HotRange| Some(HotRange { blocks: own.blocks.intersection(range)?, ..*own });
    hot.iter().filter_map(cut).collect()
}

/// The blocks of which a part (headers, receipts, …) is readable. Dereferences to the [`Coverage`] of all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Readable {
    all: Coverage,
    settled: Coverage,
    hot: Vec<HotRange>,
}

impl Readable {
    /// Settled blocks, and those of `hot` (one branch) that are not settled. A block that is in both places is read as
    /// settled: the two copies are the same block.
    #[must_use]
    pub fn new(settled: Coverage, hot: &[HotRange]) -> Self {
        let unsettled = |range: &HotRange| {
            let generation = range.generation;
            settled.missing(range.blocks).into_iter().map(move |blocks| HotRange { blocks, generation })
        };
        let mut hot: Vec<HotRange> = hot.iter().flat_map(unsettled).collect();
        hot.sort_unstable();
        let all = settled.ranges().iter().copied().chain(hot.iter().map(|range| range.blocks)).collect();
        Self { all, settled, hot }
    }

    /// The settled blocks, which never change.
    #[must_use]
    pub fn settled(&self) -> &Coverage {
        &self.settled
    }

    /// The blocks that are not settled, ascending.
    #[must_use]
    pub fn hot(&self) -> &[HotRange] {
        &self.hot
    }

    /// All readable blocks.
    #[must_use]
    pub fn span(&self) -> Span {
        Span { settled: self.settled.ranges().to_vec(), hot: self.hot.clone() }
    }

    /// The readable parts of `range`.
    #[must_use]
    pub fn within(&self, range: BlockRange) -> Span {
        Span { settled: self.settled.within(range), hot: hot_within(&self.hot, range) }
    }

    /// One block; empty if it is not readable.
    #[must_use]
    pub fn at(&self, number: BlockNumber) -> Span {
        self.within(BlockRange::single(number))
    }

    /// The generation of the hot block at a height; 0 for a settled one, `None` if nothing is readable there.
    #[must_use]
    pub fn generation(&self, number: BlockNumber) -> Option<u64> {
        if self.settled.contains(number) {
            return Some(0);
        }
        self.hot.iter().find(|range| range.blocks.contains(number)).map(|range| range.generation)
    }
}

impl Deref for Readable {
    type Target = Coverage;

    fn deref(&self) -> &Coverage {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: u64, last: u64) -> BlockRange {
        BlockRange::new(first, last).expect("ordered")
    }

    fn hot(first: u64, last: u64, generation: u64) -> HotRange {
        HotRange { blocks: range(first, last), generation }
    }

    #[test]
    fn a_settled_block_is_not_read_twice() {
        let settled = [range(0, 9)].into_iter().collect();
        let readable = Readable::new(settled, &[hot(8, 11, 1), hot(12, 12, 2)]);
        assert_eq!(readable.hot(), [hot(10, 11, 1), hot(12, 12, 2)]);
        assert_eq!(readable.ranges(), [range(0, 12)]);
        assert_eq!(readable.settled().head(), Some(9));
        assert_eq!(
            (9..=13).map(|number| readable.generation(number)).collect::<Vec<_>>(),
            [Some(0), Some(1), Some(1), Some(2), None]
        );
    }

    #[test]
    fn a_span_is_cut_on_both_sides() {
        let readable = Readable::new([range(0, 4), range(7, 9)].into_iter().collect(), &[hot(10, 19, 3)]);
        let span = readable.within(range(3, 12));
        assert_eq!(span, Span { settled: vec![range(3, 4), range(7, 9)], hot: vec![hot(10, 12, 3)] });
        assert_eq!(span.from(8), Span { settled: vec![range(8, 9)], hot: vec![hot(10, 12, 3)] });
        assert_eq!(span.from(11), Span { settled: Vec::new(), hot: vec![hot(11, 12, 3)] });
        assert!(span.from(13).is_empty());
        assert!(readable.at(5).is_empty());
    }
}
