//! What the transactions of a period add up to, added up before: `transaction_totals`.

use super::prices::PriceSum;
use super::transactions::PeriodSum;
use trawl_core::primitives::BlockRange;
use trawl_core::schema::TransactionTotalsRow;
use trawl_core::schema::columns::columns;
use trawl_core::statement::{Parameter, Statement, Workload};

/// Periods of a read, at most: both ends of each travel in the address of the statement, which takes 64 KiB.
pub const MAX_PERIODS: usize = 1_000;

impl From<&TransactionTotalsRow> for PeriodSum {
    fn from(row: &TransactionTotalsRow) -> Self {
        Self {
            start: row.first_block,
            transactions: row.transactions,
            failed: row.failed,
            without_status: row.without_status,
            gas: row.gas,
            failed_gas: row.failed_gas,
            fees: row.fees,
            failed_fees: row.failed_fees,
            without_gas: row.without_gas,
            senders: row.senders,
            new_senders: row.new_senders,
            without_nonce: row.without_nonce,
        }
    }
}

/// What the transactions of a period paid for gas; `None` without receipts.
#[must_use]
pub fn prices(row: &TransactionTotalsRow) -> Option<PriceSum> {
    let (tenth, median, ninetieth) = (row.price_p10?, row.price_p50?, row.price_p90?);
    Some(PriceSum { start: row.first_block, tenth, median, ninetieth })
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
pub fn stored(periods: &[BlockRange]) -> Statement<TransactionTotalsRow> {
    let sql = format!(
        "SELECT first_block, last_block, commits, transactions, failed, without_status, gas, failed_gas, fees,
  failed_fees, without_gas, senders, new_senders, without_nonce, price_p10, price_p50, price_p90, added_up_at
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
