//! Adds up the transactions of days, weeks, months and years that are over and settled, so that charts of a chain of
//! any size read a row a period.
//!
//! A row names the commits that it was added up from, and counts only while its blocks have these: whatever loads them
//! again, fills them in or takes them back needs no thought here. What is missing is found by comparing, so a run that
//! was killed at any point leaves nothing to repair.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

use trawl_core::calendar::Period;
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_core::schema::{Columns, Table, TransactionTotalsRow};
use trawl_core::statement::{Statement, Workload};
use trawl_core::store::{Head, Reader, StoreError, Writer};
use trawl_query::stats::charts::prices::{self, PriceSum};
use trawl_query::stats::charts::totals::{MAX_PERIODS, commits, stored};
use trawl_query::stats::charts::transactions::{self, PeriodSum};
use trawl_query::stats::days::of_settled;

use calendar::{DayOfBlocks, PeriodBlocks, periods};

use crate::write::lease::LeaseGuard;
use crate::write::retry::retry_transient;

mod calendar;

/// Transactions of a period, at most; charts with longer ones refuse them as before.
const MAX_TRANSACTIONS: u64 = 400_000_000;
/// Transactions of the periods that are added up together, if there is more than one.
const BATCH_TRANSACTIONS: u64 = 10_000_000;
/// Between two rounds, at least: batches of a load are committed all the time.
const INTERVAL: Duration = Duration::from_secs(60);
/// How long what failed is left alone: a statement of minutes may have failed at its end.
const RETRY_PAUSE: Duration = Duration::from_secs(600);
/// Groups beyond 256 MiB go to disk, and one thread leaves the others to readers.
const SETTINGS: &[(&str, &str)] =
    &[("max_threads", "1"), ("max_bytes_before_external_group_by", "268435456"), ("max_execution_time", "0")];
/// A year of a large chain takes minutes.
const TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// Whether there is more to add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Backlog {
    /// All that is complete is added up, or is left alone for a while.
    Empty,
    /// There may be more periods.
    Pending,
}

/// Adds up what is missing.
pub(super) struct TransactionTotals {
    reader: Reader,
    writer: Writer,
    guard: LeaseGuard,
    /// The settled blocks of each day, up to those of the last round.
    days: BTreeMap<u64, DayOfBlocks>,
    /// The settled ranges of the last round.
    settled: Vec<BlockRange>,
    /// Periods that were stored when they were looked up last.
    known: HashSet<BlockRange>,
    /// When periods are looked for next; none for at once.
    next_round: Option<Instant>,
    /// Numbers the writes of this run.
    attempts: u64,
}

impl TransactionTotals {
    pub(super) fn new(reader: Reader, writer: Writer, guard: LeaseGuard) -> Self {
        let (days, settled, known) = (BTreeMap::new(), Vec::new(), HashSet::new());
        Self { reader, writer, guard, days, settled, known, next_round: None, attempts: 0 }
    }

    /// Forgets which periods are stored, so that the next round looks up all of them.
    pub(super) fn forget(&mut self) {
        self.days.clear();
        self.settled.clear();
        self.known.clear();
        self.next_round = None;
    }

    /// Adds up some of the periods that became complete, a batch at most, so that whoever shares the task has its turn.
    /// What fails is tried again after ten minutes: until then charts add up by themselves.
    ///
    /// # Errors
    ///
    /// If the lease is lost, or cannot be proven.
    pub(super) async fn extend(&mut self, head: &Head) -> Result<Backlog, StoreError> {
        if self.next_round.is_some_and(|next| Instant::now() < next) {
            return Ok(Backlog::Empty);
        }
        let pause = match self.add_up_next(head).await {
            Ok(Backlog::Pending) => return Ok(Backlog::Pending),
            Ok(Backlog::Empty) => INTERVAL,
            Err(cause @ (StoreError::LeaseLost | StoreError::NoSignOfLife(_))) => return Err(cause),
            Err(cause) => {
                tracing::warn!(error = %trawl_core::error_chain(&cause), "cannot aggregate transactions by period; \
                                                                          trying again later");
                RETRY_PAUSE
            }
        };
        self.next_round = Some(Instant::now() + pause);
        Ok(Backlog::Empty)
    }

    async fn add_up_next(&mut self, head: &Head) -> Result<Backlog, StoreError> {
        self.read_days(head.blocks.settled().ranges()).await?;
        for period in [Period::Day, Period::Week, Period::Month, Period::Year] {
            let mut complete = periods(&self.days, period);
            complete.retain(|period| period.transactions <= MAX_TRANSACTIONS && !self.known.contains(&period.blocks));
            for some in complete.chunks(MAX_PERIODS) {
                let batch = first_batch(&self.missing(some).await?);
                if !batch.is_empty() {
                    self.add_up(&batch).await?;
                    let through = batch.last().map(|range| range.last());
                    tracing::debug!(periods = batch.len(), through, "aggregated transactions by period");
                    self.known.extend(batch);
                    return Ok(Backlog::Pending);
                }
            }
        }
        Ok(Backlog::Empty)
    }

    /// Reads which blocks the days have: all of them, if more changed than the end of the chain, else from the newest
    /// known day on.
    async fn read_days(&mut self, settled: &[BlockRange]) -> Result<(), StoreError> {
        if !only_grew(&self.settled, settled) {
            self.forget();
        }
        let from = self.days.last_key_value().map_or(0, |(_, day)| day.blocks.first());
        let cut = |range: &BlockRange| BlockRange::new(range.first().max(from), range.last());
        let ranges: Vec<BlockRange> = settled.iter().filter_map(cut).collect();
        if !ranges.is_empty() {
            let rows = self.rows(of_settled(&ranges)).await?;
            self.days.extend(rows.iter().filter_map(|row| Some((row.day, DayOfBlocks::new(row)?))));
        }
        self.settled = settled.to_vec();
        Ok(())
    }

    /// Those of some periods that are not stored.
    async fn missing(&mut self, complete: &[PeriodBlocks]) -> Result<Vec<PeriodBlocks>, StoreError> {
        let ranges: Vec<BlockRange> = complete.iter().map(|period| period.blocks).collect();
        let found = self.rows(stored(&ranges)).await?;
        self.known.extend(found.iter().filter_map(|row| BlockRange::new(row.first_block, row.last_block)));
        Ok(complete.iter().filter(|period| !self.known.contains(&period.blocks)).copied().collect())
    }

    /// Adds up some periods. Their commits are read first: if blocks are committed meanwhile, the rows do not count.
    async fn add_up(&mut self, periods: &[BlockRange]) -> Result<(), StoreError> {
        let starts: Vec<BlockNumber> = periods.iter().map(|range| range.first()).collect();
        let fingerprints = self.rows(commits(periods)).await?;
        let sums = self.rows(transactions::sums(&starts, periods)).await?;
        let prices = self.rows(prices::sums(&starts, periods)).await?;
        let fingerprints: HashMap<BlockNumber, u64> =
            fingerprints.into_iter().map(|row| (row.first_block, row.commits)).collect();
        let sums: HashMap<BlockNumber, PeriodSum> = sums.into_iter().map(|row| (row.start, row)).collect();
        let prices: HashMap<BlockNumber, PriceSum> = prices.into_iter().map(|row| (row.start, row)).collect();
        let mut builder = <TransactionTotalsRow as Table>::Builder::default();
        for blocks in periods {
            let Some(commits) = fingerprints.get(&blocks.first()) else { continue };
            let of_period = (sums.get(&blocks.first()), prices.get(&blocks.first()));
            TransactionTotalsRow::push(&mut builder, row(*blocks, *commits, of_period.0, of_period.1));
        }
        let batch = TransactionTotalsRow::finish(builder);
        self.attempts += 1;
        let token = format!("{}/transaction totals/{}", self.writer.run(), self.attempts);
        retry_transient(|| self.guard.write(self.writer.insert("transaction_totals", &batch, &token))).await
    }

    /// The rows of a statement as a background task reads them: slowly, and for as long as it takes.
    async fn rows<R: Columns>(&self, mut statement: Statement<R>) -> Result<Vec<R>, StoreError> {
        statement.settings = SETTINGS;
        statement.workload = Workload::Ingest;
        statement.timeout = Some(TIMEOUT);
        retry_transient(|| self.reader.rows(&statement)).await
    }
}

/// A period without transactions has a row as well: it is known that it has none.
fn row(blocks: BlockRange, commits: u64, sums: Option<&PeriodSum>, prices: Option<&PriceSum>) -> TransactionTotalsRow {
    TransactionTotalsRow {
        first_block: blocks.first(),
        last_block: blocks.last(),
        commits,
        transactions: sums.map_or(0, |sums| sums.transactions),
        failed: sums.map_or(0, |sums| sums.failed),
        without_status: sums.map_or(0, |sums| sums.without_status),
        gas: sums.map(|sums| sums.gas).unwrap_or_default(),
        failed_gas: sums.map(|sums| sums.failed_gas).unwrap_or_default(),
        fees: sums.map(|sums| sums.fees).unwrap_or_default(),
        failed_fees: sums.map(|sums| sums.failed_fees).unwrap_or_default(),
        without_gas: sums.map_or(0, |sums| sums.without_gas),
        senders: sums.map_or(0, |sums| sums.senders),
        new_senders: sums.map_or(0, |sums| sums.new_senders),
        without_nonce: sums.map_or(0, |sums| sums.without_nonce),
        price_p10: prices.map(|prices| prices.tenth),
        price_p50: prices.map(|prices| prices.median),
        price_p90: prices.map(|prices| prices.ninetieth),
        added_up_at: crate::write::clock::now(),
    }
}

/// Whether ranges are what they were, but for the end of the last one and further ones above it.
fn only_grew(before: &[BlockRange], now: &[BlockRange]) -> bool {
    let Some((last, others)) = before.split_last() else { return true };
    let Some(same) = now.get(others.len()) else { return false };
    now.starts_with(others) && same.first() == last.first() && same.last() >= last.last()
}

/// The first periods with so many transactions together, or a single one with more.
fn first_batch(periods: &[PeriodBlocks]) -> Vec<BlockRange> {
    let mut transactions = 0;
    let mut fits = |(index, period): &(usize, &PeriodBlocks)| {
        transactions += period.transactions;
        *index == 0 || transactions <= BATCH_TRANSACTIONS
    };
    periods.iter().enumerate().take_while(|one| fits(one)).map(|(_, period)| period.blocks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: BlockNumber, last: BlockNumber) -> BlockRange {
        BlockRange::new(first, last).expect("a range")
    }

    #[test]
    fn a_chain_grows_at_its_end() {
        let before = [range(1, 4), range(8, 9)];
        assert!(only_grew(&before, &before));
        assert!(only_grew(&before, &[range(1, 4), range(8, 12), range(20, 21)]));
        assert!(only_grew(&[], &before));
        for changed in [&[range(1, 9)][..], &[range(1, 5), range(8, 9)], &[range(1, 4)], &[range(1, 4), range(8, 8)]] {
            assert!(!only_grew(&before, changed), "{changed:?}");
        }
    }

    #[test]
    fn large_periods_are_added_up_alone() {
        let period = |first, transactions| PeriodBlocks { blocks: range(first, first), transactions };
        let periods = [period(1, 6_000_000), period(2, 4_000_000), period(3, 30_000_000), period(4, 1)];
        assert_eq!(first_batch(&periods), [range(1, 1), range(2, 2)]);
        assert_eq!(first_batch(&periods[2..]), [range(3, 3)]);
        assert_eq!(first_batch(&periods[3..]), [range(4, 4)]);
        assert_eq!(first_batch(&[]), []);
    }
}
