//! `/api/v2/tokens/{token}` and what is summed over it.

use axum::extract::State;
use axum::response::Response;

use crate::app::App;
use crate::error::Problem;
use crate::http::parameters::{AddressPath, NoParameters, Parameters};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::completeness::is_complete;
use crate::read::tokens::token::{count_at_head, known};
use trawl_core::store::{Batch, Head};
use trawl_json::JsonWriter;
use trawl_json::tokens::TokenTotals;
use trawl_query::tokens::TokenPart;

/// Most transfers of the newest blocks that are added to the sum of settled ones; with more, the sum is not known.
const MAX_NEWEST: u64 = 10_000;

/// One token (docs/reference/http-contract.md#tokens).
pub(in crate::rest) async fn token(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let (mut tokens, kind) = known(&app, &head, &address).await?;
    let block = count_at_head(&app, &head, &address, &kind, &mut tokens).await?;
    let mut writer = JsonWriter::new();
    tokens.write_page(&mut writer, &address, &kind, block);
    Ok(json(writer.into_bytes()))
}

/// How many hold a token and how often it was moved (docs/reference/http-contract.md#tokens).
pub(in crate::rest) async fn counters(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let (mut tokens, kind) = known(&app, &head, &address).await?;
    count_at_head(&app, &head, &address, &kind, &mut tokens).await?;
    let holders = tokens.holders_count(&address, &kind);
    let transfers = transfers_count(&app, &head, TokenPart::Token(&address)).await?;
    let mut writer = JsonWriter::new();
    TokenTotals { holders, transfers }.write(&mut writer);
    Ok(json(writer.into_bytes()))
}

/// How many transfers there are; `None` if some blocks are not readable.
///
/// # Errors
///
/// When the store fails.
pub(in crate::rest) async fn transfers_count(
    app: &App,
    head: &Head,
    moved: TokenPart<'_>,
) -> Result<Option<u64>, Problem> {
    if !is_complete(head, &head.receipts) {
        return Ok(None);
    }
    let blocks = head.receipts.span();
    let newest = trawl_query::tokens::transfers(moved, &blocks.without_settled(), None, MAX_NEWEST);
    let settled = trawl_query::tokens::transfers_total(moved, &blocks.settled);
    let newest = async { Ok(app.reader().all(&newest).await?) };
    let (settled, newest) = tokio::try_join!(app.rows_of(head, &settled), newest)?;
    let settled = settled.iter().flat_map(Batch::rows).next().map_or(0, |sum| sum.transfers);
    let newest: u64 = newest.iter().map(|batch| batch.len() as u64).sum();
    Ok((newest < MAX_NEWEST).then_some(settled + newest))
}
