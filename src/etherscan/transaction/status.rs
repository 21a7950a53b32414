//! `gettxreceiptstatus`, `getstatus`: how a transaction ended.

use axum::response::Response;

use crate::app::App;
use crate::error::Problem;
use crate::etherscan::answer::{Refusal, result};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::etherscan::window::missing_to_head;
use trawl_core::primitives::BlockNumber;
use trawl_core::schema::Column;
use trawl_core::store::Head;
use trawl_json::etherscan::{write_execution_status, write_receipt_status};
use trawl_query::transactions::positions::Ending;

/// A transaction that was found: its block, its position in that, and its status if that is known.
struct TransactionStatus {
    block: BlockNumber,
    index: u32,
    status: Option<u8>,
}

/// The transaction; `None` if there is none.
async fn find(Request { app, head, params, .. }: &Request) -> Result<Option<TransactionStatus>, Refusal> {
    let hash = params.require("txhash", Params::hash)?;
    let Some((batch, row)) = app.transaction(&hash, head).await? else {
        missing(app, head)?;
        return Ok(None);
    };
    let view = batch.view();
    let is_known = view.has_receipt[row] == 1 && view.lacking.items::<String>(row).all(|column| column != "status");
    let status = Option::<u8>::get(&view.status, row).filter(|_| is_known);
    Ok(Some(TransactionStatus { block: view.block_number[row], index: view.transaction_index[row], status }))
}

/// Refuses to say that there is no transaction where blocks are not loaded in which it may be.
///
/// # Errors
///
/// [`Problem::BlocksMissing`] with those blocks.
pub(crate) fn missing(app: &App, head: &Head) -> Result<(), Problem> {
    let missing = missing_to_head(app, head, &head.blocks);
    if missing.is_empty() { Ok(()) } else { Err(Problem::BlocksMissing(missing)) }
}

/// The status of the receipt; empty if there is no transaction, or its receipt does not say.
pub(crate) async fn receipt_status(request: Request) -> Result<Response, Refusal> {
    let found = find(&request).await?;
    Ok(result(|writer| write_receipt_status(writer, found.and_then(|found| found.status))))
}

/// Whether a transaction failed, and why.
pub(crate) async fn execution_status(request: Request) -> Result<Response, Refusal> {
    let found = find(&request).await?;
    let found = found.ok_or_else(|| Refusal::Sentence("Transaction not found".into()))?;
    // Receipts before Byzantium have no status; call frames say it too.
    let error = match found.status {
        Some(1) => None,
        _ => ending(&request.app, &request.head, found.block, found.index).await?.map(|ending| ending.error),
    };
    let has_failed = found.status.map(|status| status == 0).or(error.as_ref().map(|error| !error.is_empty()));
    Ok(result(|writer| write_execution_status(writer, has_failed, &error.unwrap_or_default())))
}

/// How the outermost call of a transaction ended; `None` where its call frames are not readable.
///
/// # Errors
///
/// When the store fails.
pub(crate) async fn ending(app: &App, head: &Head, block: BlockNumber, index: u32) -> Result<Option<Ending>, Problem> {
    let position = (block, index);
    let statement = trawl_query::transactions::positions::endings(&[position].into(), &head.traces.span());
    let found = app.reader().rows(&statement).await?;
    Ok(found.into_iter().find(|ending| (ending.block_number, ending.transaction_index) == position))
}
