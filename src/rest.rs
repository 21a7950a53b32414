//! The REST endpoints under `/api/v2` (docs/reference/rest.md).

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Uri};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::app::App;
use crate::error::Problem;
use crate::http::cached::cached;
use crate::http::{health, openapi};
use crate::scan;
use trawl_core::primitives::Address;
use trawl_core::schema::{Column, WithdrawalRow};
use trawl_core::statement::Statement;
use trawl_core::store::Head;
use trawl_json::list::write_page;
use trawl_json::withdrawals::{Scope, write_rest_withdrawal};
use trawl_json::{Array, Object};

pub(crate) mod addresses;
pub(crate) mod blocks;
mod page;
pub(crate) mod params;
pub(crate) mod summary;
pub(crate) mod transactions;

use page::Page;

/// Items of a page unless the request asks otherwise.
const PAGE: u64 = 50;

/// Routes of the API family, of wide scans and of the service itself.
pub(crate) fn router(app: App) -> Router {
    let lists = Router::new()
        .route("/api/v2/blocks", get(blocks::list))
        .route("/api/v2/blocks/{block_number_or_hash}/withdrawals", get(blocks::withdrawals))
        .route("/api/v2/transactions/{transaction_hash}/logs", get(transactions::logs))
        .route("/api/v2/addresses/{address_hash}/withdrawals", get(addresses::withdrawals))
        .route("/api/v2/addresses/{address_hash}/internal-transactions", get(addresses::internal_transactions))
        .route("/api/v2/addresses/{address_hash}/token-transfers", get(addresses::token_transfers))
        .route("/api/v2/transactions/{transaction_hash}/raw-trace", get(transactions::raw_trace))
        .route("/api/v2/transactions/{transaction_hash}/summary", get(summary::summary))
        .route_layer(middleware::from_fn_with_state(app.clone(), cached));
    Router::new()
        .merge(lists)
        .route("/api/v2/logs", get(scan::get).post(scan::post))
        .route("/api/v2/internal-transactions", get(scan::internal_transactions))
        .route("/api/v2/token-transfers", get(scan::token_transfers))
        .route("/api/v2/transactions", get(scan::transactions))
        .route("/api/v2/config/backend-version", get(health::backend_version))
        .route("/api/v2/openapi", get(openapi::openapi))
        .route("/api/v2", get(unknown))
        .route("/api/v2/{*rest}", get(unknown))
        .with_state(app)
}

async fn unknown(_: Uri) -> Problem {
    Problem::UnknownAction
}

/// The end of a list.
const NO_CURSOR: Option<fn(&mut Object<'_>)> = None;

/// A list without items.
fn empty_page() -> Response {
    json(write_page(|_| {}, NO_CURSOR))
}

/// A body that is JSON text.
fn json(text: Vec<u8>) -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], Bytes::from(text)).into_response()
}

/// A page of withdrawals from the highest index down; `statement` reads one more than fits below a given index.
async fn withdrawals_page(
    (app, head): (&App, &Head),
    query: &params::Query,
    size: u64,
    scope: Scope,
    statement: impl FnOnce(Option<u64>) -> Statement<WithdrawalRow>,
) -> Result<Response, Problem> {
    // Indices start at 0: nothing is below a negative cursor, as nothing is below 0.
    let before = query.integer("index").map(|index| u64::try_from(index).unwrap_or(0));
    let batches = app.reader().all(&statement(before)).await?;
    let page = Page::cut(&batches, size);
    let cursor = page.more.then(|| page.last(|batch, row| batch.view().withdrawal_index[row])).flatten();
    let next = cursor.map(|index| {
        let count = page.count;
        move |next: &mut Object<'_>| {
            next.key("index").number(index);
            next.key("items_count").number(count);
        }
    });
    let mut receivers = Vec::new();
    page.rows(|batch, row| receivers.push(Address::get(&batch.view().address, row)));
    let known = app.addresses(receivers, head).await?;
    let items = |items: &mut Array<'_>| {
        page.rows(|batch, row| write_rest_withdrawal(items.item(), &batch.view(), row, scope, &known));
    };
    Ok(json(write_page(items, next)))
}
