//! Headers of blocks, from which fees are computed.

use super::settled::Read;
use crate::error::Problem;
use crate::rpc::service::Rpc;
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_core::readable::Readable;
use trawl_core::store::Head;
use trawl_query::stats::fees::BlockFees;

/// The least number of blocks from which the fee rule of a chain is derived.
pub(super) const MIN_RULE_BLOCKS: u64 = 64;

/// The consecutive readable blocks that end at `last`, at most `count` of them.
pub(super) fn run_up_to(readable: &Readable, last: BlockNumber, count: u64) -> Option<BlockRange> {
    let requested = BlockRange::new(last.saturating_sub(count.saturating_sub(1)), last)?;
    let above = readable.missing(requested).last().map_or(Some(requested.first()), |gap| gap.last().checked_add(1))?;
    BlockRange::new(above, last)
}

/// Refuses an estimate from the `count` blocks that end at `last` if rows of some were lost: it would be another one.
///
/// # Errors
///
/// [`Problem::BlocksMissing`] with the blocks.
pub(super) fn require_whole(head: &Head, last: BlockNumber, count: u64) -> Result<(), Problem> {
    let range = BlockRange::new(last.saturating_sub(count.saturating_sub(1)), last);
    let lost = range.map_or_else(Vec::new, |range| head.damage.shown().within(range));
    if lost.is_empty() { Ok(()) } else { Err(Problem::BlocksMissing(lost)) }
}

/// The headers of `range`, whose blocks are all readable, ascending.
///
/// # Errors
///
/// [`Problem::ColumnsMissing`] if a header lacks a column that fees need; or when the store fails.
pub(super) async fn headers(rpc: &Rpc, head: &Head, range: BlockRange) -> Result<Vec<BlockFees>, Problem> {
    const NEEDED: [&str; 5] = ["gas_limit", "gas_used", "base_fee_per_gas", "blob_gas_used", "excess_blob_gas"];
    let span = head.blocks.within(range);
    let read: Read<BlockFees> = (trawl_query::stats::fees::headers, |block| block.block_number);
    let headers = rpc.fees().headers.rows(rpc.app().reader(), head, &span, read).await?;
    for block in &headers {
        let missing_columns: Vec<String> =
            block.lacking.iter().filter(|column| NEEDED.contains(&column.as_str())).cloned().collect();
        if !missing_columns.is_empty() {
            return Err(Problem::ColumnsMissing {
                what: format!("block {}", block.block_number),
                columns: missing_columns,
            });
        }
    }
    if headers.len() as u64 != range.count() {
        tracing::error!(%range, found = headers.len(), "readable headers are missing");
        return Err(Problem::Internal);
    }
    Ok(headers)
}
