//! `module=gastracker`: what gas costs.

use axum::response::Response;

use super::answer::{Refusal, result};
use super::params::Params;
use super::request::Request;
use crate::read::blocks::recent::{block_time, recent};
use crate::rpc;
use trawl_core::primitives::U256;
use trawl_json::etherscan::write_gas_oracle;

/// Gas prices of three speeds for the next block.
pub(crate) async fn oracle(request: Request) -> Result<Response, Refusal> {
    let oracle = rpc::oracle(&request.rpc, &request.head).await?;
    let prices = oracle.tips.map(|tip| tip.saturating_add(oracle.next_base_fee));
    let base_fee = oracle.next_base_fee;
    Ok(result(|writer| write_gas_oracle(writer, oracle.last_block, base_fee, prices, &oracle.gas_used_ratios)))
}

/// The price in wei for which clients of Etherscan ask that name none.
const USUAL_PRICE: u64 = 2_000_000_000;

/// Seconds until a transaction that pays `gasprice` wei is in a block, if blocks go on to take what the newest did.
pub(crate) async fn estimate(request: Request) -> Result<Response, Refusal> {
    let Request { app, rpc, head, params, .. } = &request;
    let price = params.require_or("gasprice", Params::number, USUAL_PRICE)?;
    let share = rpc::acceptance(rpc, head, U256::from(price)).await?;
    let share = share.ok_or_else(|| {
        Refusal::Sentence("None of the newest blocks included a transaction at so low a price".into())
    })?;
    let millis = block_time(&recent(app, head).await?);
    let millis = millis.ok_or_else(|| Refusal::Sentence("The time between blocks is not known here".into()))?;
    Ok(result(|writer| writer.string(&format!("{:.0}", (millis / 1_000.0 / share).ceil()))))
}
