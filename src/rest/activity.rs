//! `/api/v2/addresses/{address}/activity/…`, `/api/v2/tokens/{address}/activity` and `/api/v2/stats/activity`: what an
//! address or the chain did, by day, week, month or year. Settled blocks are grouped by the engine, the rows of newer
//! ones here.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::response::Response;

use crate::app::App;
use crate::error::Problem;
use crate::http::query::{Kind, ParameterGroup, Query, address};
use crate::middleware::request_head::RequestHead;
use activity_query::ActivityQuery;
use trawl_core::readable::Readable;
use trawl_core::store::Head;
use trawl_json::dates::Period;

mod activity_query;
mod coins;
mod counterparties;
mod events;
mod failures;
mod flows;
mod methods;
mod names;
mod transactions;
mod transfers;

pub(crate) const ACTIVITY: &[ParameterGroup] =
    &[&[("from", Kind::Text), ("to", Kind::Text), ("resolution", Kind::Name(Period::NAMES))]];

/// Parameters of what is added up over the whole time.
pub(crate) const WHOLE_TIME: &[ParameterGroup] = &[&[("from", Kind::Text), ("to", Kind::Text)]];

/// What the parameters of a request ask for, of the blocks of which a part is readable.
async fn asked(
    app: &App,
    head: RequestHead,
    (query, declared): (Option<String>, &[ParameterGroup]),
    part: fn(&Head) -> &Readable,
) -> Result<(Arc<Head>, ActivityQuery), Problem> {
    let query = Query::read(query.as_deref().unwrap_or(""), declared)?;
    let head = head.get()?;
    let asked = ActivityQuery::read(app, &head, &query, part(&head)).await?;
    Ok((head, asked))
}

/// The token transfers of an address, by counterparty and token (docs/reference/http-contract.md#activity).
pub(super) async fn of_counterparties(
    State(app): State<App>,
    head: RequestHead,
    Path(hash): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let address = address(&hash)?;
    let (head, asked) = asked(&app, head, (query, WHOLE_TIME), |head| &head.receipts).await?;
    counterparties::answer(&app, &head, &address, &asked).await
}

/// The coins that an address received and sent, by counterparty.
pub(super) async fn of_coins(
    State(app): State<App>,
    head: RequestHead,
    Path(hash): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let address = address(&hash)?;
    let (head, asked) = asked(&app, head, (query, WHOLE_TIME), |head| &head.traces).await?;
    coins::answer(&app, &head, &address, &asked).await
}

/// Why transactions to a contract failed.
pub(super) async fn of_failures(
    State(app): State<App>,
    head: RequestHead,
    Path(hash): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let contract = address(&hash)?;
    let (head, asked) = asked(&app, head, (query, WHOLE_TIME), |head| &head.receipts).await?;
    failures::answer(&app, &head, Some(&contract), &asked).await
}

/// Why transactions of the chain failed.
pub(super) async fn of_all_failures(
    State(app): State<App>,
    head: RequestHead,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let (head, asked) = asked(&app, head, (query, WHOLE_TIME), |head| &head.receipts).await?;
    failures::answer(&app, &head, None, &asked).await
}

/// The logs that a contract emitted, by event (docs/reference/http-contract.md#activity).
pub(super) async fn of_events(
    State(app): State<App>,
    head: RequestHead,
    Path(hash): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let contract = address(&hash)?;
    let (head, asked) = asked(&app, head, (query, ACTIVITY), |head| &head.receipts).await?;
    Ok(asked.answer(events::points(&app, &head, &contract, &asked).await?))
}

/// The transfers of a token.
pub(super) async fn of_transfers(
    State(app): State<App>,
    head: RequestHead,
    Path(hash): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let token = address(&hash)?;
    let (head, asked) = asked(&app, head, (query, ACTIVITY), |head| &head.receipts).await?;
    Ok(asked.answer(transfers::points(&app, &head, &token, &asked).await?))
}

/// The transactions to a contract, by method.
pub(super) async fn of_methods(
    State(app): State<App>,
    head: RequestHead,
    Path(hash): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let contract = address(&hash)?;
    let (head, asked) = asked(&app, head, (query, ACTIVITY), |head| &head.blocks).await?;
    Ok(asked.answer(methods::points(&app, &head, &contract, &asked).await?))
}

/// The transactions of the chain, and who sent them.
pub(super) async fn of_chain(
    State(app): State<App>,
    head: RequestHead,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let (head, asked) = asked(&app, head, (query, ACTIVITY), |head| &head.blocks).await?;
    transactions::answer(&app, &head, &asked).await
}
