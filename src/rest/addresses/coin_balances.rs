//! `/api/v2/addresses/{address}/coin-balance-history` and `…/coin-balance-history-by-day`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::extract::State as AppState;
use axum::response::Response;

use crate::app::App;
use crate::cache::cache_control::CachePolicy;
use crate::error::Problem;
use crate::http::parameters::{AddressPath, NoParameters, Parameters, query_parameters};
use crate::http::query::PAGE_SIZE;
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::state::State;
use crate::rest::cursor::{BlockCursor, Cursor};
use trawl_core::primitives::{Address, BlockNumber, Timestamp, U256};
use trawl_core::readable::Span;
use trawl_core::store::Head;
use trawl_json::Array;
use trawl_json::addresses::coin_balances::{CoinBalance, write_days};
use trawl_json::list::write_page;
use trawl_query::addresses::coin_balances as plan;

query_parameters! {
    pub(crate) HistoryParameters: [BlockCursor::PARAMETERS, PAGE_SIZE];
}

/// Days of the history by day, that of the newest block included.
const DAYS: u64 = 30;

/// The balances of an address after each block that changed it, newest first
/// (docs/reference/http-contract.md#coin-balances).
pub(in crate::rest) async fn history(
    AppState(app): AppState<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    query: Parameters<HistoryParameters>,
) -> Result<Response, Problem> {
    let before = BlockCursor::read(&query)?.map(|cursor| cursor.block_number);
    let (head, size) = (head.get()?, query.page_size());
    let number = head.number().ok_or(Problem::NothingLoaded)?;
    let blocks = State::after(&app, number, &head).await?.blocks();
    let changes = changes(&app, &head, &address, &blocks, before, size + 1).await?;
    let mut items = balances(&app, &head, &address, &changes).await?;
    let has_more = items.len() as u64 > size;
    items.truncate(usize::try_from(size).unwrap_or(usize::MAX));
    let times = times(&app, &head, &items).await?;
    items.iter_mut().for_each(|item| item.time = times.get(&item.block).copied());
    let last = items.last().filter(|_| has_more).map(|item| item.block);
    let next = last.map(|block_number| BlockCursor { block_number }.writer(items.len() as u64));
    let write = |list: &mut Array<'_>| items.iter().for_each(|item| item.write(list.item()));
    Ok(CachePolicy::of_page(&head, &head.state, before).mark(json(write_page(write, next))))
}

/// What a block changes of an account: the balance that its transactions leave, and what it adds to that.
#[derive(Default)]
struct Change {
    balance: Option<U256>,
    credits: U256,
}

/// The newest changes of an account in blocks below `before`, at most `limit` blocks.
async fn changes(
    app: &App,
    head: &Head,
    address: &Address,
    blocks: &Span,
    before: Option<BlockNumber>,
    limit: u64,
) -> Result<BTreeMap<BlockNumber, Change>, Problem> {
    let (balances, credits) =
        (plan::balances(address, blocks, before, limit), plan::credits(address, blocks, before, limit));
    let (balances, credits) = tokio::try_join!(app.values_of(head, &balances), app.values_of(head, &credits))?;
    let mut changes = BTreeMap::<BlockNumber, Change>::new();
    for row in balances {
        changes.entry(row.block_number).or_default().balance = Some(row.balance);
    }
    for row in credits {
        let change = changes.entry(row.block_number).or_default();
        change.credits = change.credits.wrapping_add(row.amount);
    }
    while changes.len() as u64 > limit {
        changes.pop_first();
    }
    Ok(changes)
}

/// The balances after the changes, newest first. What was there before the lowest is read; the others follow.
async fn balances(
    app: &App,
    head: &Arc<Head>,
    address: &Address,
    changes: &BTreeMap<BlockNumber, Change>,
) -> Result<Vec<CoinBalance>, Problem> {
    let Some(lowest) = changes.keys().next() else { return Ok(Vec::new()) };
    let mut value = balance(app, head, address, lowest.checked_sub(1)).await?;
    let follow = |(block, change): (&BlockNumber, &Change)| {
        let before = value;
        value = change.balance.unwrap_or(before).wrapping_add(change.credits);
        CoinBalance { block: *block, time: None, before, value }
    };
    let mut balances: Vec<CoinBalance> = changes.iter().map(follow).collect();
    balances.reverse();
    Ok(balances)
}

/// The balance of an account after a block; before the first of all it is zero.
async fn balance(app: &App, head: &Arc<Head>, address: &Address, block: Option<BlockNumber>) -> Result<U256, Problem> {
    let Some(block) = block else { return Ok(U256::ZERO) };
    Ok(State::after(app, block, head).await?.account(*address).await?.balance)
}

/// The times of the blocks of a page.
async fn times(app: &App, head: &Head, items: &[CoinBalance]) -> Result<BTreeMap<BlockNumber, Timestamp>, Problem> {
    let numbers: BTreeSet<BlockNumber> = items.iter().map(|item| item.block).collect();
    let rows = app.reader().rows(&trawl_query::blocks::times(&numbers, &head.blocks.span())).await?;
    Ok(rows.into_iter().map(|row| (row.block_number, row.timestamp)).collect())
}

/// The balance of an address at the end of each of the last days that changed it, oldest first: a lookup for each day.
pub(in crate::rest) async fn by_day(
    AppState(app): AppState<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let number = head.number().ok_or(Problem::NothingLoaded)?;
    State::after(&app, number, &head).await?;
    let days = app.days(&head).await?;
    let newest = days.newest().ok_or(Problem::TooExpensive)?;
    let mut ends = Vec::new();
    // From the newest day down: what is read of a quiet account holds for many of the days before.
    for (day, blocks) in days.blocks((newest + 1).saturating_sub(DAYS)..=newest).into_iter().rev() {
        let value = balance(&app, &head, &address, Some(blocks.last())).await?;
        if value != balance(&app, &head, &address, blocks.first().checked_sub(1)).await? {
            ends.push((day, value));
        }
    }
    ends.reverse();
    Ok(json(write_days(DAYS, &ends)))
}
