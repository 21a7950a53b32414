//! The gas oracle: the price of gas in the next block, from the indexed blocks.
//!
//! The estimate is computed once per head, by the first call that needs it; concurrent calls wait for the same result.

use std::collections::HashMap;
use std::sync::Arc;

use super::cache::Estimate;
use super::headers::{MIN_RULE_BLOCKS, headers, require_whole, run_up_to};
use super::settled::Read;
use crate::app::App;
use crate::error::Problem;
use crate::read::blocks::fee_rule::FeeRule;
use crate::read::rules::schedule;
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::Context;
use crate::rpc::service::Rpc;
use trawl_chains::PriceRule;
use trawl_core::primitives::{BlockNumber, U256};
use trawl_core::store::Head;
use trawl_query::stats::fees::{BlockFees, GasPrice};

/// The tip where no transaction of the newest blocks shows one, in wei: what nodes propose then.
const USUAL_TIP: u64 = 1_000_000_000;

pub(super) fn not_yet() -> Problem {
    Problem::NotEstimated("Gas price is not estimated yet".into())
}

/// The price of gas in the next block, in wei: tip and base fee.
pub(crate) async fn gas_price(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    let estimate = estimate(call.rpc, call.head()?).await?;
    let tip = estimate.tip.ok_or_else(not_yet)?;
    let newest = &estimate.newest;
    // By a rule that is not known the fee may rise: twice of what it is will do for a while, as wallets reckon.
    let room = || newest.base_fee_per_gas.unwrap_or_default().saturating_mul(U256::from(2));
    let base_fee = estimate.rule.likely_next_base_fee(newest).unwrap_or_else(room);
    Ok(Answer::of(|writer| writer.quantity_256(tip.saturating_add(base_fee))))
}

/// The tip that recent transactions paid above the base fee, in wei.
pub(crate) async fn priority_fee(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    let tip = estimate(call.rpc, call.head()?).await?.tip.ok_or_else(not_yet)?;
    Ok(Answer::of(|writer| writer.quantity_256(tip)))
}

/// The base fee of the next block, in wei; `null` on a chain without base fees.
pub(crate) async fn base_fee(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    let estimate = estimate(call.rpc, call.head()?).await?;
    let fee = estimate.rule.likely_next_base_fee(&estimate.newest);
    let fee = fee.ok_or_else(|| Problem::NotEstimated("the base fee rule of this chain is unknown".into()))?;
    let has_fees = estimate.newest.base_fee_per_gas.is_some() || !fee.is_zero();
    Ok(if has_fees { Answer::of(|writer| writer.quantity_256(fee)) } else { Answer::null() })
}

/// The base fee of blob gas in the newest block, in wei.
pub(crate) async fn blob_base_fee(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    let estimate = estimate(call.rpc, call.head()?).await?;
    let fee = estimate.rule.blob_base_fee(&estimate.newest);
    let fee = fee.filter(|_| estimate.newest.excess_blob_gas.is_some()).ok_or_else(|| no_blob_fee(&estimate))?;
    Ok(Answer::of(|writer| writer.quantity_256(U256::from(fee))))
}

/// Wei per gas that transactions offer now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewestPrices {
    /// The base fee of the newest block; `None` on a chain without base fees.
    pub base_fee: Option<u128>,
    /// The base fee of blob gas in it, if it has blob gas and its rule is known.
    pub blob_base_fee: Option<u128>,
    tip: Option<u128>,
}

impl NewestPrices {
    /// The tip that recent transactions paid above the base fee.
    ///
    /// # Errors
    ///
    /// [`Problem::NotEstimated`] where receipts are not readable.
    pub fn tip(&self) -> Result<u128, Problem> {
        self.tip.ok_or_else(not_yet)
    }
}

/// What transactions after the newest block offer.
///
/// # Errors
///
/// [`Problem::NotEstimated`] without blocks; when the store fails.
pub(crate) async fn newest_prices(call: Context<'_>) -> Result<NewestPrices, Problem> {
    let estimate = estimate(call.rpc, call.head()?).await?;
    let newest = &estimate.newest;
    let has_blob_gas = newest.excess_blob_gas.is_some();
    Ok(NewestPrices {
        base_fee: newest.base_fee_per_gas.map(|fee| fee.saturating_to()),
        blob_base_fee: estimate.rule.blob_base_fee(newest).filter(|_| has_blob_gas),
        tip: estimate.tip.map(|tip| tip.saturating_to()),
    })
}

fn no_blob_fee(estimate: &Estimate) -> Problem {
    let block = estimate.newest.block_number;
    Problem::NotEstimated(match estimate.newest.excess_blob_gas {
        None => format!("block {block} has no blob gas"),
        Some(_) => "the blob schedule of this chain is unknown".into(),
    })
}

/// The estimate for the block after the newest one.
async fn estimate(rpc: &Rpc, head: &Arc<Head>) -> Result<Arc<Estimate>, Problem> {
    let mut newest = rpc.fees().newest.lock().await;
    if let Some((known, estimate)) = &*newest
        && Arc::ptr_eq(known, head)
    {
        return Ok(Arc::clone(estimate));
    }
    let estimate = Arc::new(compute(rpc, head).await?);
    // A long batch has an older head, and its estimate does not displace that of the newest one.
    if newest.as_ref().is_none_or(|(known, _)| known.view <= head.view) {
        *newest = Some((Arc::clone(head), Arc::clone(&estimate)));
    }
    Ok(estimate)
}

/// The tips above the base fee of the block, ascending.
fn tips(headers: &[BlockFees], prices: &[GasPrice]) -> Vec<U256> {
    let base_fees: HashMap<BlockNumber, U256> =
        headers.iter().map(|block| (block.block_number, block.base_fee_per_gas.unwrap_or_default())).collect();
    let tip = |price: &GasPrice| {
        price.effective_gas_price.saturating_sub(base_fees.get(&price.block_number).copied().unwrap_or_default())
    };
    let mut tips: Vec<U256> = prices.iter().map(tip).collect();
    tips.sort_unstable();
    tips
}

/// The lowest price of each block.
fn lowest(prices: &[GasPrice]) -> HashMap<BlockNumber, U256> {
    let mut lowest = HashMap::new();
    for price in prices {
        let of_block = lowest.entry(price.block_number).or_insert(price.effective_gas_price);
        *of_block = price.effective_gas_price.min(*of_block);
    }
    lowest
}

/// The tip that so many percent of the others do not exceed.
pub(super) fn percentile(tips: &[U256], percent: u64) -> Option<U256> {
    let position = (tips.len() as u64).checked_sub(1)?.saturating_mul(percent) / 100;
    tips.get(usize::try_from(position).ok()?).copied()
}

/// The newest blocks, and what their transactions paid.
pub(super) struct Sample {
    /// Ascending; not empty.
    pub headers: Vec<BlockFees>,
    pub rule: FeeRule,
    /// Tips above the base fees, ascending; `None` where receipts are not readable.
    pub tips: Option<Vec<U256>>,
    /// The lowest price that a transaction of each block paid, where it has any.
    pub lowest_prices: Option<HashMap<BlockNumber, U256>>,
}

impl Sample {
    /// The blocks up to the head, as many as the settings of the oracle say.
    ///
    /// # Errors
    ///
    /// [`Problem::NotEstimated`] without blocks; when the store fails.
    pub async fn read(rpc: &Rpc, head: &Head) -> Result<Self, Problem> {
        let app = rpc.app();
        let settings = app.options().oracle;
        let newest = head.number().ok_or_else(not_yet)?;
        require_whole(head, newest, settings.blocks.max(MIN_RULE_BLOCKS))?;
        let run = run_up_to(&head.blocks, newest, settings.blocks.max(MIN_RULE_BLOCKS)).ok_or_else(not_yet)?;
        let headers = headers(rpc, head, run).await?;
        let rule = FeeRule::of(app.chain_id(head), schedule(app, head).ok(), &headers);
        let prices = match run_up_to(&head.receipts, newest, settings.blocks) {
            Some(range) => {
                let read: Read<GasPrice> = (trawl_query::stats::fees::prices, |price| price.block_number);
                Some(rpc.fees().prices.rows(app.reader(), head, &head.receipts.within(range), read).await?)
            }
            None => None,
        };
        let tips = prices.as_deref().map(|prices| tips(&headers, prices));
        Ok(Self { headers, rule, tips, lowest_prices: prices.as_deref().map(lowest) })
    }
}

/// The tip where no transaction shows one: none on a chain without tips.
pub(super) fn usual_tip(app: &App, head: &Head) -> U256 {
    match app.family(head).map(|family| family.price) {
        Some(PriceRule::BaseFee) => U256::ZERO,
        _ => U256::from(USUAL_TIP),
    }
}

async fn compute(rpc: &Rpc, head: &Head) -> Result<Estimate, Problem> {
    let Sample { headers, rule, tips, .. } = Sample::read(rpc, head).await?;
    let last = headers.last().cloned().ok_or_else(not_yet)?;
    let paid = |tips: Vec<U256>| percentile(&tips, rpc.app().options().oracle.percentile);
    let tip = tips.map(|tips| paid(tips).unwrap_or_else(|| usual_tip(rpc.app(), head)));
    Ok(Estimate { newest: last, rule, tip })
}
