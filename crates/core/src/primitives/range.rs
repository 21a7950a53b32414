//! Runs of block heights.

use std::fmt;

/// A height; genesis is 0.
pub type BlockNumber = u64;

/// Heights from `first` to `last`, both inclusive; never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockRange {
    first: BlockNumber,
    last: BlockNumber,
}

impl BlockRange {
    /// `None` if `first` is above `last`.
    #[must_use]
    pub fn new(first: BlockNumber, last: BlockNumber) -> Option<Self> {
        (first <= last).then_some(Self { first, last })
    }

    /// The range whose first and last height is `number`.
    #[must_use]
    pub fn single(number: BlockNumber) -> Self {
        Self { first: number, last: number }
    }

    /// From genesis to the highest number.
    pub const ALL: Self = Self { first: 0, last: BlockNumber::MAX };

    /// Lowest height, inclusive.
    #[must_use]
    pub fn first(self) -> BlockNumber {
        self.first
    }

    /// Highest height, inclusive.
    #[must_use]
    pub fn last(self) -> BlockNumber {
        self.last
    }

    /// How many blocks; saturates for the range of all heights.
    #[must_use]
    pub fn count(self) -> u64 {
        (self.last - self.first).saturating_add(1)
    }

    /// Whether `number` lies inside.
    #[must_use]
    pub fn contains(self, number: BlockNumber) -> bool {
        (self.first..=self.last).contains(&number)
    }

    /// The common part.
    #[must_use]
    pub fn intersection(self, other: Self) -> Option<Self> {
        Self::new(self.first.max(other.first), self.last.min(other.last))
    }
}

impl fmt::Display for BlockRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(formatter, "{}", self.first)
        } else {
            write!(formatter, "{}-{}", self.first, self.last)
        }
    }
}

/// Blocks of one branch that are not settled yet. Rows of several branches lie side by side in the hot tables; height
/// and generation together name a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HotRange {
    /// The heights, both ends inclusive.
    pub blocks: BlockRange,
    /// The generation of the rows: it grows each time a height is written again.
    pub generation: u64,
}
