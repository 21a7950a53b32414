//! `/api/v2/addresses/{address}/…`.

use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use trawl_core::schema::OptionalTable;

use crate::app::App;
use crate::cache::cache_control::CachePolicy;
use crate::error::Problem;
use crate::http::query::{Kind, PAGE_SIZE, ParameterGroup, Query, address};
use crate::middleware::request_head::RequestHead;
use crate::read::completeness::require_table;
use crate::rest::blocks::withdrawals::withdrawals_page;
use crate::rest::cursor::{
    AddressLogCursor, Cursor, FrameCursor, OF_PENDING, TransactionCursor, TransferCursor, WithdrawalCursor,
    require_block,
};
use crate::rest::page::{Page, json};
use crate::rest::transactions::frame_items::{FrameItems, position};
use crate::rest::transactions::items::{TransactionItems, transaction_cursor};
use crate::rest::transactions::log_items::{LogItems, log_cursor};
use crate::rest::transactions::sorted;
use crate::rest::transactions::transfer_items::{TransferItems, transfer_cursor};
use trawl_core::primitives::Direction;
use trawl_json::blocks::withdrawals::Scope;
use trawl_json::list::write_page;
use trawl_query::tokens::transfers::TransferFilter;
use trawl_query::walk::{Order, Walk};

pub(crate) const WITHDRAWALS: &[ParameterGroup] = &[WithdrawalCursor::PARAMETERS, PAGE_SIZE];

/// The withdrawals to one address; an empty list for an address that is in no block
/// (docs/reference/http-contract.md#hashes-in-paths).
pub(in crate::rest) async fn withdrawals(
    State(app): State<App>,
    head: RequestHead,
    Path(hash): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let address = address(&hash)?;
    let query = Query::read(query.as_deref().unwrap_or(""), WITHDRAWALS)?;
    let head = head.get()?;
    let blocks = head.withdrawals.span();
    let statement = |before, limit| trawl_query::blocks::withdrawals::of_address(&address, &blocks, before, limit);
    withdrawals_page((&app, &head), &query, Scope::Address, statement).await
}

/// On which side an address is. Clients of Blockscout's first pages of documentation write both.
const DIRECTION: Kind = Kind::Name(&["to", "from", "to | from", "from | to", "to|from", "from|to"]);

fn direction(query: &Query) -> Option<Direction> {
    match query.name("filter")? {
        "to" => Some(Direction::To),
        "from" => Some(Direction::From),
        _ => None,
    }
}

pub(crate) const TRANSACTIONS: &[ParameterGroup] =
    &[&[("filter", DIRECTION)], sorted::PARAMETERS, TransactionCursor::PARAMETERS, OF_PENDING, PAGE_SIZE];

/// The transactions that an address takes part in, newest first or oldest first
/// (docs/reference/http-contract.md#transactions).
pub(in crate::rest) async fn transactions(
    State(app): State<App>,
    head: RequestHead,
    Path(hash): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let address = address(&hash)?;
    let query = Query::read(query.as_deref().unwrap_or(""), TRANSACTIONS)?;
    if let Some(sorted) = sorted::sorted_list(&query, direction(&query)) {
        let head = head.get()?;
        return sorted::page(&app, &head, &address, (&query, sorted)).await;
    }
    require_block(&query)?;
    let order = if query.name("order") == Some("asc") { Order::OldestFirst } else { Order::NewestFirst };
    let beyond = match order {
        Order::NewestFirst => TransactionCursor::read(&query)?.map(|cursor| cursor.0),
        Order::OldestFirst => TransactionCursor::read_ascending(&query)?,
    };
    let (head, size) = (head.get()?, query.page_size());
    require_table(&head, OptionalTable::TransactionsByAddress)?;
    let blocks = head.blocks.span();
    let walk = Walk { order, beyond, limit: size + 1 };
    let statement = trawl_query::transactions::of_address(&address, direction(&query), &blocks, walk);
    let batches = app.rows_of(&head, &statement).await?;
    let page = Page::cut(&batches, size);
    let items = TransactionItems::load(&app, &head, page.items()).await?;
    let next = transaction_cursor(&page).map(|cursor| cursor.writer(page.count));
    Ok(json(write_page(|list| items.write(list), next)))
}

pub(crate) const INTERNAL_TRANSACTIONS: &[ParameterGroup] =
    &[&[("filter", DIRECTION)], FrameCursor::PARAMETERS, PAGE_SIZE];

/// The call frames that an address takes part in, newest first (docs/reference/http-contract.md#internal-transactions).
pub(in crate::rest) async fn internal_transactions(
    State(app): State<App>,
    head: RequestHead,
    Path(hash): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let address = address(&hash)?;
    let query = Query::read(query.as_deref().unwrap_or(""), INTERNAL_TRANSACTIONS)?;
    let before = FrameCursor::read(&query)?.map(|cursor| cursor.0);
    let (head, size) = (head.get()?, query.page_size());
    let blocks = head.traces.span();
    let statement =
        trawl_query::transactions::internal::of_address(&address, direction(&query), &blocks, before, size + 1);
    let batches = app.rows_of(&head, &statement).await?;
    let page = Page::cut(&batches, size);
    let items = FrameItems::load(&app, &head, page.items()).await?;
    let last = page.more.then(|| page.last(position)).flatten();
    let next = last.map(|position| FrameCursor(position).writer(page.count));
    let policy = CachePolicy::of_page(&head, &head.traces, query.height("block_number"));
    Ok(policy.mark(json(write_page(|list| items.write(list), next))))
}

pub(crate) const TOKEN_TRANSFERS: &[ParameterGroup] = &[
    &[("type", Kind::Standards), ("filter", DIRECTION), ("token", Kind::Address)],
    TransferCursor::PARAMETERS,
    PAGE_SIZE,
];

/// The token transfers that an address takes part in, newest first (docs/reference/http-contract.md#token-transfers).
pub(in crate::rest) async fn token_transfers(
    State(app): State<App>,
    head: RequestHead,
    Path(hash): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let address = address(&hash)?;
    let query = Query::read(query.as_deref().unwrap_or(""), TOKEN_TRANSFERS)?;
    let before = TransferCursor::read(&query)?.map(|cursor| cursor.position);
    let filter =
        TransferFilter { direction: direction(&query), token: query.address("token"), types: query.standards("type") };
    let (head, size) = (head.get()?, query.page_size());
    let blocks = head.receipts.span();
    let statement = trawl_query::tokens::transfers::of_address(&address, &filter, &blocks, before, size + 1);
    let batches = app.rows_of(&head, &statement).await?;
    let page = Page::cut(&batches, size);
    let items = TransferItems::load(&app, &head, page.items()).await?;
    let policy = CachePolicy::of_page(&head, &head.receipts, query.height("block_number"));
    let next = transfer_cursor(&page).map(|cursor| cursor.writer(page.count));
    Ok(policy.mark(json(write_page(|list| items.write(list), next))))
}

pub(crate) const LOGS: &[ParameterGroup] = &[&[("topic", Kind::Hash)], AddressLogCursor::PARAMETERS, PAGE_SIZE];

/// The logs that an address emitted, newest first (docs/reference/http-contract.md#logs).
pub(in crate::rest) async fn logs(
    State(app): State<App>,
    head: RequestHead,
    Path(hash): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let address = address(&hash)?;
    let query = Query::read(query.as_deref().unwrap_or(""), LOGS)?;
    let before = AddressLogCursor::read(&query)?.map(|cursor| cursor.0);
    let (head, size) = (head.get()?, query.page_size());
    let topic = query.hash("topic");
    let blocks = head.receipts.span();
    let statement = trawl_query::logs::of_address(&address, topic.as_ref(), &blocks, before, size + 1);
    let batches = app.rows_of(&head, &statement).await?;
    let page = Page::cut(&batches, size);
    let items = LogItems::of_transactions(&app, &head, page.items()).await?;
    let next = log_cursor(&page).map(|cursor| cursor.writer(page.count));
    let policy = CachePolicy::of_page(&head, &head.receipts, query.height("block_number"));
    Ok(policy.mark(json(write_page(|list| items.write(list), next))))
}
