//! `/api/v2/addresses/{address}/activity/…`, `/api/v2/tokens/{address}/activity` and `/api/v2/stats/activity`: what an
//! address or the chain did, by day, week, month or year. Settled blocks are grouped by the engine, the rows of newer
//! ones here.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use crate::app::App;
use crate::error::Problem;
use crate::http::parameters::{AddressPath, Parameters, query_parameters};
use crate::http::query::{Kind, Query};
use crate::middleware::request_head::RequestHead;
use activity_query::ActivityQuery;
use trawl_core::calendar::Period;
use trawl_core::schema::BlockPart;
use trawl_core::store::Head;

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

query_parameters! {
    /// Of what is added up by periods.
    pub(crate) ActivityParameters:
        [&[("from", Kind::Text), ("to", Kind::Text), ("resolution", Kind::Name(Period::NAMES))]];
    /// Of what is added up over the whole time.
    pub(crate) TotalsParameters: [&[("from", Kind::Text), ("to", Kind::Text)]];
}

/// The requested activity, in the blocks of which a part is readable.
async fn activity_query(
    app: &App,
    head: RequestHead,
    query: &Query,
    part: BlockPart,
) -> Result<(Arc<Head>, ActivityQuery), Problem> {
    let head = head.get()?;
    let activity = ActivityQuery::read(app, &head, query, head.part(part)).await?;
    Ok((head, activity))
}

/// The token transfers of an address, by counterparty and token (docs/reference/http-contract.md#activity).
pub(super) async fn of_counterparties(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    query: Parameters<TotalsParameters>,
) -> Result<Response, Problem> {
    let (head, activity) = activity_query(&app, head, &query, BlockPart::Receipts).await?;
    counterparties::answer(&app, &head, &address, &activity).await
}

/// The coins that an address received and sent, by counterparty.
pub(super) async fn of_coins(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    query: Parameters<TotalsParameters>,
) -> Result<Response, Problem> {
    let (head, activity) = activity_query(&app, head, &query, BlockPart::Traces).await?;
    coins::answer(&app, &head, &address, &activity).await
}

/// Why transactions to a contract failed.
pub(super) async fn of_failures(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(contract): AddressPath,
    query: Parameters<TotalsParameters>,
) -> Result<Response, Problem> {
    let (head, activity) = activity_query(&app, head, &query, BlockPart::Receipts).await?;
    failures::answer(&app, &head, Some(&contract), &activity).await
}

/// Why transactions of the chain failed.
pub(super) async fn of_all_failures(
    State(app): State<App>,
    head: RequestHead,
    query: Parameters<TotalsParameters>,
) -> Result<Response, Problem> {
    let (head, activity) = activity_query(&app, head, &query, BlockPart::Receipts).await?;
    failures::answer(&app, &head, None, &activity).await
}

/// The logs that a contract emitted, by event (docs/reference/http-contract.md#activity).
pub(super) async fn of_events(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(contract): AddressPath,
    query: Parameters<ActivityParameters>,
) -> Result<Response, Problem> {
    let (head, activity) = activity_query(&app, head, &query, BlockPart::Receipts).await?;
    Ok(activity.answer(events::points(&app, &head, &contract, &activity).await?))
}

/// The transfers of a token.
pub(super) async fn of_transfers(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(token): AddressPath,
    query: Parameters<ActivityParameters>,
) -> Result<Response, Problem> {
    let (head, activity) = activity_query(&app, head, &query, BlockPart::Receipts).await?;
    Ok(activity.answer(transfers::points(&app, &head, &token, &activity).await?))
}

/// The transactions to a contract, by method.
pub(super) async fn of_methods(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(contract): AddressPath,
    query: Parameters<ActivityParameters>,
) -> Result<Response, Problem> {
    let (head, activity) = activity_query(&app, head, &query, BlockPart::Blocks).await?;
    Ok(activity.answer(methods::points(&app, &head, &contract, &activity).await?))
}

/// The transactions of the chain, and who sent them.
pub(super) async fn of_chain(
    State(app): State<App>,
    head: RequestHead,
    query: Parameters<ActivityParameters>,
) -> Result<Response, Problem> {
    let (head, activity) = activity_query(&app, head, &query, BlockPart::Blocks).await?;
    transactions::answer(&app, &head, &activity).await
}
