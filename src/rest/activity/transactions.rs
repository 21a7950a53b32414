//! The transactions of the chain by period, and who sent them.

use std::collections::HashMap;

use axum::response::Response;

use super::activity_query::{ActivityQuery, SettledPeriods, too_much};
use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_core::schema::{Columns, TransactionTotalsRow};
use trawl_core::statement::Statement;
use trawl_core::store::Head;
use trawl_json::activity::Transactions;
use trawl_query::contracts::hot_contracts::{MAX_TRANSACTIONS, size};
use trawl_query::stats::charts::prices;
use trawl_query::stats::charts::prices::PriceSum;
use trawl_query::stats::charts::totals;
use trawl_query::stats::charts::transactions::{PeriodSum, sums};

/// Most periods of an answer: their first blocks are part of the URL of the statement, which takes 64 KiB.
pub(super) const MAX_PERIODS: usize = 4_000;

/// The sums of the requested settled blocks: those of periods that were added up before are read, those of the other
/// periods that are over are computed by one statement, those of the newest one by another.
///
/// # Errors
///
/// 422 for more transactions or periods than are added up; when the store fails.
pub(super) async fn answer(app: &App, head: &Head, query: &ActivityQuery) -> Result<Response, Problem> {
    let settled = query.settled_periods();
    let starts = settled.blocks();
    let ranges = || settled.over.iter().chain(&settled.newest);
    let Some(last) = ranges().next_back().map(|range| range.last()) else {
        return Ok(query.answer_up_to(None, Vec::<(u64, Transactions)>::new()));
    };
    if starts.is_empty() || starts.len() > MAX_PERIODS {
        return Err(too_much());
    }
    let stored = stored_totals(app, &settled.complete()).await?;
    let settled = settled.without(&stored.iter().filter_map(blocks_of).collect());
    require_bounded(app, head, &settled).await?;
    let (mut rows, prices) = tokio::try_join!(
        of_both(app, head, &settled, |blocks| sums(&starts, blocks)),
        of_both(app, head, &settled, |blocks| prices::sums(&starts, blocks)),
    )?;
    rows.extend(stored.iter().map(PeriodSum::from).filter(|sums| sums.transactions > 0));
    rows.sort_unstable_by_key(|row| row.start);
    let prices = prices.into_iter().chain(stored.iter().filter_map(totals::prices));
    let prices: HashMap<BlockNumber, PriceSum> = prices.map(|row| (row.start, row)).collect();
    let points = rows.iter().filter_map(|row| Some((settled.day(row.start)?, point(row, prices.get(&row.start)))));
    Ok(query.answer_up_to(Some(last), points.collect()))
}

/// The stored sums of these periods, ascending. They are not cached: there may be more the next time.
async fn stored_totals(app: &App, periods: &[BlockRange]) -> Result<Vec<TransactionTotalsRow>, Problem> {
    let mut found = Vec::new();
    for some in periods.chunks(totals::MAX_PERIODS) {
        found.extend(app.reader().rows(&totals::stored(some)).await?);
    }
    Ok(found)
}

fn blocks_of(row: &TransactionTotalsRow) -> Option<BlockRange> {
    BlockRange::new(row.first_block, row.last_block)
}

/// Requires that there are not more transactions than are added up while a client waits.
async fn require_bounded(app: &App, head: &Head, settled: &SettledPeriods) -> Result<(), Problem> {
    let ranges: Vec<BlockRange> = settled.over.iter().chain(&settled.newest).copied().collect();
    if ranges.is_empty() {
        return Ok(());
    }
    let found = app.values_of(head, &size(&ranges)).await?;
    let is_bounded = found.first().is_none_or(|size| size.transactions <= MAX_TRANSACTIONS);
    if is_bounded { Ok(()) } else { Err(too_much()) }
}

/// The rows of the periods that are over, and those of the newest one: two statements, of which the first stays as a
/// chain grows.
async fn of_both<R: Columns + 'static>(
    app: &App,
    head: &Head,
    settled: &SettledPeriods,
    read: impl Fn(&[BlockRange]) -> Statement<R>,
) -> Result<Vec<R>, Problem> {
    let (over, newest) = (read(&settled.over), read(&settled.newest));
    let (mut rows, more) = tokio::try_join!(app.values_of(head, &over), app.values_of(head, &newest))?;
    rows.extend(more);
    Ok(rows)
}

fn point(row: &PeriodSum, prices: Option<&PriceSum>) -> Transactions {
    let has_status = row.without_status == 0;
    let has_gas = row.without_gas == 0;
    Transactions {
        transactions: row.transactions,
        failed: has_status.then_some(row.failed),
        gas: has_gas.then_some((row.gas, row.fees)),
        failed_gas: (has_status && has_gas).then_some((row.failed_gas, row.failed_fees)),
        prices: prices.filter(|_| has_gas).map(|prices| [prices.tenth, prices.median, prices.ninetieth]),
        senders: row.senders,
        new_senders: (row.without_nonce == 0).then_some(row.new_senders),
    }
}
