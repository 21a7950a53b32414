//! Moves what is final from the branch to the settled tables, and removes what no reader uses any more.

use std::time::{Duration, Instant};

use trawl_core::primitives::BlockNumber;

use super::error::FollowError;
use super::follower::Follower;
use super::settled::Settle;
use super::unpacked::settled_rows;
use crate::source::rpc::HeadTags;
use crate::write::retry::retry_transient;

/// Bytes of packed rows that are settled at once: they are in memory, and their rows beside them.
const MAX_SETTLED_BYTES: usize = 64 << 20;
/// So many final blocks are settled at once, however short ago the last ones were: readers have them in memory till
/// then.
const MAX_FINAL_BLOCKS: u64 = 1024;
/// How long rows stay after a head stopped naming them: longer than any request that read an older head.
const REMOVAL_DELAY: Duration = Duration::from_secs(120);

impl Follower {
    /// Settles what is final of the branch up to `common`, if it is time.
    pub(super) async fn settle(
        &mut self,
        common: Option<BlockNumber>,
        when: Settle,
        tags: &HeadTags,
    ) -> Result<(), FollowError> {
        let Some(last) = common.and_then(|common| Some(common.min(self.finalized?))) else { return Ok(()) };
        if !self.is_settling_due(last, when) {
            return Ok(());
        }
        while let Some(segment) = self.branch.next_segment(last, MAX_SETTLED_BYTES) {
            let blocks = retry_transient(|| self.tools.database.reader.packed_range(segment.range)).await?;
            if blocks.len() as u64 != segment.range.blocks.count() {
                return Err(FollowError::LostRows(segment.range.blocks));
            }
            let rows = tokio::task::spawn_blocking(move || settled_rows(&blocks));
            let rows = rows.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?;
            self.sink.settle(&segment, &self.branch.hashes(segment.range.blocks), rows).await?;
            self.settled = self.settled.ranges().iter().copied().chain([segment.range.blocks]).collect();
            self.branch.settled(segment.range.blocks.last());
        }
        self.pending.keep(&self.branch);
        self.settling.at = Some(Instant::now());
        self.tools.announce_settled(&self.settled);
        self.publish_now(tags).await?;
        self.settling.leaving.get_or_insert((last, Instant::now() + REMOVAL_DELAY));
        Ok(())
    }

    fn is_settling_due(&self, last: BlockNumber, when: Settle) -> bool {
        let (blocks, bytes) = self.branch.size_up_to(last);
        let is_early = self.settling.at.is_some_and(|at| at.elapsed() < self.settings.settle_interval);
        let is_enough = blocks >= self.settings.settle_blocks.max(1) && !is_early;
        blocks > 0 && (when == Settle::Now || is_enough || blocks >= MAX_FINAL_BLOCKS || bytes >= MAX_SETTLED_BYTES)
    }

    /// Removes rows that were settled long enough ago.
    pub(super) async fn forget(&mut self) -> Result<(), FollowError> {
        let Some((last, _)) = self.settling.leaving.take_if(|(_, when)| Instant::now() >= *when) else { return Ok(()) };
        // The newest head stays, and with it all that are in its partition.
        let below = self.published().and_then(|head| head.checked_sub(1));
        if let Some(below) = below {
            self.sink.forget(last.min(below)).await?;
        }
        Ok(())
    }
}
