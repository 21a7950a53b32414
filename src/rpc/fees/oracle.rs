//! Gas prices of three speeds, from the tips that recent transactions paid.

use super::gas_price::{Sample, not_yet, percentile};
use super::headers::unknown_rule;
use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::{BlockNumber, U256};
use trawl_core::store::Head;
use trawl_query::fees::BlockFees;

/// The percentiles of the tips: slow, average, fast.
const PERCENTILES: [u64; 3] = [35, 60, 90];
/// Newest blocks whose fullness is told.
const SHOWN_BLOCKS: usize = 5;

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
/// [`Problem::NotEstimated`] without transactions or a known rule; when the store fails.
pub(crate) async fn oracle(app: &App, head: &Head) -> Result<Oracle, Problem> {
    let Sample { headers, rule, tips } = Sample::read(app, head).await?;
    let tips = tips.ok_or_else(not_yet)?;
    let newest = headers.last().ok_or_else(not_yet)?;
    let tip = |percent| percentile(&tips, percent).ok_or_else(not_yet);
    Ok(Oracle {
        last_block: newest.block_number,
        next_base_fee: rule.next_base_fee(newest).ok_or_else(|| unknown_rule(newest))?,
        tips: [tip(PERCENTILES[0])?, tip(PERCENTILES[1])?, tip(PERCENTILES[2])?],
        gas_used_ratios: headers[headers.len().saturating_sub(SHOWN_BLOCKS)..].iter().map(fullness).collect(),
    })
}

#[expect(clippy::cast_precision_loss, reason = "gas is far below 2^53")]
fn fullness(block: &BlockFees) -> f64 {
    if block.gas_limit == 0 { 0.0 } else { block.gas_used as f64 / block.gas_limit as f64 }
}
