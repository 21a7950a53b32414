//! Moves what is final from the branch to the settled tables, and removes what no reader uses any more.

use std::time::{Duration, Instant};

use futures_util::{StreamExt, TryStreamExt, stream};
use trawl_core::primitives::{BlockNumber, HotRange};
use trawl_core::schema::packed::HotRowsRow;

use super::error::FollowError;
use super::follower::{Follower, Step};
use super::settling_group::SettlingGroup;
use super::unpacked::settled_rows;
use crate::source::rpc::HeadTags;
use crate::write::retry::retry_transient;

/// Most bytes of packed rows that are settled at once. They are in memory with the rows that they hold, and `follow`
/// takes no new block until these are written.
const MAX_GROUP_BYTES: usize = 16 << 20;
/// Final blocks with so many bytes of packed rows do not wait for more.
const MAX_FINAL_BYTES: usize = 64 << 20;
/// How many generations of a group are read at once.
const READS: usize = 4;
/// So many final blocks do not wait for more, however short ago the last ones were settled: readers have them in memory
/// till then.
const MAX_FINAL_BLOCKS: u64 = 1024;
/// How long rows stay after a head stopped naming them: longer than any request that read an older head.
const REMOVAL_DELAY: Duration = Duration::from_secs(120);

impl Follower {
    /// Settles a group of the final blocks up to `common`, if it is time. [`Step::Advanced`] if other groups remain: the
    /// next step settles one of them, after it has asked the node for new blocks.
    pub(super) async fn settle(&mut self, common: Option<BlockNumber>, tags: &HeadTags) -> Result<Step, FollowError> {
        let Some(last) = self.last_final(common) else { return Ok(Step::Idle) };
        let through = match self.settling.through {
            Some(through) => through,
            None if self.is_settling_due(last) => last,
            None => return Ok(Step::Idle),
        };
        self.settling.through = Some(through);
        let step = self.settle_group(last.min(through)).await?;
        self.publish_settled(step, tags).await?;
        Ok(step)
    }

    /// Settles all final blocks up to `common`.
    pub(super) async fn settle_all(&mut self, common: Option<BlockNumber>, tags: &HeadTags) -> Result<(), FollowError> {
        self.settling.through = None;
        let Some(last) = self.last_final(common) else { return Ok(()) };
        if self.branch.size_up_to(last).0 == 0 {
            return Ok(());
        }
        while self.settle_group(last).await? == Step::Advanced {}
        self.publish_settled(Step::Idle, tags).await
    }

    fn last_final(&self, common: Option<BlockNumber>) -> Option<BlockNumber> {
        Some(common?.min(self.finalized?))
    }

    /// Settles the lowest blocks up to `last`. [`Step::Advanced`] if others remain.
    async fn settle_group(&mut self, last: BlockNumber) -> Result<Step, FollowError> {
        let Some(group) = self.branch.next_group(last, MAX_GROUP_BYTES) else { return Ok(Step::Idle) };
        let blocks = self.packed_blocks(&group).await?;
        let rows = tokio::task::spawn_blocking(move || settled_rows(&blocks));
        let rows = rows.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?;
        let range = group.heights();
        self.sink.settle(&group, &self.branch.hashes(range), rows).await?;
        self.settled = self.settled.ranges().iter().copied().chain([range]).collect();
        self.branch.settled(range.last());
        Ok(if self.branch.first().is_some_and(|first| first <= last) { Step::Advanced } else { Step::Idle })
    }

    /// The packed rows of a group.
    async fn packed_blocks(&self, group: &SettlingGroup) -> Result<Vec<HotRowsRow>, FollowError> {
        let reader = &self.tools.database.reader;
        let read = |range: HotRange| async move { retry_transient(|| reader.packed_range(range)).await };
        let blocks: Vec<Vec<HotRowsRow>> =
            stream::iter(group.ranges.iter().copied()).map(read).buffered(READS).try_collect().await?;
        let blocks: Vec<HotRowsRow> = blocks.into_iter().flatten().collect();
        if blocks.len() as u64 != group.heights().count() {
            return Err(FollowError::LostRows(group.heights()));
        }
        Ok(blocks)
    }

    /// Publishes a head that names settled blocks no longer. After the last group of a round, merges and token statistics
    /// begin, which would stand in the way of the next group, and the rows are noted for removal from the hot tables.
    async fn publish_settled(&mut self, step: Step, tags: &HeadTags) -> Result<(), FollowError> {
        self.pending.keep(&self.branch);
        self.tools.note_settled(&self.settled);
        self.publish_now(tags).await?;
        if step == Step::Idle {
            self.tools.notify_waiting();
            self.settling.through = None;
            self.settling.at = Some(Instant::now());
            if let Some(base) = self.branch.base() {
                self.settling.leaving.get_or_insert((base.number, Instant::now() + REMOVAL_DELAY));
            }
        }
        Ok(())
    }

    fn is_settling_due(&self, last: BlockNumber) -> bool {
        let (blocks, bytes) = self.branch.size_up_to(last);
        let is_early = self.settling.at.is_some_and(|at| at.elapsed() < self.settings.settle_interval);
        let is_enough = blocks >= self.settings.settle_blocks.max(1) && !is_early;
        blocks > 0 && (is_enough || blocks >= MAX_FINAL_BLOCKS || bytes >= MAX_FINAL_BYTES)
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
