//! `/api/v2/addresses/{address}/…`.

use axum::extract::State;
use axum::response::Response;

use crate::app::App;
use crate::cache::cache_control::CachePolicy;
use crate::error::Problem;
use crate::http::parameters::{AddressPath, Parameters, query_parameters};
use crate::http::query::{Kind, PAGE_SIZE, Query};
use crate::middleware::request_head::RequestHead;
use crate::read::completeness::require_table;
use crate::rest::blocks::withdrawals::withdrawals_page;
use crate::rest::cursor::{
    AddressLogCursor, Cursor, FrameCursor, OF_PENDING, TransactionCursor, TransferCursor, WithdrawalCursor,
    require_block,
};
use crate::rest::list::list_page;
use crate::rest::transactions::sorted;
use trawl_core::primitives::Direction;
use trawl_core::schema::{OptionalTable, TransactionRow};
use trawl_core::statement::Statement;
use trawl_json::blocks::withdrawals::Scope;
use trawl_query::tokens::transfers::TransferFilter;
use trawl_query::walk::{Order, Walk};

query_parameters! {
    pub(crate) WithdrawalsParameters: [WithdrawalCursor::PARAMETERS, PAGE_SIZE];
}

/// The withdrawals to one address; an empty list for an address that is in no block
/// (docs/reference/http-contract.md#hashes-in-paths).
pub(in crate::rest) async fn withdrawals(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    query: Parameters<WithdrawalsParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let blocks = head.withdrawals.span();
    let statement = |before, limit| trawl_query::blocks::withdrawals::of_address(&address, &blocks, before, limit);
    withdrawals_page(&app, &head, &query, Scope::Address, statement).await
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

query_parameters! {
    pub(crate) TransactionsParameters:
        [&[("filter", DIRECTION)], sorted::PARAMETERS, TransactionCursor::PARAMETERS, OF_PENDING, PAGE_SIZE];
}

/// The transactions that an address takes part in, newest first or oldest first
/// (docs/reference/http-contract.md#transactions).
pub(in crate::rest) async fn transactions(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    query: Parameters<TransactionsParameters>,
) -> Result<Response, Problem> {
    if let Some(sorted) = sorted::sorted_list(&query, direction(&query)) {
        let head = head.get()?;
        return sorted::page(&app, &head, &address, &query, sorted).await;
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
    let statement: Statement<TransactionRow> =
        trawl_query::transactions::of_address(&address, direction(&query), &blocks, walk);
    list_page(&app, &head, &statement, size).await
}

query_parameters! {
    pub(crate) InternalTransactionsParameters: [&[("filter", DIRECTION)], FrameCursor::PARAMETERS, PAGE_SIZE];
}

/// The call frames that an address takes part in, newest first (docs/reference/http-contract.md#internal-transactions).
pub(in crate::rest) async fn internal_transactions(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    query: Parameters<InternalTransactionsParameters>,
) -> Result<Response, Problem> {
    let before = FrameCursor::read(&query)?.map(|cursor| cursor.0);
    let (head, size) = (head.get()?, query.page_size());
    let blocks = head.traces.span();
    let statement =
        trawl_query::transactions::internal::of_address(&address, direction(&query), &blocks, before, size + 1);
    let policy = CachePolicy::of_page(&head, &head.traces, query.height("block_number"));
    Ok(policy.mark(list_page(&app, &head, &statement, size).await?))
}

query_parameters! {
    pub(crate) TokenTransfersParameters: [
        &[("type", Kind::Standards), ("filter", DIRECTION), ("token", Kind::Address)],
        TransferCursor::PARAMETERS,
        PAGE_SIZE,
    ];
}

/// The token transfers that an address takes part in, newest first (docs/reference/http-contract.md#token-transfers).
pub(in crate::rest) async fn token_transfers(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    query: Parameters<TokenTransfersParameters>,
) -> Result<Response, Problem> {
    let before = TransferCursor::read(&query)?.map(|cursor| cursor.position);
    let filter =
        TransferFilter { direction: direction(&query), token: query.address("token"), types: query.standards("type") };
    let (head, size) = (head.get()?, query.page_size());
    let blocks = head.receipts.span();
    let statement = trawl_query::tokens::transfers::of_address(&address, &filter, &blocks, before, size + 1);
    let policy = CachePolicy::of_page(&head, &head.receipts, query.height("block_number"));
    Ok(policy.mark(list_page(&app, &head, &statement, size).await?))
}

query_parameters! {
    pub(crate) LogsParameters: [&[("topic", Kind::Hash)], AddressLogCursor::PARAMETERS, PAGE_SIZE];
}

/// The logs that an address emitted, newest first (docs/reference/http-contract.md#logs).
pub(in crate::rest) async fn logs(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    query: Parameters<LogsParameters>,
) -> Result<Response, Problem> {
    let before = AddressLogCursor::read(&query)?.map(|cursor| cursor.0);
    let (head, size) = (head.get()?, query.page_size());
    let topic = query.hash("topic");
    let blocks = head.receipts.span();
    let statement = trawl_query::logs::of_address(&address, topic.as_ref(), &blocks, before, size + 1);
    let policy = CachePolicy::of_page(&head, &head.receipts, query.height("block_number"));
    Ok(policy.mark(list_page(&app, &head, &statement, size).await?))
}
