//! What blob gas costs in a block (EIP-4844).

use super::fee_rule::FeeRule;
use crate::app::App;
use crate::error::Problem;
use crate::read::rules::schedule;
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_core::store::Head;
use trawl_evm::Schedule;
use trawl_query::stats::fees::{BlockFees, headers};

/// The price of blob gas in a readable block, in wei; `None` for a block without blob gas, where the schedule of the
/// chain is not known or the header contradicts it, and on chains with forks of their own: rollups use the members of
/// the header for other things, and others burn nothing.
///
/// # Errors
///
/// When the store fails.
pub(crate) async fn blob_price(app: &App, head: &Head, number: BlockNumber) -> Result<Option<u128>, Problem> {
    let schedule = schedule(app, head).ok().filter(Schedule::has_ethereums_forks);
    let Some(schedule) = schedule else { return Ok(None) };
    let Some(pair) = BlockRange::new(number.saturating_sub(1), number) else { return Ok(None) };
    let headers = app.values_of(head, &headers(&head.blocks.within(pair))).await?;
    let has_blob_gas = |block: &&BlockFees| block.block_number == number && block.excess_blob_gas.is_some();
    let rule = FeeRule::of(app.chain_id(head), Some(schedule), &headers);
    Ok(headers.last().filter(has_blob_gas).and_then(|block| rule.blob_base_fee(block)))
}
