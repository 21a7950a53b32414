//! Checks that a load completed the requested range: a source may end early.

use trawl_core::primitives::BlockRange;
use trawl_core::store::{Head, Reader, StoreError};

use crate::block::range_list::{list, pairs};
use crate::load::prepare::OnRefusal;

/// Why a finished load did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum IncompleteLoad {
    /// Blocks of the requested range are missing.
    #[error("the source does not have the requested blocks {0}")]
    Missing(String),
    /// Parts of blocks that were to be filled in are missing.
    #[error("no node has all of {parts} of blocks {blocks}")]
    Parts {
        /// The requested parts.
        parts: String,
        /// The blocks that lack some of them.
        blocks: String,
    },
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Names the blocks of `requested` that are not committed. A range that ends with the highest number means whatever the
/// source has: its gaps are logged, and are no failure. Nor are they where refused blocks are set aside.
pub async fn require_complete(
    reader: &Reader,
    requested: BlockRange,
    on_refusal: OnRefusal,
) -> Result<(), IncompleteLoad> {
    let head = Head::load(reader).await?;
    let is_open = requested.last() == u64::MAX;
    let last = if is_open { head.blocks.settled().head() } else { Some(requested.last()) };
    let Some(range) = last.and_then(|last| BlockRange::new(requested.first(), last)) else { return Ok(()) };
    let missing = head.blocks.settled().missing(range);
    if missing.is_empty() {
        return Ok(());
    }
    let blocks = list(&pairs(&missing));
    if !is_open && on_refusal == OnRefusal::Stop {
        return Err(IncompleteLoad::Missing(blocks));
    }
    tracing::warn!(blocks, "some requested blocks are not loaded");
    Ok(())
}
