//! `gettxinfo`: a transaction with its logs.

use axum::response::Response;

use super::status::{ending, missing};
use crate::error::Problem;
use crate::etherscan::answer::{Refusal, result};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::read::completeness::require_part;
use trawl_core::schema::{BlockPart, LogRow};
use trawl_core::store::Batch;
use trawl_json::etherscan::{Ending, LogsOfTransaction, write_transaction_info};

/// Logs of an answer; the others are found with `index`.
const MAX_LOGS: u64 = 100;

/// The transaction and its logs from a position on.
pub(crate) async fn info(request: Request) -> Result<Response, Refusal> {
    let Request { app, head, params, .. } = &request;
    let hash = params.require("txhash", Params::hash)?;
    let after = params.number("index");
    let Some((batch, row)) = app.transaction(&hash, head).await? else {
        missing(app, head)?;
        return Err(Refusal::Sentence("Transaction not found".into()));
    };
    let (block, index) = (batch.view().block_number[row], batch.view().transaction_index[row]);
    require_part(head, BlockPart::Receipts, block)?;
    let logs = trawl_query::logs::of_transaction(&head.receipts.at(block), index, after, MAX_LOGS + 1);
    let batches: Vec<Batch<LogRow>> = app.reader().all(&logs).await.map_err(Problem::from)?;
    let ending = ending(app, head, block, index).await?;
    let ending = ending.map(|ending| Ending { error: ending.error, output: ending.output });
    let newest = head.number().unwrap_or_default();
    let logs = LogsOfTransaction { batches: batches.iter().map(Batch::view).collect(), most: MAX_LOGS };
    Ok(result(|writer| write_transaction_info(writer, &batch.view(), row, newest, ending.as_ref(), &logs)))
}
