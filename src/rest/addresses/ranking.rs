//! `/api/v2/addresses`: all accounts, by balance or by number of transactions.

use std::cmp::Ordering;
use std::collections::HashMap;

use axum::extract::State as AppState;
use axum::response::Response;
use futures_util::future::try_join_all;

use crate::app::App;
use crate::error::{MissingState, Problem};
use crate::http::parameters::{Parameters, query_parameters};
use crate::http::query::{Kind, PAGE_SIZE, Query};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::completeness::require_table;
use crate::read::state::State;
use crate::rest::cursor::missing;
use crate::rest::list::sort_order;
use crate::rest::page::empty_page;
use trawl_core::primitives::{Address, BlockNumber, BlockRange, U256};
use trawl_core::schema::OptionalTable;
use trawl_core::store::{Batch, Head};
use trawl_json::addresses::ranking::RankedAddress as Item;
use trawl_json::list::write_page_with;
use trawl_json::{Array, Object};
use trawl_query::addresses::ranking::{
    AddressRanking, MAX_RANKED, RankedAddress, RankedBy, ranked, size, transactions_of,
};
use trawl_query::walk::SortOrder;

/// Accounts of a ranking that are read at once and cached: the first pages of any client.
const CACHED_ACCOUNTS: u64 = 2_000;
/// The list is read again when the chain has grown by at most a 4,096th of its length.
const STEPS: u64 = 4_096;

query_parameters! {
    pub(crate) AddressesParameters: [
        &[
            ("sort", Kind::Name(&["balance", "transactions_count"])),
            ("order", Kind::Name(&["desc", "asc"])),
            ("fetched_coin_balance", Kind::Amount),
            ("transactions_count", Kind::Known),
            ("hash", Kind::Address),
        ],
        PAGE_SIZE,
    ];
}

/// A position in the list: the amount, and the account.
type RankingKey = (U256, Address);

/// The accounts with the largest balances, or with most transactions (docs/reference/http-contract.md#accounts).
pub(in crate::rest) async fn addresses(
    AppState(app): AppState<App>,
    head: RequestHead,
    query: Parameters<AddressesParameters>,
) -> Result<Response, Problem> {
    let by = match query.name("sort") {
        Some("transactions_count") => RankedBy::Transactions,
        _ => RankedBy::Balance,
    };
    let order = sort_order(&query);
    let beyond = position(&query, by)?;
    let (head, count) = (head.get()?, query.page_size());
    let Some(settled) = head.blocks.settled().head() else { return Ok(empty_page()) };
    let number = last_ranked(settled);
    let blocks = BlockRange::new(0, number).ok_or(Problem::NothingLoaded)?;
    let state = match (State::after(&app, number, &head).await, by) {
        (Ok(state), _) => Some(state),
        (Err(Problem::StateMissing(_)), RankedBy::Transactions) => None,
        (Err(problem), _) => return Err(all_that_is_missing(problem, settled, &head)),
    };
    let counts = require_counts(&head, number);
    if by == RankedBy::Transactions {
        counts.as_ref().map_err(Problem::clone)?;
    }
    let mut found = rows(&app, &head, &AddressRanking { by, order, blocks }, beyond, count + 1).await?;
    let has_more = found.len() as u64 > count;
    found.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    let last = found.last().filter(|_| has_more).map(|row| (row.amount, row.address));
    let items = match by {
        RankedBy::Balance => with_counts(&app, &head, found, counts.is_ok().then_some(blocks)).await?,
        RankedBy::Transactions => with_balances(found, state.as_ref()).await?,
    };
    let addresses = app.addresses(items.iter().map(|item| item.address), &head).await?;
    let next = last.map(|position| move |next: &mut Object<'_>| write_position(next, by, &position, count));
    let write = |list: &mut Array<'_>| items.iter().for_each(|item| item.write(list.item(), &addresses));
    let price = app.options().prices.of(&Address::ZERO).and_then(|coin| coin.exchange_rate);
    Ok(json(write_page_with(write, next, |page| {
        page.key("block_number").number(number);
        page.key("exchange_rate").option(price.as_ref(), |writer, price| writer.string(price.text()));
        page.key("total_supply").null();
    })))
}

/// The problem with all blocks whose changes are missing, not only those up to the block after which accounts are
/// ranked.
fn all_that_is_missing(problem: Problem, settled: BlockNumber, head: &Head) -> Problem {
    let missing = BlockRange::new(0, settled).map(|blocks| head.known_state.missing(blocks)).unwrap_or_default();
    match problem {
        Problem::StateMissing(_) if !missing.is_empty() => Problem::StateMissing(MissingState::new(missing, head)),
        other => other,
    }
}

/// The block after which accounts are ranked: the newest settled one, or up to a small part of the chain below it, so
/// that the same rows are read for a while as the chain grows.
fn last_ranked(settled: BlockNumber) -> BlockNumber {
    let step = 1_u64 << ((settled + 1) / STEPS).checked_ilog2().unwrap_or(0);
    ((settled + 1) / step * step).saturating_sub(1)
}

/// The position that a page begins behind.
fn position(query: &Query, by: RankedBy) -> Result<Option<RankingKey>, Problem> {
    let (name, amount) = match by {
        RankedBy::Balance => ("fetched_coin_balance", query.amount("fetched_coin_balance")),
        RankedBy::Transactions => ("transactions_count", query.known("transactions_count").map(U256::from)),
    };
    match (amount, query.address("hash")) {
        (Some(amount), Some(address)) => Ok(Some((amount, address))),
        (None, None) => Ok(None),
        (None, Some(_)) => Err(missing(name)),
        (Some(_), None) => Err(missing("hash")),
    }
}

fn write_position(next: &mut Object<'_>, by: RankedBy, (amount, address): &RankingKey, count: u64) {
    if by == RankedBy::Balance {
        next.key("fetched_coin_balance").decimal_256(*amount);
    }
    next.key("hash").string(&address.to_checksum(None));
    next.key("items_count").number(count);
    if by == RankedBy::Transactions {
        next.key("transactions_count").decimal_256(*amount);
    }
}

/// Requires that the transactions of every block up to a settled one are loaded.
fn require_counts(head: &Head, number: BlockNumber) -> Result<(), Problem> {
    require_table(head, OptionalTable::TransactionsByAddress)?;
    // The genesis block has no transactions.
    let missing = BlockRange::new(1, number).map(|range| head.blocks.missing(range)).unwrap_or_default();
    if missing.is_empty() { Ok(()) } else { Err(Problem::BlocksMissing(missing)) }
}

/// The accounts beyond a position. The first ones are cached.
async fn rows(
    app: &App,
    head: &Head,
    ranking: &AddressRanking,
    beyond: Option<RankingKey>,
    limit: u64,
) -> Result<Vec<RankedAddress>, Problem> {
    let found = app.reader().rows(&size(ranking.by)).await?.first().map_or(0, |size| size.found);
    if found > MAX_RANKED {
        let detail = format!("Accounts are ranked from at most {MAX_RANKED} rows, but there are {found}");
        return Err(Problem::invalid_parameter("sort", detail));
    }
    let first = stored(app, head, ranking, None, CACHED_ACCOUNTS).await?;
    let has_all = (first.len() as u64) < CACHED_ACCOUNTS;
    let is_beyond = |row: &RankedAddress| beyond.is_none_or(|beyond| is_behind(ranking.order, row, beyond));
    let page: Vec<RankedAddress> =
        first.into_iter().filter(is_beyond).take(usize::try_from(limit).unwrap_or(usize::MAX)).collect();
    if has_all || page.len() as u64 == limit {
        return Ok(page);
    }
    stored(app, head, ranking, beyond, limit).await
}

/// The accounts beyond a position, as they are stored.
async fn stored(
    app: &App,
    head: &Head,
    ranking: &AddressRanking,
    beyond: Option<RankingKey>,
    limit: u64,
) -> Result<Vec<RankedAddress>, Problem> {
    let rows = app.rows_under(head.rows_view, &ranked(ranking, beyond, limit)).await?;
    Ok(rows.iter().flat_map(Batch::rows).collect())
}

fn is_behind(order: SortOrder, row: &RankedAddress, (amount, address): RankingKey) -> bool {
    order.compare(&row.amount, &amount).then_with(|| row.address.cmp(&address)) == Ordering::Greater
}

/// Accounts ranked by balance, with their transactions in `blocks` if these are known.
async fn with_counts(
    app: &App,
    head: &Head,
    found: Vec<RankedAddress>,
    blocks: Option<BlockRange>,
) -> Result<Vec<Item>, Problem> {
    let addresses: Vec<Address> = found.iter().map(|row| row.address).collect();
    let counts: Option<HashMap<Address, u64>> = match blocks.filter(|_| !addresses.is_empty()) {
        Some(blocks) => {
            let rows = app.rows_under(head.rows_view, &transactions_of(&addresses, blocks)).await?;
            Some(rows.iter().flat_map(Batch::rows).map(|row| (row.address, row.transactions)).collect())
        }
        None => None,
    };
    let item = |row: RankedAddress| Item {
        address: row.address,
        balance: Some(row.amount),
        transactions: counts.as_ref().map(|counts| counts.get(&row.address).copied().unwrap_or(0)),
    };
    Ok(found.into_iter().map(item).collect())
}

/// Accounts ranked by transactions, with their balances if these are known.
async fn with_balances(found: Vec<RankedAddress>, state: Option<&State>) -> Result<Vec<Item>, Problem> {
    let item = async |row: RankedAddress| {
        let balance = match state {
            Some(state) => Some(state.account(row.address).await?.balance),
            None => None,
        };
        Ok::<_, Problem>(Item { address: row.address, balance, transactions: row.amount.try_into().ok() })
    };
    try_join_all(found.into_iter().map(item)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_reused_while_the_chain_grows_by_a_small_part() {
        assert_eq!([0, 1, 91, 8_190].map(last_ranked), [0, 1, 91, 8_190]);
        assert_eq!((last_ranked(8_191), last_ranked(8_192)), (8_191, 8_191));
        assert_eq!((last_ranked(23_000_000), last_ranked(23_000_100)), (22_999_039, 22_999_039));
    }

    #[test]
    fn behind_a_position_come_smaller_amounts_or_larger_and_then_accounts() {
        let row =
            |amount: u64, byte: u8| RankedAddress { address: Address::repeat_byte(byte), amount: U256::from(amount) };
        let position = (U256::from(5), Address::repeat_byte(2));
        let behind =
            |from| [row(4, 1), row(5, 1), row(5, 2), row(5, 3), row(6, 3)].map(|row| is_behind(from, &row, position));
        assert_eq!(behind(SortOrder::LargestFirst), [true, false, false, true, false]);
        assert_eq!(behind(SortOrder::SmallestFirst), [false, false, false, true, true]);
    }
}
