//! Which blocks the periods of the calendar have.

use std::collections::BTreeMap;

use trawl_core::calendar::Period;
use trawl_core::primitives::BlockRange;
use trawl_query::stats::days::DaySums;

/// The settled blocks of a day.
#[derive(Debug, Clone, Copy)]
pub(super) struct DayOfBlocks {
    /// From the lowest to the highest one; there may be gaps.
    pub blocks: BlockRange,
    /// How many of these blocks there are.
    pub count: u64,
    /// Transactions of all these blocks.
    pub transactions: u64,
}

impl DayOfBlocks {
    /// `None` of a row without blocks.
    pub(super) fn new(row: &DaySums) -> Option<Self> {
        let blocks = BlockRange::new(row.first_block, row.last_block)?;
        Some(Self { blocks, count: row.blocks, transactions: row.transactions })
    }
}

/// The blocks of a period, without a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PeriodBlocks {
    /// All of them that are settled.
    pub blocks: BlockRange,
    /// Transactions of all these blocks.
    pub transactions: u64,
}

/// The periods that are over, ascending: the block after their last one is settled and of a later period. Those with
/// gaps are left out.
pub(super) fn periods(days: &BTreeMap<u64, DayOfBlocks>, period: Period) -> Vec<PeriodBlocks> {
    let mut by_period: BTreeMap<u64, DayOfBlocks> = BTreeMap::new();
    for (day, own) in days {
        let add = |sum: &mut DayOfBlocks| {
            let blocks = BlockRange::new(sum.blocks.first(), own.blocks.last()).unwrap_or(sum.blocks);
            let (count, transactions) = (sum.count + own.count, sum.transactions + own.transactions);
            *sum = DayOfBlocks { blocks, count, transactions };
        };
        by_period.entry(period.first_of(*day)).and_modify(add).or_insert(*own);
    }
    let next = by_period.values().skip(1);
    let is_over = |(own, next): &(&DayOfBlocks, &DayOfBlocks)| own.blocks.last() + 1 == next.blocks.first();
    let over = by_period.values().zip(next).filter(is_over);
    let complete = over.filter(|(own, _)| own.count == own.blocks.count());
    complete.map(|(own, _)| PeriodBlocks { blocks: own.blocks, transactions: own.transactions }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trawl_core::calendar::day;

    fn days(rows: &[(&str, u64, u64, u64)]) -> BTreeMap<u64, DayOfBlocks> {
        let row = |(date, first, last, count): &(&str, u64, u64, u64)| {
            let blocks = BlockRange::new(*first, *last).expect("a range");
            (day(date).expect("a date"), DayOfBlocks { blocks, count: *count, transactions: 2 * count })
        };
        rows.iter().map(row).collect()
    }

    fn found(days: &BTreeMap<u64, DayOfBlocks>, period: Period) -> Vec<(u64, u64, u64)> {
        let of = |one: PeriodBlocks| (one.blocks.first(), one.blocks.last(), one.transactions);
        periods(days, period).into_iter().map(of).collect()
    }

    #[test]
    fn periods_are_over_once_a_later_one_has_begun() {
        let chain = days(&[("2024-01-30", 1, 5, 5), ("2024-01-31", 6, 7, 2), ("2024-02-01", 8, 9, 2)]);
        assert_eq!(found(&chain, Period::Day), [(1, 5, 10), (6, 7, 4)]);
        assert_eq!(found(&chain, Period::Month), [(1, 7, 14)]);
        assert_eq!(found(&chain, Period::Week), []);
        assert_eq!(found(&chain, Period::Year), []);
    }

    #[test]
    fn periods_with_gaps_are_left_out() {
        let within = days(&[("2024-01-30", 1, 5, 4), ("2024-01-31", 6, 7, 2), ("2024-02-01", 8, 9, 2)]);
        assert_eq!(found(&within, Period::Day), [(6, 7, 4)]);
        assert_eq!(found(&within, Period::Month), []);
        let between = days(&[("2024-01-30", 1, 5, 5), ("2024-01-31", 7, 8, 2), ("2024-02-01", 9, 9, 1)]);
        assert_eq!(found(&between, Period::Day), [(7, 8, 4)]);
        assert_eq!(found(&between, Period::Month), []);
    }
}
