//! `dailyavggasprice`: what transactions paid for gas.

use axum::response::Response;

use super::period::Period;
use crate::etherscan::answer::Refusal;
use crate::etherscan::request::Request;
use trawl_core::primitives::U256;
use trawl_json::etherscan::Figure;
use trawl_query::stats::charts::mining::gas_prices;

/// The lowest and the highest price of each day, and the mean of its transactions; nothing of a day without
/// transactions.
pub(crate) async fn prices(request: Request) -> Result<Response, Refusal> {
    let Request { app, head, params, .. } = &request;
    let period = Period::read(app, head, params).await?;
    let settled = period.settled(app, head).await?;
    let rows = settled.rows(app, head, gas_prices, |row| row.start).await?;
    Ok(period.respond(|day| {
        if period.sums(day)?.transactions == 0 {
            return Some(Vec::new());
        }
        let row = rows.get(&day).filter(|row| row.without_price == 0)?;
        let mean = row.sum.checked_div(U256::from(row.transactions))?;
        let text = |name, wei: U256| Figure::Text(name, wei.to_string());
        Some(vec![
            text("maxGasPrice_Wei", row.highest),
            text("minGasPrice_Wei", row.lowest),
            text("avgGasPrice_Wei", mean),
        ])
    }))
}
