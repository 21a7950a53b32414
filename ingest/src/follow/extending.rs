//! Brings the branch to where the node is: takes lost blocks off, fetches new ones.

use std::time::Instant;

use futures_util::StreamExt;
use tokio::sync::watch;
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_core::schema::PackedBlock;
use trawl_core::schema::packed::HotRowsRow;
use trawl_node::NodeError;

use super::branch::Member;
use super::branch_segment::BranchSegment;
use super::error::FollowError;
use super::follower::{Follower, MAX_UNPUBLISHED_BLOCKS};
use super::hot;
use super::unpacked::remains;
use crate::load::error::LoadError;
use crate::load::prepare::{BlockOutcome, PreparedBlock};
use crate::source::SourceError;
use crate::source::rpc::{BlockAge, HeadTags};
use crate::verify::Check;
use crate::verify::links::Links;
use crate::write::batch::Tokens;
use crate::write::figures::count_batch;
use crate::write::retry::retry_transient;

impl Follower {
    /// Takes lost blocks off the branch, and publishes the shorter one.
    pub(super) async fn cut(&mut self, fork: Option<BlockNumber>, tags: &HeadTags) -> Result<(), FollowError> {
        if self.lose(fork).await? > 0 {
            self.pending.keep(&self.branch);
            self.publish_now(tags).await?;
        }
        Ok(())
    }

    /// Takes lost blocks off the branch; readers see them until the next head. How many there are.
    async fn lose(&mut self, fork: Option<BlockNumber>) -> Result<u64, FollowError> {
        let lost = self.branch.truncate(fork);
        let depth = lost.iter().map(|segment| segment.range.blocks.count()).sum();
        if depth > 0 {
            tracing::warn!(depth, fork, "a reorganisation");
            metrics::counter!("trawl_ingest_reorganisations_total").increment(1);
            metrics::histogram!("trawl_ingest_reorganisation_depth_blocks").record(depth as f64);
            self.retire(&lost).await?;
            self.generation += 1;
        }
        Ok(depth)
    }

    /// Remembers blocks that are about to be orphaned.
    async fn retire(&mut self, lost: &[BranchSegment]) -> Result<(), FollowError> {
        for segment in lost {
            for block in retry_transient(|| self.tools.database.reader.packed_range(segment.range)).await? {
                self.sink.retire(remains(&block)?).await?;
            }
        }
        Ok(())
    }

    /// Fetches what is above `fork` and makes it the branch, which then reaches the height that is returned.
    pub(super) async fn extend(
        &mut self,
        fork: Option<BlockNumber>,
        tags: &HeadTags,
        stop: &watch::Receiver<bool>,
    ) -> Result<Option<BlockNumber>, FollowError> {
        if self.branch.contains(&tags.newest) {
            return Ok(None);
        }
        let first = fork.map_or(self.settings.from.unwrap_or(0), |fork| fork + 1);
        let tip = self.branch.tip().map_or(first, |tip| tip.number);
        let last = tags.newest.number.min(tip.max(first) + MAX_UNPUBLISHED_BLOCKS);
        let Some(range) = BlockRange::new(first, last) else { return Ok(None) };
        let before = self.branch.clone();
        let fetched = match self.lose(fork).await {
            Ok(_) => self.fetch(range, stop).await,
            Err(error) => Err(error),
        };
        let reached = self.branch.tip().map(|tip| tip.number).filter(|reached| *reached >= last.min(tip));
        if fetched.is_err() || reached.is_none() || self.branch == before {
            // The node failed or moved on; readers keep what they have until there is a complete branch instead.
            self.branch = before;
            self.generation += 1;
            return fetched.map(|_| None);
        }
        self.pending.keep(&self.branch);
        let fetched = fetched?;
        let carried: Vec<PackedBlock> = fetched.iter().map(carried).collect();
        self.pending.push(fetched);
        if self.settings.tables_interval <= self.settings.poll {
            self.write_pending().await?;
        }
        let (started, count) = (Instant::now(), carried.len() as u64);
        self.publish_blocks(tags, carried).await?;
        count_batch("newest", count, started);
        Ok(reached)
    }

    /// Fetches and checks blocks on top of the branch; ends early where the node's blocks do not follow from one
    /// another any more. Their packed rows.
    async fn fetch(&mut self, range: BlockRange, stop: &watch::Receiver<bool>) -> Result<Vec<HotRowsRow>, FollowError> {
        let mut links = Links::new(&self.branch.edges());
        let source = self.tools.source.of(vec![range], BlockAge::New);
        let mut blocks = self.inspection.prepared(source, self.tools.options.decoders);
        let (mut fetched, mut tokens) = (Vec::new(), Tokens::new());
        while let Some(fate) = blocks.next().await {
            if *stop.borrow() {
                break;
            }
            let prepared = match fate {
                Ok(BlockOutcome::Prepared(prepared)) => prepared,
                Ok(BlockOutcome::Quarantined { .. }) => break,
                // The chain became shorter, or the node lags.
                Err(LoadError::Source(SourceError::Node(NodeError::UnknownBlock { .. }))) => break,
                Err(error) => return Err(error.into()),
            };
            let linked = match self.inspection.link(prepared, &mut links) {
                Ok(BlockOutcome::Prepared(linked)) => linked,
                Ok(BlockOutcome::Quarantined { .. }) => break,
                Err(LoadError::Verify(error)) if error.check == Check::ParentHash => break,
                Err(error) => return Err(error.into()),
            };
            linked.rows.add_tokens(&mut tokens);
            let mut member = self.member(&linked);
            let packed = hot::packed(*linked, self.generation)?;
            member.bytes = packed.rows.len();
            self.branch.push(member);
            fetched.push(packed);
        }
        drop(blocks);
        if let Some(queue) = self.tools.options.tokens.as_ref().filter(|_| !fetched.is_empty()) {
            queue.push(tokens);
        }
        Ok(fetched)
    }

    fn member(&self, prepared: &PreparedBlock) -> Member {
        Member {
            number: prepared.link.number,
            hash: prepared.link.hash,
            parent_hash: prepared.link.parent_hash.unwrap_or_default(),
            generation: self.generation,
            parts: prepared.parts.names(),
            total_difficulty: prepared.link.total_difficulty,
            transactions: prepared.rows.transactions.len() as u64,
            logs: prepared.rows.logs.len() as u64,
            bytes: 0,
        }
    }
}

fn carried(block: &HotRowsRow) -> PackedBlock {
    let HotRowsRow { generation, block_number, rows } = block;
    PackedBlock { generation: *generation, block_number: *block_number, rows: rows.clone() }
}
