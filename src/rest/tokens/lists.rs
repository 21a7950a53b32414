//! `/api/v2/tokens/{token}/transfers` and `…/holders`.

use axum::extract::State;
use axum::response::Response;

use crate::app::App;
use crate::cache::cache_control::CachePolicy;
use crate::error::{Problem, UncountedReason};
use crate::http::parameters::{AddressPath, Parameters, query_parameters};
use crate::http::query::{PAGE_SIZE, Query};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::tokens::token::known;
use crate::rest::cursor::{Cursor, HolderCursor, TransferCursor};
use crate::rest::list::page_of;
use trawl_core::primitives::{TransferPosition, U256};
use trawl_core::store::Head;
use trawl_json::Array;
use trawl_json::list::write_page;
use trawl_json::tokens::write_holder;
use trawl_query::tokens::TokenPart;
use trawl_query::tokens::holders::{Asset, HolderPosition};

query_parameters! {
    pub(crate) TransfersParameters: [TransferCursor::PARAMETERS, PAGE_SIZE];
}

/// The transfers of a token, newest first (docs/reference/http-contract.md#token-transfers).
pub(in crate::rest) async fn transfers(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    query: Parameters<TransfersParameters>,
) -> Result<Response, Problem> {
    let before = TransferCursor::read(&query)?.map(|cursor| cursor.position);
    let head = head.get()?;
    transfer_page(&app, &head, TokenPart::Token(&address), &query, before).await
}

/// A page of transfers below a position.
pub(in crate::rest) async fn transfer_page(
    app: &App,
    head: &Head,
    moved: TokenPart<'_>,
    query: &Query,
    before: Option<TransferPosition>,
) -> Result<Response, Problem> {
    let (blocks, size) = (head.receipts.span(), query.page_size());
    let statement = trawl_query::tokens::transfers(moved, &blocks, before, size + 1);
    let batches = app.rows_of(head, &statement).await?;
    if batches.iter().all(|batch| batch.is_empty()) && before.is_none() {
        // A contract whose metadata was read in a block that is gone has an empty list; any other is not found.
        known(app, head, moved.token()).await?;
    }
    let policy = CachePolicy::of_page(head, &head.receipts, query.height("block_number"));
    Ok(policy.mark(page_of(app, head, &batches, size).await?))
}

query_parameters! {
    pub(crate) HoldersParameters: [HolderCursor::PARAMETERS, PAGE_SIZE];
}

/// Who holds a token, the largest balance first (docs/reference/http-contract.md#token-balances).
pub(in crate::rest) async fn holders(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    query: Parameters<HoldersParameters>,
) -> Result<Response, Problem> {
    let after = HolderCursor::read(&query)?.map(|cursor| cursor.0);
    let (head, size) = (head.get()?, query.page_size());
    let (tokens, standard) = known(&app, &head, &address).await?;
    if tokens.is_undetermined(&address, &standard) {
        return Err(Problem::NotCounted(UncountedReason::Undetermined));
    }
    let asset = Asset::Token(&address, &standard);
    let found = crate::read::tokens::holders::holders(&app, &head, &asset, after, size + 1).await?;
    holder_page(&app, &head, found, size, None).await
}

/// A page of holders, of an id if one is given; one more than it has rows was read.
pub(in crate::rest) async fn holder_page(
    app: &App,
    head: &Head,
    mut found: Vec<HolderPosition>,
    size: u64,
    id: Option<U256>,
) -> Result<Response, Problem> {
    let has_more = found.len() as u64 > size;
    found.truncate(usize::try_from(size).unwrap_or(usize::MAX));
    let addresses = app.addresses(found.iter().map(|position| position.holder), head).await?;
    let next = found.last().filter(|_| has_more).map(|position| HolderCursor(*position).writer(size));
    let write = |list: &mut Array<'_>| {
        found.iter().for_each(|position| write_holder(list.item(), &position.holder, position.held, id, &addresses));
    };
    Ok(json(write_page(write, next)))
}
