//! `/api/v2/stats…` and `/api/v2/transactions/stats`: figures about the chain.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::VARY;
use axum::response::Response;

use crate::app::App;
use crate::error::Problem;
use crate::http::gas_oracle::{GasOracle, UPDATED_GAS_ORACLE};
use crate::http::parameters::{NoParameters, Parameters};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::blocks::recent::{block_time, recent};
use trawl_core::primitives::{Address, BlockNumber, Timestamp, U256};
use trawl_core::store::Head;
use trawl_json::stats::{LastDay, PaidGasPrice, Stats, write_gas_prices, write_market_chart, write_transactions_chart};
use trawl_json::tokens::prices::TokenPrice;
use trawl_query::stats::days::{MAX_BLOCKS, fees_since, of_newest};
use trawl_query::stats::fees::{BlockFees, GasPrice};

/// Blocks whose transactions say what gas costs.
const PRICED: u64 = 20;
/// Days of the chart.
const CHART_DAYS: u64 = 30;
/// Percentiles of what transactions paid: slow, average, fast.
const PERCENTILES: [usize; 3] = [35, 60, 90];
/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// Figures about the chain up to the head (docs/reference/http-contract.md#figures).
pub(in crate::rest) async fn stats(
    State(app): State<App>,
    head: RequestHead,
    GasOracle(form): GasOracle,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let (days, recent, prices) = tokio::try_join!(app.days(&head), recent(&app, &head), prices(&app, &head))?;
    let (total, today) = (days.total(), days.newest().and_then(|day| days.of(day)));
    let stats = Stats {
        blocks: total.map(|sums| sums.blocks),
        transactions: total.map(|sums| sums.transactions),
        gas_used: total.and_then(|sums| sums.gas).map(|gas| gas.0),
        block_time: block_time(&recent),
        transactions_today: today.map(|sums| sums.transactions),
        gas_used_today: today.and_then(|sums| sums.gas).map(|gas| gas.0),
        gas_prices: gas_prices(&prices, &recent),
        updated_at: recent.last().map(|newest| newest.timestamp),
        update_in: next_block_in(&recent, SystemTime::now()),
        utilization: utilization(&recent),
        coin: coin(&app),
    };
    let mut response = json(stats.write(form));
    response.headers_mut().append(VARY, HeaderValue::from_static(UPDATED_GAS_ORACLE));
    Ok(response)
}

/// The gas prices of the figures by themselves, for clients of this API family's first version.
pub(in crate::rest) async fn gas_price_oracle(
    State(app): State<App>,
    head: RequestHead,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let (recent, prices) = tokio::try_join!(recent(&app, &head), prices(&app, &head))?;
    Ok(json(write_gas_prices(gas_prices(&prices, &recent))))
}

/// The transactions of the 30 days before that of the newest block, the newest first.
pub(in crate::rest) async fn transactions_chart(
    State(app): State<App>,
    head: RequestHead,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let days = app.days(&*head.get()?).await?;
    let shown = days.all().map(|all| {
        let first = (*all.start()).max(all.end().saturating_sub(CHART_DAYS));
        (first..*all.end()).rev()
    });
    let count = |day: u64| (day, days.of(day).map(|sums| sums.transactions));
    Ok(json(write_transactions_chart(shown.into_iter().flatten().map(count))))
}

/// The price of the coin, as far as the price source states one: of today alone.
pub(in crate::rest) async fn market_chart(
    State(app): State<App>,
    head: RequestHead,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let newest = recent(&app, &head).await?.last().map(|block| block.timestamp.seconds() / 86_400);
    Ok(json(write_market_chart(coin(&app).as_ref(), newest)))
}

/// The transactions of the 24 hours before the newest block.
pub(in crate::rest) async fn last_day(
    State(app): State<App>,
    head: RequestHead,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    Ok(json(read_last_day(&app, &head).await?.write()))
}

/// The transactions of 24 hours: known where the blocks of that time are all loaded, from one before it on or from the
/// first of the chain.
pub(in crate::rest) async fn read_last_day(app: &App, head: &Head) -> Result<LastDay, Problem> {
    let Some((newest, number)) = recent(app, head).await?.last().map(|newest| newest.timestamp).zip(head.number())
    else {
        return Ok(LastDay::default());
    };
    let since = Timestamp::from_micros(newest.micros() - DAY);
    let days = app.days(head).await?;
    let first = days.first_block(since.seconds() / 86_400).unwrap_or_default();
    // One more, which tells that none is missing before it.
    let blocks = head.blocks.span().from(first.saturating_sub(1));
    let newest_blocks = app.reader().rows(&of_newest(&blocks.without_settled())).await?;
    if newest_blocks.len() as u64 >= MAX_BLOCKS {
        return Ok(LastDay::default());
    }
    let mut sums = LastDay { transactions: Some(0), fees: Some(U256::ZERO) };
    let mut count = 0;
    if !blocks.settled.is_empty() {
        let settled = app.values_of(head, &fees_since(&blocks.settled, since)).await?;
        for row in settled {
            count += row.blocks;
            sums.transactions = sums.transactions.map(|sum| sum + row.transactions);
            sums.fees = sums.fees.filter(|_| row.without_fees == 0).map(|sum| sum + row.fees);
        }
    }
    for block in newest_blocks.iter().filter(|block| block.timestamp > since) {
        let fees = block.transaction_fees.filter(|_| block.lacking.iter().all(|column| column != "transaction_fees"));
        count += 1;
        sums.transactions = sums.transactions.map(|sum| sum + u64::from(block.transactions_count));
        sums.fees = sums.fees.zip(fees).map(|(sum, fees)| sum + fees);
    }
    let is_complete = holds_all(head, number, count);
    Ok(if is_complete { sums } else { LastDay::default() })
}

/// Whether the newest `count` blocks are those of all heights from that of the first on, and the one before is loaded
/// too.
fn holds_all(head: &Head, number: BlockNumber, count: u64) -> bool {
    let lowest = (number + 1).saturating_sub(count).saturating_sub(1);
    trawl_core::primitives::BlockRange::new(lowest, number).is_some_and(|range| head.blocks.missing(range).is_empty())
}

/// The share of the gas that the blocks used, in percent.
fn utilization(recent: &[BlockFees]) -> Option<f64> {
    let is_known =
        |block: &&BlockFees| block.lacking.iter().all(|column| column != "gas_used" && column != "gas_limit");
    let known = || recent.iter().filter(is_known);
    let limit: f64 = known().map(|block| block.gas_limit as f64).sum();
    let used: f64 = known().map(|block| block.gas_used as f64).sum();
    (limit > 0.0).then(|| used * 100.0 / limit)
}

/// What the transactions of the newest blocks paid for gas, ascending.
async fn prices(app: &App, head: &Head) -> Result<Vec<GasPrice>, Problem> {
    let first = (head.number().unwrap_or_default() + 1).saturating_sub(PRICED);
    let mut rows = app.values_of(head, &trawl_query::stats::fees::prices(&head.receipts.span().from(first))).await?;
    rows.sort_unstable_by_key(|row| (row.effective_gas_price, row.block_number));
    Ok(rows)
}

/// What was paid at three percentiles of ascending `prices`, with the base fee of the block of each; `None` without
/// any.
fn gas_prices(prices: &[GasPrice], recent: &[BlockFees]) -> Option<[PaidGasPrice; 3]> {
    let is_known = |block: &&BlockFees| block.lacking.iter().all(|column| column != "base_fee_per_gas");
    let base_fee = |number: BlockNumber| {
        let block = recent.iter().find(|block| block.block_number == number).filter(is_known)?;
        block.base_fee_per_gas
    };
    let at = |percent: usize| {
        let price = prices.get(prices.len().checked_sub(1)? * percent / 100)?;
        Some(PaidGasPrice { wei: price.effective_gas_price, base_fee: base_fee(price.block_number) })
    };
    let [slow, average, fast] = PERCENTILES;
    Some([at(slow)?, at(average)?, at(fast)?])
}

/// Milliseconds from `now` until the next block is due, at the pace of the newest ones: 0 if it is overdue.
fn next_block_in(recent: &[BlockFees], now: SystemTime) -> Option<u64> {
    let pace = Duration::try_from_secs_f64(block_time(recent)? / 1000.0).ok()?;
    let newest = Duration::from_micros(u64::try_from(recent.last()?.timestamp.micros()).ok()?);
    let due = UNIX_EPOCH.checked_add(newest)?.checked_add(pace)?;
    u64::try_from(due.duration_since(now).unwrap_or_default().as_millis()).ok()
}

/// The price of the chain's coin: that of the zero address in the price source.
fn coin(app: &App) -> Option<TokenPrice> {
    app.options().prices.of(&Address::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(number: u64, seconds: u64) -> BlockFees {
        BlockFees {
            block_number: number,
            timestamp: Timestamp::from_seconds(seconds).expect("a time"),
            gas_limit: 0,
            gas_used: 0,
            base_fee_per_gas: None,
            blob_gas_used: None,
            excess_blob_gas: None,
            lacking: Vec::new(),
        }
    }

    #[test]
    fn the_next_block_is_due_at_the_pace_of_the_newest() {
        let recent = [block(10, 1_700_000_000), block(20, 1_700_000_120)];
        let at = |millis: u64| UNIX_EPOCH + Duration::from_millis(1_700_000_120_000 + millis);
        assert_eq!(next_block_in(&recent, at(0)), Some(12_000));
        assert_eq!(next_block_in(&recent, at(11_250)), Some(750));
        assert_eq!(next_block_in(&recent, at(12_001)), Some(0), "it is overdue");
        assert_eq!(next_block_in(&recent[1..], at(0)), None, "one block has no pace");
    }
}
