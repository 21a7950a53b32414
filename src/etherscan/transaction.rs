//! `module=transaction`: how a transaction ended.

use axum::response::Response;

use super::answer::{Refused, result};
use super::params::Params;
use super::window::missing_to_head;
use crate::app::App;
use crate::error::Problem;
use trawl_core::schema::Column;
use trawl_core::store::Head;
use trawl_json::etherscan::{write_execution_status, write_receipt_status};
use trawl_query::places::Ending;

/// A transaction that was found: its place, and its status if that is known.
struct Found {
    place: (u64, u32),
    status: Option<u8>,
}

/// The transaction; `None` if there is none.
async fn find(app: &App, head: &Head, params: &Params) -> Result<Option<Found>, Refused> {
    let hash = params.hash("txhash")?;
    let Some((batch, row)) = app.transaction(&hash, head).await? else {
        missing(app, head)?;
        return Ok(None);
    };
    let view = batch.view();
    let is_known = view.has_receipt[row] == 1 && view.lacking.items::<String>(row).all(|column| column != "status");
    let status = Option::<u8>::get(&view.status, row).filter(|_| is_known);
    Ok(Some(Found { place: (view.block_number[row], view.transaction_index[row]), status }))
}

/// Refuses to say that there is no transaction where blocks are not loaded in which it may be.
///
/// # Errors
///
/// [`Problem::BlocksMissing`] with those blocks.
pub(super) fn missing(app: &App, head: &Head) -> Result<(), Problem> {
    let missing = missing_to_head(app, head, &head.blocks);
    if missing.is_empty() { Ok(()) } else { Err(Problem::BlocksMissing(missing)) }
}

/// The status of the receipt; empty if there is no transaction, or its receipt does not say.
pub(super) async fn receipt_status(app: &App, head: &Head, params: &Params) -> Result<Response, Refused> {
    let found = find(app, head, params).await?;
    Ok(result(|writer| write_receipt_status(writer, found.and_then(|found| found.status))))
}

/// Whether a transaction failed, and why.
pub(super) async fn execution_status(app: &App, head: &Head, params: &Params) -> Result<Response, Refused> {
    let found = find(app, head, params).await?;
    let found = found.ok_or_else(|| Refused::Sentence("Transaction not found".into()))?;
    let reason = match found.status {
        Some(0) => reason(app, head, found.place).await?,
        _ => String::new(),
    };
    Ok(result(|writer| write_execution_status(writer, found.status, &reason)))
}

/// Why a transaction failed, in the words of the node; empty where its call frames are not readable.
async fn reason(app: &App, head: &Head, place: (u64, u32)) -> Result<String, Problem> {
    Ok(ending(app, head, place).await?.map(|ending| ending.error).unwrap_or_default())
}

/// What a failed transaction returned, as digits; empty where it returned nothing, did not fail, or its call frames are not
/// readable.
pub(super) async fn reverted_with(app: &App, head: &Head, place: (u64, u32)) -> Result<String, Problem> {
    let ending = ending(app, head, place).await?.filter(|ending| !ending.error.is_empty() && !ending.output.is_empty());
    Ok(ending.map(|ending| const_hex::encode_prefixed(&ending.output)).unwrap_or_default())
}

async fn ending(app: &App, head: &Head, place: (u64, u32)) -> Result<Option<Ending>, Problem> {
    let statement = trawl_query::places::endings(&[place].into(), &head.traces.span());
    let found = app.reader().rows(&statement).await?;
    Ok(found.into_iter().find(|ending| (ending.block_number, ending.transaction_index) == place))
}
