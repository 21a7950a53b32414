//! Whether a load brought what was asked for: a source that ends is not yet one that had everything.

use trawl_core::primitives::BlockRange;
use trawl_core::store::{Head, Reader, StoreError};

use crate::audit::status::{list, pairs};
use crate::load::prepare::OnRefusal;

/// Why a load that came to its end is none that succeeded.
#[derive(Debug, thiserror::Error)]
pub enum NotWhole {
    /// Blocks of the range that was asked for are not there.
    #[error("blocks {0} were asked for, and the source does not have them")]
    Missing(String),
    /// What is there cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Names the blocks of `asked` that are not committed. A range that ends with the last number there is means whatever
/// the source has: its gaps are said, and are no failure. Nor are they where refused blocks are set aside.
pub async fn require_whole(reader: &Reader, asked: BlockRange, on_refusal: OnRefusal) -> Result<(), NotWhole> {
    let head = Head::load(reader).await?;
    let is_open = asked.last() == u64::MAX;
    let last = if is_open { head.blocks.settled().head() } else { Some(asked.last()) };
    let Some(range) = last.and_then(|last| BlockRange::new(asked.first(), last)) else { return Ok(()) };
    let missing = head.blocks.settled().missing(range);
    if missing.is_empty() {
        return Ok(());
    }
    let blocks = list(&pairs(&missing));
    if !is_open && on_refusal == OnRefusal::Stop {
        return Err(NotWhole::Missing(blocks));
    }
    tracing::warn!(blocks, "blocks that were asked for are not there");
    Ok(())
}
