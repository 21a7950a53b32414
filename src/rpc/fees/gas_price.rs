//! The gas oracle: what gas costs in the next block, from the blocks that are indexed.
//!
//! All of it is computed once per head, by the first call that needs it, while the others wait for the same result.

use std::sync::Arc;

use super::cache::Estimate;
use super::headers::{SHOWN, headers, run_up_to, unknown_rule};
use super::rule::FeeRule;
use crate::app::App;
use crate::error::Problem;
use crate::rpc::answer::Answer;
use crate::rpc::context::Context;
use trawl_core::primitives::U256;
use trawl_core::store::Head;
use trawl_query::fees::BlockFees;

fn not_yet() -> Problem {
    Problem::NotEstimated("Gas price is not estimated yet".into())
}

/// What a transaction pays for gas in the next block: the tip and the base fee.
pub(crate) async fn gas_price(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    let estimate = estimate(call.app, call.head()?).await?;
    let tip = estimate.tip.ok_or_else(not_yet)?;
    let base_fee = estimate.rule.next_base_fee(&estimate.newest).ok_or_else(|| unknown_rule(&estimate.newest))?;
    Ok(Answer::of(|writer| writer.quantity_256(tip.saturating_add(base_fee))))
}

/// What transactions of late paid above the base fee.
pub(crate) async fn priority_fee(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    let tip = estimate(call.app, call.head()?).await?.tip.ok_or_else(not_yet)?;
    Ok(Answer::of(|writer| writer.quantity_256(tip)))
}

/// The base fee of blob gas in the next block.
pub(crate) async fn blob_base_fee(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    let estimate = estimate(call.app, call.head()?).await?;
    let fee = estimate.rule.blob_base_fee(&estimate.newest);
    let fee = fee.filter(|_| estimate.newest.excess_blob_gas.is_some()).ok_or_else(|| no_blob_fee(&estimate))?;
    Ok(Answer::of(|writer| writer.quantity_256(U256::from(fee))))
}

fn no_blob_fee(estimate: &Estimate) -> Problem {
    let block = estimate.newest.block_number;
    Problem::NotEstimated(match estimate.newest.excess_blob_gas {
        None => format!("block {block} has no blob gas"),
        Some(_) => "this chain's schedule of blob parameters is not known".into(),
    })
}

/// The estimate behind the newest block.
async fn estimate(app: &App, head: &Arc<Head>) -> Result<Arc<Estimate>, Problem> {
    let mut newest = app.fees().newest.lock().await;
    if let Some((known, estimate)) = &*newest
        && Arc::ptr_eq(known, head)
    {
        return Ok(Arc::clone(estimate));
    }
    let estimate = Arc::new(compute(app, head).await?);
    *newest = Some((Arc::clone(head), Arc::clone(&estimate)));
    Ok(estimate)
}

async fn compute(app: &App, head: &Head) -> Result<Estimate, Problem> {
    let settings = app.options().oracle;
    let nothing = || Problem::NotEstimated("Gas price is not estimated yet".into());
    let newest = head.number().ok_or_else(nothing)?;
    let run = run_up_to(&head.blocks, newest, settings.blocks.max(SHOWN)).ok_or_else(nothing)?;
    let headers = headers(app, head, run).await?;
    let rule = FeeRule::of(app.chain_id(head), &headers);
    let last = headers.last().cloned().ok_or_else(nothing)?;
    let tip = match run_up_to(&head.receipts, newest, settings.blocks) {
        Some(told) => {
            let fee = |block: &BlockFees| block.base_fee_per_gas.unwrap_or_default().to_string();
            let base_fees = headers.iter().filter(|block| told.contains(block.block_number)).map(fee).collect();
            let statement = trawl_query::fees::tip(&head.receipts.within(told), base_fees, settings.percentile);
            app.reader().rows(&statement).await?.pop().filter(|tip| tip.transactions > 0).map(|tip| tip.tip)
        }
        None => None,
    };
    Ok(Estimate { newest: last, rule, tip })
}
