//! Gas prices of three speeds, from the tips that recent transactions paid.

use super::gas_price::{Sample, not_yet, percentile, usual_tip};
use crate::error::Problem;
use crate::rpc::service::Rpc;
use trawl_core::primitives::{BlockNumber, U256};
use trawl_core::store::Head;
use trawl_query::stats::fees::BlockFees;

/// The percentiles of the tips: slow, average, fast.
const PERCENTILES: [u64; 3] = [35, 60, 90];
/// Newest blocks whose gas used ratio is shown.
const SHOWN_BLOCKS: usize = 5;

/// Gas of the smallest transaction.
const GAS_OF_TRANSFER: u64 = 21_000;

/// Gas prices for the next block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Oracle {
    /// The newest block.
    pub last_block: BlockNumber,
    /// Wei per gas.
    pub next_base_fee: U256,
    /// Wei per gas above the base fee: slow, average, fast.
    pub tips: [U256; 3],
    /// How full the newest blocks are, the newest last.
    pub gas_used_ratios: Vec<f64>,
}

/// The prices for the block after the head.
///
/// # Errors
///
/// [`Problem::NotEstimated`] without blocks or receipts; when the store fails.
pub(crate) async fn oracle(rpc: &Rpc, head: &Head) -> Result<Oracle, Problem> {
    let Sample { headers, rule, tips, .. } = Sample::read(rpc, head).await?;
    let tips = tips.ok_or_else(not_yet)?;
    let newest = headers.last().ok_or_else(not_yet)?;
    let tip = |percent| percentile(&tips, percent).unwrap_or_else(|| usual_tip(rpc.app(), head));
    Ok(Oracle {
        last_block: newest.block_number,
        next_base_fee: rule.assumed_next_base_fee(newest),
        tips: PERCENTILES.map(tip),
        gas_used_ratios: headers[headers.len().saturating_sub(SHOWN_BLOCKS)..].iter().map(fullness).collect(),
    })
}

#[expect(clippy::cast_precision_loss, reason = "gas is far below 2^53")]
fn fullness(block: &BlockFees) -> f64 {
    if block.gas_limit == 0 { 0.0 } else { block.gas_used as f64 / block.gas_limit as f64 }
}

/// The share of the newest blocks that would have taken a transaction which pays a price, in wei per gas: it is not
/// below the base fee, and a full block took one at no higher price. `None` if there is no such block.
///
/// # Errors
///
/// [`Problem::NotEstimated`] without blocks; when the store fails.
#[expect(clippy::cast_precision_loss, reason = "as many blocks as a setting says")]
pub(crate) async fn acceptance(rpc: &Rpc, head: &Head, price: U256) -> Result<Option<f64>, Problem> {
    let Sample { headers, lowest_prices, .. } = Sample::read(rpc, head).await?;
    let lowest_prices = lowest_prices.ok_or_else(not_yet)?;
    let sampled = usize::try_from(rpc.app().options().oracle.blocks).unwrap_or(usize::MAX);
    let headers = &headers[headers.len().saturating_sub(sampled)..];
    let has_room = |block: &BlockFees| block.gas_limit.saturating_sub(block.gas_used) >= GAS_OF_TRANSFER;
    let takes = |block: &&BlockFees| {
        let lowest = lowest_prices.get(&block.block_number);
        price >= block.base_fee_per_gas.unwrap_or_default()
            && (has_room(block) || lowest.is_some_and(|lowest| price >= *lowest))
    };
    let taken = headers.iter().filter(takes).count();
    Ok((taken > 0).then(|| taken as f64 / headers.len() as f64))
}
