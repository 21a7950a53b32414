//! Sets of blocks as sorted, disjoint, non-adjacent ranges.

use super::{BlockNumber, BlockRange};

/// The set of blocks that are complete and readable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coverage {
    ranges: Vec<BlockRange>,
}

impl FromIterator<BlockRange> for Coverage {
    /// Ranges may come in any order, and overlap or touch.
    fn from_iter<I: IntoIterator<Item = BlockRange>>(ranges: I) -> Self {
        let mut sorted: Vec<BlockRange> = ranges.into_iter().collect();
        sorted.sort_unstable();
        let mut merged: Vec<BlockRange> = Vec::with_capacity(sorted.len());
        for range in sorted {
            match merged.last_mut() {
                Some(last) if range.first() <= last.last().saturating_add(1) => {
                    *last = BlockRange::new(last.first(), last.last().max(range.last())).unwrap_or(*last);
                }
                _ => merged.push(range),
            }
        }
        Self { ranges: merged }
    }
}

impl Coverage {
    /// The ranges, lowest first.
    #[must_use]
    pub fn ranges(&self) -> &[BlockRange] {
        &self.ranges
    }

    /// The highest block.
    #[must_use]
    pub fn head(&self) -> Option<BlockNumber> {
        self.ranges.last().map(|range| range.last())
    }

    /// The lowest block.
    #[must_use]
    pub fn first(&self) -> Option<BlockNumber> {
        self.ranges.first().map(|range| range.first())
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether the set contains `number`.
    #[must_use]
    pub fn contains(&self, number: BlockNumber) -> bool {
        let after = self.ranges.partition_point(|range| range.last() < number);
        self.ranges.get(after).is_some_and(|range| range.contains(number))
    }

    /// Adds a block; false if the set already had it.
    pub fn insert(&mut self, number: BlockNumber) -> bool {
        let after = self.ranges.partition_point(|range| range.last() < number);
        if self.ranges.get(after).is_some_and(|range| range.contains(number)) {
            return false;
        }
        let follows = after.checked_sub(1).filter(|before| self.ranges[*before].last() + 1 == number);
        let precedes = self.ranges.get(after).filter(|range| range.first() == number + 1).map(|range| range.last());
        let first = follows.map_or(number, |before| self.ranges[before].first());
        let last = precedes.unwrap_or(number);
        let joined = follows.unwrap_or(after)..after + usize::from(precedes.is_some());
        self.ranges.splice(joined, BlockRange::new(first, last));
        true
    }

    /// The parts of `range` in the set, lowest first.
    #[must_use]
    pub fn within(&self, range: BlockRange) -> Vec<BlockRange> {
        let from = self.ranges.partition_point(|own| own.last() < range.first());
        self.ranges[from..].iter().map_while(|own| own.intersection(range)).collect()
    }

    /// The parts of `whole` outside the set, lowest first; empty if the set contains all of it.
    #[must_use]
    pub fn missing(&self, whole: BlockRange) -> Vec<BlockRange> {
        let mut gaps = Vec::new();
        let mut next = Some(whole.first());
        for range in self.within(whole) {
            gaps.extend(next.and_then(|first| BlockRange::new(first, range.first().checked_sub(1)?)));
            next = range.last().checked_add(1);
        }
        gaps.extend(next.and_then(|first| BlockRange::new(first, whole.last())));
        gaps
    }

    /// The blocks that are not in `other`.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        self.ranges.iter().flat_map(|range| other.missing(*range)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn range(first: u64, last: u64) -> BlockRange {
        BlockRange::new(first, last).expect("ordered")
    }

    fn blocks(ranges: &[BlockRange]) -> BTreeSet<u64> {
        ranges.iter().flat_map(|range| range.first()..=range.last()).collect()
    }

    proptest! {
        #[test]
        fn is_the_set_of_its_blocks(pairs in prop::collection::vec((0u64..60, 0u64..9), 0..9), bounds in (0u64..60, 0u64..30)) {
            let given: Vec<_> = pairs.iter().map(|(first, more)| range(*first, first + more)).collect();
            let coverage: Coverage = given.iter().copied().collect();
            let bounds = range(bounds.0, bounds.0 + bounds.1);
            let all = blocks(&given);
            prop_assert_eq!(&blocks(coverage.ranges()), &all);
            for pair in coverage.ranges().windows(2) {
                prop_assert!(pair[0].last() + 1 < pair[1].first());
            }
            let requested = blocks(&[bounds]);
            let rest = coverage.without(&[bounds].into_iter().collect());
            prop_assert_eq!(blocks(rest.ranges()), &all - &requested);
            prop_assert_eq!(blocks(&coverage.within(bounds)), &requested & &all);
            prop_assert_eq!(blocks(&coverage.missing(bounds)), &requested - &all);
            let mut grown = Coverage::default();
            for block in given.iter().flat_map(|range| range.first()..=range.last()) {
                let is_new = !grown.contains(block);
                prop_assert_eq!(grown.insert(block), is_new);
            }
            prop_assert_eq!(&grown, &coverage);
            for number in 0..80 {
                prop_assert_eq!(coverage.contains(number), all.contains(&number));
            }
        }
    }

    #[test]
    fn the_highest_heights_do_not_overflow() {
        let coverage: Coverage = [range(5, u64::MAX), range(0, 4)].into_iter().collect();
        assert_eq!(coverage.ranges(), [range(0, u64::MAX)]);
        assert!(coverage.missing(range(0, u64::MAX)).is_empty());
        assert_eq!(Coverage::default().missing(range(0, u64::MAX)), [range(0, u64::MAX)]);
    }
}
