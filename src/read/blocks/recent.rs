//! The newest headers, and what they say of the pace of the chain.

use crate::app::App;
use crate::error::Problem;
use trawl_core::store::Head;
use trawl_query::stats::fees::BlockFees;

/// Heights over which block time and utilization are averaged.
const RECENT: u64 = 100;

/// The headers of the newest heights, ascending.
pub(crate) async fn recent(app: &App, head: &Head) -> Result<Vec<BlockFees>, Problem> {
    let first = head.number().unwrap_or_default().saturating_sub(RECENT);
    app.values_of(head, &trawl_query::stats::fees::headers(&head.blocks.span().from(first))).await
}

/// Milliseconds from block to block, over the heights of the blocks; `None` of fewer than two.
pub(crate) fn block_time(recent: &[BlockFees]) -> Option<f64> {
    let (first, last) = (recent.first()?, recent.last()?);
    let heights = last.block_number.checked_sub(first.block_number).filter(|heights| *heights > 0)?;
    let micros = last.timestamp.micros().saturating_sub(first.timestamp.micros());
    Some(micros as f64 / 1000.0 / heights as f64)
}
