//! What the transactions of a period add up to, added up before: `transaction_totals`.

use super::prices::PriceSum;
use super::transactions::PeriodSum;
use trawl_core::primitives::{BlockRange, U256};
use trawl_core::schema::columns::columns;
use trawl_core::statement::{Parameter, Statement, Workload};

/// Periods of a read, at most: both ends of each travel in the address of the statement, which takes 64 KiB.
pub const MAX_PERIODS: usize = 1_000;

columns! {
    /// The totals of a period. The commits of its blocks are those that they were added up from.
    pub struct StoredTotals / StoredTotalsView {
        /// First block of the period.
        first_block: u64,
        /// Last block of the period.
        last_block: u64,
        /// Number of transactions.
        transactions: u64,
        /// Those that failed.
        failed: u64,
        /// Those of which that is not known.
        without_status: u64,
        /// Gas that they used.
        gas: U256,
        /// Gas that failed ones used.
        failed_gas: U256,
        /// Wei that they paid.
        fees: U256,
        /// Wei that failed ones paid.
        failed_fees: U256,
        /// Those of which neither is known.
        without_gas: u64,
        /// Accounts that sent one.
        senders: u64,
        /// Those that sent their first one.
        new_senders: u64,
        /// Transactions of which the nonce is not known.
        without_nonce: u64,
        /// A tenth of the transactions paid this for each gas, in wei, or less.
        price_p10: Option<U256>,
        /// Half of them did.
        price_p50: Option<U256>,
        /// Nine tenths of them did.
        price_p90: Option<U256>,
    }
}

impl StoredTotals {
    /// The blocks of the period; `None` of a row that is none of Trawl's.
    #[must_use]
    pub fn blocks(&self) -> Option<BlockRange> {
        BlockRange::new(self.first_block, self.last_block)
    }

    /// What the transactions add up to.
    #[must_use]
    pub fn sums(&self) -> PeriodSum {
        PeriodSum {
            start: self.first_block,
            transactions: self.transactions,
            failed: self.failed,
            without_status: self.without_status,
            gas: self.gas,
            failed_gas: self.failed_gas,
            fees: self.fees,
            failed_fees: self.failed_fees,
            without_gas: self.without_gas,
            senders: self.senders,
            new_senders: self.new_senders,
            without_nonce: self.without_nonce,
        }
    }

    /// What they paid for gas; `None` without receipts.
    #[must_use]
    pub fn prices(&self) -> Option<PriceSum> {
        Some(PriceSum {
            start: self.first_block,
            tenth: self.price_p10?,
            median: self.price_p50?,
            ninetieth: self.price_p90?,
        })
    }
}

columns! {
    /// Which commits the blocks of a period have.
    pub struct PeriodCommits / PeriodCommitsView {
        /// First block of the period.
        first_block: u64,
        /// Fingerprint of the commits: another one if blocks were committed again, filled in or withdrawn.
        commits: u64,
    }
}

/// The fingerprints of the commits of some periods, ascending, of which no two share a block. A period without commits
/// has none.
#[must_use]
pub fn commits(periods: &[BlockRange]) -> Statement<PeriodCommits> {
    of_periods(format!("{COMMITS}\nORDER BY first_block"), periods)
}

/// The totals of those of the periods, ascending, of which no two share a block, that were added up from the commits
/// that their blocks have now.
#[must_use]
pub fn stored(periods: &[BlockRange]) -> Statement<StoredTotals> {
    let sql = format!(
        "SELECT first_block, last_block, transactions, failed, without_status, gas, failed_gas, fees, failed_fees,
  without_gas, senders, new_senders, without_nonce, price_p10, price_p50, price_p90
FROM
(
  SELECT *
  FROM transaction_totals
  WHERE first_block IN {{starts:Array(UInt64)}}
    AND last_block = transform(first_block, {{starts:Array(UInt64)}}, {{ends:Array(UInt64)}}, toUInt64(0))
  ORDER BY added_up_at DESC
  LIMIT 1 BY first_block, last_block
) AS totals
GLOBAL INNER JOIN
(
{COMMITS}
) AS now USING (first_block, commits)
ORDER BY first_block"
    );
    of_periods(sql, periods)
}

/// A commit belongs to each period that it has a block of; nearly all belong to one.
const COMMITS: &str = "SELECT start AS first_block, sum(fingerprint) AS commits
FROM
(
  SELECT cityHash64(first_block, last_block, run, committed_at) AS fingerprint,
    first_block AS first, last_block AS last,
    roundDown(first, {starts:Array(UInt64)}) AS lowest, roundDown(last, {starts:Array(UInt64)}) AS highest,
    arrayJoin(if(lowest = highest, [lowest],
      arrayFilter(start -> start BETWEEN lowest AND highest, {starts:Array(UInt64)}))) AS start
  FROM ingest_commits
  WHERE last_block >= {first:UInt64}
    AND first_block <= {last:UInt64}
)
WHERE last >= start
  AND first <= transform(start, {starts:Array(UInt64)}, {ends:Array(UInt64)}, toUInt64(0))
GROUP BY start";

fn of_periods<R>(sql: String, periods: &[BlockRange]) -> Statement<R> {
    let numbers = |end: fn(&BlockRange) -> u64| Parameter::Numbers(periods.iter().map(end).collect());
    let mut statement = Statement::page(sql)
        .with("starts", numbers(|range| range.first()))
        .with("ends", numbers(|range| range.last()))
        .with("first", periods.first().map_or(0, |range| range.first()))
        .with("last", periods.last().map_or(0, |range| range.last()));
    statement.workload = Workload::Short;
    statement
}
