//! Readable blocks of a part of the chain: settled blocks by ranges, the newest blocks by branch.

use std::ops::Deref;
use std::sync::Arc;

use crate::newest::{NewestBlocks, NewestSpan};
use crate::primitives::{BlockNumber, BlockRange, Coverage, HotRange};

/// The blocks one statement reads: settled ones in the main tables, the newest ones in memory, and those of the newest
/// ones that do not fit in memory in the hot tables. Each ascending; every block that is not settled lies above every
/// settled one or in a hole between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Span {
    /// Ranges of settled blocks.
    pub settled: Vec<BlockRange>,
    /// Ranges of blocks in the hot tables.
    pub hot: Vec<HotRange>,
    /// Blocks in memory.
    pub newest: NewestSpan,
}

impl Span {
    /// Whether there is nothing to read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.settled.is_empty() && self.hot.is_empty() && self.newest.is_empty()
    }

    /// Whether some of the blocks are in tables.
    #[must_use]
    pub fn is_in_tables(&self) -> bool {
        !self.settled.is_empty() || !self.hot.is_empty()
    }

    /// The settled blocks.
    #[must_use]
    pub fn only_settled(&self) -> Self {
        self.settled.clone().into()
    }

    /// The blocks that are not settled.
    #[must_use]
    pub fn without_settled(&self) -> Self {
        Self { settled: Vec::new(), hot: self.hot.clone(), newest: self.newest.clone() }
    }

    /// The heights, in no order.
    pub fn heights(&self) -> impl Iterator<Item = BlockRange> {
        let hot = self.hot.iter().map(|range| range.blocks);
        self.settled.iter().copied().chain(hot).chain(self.newest.ranges().iter().copied())
    }

    /// The lowest block.
    #[must_use]
    pub fn lowest(&self) -> Option<BlockNumber> {
        self.heights().map(BlockRange::first).min()
    }

    /// The highest block.
    #[must_use]
    pub fn highest(&self) -> Option<BlockNumber> {
        self.heights().map(BlockRange::last).max()
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
            newest: self.newest.within(range),
        }
    }
}

impl From<Vec<BlockRange>> for Span {
    /// Settled blocks only.
    fn from(settled: Vec<BlockRange>) -> Self {
        Self { settled, ..Self::default() }
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
    unsettled: Vec<HotRange>,
    /// Those of the unsettled blocks that are in the hot tables alone.
    hot: Vec<HotRange>,
    /// Those of the unsettled blocks that are in memory.
    newest: NewestSpan,
}

impl Readable {
    /// Settled blocks, and those of `hot` (one branch) that are not settled. A block that is in both is read as
    /// settled: the two copies are the same block.
    #[must_use]
    pub fn new(settled: Coverage, hot: &[HotRange]) -> Self {
        Self::with_newest(settled, hot, &Arc::default())
    }

    /// The same, where the blocks of `newest` are read from memory.
    #[must_use]
    pub fn with_newest(settled: Coverage, hot: &[HotRange], newest: &Arc<NewestBlocks>) -> Self {
        let missing = |range: &HotRange| {
            let generation = range.generation;
            settled.missing(range.blocks).into_iter().map(move |blocks| HotRange { blocks, generation })
        };
        let mut unsettled: Vec<HotRange> = hot.iter().flat_map(missing).collect();
        unsettled.sort_unstable();
        let all = settled.ranges().iter().copied().chain(unsettled.iter().map(|range| range.blocks)).collect();
        let in_memory: Coverage = unsettled.iter().flat_map(|range| newest.of(range)).collect();
        let hot = unsettled.iter().flat_map(|range| {
            let generation = range.generation;
            in_memory.missing(range.blocks).into_iter().map(move |blocks| HotRange { blocks, generation })
        });
        let (hot, newest) = (hot.collect(), NewestSpan::new(newest, in_memory.ranges().to_vec()));
        Self { all, settled, unsettled, hot, newest }
    }

    /// The blocks that are in this set or the other one.
    #[must_use]
    pub fn or(&self, other: &Self, newest: &Arc<NewestBlocks>) -> Self {
        let settled = self.settled.ranges().iter().chain(other.settled.ranges()).copied().collect();
        Self::with_newest(settled, &[self.unsettled(), other.unsettled()].concat(), newest)
    }

    /// The settled blocks, which never change.
    #[must_use]
    pub fn settled(&self) -> &Coverage {
        &self.settled
    }

    /// The blocks that are not settled, ascending, wherever they are.
    #[must_use]
    pub fn unsettled(&self) -> &[HotRange] {
        &self.unsettled
    }

    /// All readable blocks.
    #[must_use]
    pub fn span(&self) -> Span {
        Span { settled: self.settled.ranges().to_vec(), hot: self.hot.clone(), newest: self.newest.clone() }
    }

    /// The readable parts of `range`.
    #[must_use]
    pub fn within(&self, range: BlockRange) -> Span {
        let hot = hot_within(&self.hot, range);
        Span { settled: self.settled.within(range), hot, newest: self.newest.within(range) }
    }

    /// One block; empty if it is not readable.
    #[must_use]
    pub fn at(&self, number: BlockNumber) -> Span {
        self.within(BlockRange::single(number))
    }

    /// The generation of the block at a height that is not settled; 0 for a settled one, `None` if nothing is readable
    /// there.
    #[must_use]
    pub fn generation(&self, number: BlockNumber) -> Option<u64> {
        if self.settled.contains(number) {
            return Some(0);
        }
        self.unsettled.iter().find(|range| range.blocks.contains(number)).map(|range| range.generation)
    }

    /// The blocks that are not settled here and are not readable in `later` any more: those that a reorganisation
    /// replaced, ascending, each in a range of its own. A block whose height is settled in `later` is not among them.
    #[must_use]
    pub fn orphaned_in(&self, later: &Self) -> Vec<HotRange> {
        let blocks = |range: &HotRange| {
            let generation = range.generation;
            (range.blocks.first()..=range.blocks.last())
                .map(move |number| HotRange { blocks: BlockRange::single(number), generation })
        };
        let is_orphaned = |block: &HotRange| {
            let now = later.generation(block.blocks.first());
            !now.is_some_and(|now| now == 0 || now == block.generation)
        };
        self.unsettled.iter().flat_map(blocks).filter(is_orphaned).collect()
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
        assert_eq!(readable.unsettled(), [hot(10, 11, 1), hot(12, 12, 2)]);
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
        assert_eq!(
            span,
            Span { settled: vec![range(3, 4), range(7, 9)], hot: vec![hot(10, 12, 3)], ..Span::default() }
        );
        assert_eq!(span.from(8), Span { settled: vec![range(8, 9)], hot: vec![hot(10, 12, 3)], ..Span::default() });
        assert_eq!(span.from(11), Span { settled: Vec::new(), hot: vec![hot(11, 12, 3)], ..Span::default() });
        assert!(span.from(13).is_empty());
        assert!(readable.at(5).is_empty());
    }
}
