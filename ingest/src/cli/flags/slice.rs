//! `--slice K/N`: a share of a range.

use std::fmt;
use std::str::FromStr;

use trawl_core::primitives::BlockRange;

/// Shares of a range, at most. A table remembers its last 1,000 inserts, and one that is repeated, up to two minutes
/// later, must be among them: loads that commit every five seconds at least make half of that.
const MAX_SHARES: u64 = 32;

/// A share of a range: the `position`th of `shares` that are equally long but for a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    position: u64,
    shares: u64,
}

impl Slice {
    /// The blocks of the share; `None` if the range is shorter than it has shares.
    pub fn of(self, range: BlockRange) -> Option<BlockRange> {
        let blocks = u128::from(range.last() - range.first()) + 1;
        let before = |position: u64| blocks * u128::from(position) / u128::from(self.shares);
        let block = |offset: u128| range.first() + u64::try_from(offset).unwrap_or(u64::MAX);
        let (first, end) = (before(self.position - 1), before(self.position));
        BlockRange::new(block(first), block(end.checked_sub(1)?)).filter(|_| first < end)
    }

    /// Whether it is the share with the lowest blocks.
    pub fn is_first(self) -> bool {
        self.position == 1
    }
}

impl FromStr for Slice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(one, other)| Some((one.parse().ok()?, other.parse().ok()?)));
        let slice = numbers.map(|(position, shares)| Self { position, shares });
        let is_share =
            |slice: &Self| (1..=MAX_SHARES).contains(&slice.shares) && (1..=slice.shares).contains(&slice.position);
        slice
            .filter(is_share)
            .ok_or_else(|| format!("give K/N with K from 1 to N and N at most {MAX_SHARES}, as in 2/4"))
    }
}

impl fmt::Display for Slice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.position, self.shares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_the_range() {
        for (first, last) in [(0, 91), (10, 10), (5, 40), (0, u64::MAX), (u64::MAX - 63, u64::MAX)] {
            let range = BlockRange::new(first, last).expect("a range");
            for shares in 1..=MAX_SHARES {
                let all = (1..=shares).map(|position| Slice { position, shares });
                let all: Vec<BlockRange> = all.filter_map(|slice| slice.of(range)).collect();
                assert_eq!((all[0].first(), all[all.len() - 1].last()), (first, last));
                assert!(
                    all.windows(2).all(|pair| pair[0].last() + 1 == pair[1].first()),
                    "{range} in {shares}: {all:?}"
                );
                let (shortest, longest) =
                    (all.iter().map(|share| share.count()).min(), all.iter().map(|share| share.count()).max());
                assert!(longest <= shortest.map(|blocks| blocks.saturating_add(1)), "{range} in {shares}: {all:?}");
                assert_eq!(all.len() as u64, shares.min(range.count()), "{range} in {shares}");
            }
        }
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for text in ["1/1", "2/4", "32/32"] {
            assert_eq!(text.parse::<Slice>().map(|slice| slice.to_string()), Ok(text.into()));
        }
        for text in ["", "x", "1", "1/", "/4", "0/4", "5/4", "1/0", "0/0", "1/33", "-1/4", "1/4/2", "1.5/4"] {
            assert!(text.parse::<Slice>().is_err(), "{text}");
        }
    }
}
