//! The sums of the blocks of each day: of settled blocks by cached runs, of the newest blocks one by one.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::app::App;
use crate::cache::settled_rows::Key;
use crate::error::Problem;
use trawl_core::primitives::{BlockNumber, BlockRange, U256};
use trawl_core::readable::Span;
use trawl_core::store::Head;
use trawl_query::stats::days::{BlockOfDay, DaySums, MAX_BLOCKS, MAX_DAYS, of_newest, of_settled, runs};

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;
/// Ranges of settled blocks that are read run by run; more are read at once, and not cached as the chain grows.
const MAX_RANGES: usize = 16;

/// Runs that are read at the same time.
pub(crate) const CONCURRENT_READS: usize = 4;

/// The settled blocks of a span in the parts in which sums of them are read and cached.
pub(crate) fn settled_reads(span: &Span) -> Vec<Vec<BlockRange>> {
    match span.settled.len() {
        0 => Vec::new(),
        count if count > MAX_RANGES => vec![span.settled.clone()],
        _ => span.settled.iter().flat_map(|range| runs(*range)).map(|run| vec![run]).collect(),
    }
}

/// The sums of some blocks; `None` where a value is not known for all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sums {
    /// Number of blocks.
    pub blocks: u64,
    /// Transactions in them.
    pub transactions: u64,
    /// Gas they used, and gas they could use.
    pub gas: Option<(U256, U256)>,
    /// Wei that transactions paid for gas.
    pub fees: Option<U256>,
    /// Wei of them above the base fee.
    pub tips: Option<U256>,
    /// Sizes of the blocks in sum, in bytes.
    pub size: Option<u64>,
    /// Their base fees in wei; `None` also where a block has none.
    pub base_fees: Option<BaseFees>,
    /// Blob gas they used.
    pub blob_gas: Option<u64>,
    /// The times of the first and the last of them, in microseconds; `None` of no blocks.
    pub times: Option<(i64, i64)>,
}

/// The base fees of some blocks, in wei.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BaseFees {
    /// The sum of them.
    pub sum: U256,
    /// The lowest one; the greatest number of no blocks.
    pub lowest: U256,
    /// The highest one.
    pub highest: U256,
    /// What was burnt; `None` where that is not known.
    pub burnt: Option<U256>,
}

impl BaseFees {
    /// Those of no blocks.
    const NONE: Self = Self { sum: U256::ZERO, lowest: U256::MAX, highest: U256::ZERO, burnt: Some(U256::ZERO) };

    fn and(self, other: Self) -> Self {
        Self {
            sum: self.sum + other.sum,
            lowest: self.lowest.min(other.lowest),
            highest: self.highest.max(other.highest),
            burnt: self.burnt.zip(other.burnt).map(|(one, more)| one + more),
        }
    }
}

impl Sums {
    /// Those of no blocks.
    pub const NONE: Self = Self {
        blocks: 0,
        transactions: 0,
        gas: Some((U256::ZERO, U256::ZERO)),
        fees: Some(U256::ZERO),
        tips: Some(U256::ZERO),
        size: Some(0),
        base_fees: Some(BaseFees::NONE),
        blob_gas: Some(0),
        times: None,
    };

    /// The sums of both.
    pub fn and(self, other: Self) -> Self {
        let gas = self.gas.zip(other.gas).map(|(one, other)| (one.0 + other.0, one.1 + other.1));
        Self {
            blocks: self.blocks + other.blocks,
            transactions: self.transactions + other.transactions,
            gas,
            fees: self.fees.zip(other.fees).map(|(one, other)| one + other),
            tips: self.tips.zip(other.tips).map(|(one, other)| one + other),
            size: self.size.zip(other.size).map(|(one, other)| one + other),
            base_fees: self.base_fees.zip(other.base_fees).map(|(one, other)| one.and(other)),
            blob_gas: self.blob_gas.zip(other.blob_gas).map(|(one, other)| one + other),
            times: match (self.times, other.times) {
                (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
                (one, other) => one.or(other),
            },
        }
    }
}

/// The loaded blocks of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Day {
    first: BlockNumber,
    last: BlockNumber,
    sums: Sums,
}

impl Day {
    fn and(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last), sums: self.sums.and(other.sums) }
    }
}

impl From<&DaySums> for Day {
    fn from(row: &DaySums) -> Self {
        let base_fees = BaseFees {
            sum: row.base_fees,
            lowest: row.lowest_base_fee,
            highest: row.highest_base_fee,
            burnt: (row.without_burnt == 0).then_some(row.burnt),
        };
        let sums = Sums {
            blocks: row.blocks,
            transactions: row.transactions,
            gas: (row.without_gas == 0).then_some((row.gas_used, row.gas_limit)),
            fees: (row.without_fees == 0).then_some(row.fees),
            tips: (row.without_tips == 0).then_some(row.tips),
            size: (row.without_size == 0).then_some(row.size),
            base_fees: (row.without_base_fee == 0 && row.without_gas == 0).then_some(base_fees),
            blob_gas: (row.without_blob_gas == 0).then_some(row.blob_gas_used),
            times: Some((row.first_timestamp.micros(), row.last_timestamp.micros())),
        };
        Self { first: row.first_block, last: row.last_block, sums }
    }
}

impl From<&BlockOfDay> for Day {
    fn from(row: &BlockOfDay) -> Self {
        let has = |column: &str| row.lacking.iter().all(|lacking| lacking != column);
        let gas = (U256::from(row.gas_used), U256::from(row.gas_limit));
        let base_fees = |fee: U256| BaseFees { sum: fee, lowest: fee, highest: fee, burnt: row.burnt_fees };
        let sums = Sums {
            blocks: 1,
            transactions: row.transactions_count.into(),
            gas: (has("gas_used") && has("gas_limit")).then_some(gas),
            fees: row.transaction_fees.filter(|_| has("transaction_fees")),
            tips: row.priority_fees.filter(|_| has("priority_fees")),
            size: row.size.filter(|_| has("size")),
            base_fees: row.base_fee_per_gas.filter(|_| has("base_fee_per_gas") && has("gas_used")).map(base_fees),
            blob_gas: row.blob_gas_used.filter(|_| has("blob_gas_used")),
            times: Some((row.timestamp.micros(), row.timestamp.micros())),
        };
        Self { first: row.block_number, last: row.block_number, sums }
    }
}

/// The days of the loaded blocks, by days since 1970.
#[derive(Debug, Clone, Default)]
pub(crate) struct Days {
    by_day: BTreeMap<u64, Day>,
    head: BlockNumber,
}

impl Days {
    /// Adds a day, or a part of one.
    fn add(&mut self, day: u64, part: Day) {
        self.by_day.entry(day).and_modify(|known| *known = known.and(part)).or_insert(part);
    }

    /// The day of the newest block.
    pub fn newest(&self) -> Option<u64> {
        self.by_day.last_key_value().map(|(day, _)| *day)
    }

    /// The days from that of the first loaded block to that of the newest one. A genesis block alone on its day does
    /// not count: its time is often that of no clock.
    pub fn all(&self) -> Option<RangeInclusive<u64>> {
        let mut days = self.by_day.iter();
        let (mut first, day) = days.next()?;
        if day.last == 0 {
            first = days.next().map_or(first, |(second, _)| second);
        }
        Some(*first..=self.newest()?)
    }

    /// What a day adds up to, up to now if it is that of the newest block; `None` if not all its blocks are loaded.
    pub fn of(&self, day: u64) -> Option<Sums> {
        let before = self.by_day.range(..day).next_back().map(|(_, day)| day.last);
        let next = self.by_day.range(day + 1..).next().map(|(_, day)| day.first);
        let Some(own) = self.by_day.get(&day) else {
            // No block was made on a day between two blocks that follow one another.
            return (before? + 1 == next?).then_some(Sums::NONE);
        };
        let begins = if own.first == 0 { before.is_none() } else { before == Some(own.first - 1) };
        let ends = next.map_or(own.last == self.head, |next| next == own.last + 1);
        let is_whole = own.sums.blocks == own.last - own.first + 1;
        (begins && ends && is_whole).then_some(own.sums)
    }

    /// What all blocks add up to; `None` if one below the head is not loaded.
    pub fn total(&self) -> Option<Sums> {
        let sums = self.by_day.values().fold(Sums::NONE, |sums, day| sums.and(day.sums));
        (sums.blocks == self.head + 1).then_some(sums)
    }

    /// What all blocks up to each day add up to; `None` if one of them is not loaded.
    pub fn growth(&self) -> BTreeMap<u64, Option<Sums>> {
        let so_far = |sums: &mut Sums, (day, own): (&u64, &Day)| {
            *sums = sums.and(own.sums);
            Some((*day, (sums.blocks == own.last + 1).then_some(*sums)))
        };
        self.by_day.iter().scan(Sums::NONE, so_far).collect()
    }

    /// The blocks of some days, ascending; days without any are left out.
    pub fn blocks(&self, days: RangeInclusive<u64>) -> Vec<(u64, BlockRange)> {
        let of_day = |(day, own): (&u64, &Day)| Some((*day, BlockRange::new(own.first, own.last)?));
        self.by_day.range(days).filter_map(of_day).collect()
    }

    /// The first block of a day or of the days after it.
    pub fn first_block(&self, day: u64) -> Option<BlockNumber> {
        self.by_day.range(day..).next().map(|(_, day)| day.first)
    }
}

impl App {
    /// The days of the loaded blocks; none if there are more than a statement reads.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn days(&self, head: &Head) -> Result<Days, Problem> {
        let blocks = head.blocks.span();
        let mut days = Days { head: head.number().unwrap_or_default(), ..Days::default() };
        let read = async |ranges: Vec<BlockRange>| {
            let statement = of_settled(&ranges);
            let rows = async { Ok(self.reader().rows(&statement).await?) };
            self.day_sums().get_or_read(Key::new(head, &statement), rows).await
        };
        let mut runs = stream::iter(settled_reads(&blocks).into_iter().map(read)).buffered(CONCURRENT_READS);
        while let Some(rows) = runs.try_next().await? {
            rows.iter().for_each(|row| days.add(row.day, row.into()));
            if days.by_day.len() as u64 >= MAX_DAYS {
                return Ok(Days::default());
            }
        }
        let newest = self.reader().rows(&of_newest(&blocks.without_settled())).await?;
        if newest.len() as u64 >= MAX_BLOCKS {
            return Ok(Days::default());
        }
        for row in &newest {
            days.add(u64::try_from(row.timestamp.micros().div_euclid(DAY)).unwrap_or(0), row.into());
        }
        Ok(days)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(rows: &[(u64, BlockNumber, BlockNumber)], head: BlockNumber) -> Days {
        let mut days = Days { head, ..Days::default() };
        for (day, first, last) in rows {
            let blocks = last - first + 1;
            days.add(*day, Day { first: *first, last: *last, sums: Sums { blocks, ..Sums::NONE } });
        }
        days
    }

    fn blocks(days: &Days, day: u64) -> Option<u64> {
        days.of(day).map(|sums| sums.blocks)
    }

    #[test]
    fn only_days_that_are_wholly_loaded_are_known() {
        let whole = days(&[(3, 0, 4), (4, 5, 9), (7, 10, 10)], 10);
        let found: Vec<_> = (2..=8).map(|day| blocks(&whole, day)).collect();
        assert_eq!(found, [None, Some(5), Some(5), Some(0), Some(0), Some(1), None]);
        assert_eq!(whole.total().map(|sums| sums.blocks), Some(11));
        // A gap behind block 6, and nothing below block 4.
        let gap = days(&[(3, 4, 4), (4, 5, 6), (5, 8, 9), (6, 10, 10)], 10);
        let found: Vec<_> = (3..=6).map(|day| blocks(&gap, day)).collect();
        assert_eq!(found, [None, None, None, Some(1)]);
        assert_eq!(gap.total(), None);
        // A hole inside a day.
        let mut hole = days(&[(3, 0, 1), (4, 2, 3)], 9);
        hole.add(4, Day { first: 8, last: 9, sums: Sums { blocks: 2, ..Sums::NONE } });
        assert_eq!((blocks(&hole, 3), blocks(&hole, 4)), (Some(2), None));
    }
}
