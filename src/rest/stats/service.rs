//! `/stats-service/api/v1/…`: charts and counters, as clients of this API family ask a service of its own for them.

use axum::extract::{Path, State};
use axum::response::Response;

use super::figures::read_last_day;
use crate::app::App;
use crate::error::Problem;
use crate::http::parameters::{NoParameters, Parameters, query_parameters};
use crate::http::query::{Kind, Query};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::blocks::recent::{block_time, recent};
use crate::read::days::{BaseFees, Days, Sums};
use trawl_core::calendar::{Period, day};
use trawl_core::primitives::U256;
use trawl_core::store::Head;
use trawl_json::stats::charts;
use trawl_json::stats::charts::{Counters, Info, Point, coins};

query_parameters! {
    pub(crate) ChartParameters:
        [&[("from", Kind::Text), ("to", Kind::Text), ("resolution", Kind::Name(Period::NAMES))]];
}

/// Points of a chart, at most: the newest.
const MAX_POINTS: usize = 10_000;
/// Days of the chart on the first page.
const MAIN_PAGE_DAYS: u64 = 30;

/// What charts there are (docs/reference/http-contract.md#statistics-service).
pub(in crate::rest) async fn lines(_: Parameters<NoParameters>) -> Result<Response, Problem> {
    Ok(json(charts::write_lines()))
}

/// The values of one chart by period, from `from` to `to`.
pub(in crate::rest) async fn line(
    State(app): State<App>,
    head: RequestHead,
    Path(name): Path<String>,
    query: Parameters<ChartParameters>,
) -> Result<Response, Problem> {
    let chart = charts::chart(&name).ok_or(Problem::NotFound)?;
    let (from, to) = (date(&query, "from")?, date(&query, "to")?);
    let period = query.name("resolution").and_then(Period::named).unwrap_or(Period::Day);
    let days = app.days(&*head.get()?).await?;
    Ok(json(charts::write_line(chart, &points(chart, &days, period, from, to))))
}

/// The counters that are known.
pub(in crate::rest) async fn counters(
    State(app): State<App>,
    head: RequestHead,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let days = app.days(&head).await?;
    Ok(json(charts::write_counters(&read_counters(&app, &head, &days).await?)))
}

/// The figures of the first page.
pub(in crate::rest) async fn main_page(
    State(app): State<App>,
    head: RequestHead,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let days = app.days(&head).await?;
    let from = days.newest().map(|newest| newest.saturating_sub(MAIN_PAGE_DAYS));
    let points = points(&charts::OF_TRANSACTIONS[0], &days, Period::Day, from, None);
    Ok(json(charts::write_main_page(&read_counters(&app, &head, &days).await?, &points)))
}

/// The figures of the page of transactions.
pub(in crate::rest) async fn transactions_page(
    State(app): State<App>,
    head: RequestHead,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let days = app.days(&head).await?;
    Ok(json(charts::write_transactions_page(&read_counters(&app, &head, &days).await?)))
}

/// The figures of the page of contracts.
pub(in crate::rest) async fn contracts_page(
    State(app): State<App>,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let counted = app.reader().rows(&trawl_query::contracts::list::count()).await?;
    Ok(json(charts::write_contracts_page(counted.first().map_or(0, |row| row.contracts))))
}

/// A day among the parameters.
fn date(query: &Query, name: &str) -> Result<Option<u64>, Problem> {
    let parsed = |text: &str| {
        day(text).ok_or_else(|| Problem::invalid_parameter(name, "Invalid format. Expected a date such as 2025-07-07"))
    };
    query.text(name).filter(|text| !text.is_empty()).map(parsed).transpose()
}

async fn read_counters(app: &App, head: &Head, days: &Days) -> Result<Counters, Problem> {
    let (recent, last_day) = tokio::try_join!(recent(app, head), read_last_day(app, head))?;
    let total = days.total();
    Ok([
        total.map(|sums| sums.blocks.to_string()),
        total.map(|sums| sums.transactions.to_string()),
        block_time(&recent).map(|millis| (millis / 1000.0).to_string()),
        last_day.transactions.map(|count| count.to_string()),
        last_day.fees.map(coins),
        last_day.average_fee().map(coins),
    ])
}

/// An amount of wei in gwei.
fn gwei(wei: U256) -> Option<String> {
    let text = alloy_primitives::utils::format_units(wei, "gwei").ok()?;
    Some(text.trim_end_matches('0').trim_end_matches('.').to_owned())
}

/// The base fees of some blocks; none of no blocks.
fn base_fees(sums: Sums) -> Option<BaseFees> {
    sums.base_fees.filter(|_| sums.blocks > 0)
}

/// The points of a chart: a period whose blocks are not all loaded has none.
fn points(chart: &Info, days: &Days, period: Period, from: Option<u64>, to: Option<u64>) -> Vec<Point> {
    let Some(all) = days.all() else { return Vec::new() };
    let (start, end) = (*all.start(), *all.end());
    let (from, to) = (from.unwrap_or(start).max(start), to.unwrap_or(end).min(end));
    let growth = days.growth();
    let mut points = Vec::new();
    let mut first = period.first_of(from);
    while from <= to && first <= to {
        let last = period.last_of(first);
        let (begin, stop) = (first.max(start), last.min(end));
        let so_far = growth.range(..=stop).next_back().and_then(|(_, sums)| *sums);
        let own = || (begin..=stop).try_fold(Sums::NONE, |sums, day| Some(sums.and(days.of(day)?)));
        if let Some(value) = value(chart.id, own, so_far) {
            points.push(Point { first, last, value, is_approximate: last >= end });
        }
        first = last + 1;
    }
    points.split_off(points.len().saturating_sub(MAX_POINTS))
}

/// The value of a chart from what the blocks of a period add up to, or from all blocks up to its end.
fn value(id: &str, own: impl Fn() -> Option<Sums>, so_far: Option<Sums>) -> Option<String> {
    let ratio = |one: f64, other: f64| (other > 0.0).then(|| (one / other).to_string());
    match id {
        "newBlocks" => Some(own()?.blocks.to_string()),
        "newTxns" => Some(own()?.transactions.to_string()),
        "txnsFee" => Some(coins(own()?.fees?)),
        "averageTxnFee" => {
            let sums = own()?;
            Some(coins(sums.fees?.checked_div(U256::from(sums.transactions))?))
        }
        "averageBlockSize" => {
            let sums = own()?;
            ratio(sums.size? as f64, sums.blocks as f64)
        }
        "averageGasLimit" => {
            let sums = own()?;
            ratio(f64::from(sums.gas?.1), sums.blocks as f64)
        }
        "networkUtilization" => {
            let (used, limit) = own()?.gas?;
            ratio(f64::from(used) * 100.0, f64::from(limit))
        }
        "lowestBaseFee" => gwei(base_fees(own()?)?.lowest),
        "averageBaseFee" => {
            let sums = own()?;
            gwei(base_fees(sums)?.sum.checked_div(U256::from(sums.blocks))?)
        }
        "highestBaseFee" => gwei(base_fees(own()?)?.highest),
        "burntFees" => Some(coins(base_fees(own()?)?.burnt?)),
        "priorityFees" => {
            let sums = own()?;
            // Before London there were none: the chart begins with it.
            base_fees(sums)?;
            Some(coins(sums.tips?))
        }
        "blobGasUsed" => {
            let sums = own()?;
            sums.blob_gas.filter(|_| sums.blocks > 0).map(|gas| gas.to_string())
        }
        "gasUsedGrowth" => Some(so_far?.gas?.0.to_string()),
        "txnsGrowth" => Some(so_far?.transactions.to_string()),
        _ => None,
    }
}
