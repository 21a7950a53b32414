//! `module=transaction&action=gettxinfo`: a transaction with its logs.

use std::sync::Arc;

use axum::response::Response;

use super::answer::{Refused, result};
use super::params::Params;
use super::transaction::{missing, reverted_with};
use crate::app::App;
use crate::error::Problem;
use trawl_core::schema::LogRow;
use trawl_core::store::{Batch, Head};
use trawl_json::etherscan::{LogsOfTransaction, write_transaction_info};

/// Logs of an answer; the others are found with `index`.
const MOST_LOGS: u64 = 100;

/// The transaction and its logs from a place on.
pub(super) async fn info(app: &App, head: &Arc<Head>, params: &Params) -> Result<Response, Refused> {
    let hash = params.hash("txhash")?;
    let after = params.number("index")?;
    let Some((batch, row)) = app.transaction(&hash, head).await? else {
        missing(app, head)?;
        return Err(Refused::Sentence("Transaction not found".into()));
    };
    let place = (batch.view().block_number[row], batch.view().transaction_index[row]);
    if !head.receipts.contains(place.0) {
        return Err(Problem::PartMissing { part: "Receipts", block: place.0 }.into());
    }
    let logs = trawl_query::logs::of_transaction(&head.receipts.at(place.0), place.1, after, MOST_LOGS + 1);
    let batches: Vec<Batch<LogRow>> = app.reader().all(&logs).await.map_err(Problem::from)?;
    let reason = reverted_with(app, head, place).await?;
    let newest = head.number().unwrap_or_default();
    let logs = LogsOfTransaction { batches: batches.iter().map(Batch::view).collect(), most: MOST_LOGS };
    Ok(result(|writer| write_transaction_info(writer, (&batch.view(), row), (newest, &reason), &logs)))
}
