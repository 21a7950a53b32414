//! Figures that headers have: `dailytx`, `dailytxnfee`, `dailyavgblocksize`, `dailyavgblocktime`, `dailyavggaslimit`,
//! `dailygasused`, `dailynetutilization`.

use axum::response::Response;

use super::period::Period;
use crate::etherscan::answer::Refusal;
use crate::etherscan::request::Request;
use crate::read::days::Sums;
use trawl_json::etherscan::Figure;
use trawl_json::stats::charts::coins;

/// The list of what `figures` makes of the blocks of each day; nothing of no blocks.
async fn list(request: Request, figures: fn(&Sums) -> Option<Vec<Figure>>) -> Result<Response, Refusal> {
    let Request { app, head, params, .. } = &request;
    let period = Period::read(app, head, params).await?;
    Ok(period.respond(|day| {
        let sums = period.sums(day)?;
        if sums.blocks == 0 { Some(Vec::new()) } else { figures(&sums) }
    }))
}

/// The transactions of each day.
pub(crate) async fn transactions(request: Request) -> Result<Response, Refusal> {
    list(request, |sums| Some(vec![Figure::Number("transactionCount", sums.transactions)])).await
}

/// What they paid for gas.
pub(crate) async fn fees(request: Request) -> Result<Response, Refusal> {
    list(request, |sums| Some(vec![Figure::Text("transactionFee_Eth", coins(sums.fees?))])).await
}

/// Bytes of a block.
pub(crate) async fn sizes(request: Request) -> Result<Response, Refusal> {
    list(request, |sums| Some(vec![Figure::Number("blockSize_bytes", rounded(sums.size?, sums.blocks))])).await
}

/// Seconds from block to block, of days with several.
pub(crate) async fn times(request: Request) -> Result<Response, Refusal> {
    list(request, |sums| {
        let seconds = block_time(sums).map(|seconds| format!("{seconds:.2}"));
        Some(seconds.map(|seconds| Figure::Text("blockTime_sec", seconds)).into_iter().collect())
    })
    .await
}

/// Seconds from block to block; `None` of a single one.
#[expect(clippy::cast_precision_loss, reason = "an average")]
pub(super) fn block_time(sums: &Sums) -> Option<f64> {
    let ((first, last), steps) = (sums.times?, sums.blocks.checked_sub(1).filter(|steps| *steps > 0)?);
    Some((last - first) as f64 / 1e6 / steps as f64)
}

/// Gas that a block could use.
pub(crate) async fn gas_limits(request: Request) -> Result<Response, Refusal> {
    list(request, |sums| {
        let limit = sums.gas?.1.to::<u128>();
        Some(vec![Figure::Text("gasLimit", limit.checked_div(sums.blocks.into())?.to_string())])
    })
    .await
}

/// Gas that the blocks used.
pub(crate) async fn gas_used(request: Request) -> Result<Response, Refusal> {
    list(request, |sums| Some(vec![Figure::Text("gasUsed", sums.gas?.0.to_string())])).await
}

/// The share of the gas that they could use.
pub(crate) async fn utilization(request: Request) -> Result<Response, Refusal> {
    list(request, |sums| {
        let (used, limit) = sums.gas?;
        let share = if limit.is_zero() { 0.0 } else { f64::from(used) / f64::from(limit) };
        Some(vec![Figure::Text("networkUtilization", format!("{share:.4}"))])
    })
    .await
}

fn rounded(sum: u64, count: u64) -> u64 {
    (sum + count / 2).checked_div(count).unwrap_or_default()
}
