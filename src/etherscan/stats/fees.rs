//! `totalfees`: what the transactions of a day paid for gas.

use axum::response::Response;

use crate::app::App;
use crate::error::Problem;
use crate::etherscan::answer::{Refusal, result};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::read::blocks::times::{after, before};
use trawl_core::primitives::{BlockNumber, BlockRange, Timestamp, U256};
use trawl_core::store::Head;

/// Seconds of a day.
const DAY: u64 = 86_400;

/// What the transactions of a day (UTC) paid for gas, in wei.
pub(crate) async fn of_day(request: Request) -> Result<Response, Refusal> {
    let Request { app, head, params, .. } = &request;
    let start = params.require("date", Params::day)?.saturating_mul(DAY);
    let time = |seconds| Timestamp::from_seconds(seconds).map_err(|_| Refusal::Sentence("Invalid date".into()));
    let Some(next) = after(app, head, time(start.saturating_add(DAY))?).await? else {
        return Err(Refusal::Sentence("The blocks of this day are not all known yet".into()));
    };
    let first = after(app, head, time(start)?).await?;
    let last = before(app, head, time(start.saturating_add(DAY - 1))?).await?;
    let range = first.zip(last).and_then(|(first, last)| BlockRange::new(first, last)).filter(|_| next > 0);
    let sum = match range {
        Some(range) => fees(app, head, range).await?,
        None => U256::ZERO,
    };
    Ok(result(|writer| writer.decimal_256(sum)))
}

/// The sum of the fees of blocks.
///
/// # Errors
///
/// When receipts of some of them are not loaded.
async fn fees(app: &App, head: &Head, range: BlockRange) -> Result<U256, Problem> {
    let missing = head.receipts.missing(range);
    if !missing.is_empty() {
        return Err(Problem::BlocksMissing(missing));
    }
    let rows = app.reader().rows(&trawl_query::blocks::transaction_fees(&head.receipts.within(range))).await?;
    let unknown = rows.iter().find(|row| row.transaction_fees.is_none() || lacks_fees(&row.lacking));
    match unknown {
        Some(row) => Err(without_fees(row.block_number)),
        None => Ok(rows.iter().filter_map(|row| row.transaction_fees).fold(U256::ZERO, U256::saturating_add)),
    }
}

fn lacks_fees(lacking: &[String]) -> bool {
    lacking.iter().any(|column| column == "transaction_fees")
}

fn without_fees(block: BlockNumber) -> Problem {
    Problem::ColumnsMissing { what: format!("block {block}"), columns: vec!["transaction_fees".into()] }
}
