//! `getblockreward`.

use axum::response::Response;

use super::readable_block::readable_block;
use crate::app::App;
use crate::error::Problem;
use crate::etherscan::answer::{Refusal, result};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::read::completeness::require_block_columns;
use trawl_chains::Issuance;
use trawl_core::primitives::{Address, BlockNumber, BlockRange, U256};
use trawl_core::schema::{BlockView, Column, Reward};
use trawl_core::store::Head;
use trawl_json::etherscan::{BlockReward, write_block_reward};

/// What the maker of a block got, and the makers of its uncles.
pub(crate) async fn reward(request: Request) -> Result<Response, Refusal> {
    let Request { app, head, params, .. } = &request;
    let number = params.require("blockno", Params::number)?;
    let batch = readable_block(app, head, number).await?;
    let view = batch.view();
    let has_base_fee = Option::<U256>::get(&view.base_fee_per_gas, 0).is_some();
    let sum = if has_base_fee { "priority_fees" } else { "transaction_fees" };
    require_block_columns(&view, 0, &["miner", "difficulty", "base_fee_per_gas", sum])?;
    let fees = unburnt_fees(&view, 0);
    let issues = app.family(head).is_none_or(|family| family.issuance == Issuance::ProofOfWork);
    let is_mined = issues && !U256::get(&view.difficulty, 0).is_zero();
    let paid = if is_mined { Some(paid(app, head, number).await?) } else { None };
    let stated: U256 = paid.iter().flatten().filter(|one| one.kind == "block").map(|one| one.amount).sum();
    let uncles = paid.into_iter().flatten().filter(|one| one.kind == "uncle");
    let reward = BlockReward {
        number,
        timestamp: view.timestamp[0],
        miner: Address::get(&view.producer, 0),
        fees: fees.ok_or_else(|| missing_fees(number))?,
        stated,
        uncles: uncles.map(|uncle| (uncle.receiver, uncle.amount)).collect(),
    };
    Ok(result(|writer| write_block_reward(writer, &reward)))
}

/// What the maker of a block got of the fees: what was paid above the base fee, before London all; `None` if that is
/// not known.
pub(crate) fn unburnt_fees(view: &BlockView<'_>, row: usize) -> Option<U256> {
    let has = |column: &str| view.lacking.items::<String>(row).all(|lacking| lacking != column);
    if !has("base_fee_per_gas") {
        return None;
    }
    if Option::<U256>::get(&view.base_fee_per_gas, row).is_some() {
        return Option::<U256>::get(&view.priority_fees, row).filter(|_| has("priority_fees"));
    }
    let fees = Option::<U256>::get(&view.transaction_fees, row).filter(|_| has("transaction_fees"))?;
    let burnt = Option::<U256>::get(&view.burnt_fees, row)?;
    Some(fees.saturating_sub(burnt))
}

fn missing_fees(number: BlockNumber) -> Problem {
    Problem::BlocksMissing(vec![BlockRange::single(number)])
}

/// What the traces of a block of proof of work say of rewards.
///
/// # Errors
///
/// When they are not loaded.
async fn paid(app: &App, head: &Head, number: BlockNumber) -> Result<Vec<Reward>, Problem> {
    if !head.rewards.contains(number) {
        return Err(Problem::TracesMissing(vec![BlockRange::single(number)]));
    }
    let traced = head.traces.span();
    let rows = app.values_of(head, &trawl_query::blocks::frames(&[number], &traced)).await?;
    let settled = rows.into_iter().flat_map(|row| row.rewards);
    let newest = app.reader().rows(&trawl_query::blocks::newest_frames(&[number], &traced)).await?;
    let newest = newest
        .into_iter()
        .filter(|frame| frame.frame_type == "reward")
        .filter_map(|frame| Some(Reward { kind: frame.call_type, receiver: frame.to_address?, amount: frame.value }));
    Ok(settled.chain(newest).collect())
}
