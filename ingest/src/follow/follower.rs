//! One follower: what it knows, and a look at the node with what follows from it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use trawl_chains::Finality;
use trawl_core::primitives::{BlockNumber, BlockRange, Coverage};
use trawl_core::schema::{HeadRow, PackedBlock};
use trawl_core::store::{Head, OrphanedHotRows, Reader};
use trawl_node::NodeClient;

use super::branch::{Base, Branch};
use super::error::FollowError;
use super::fork::{Fork, ForkFinder};
use super::hot::HotSink;
use super::pending::PendingBlocks;
use super::publisher::{Publish, Publisher};
use super::settled::SettledBlocks;
use super::stored::stored;
use crate::load::pipeline::{Ending, Options, ResumePoint, load};
use crate::load::prepare::{Inspection, OnRefusal};
use crate::source::BlockSource;
use crate::source::rpc::{self, BlockAge, HeadTags, RpcSource};
use crate::watch::FollowProgress;
use crate::write::clock::now;
use crate::write::leased_database::LeasedDatabase;
use crate::write::retry::retry_transient;

/// Most blocks fetched before readers get to see them; a longer way that is final goes through a load.
pub(super) const MAX_UNPUBLISHED_BLOCKS: u64 = 64;

/// What a follower works with.
pub struct Tools {
    /// The node to follow.
    pub node: NodeClient,
    /// The same node as the source of blocks.
    pub source: RpcSource,
    /// The database to follow into.
    pub database: LeasedDatabase,
    /// How blocks are checked and batched.
    pub options: Options,
    /// Told when blocks were settled.
    pub settled: Vec<Arc<Notify>>,
    /// Where to note how far it is.
    pub progress: FollowProgress,
}

impl Tools {
    /// Notes the highest settled block for metrics and health.
    pub(super) fn note_settled(&self, settled: &Coverage) {
        settled.head().into_iter().for_each(|head| self.progress.note_settled(head));
    }

    /// Wakes the tasks that wait for settled blocks.
    pub(super) fn notify_waiting(&self) {
        self.settled.iter().for_each(|waiting| waiting.notify_one());
    }
}

/// How to follow.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The first block that is wanted.
    pub from: Option<BlockNumber>,
    /// Pause between two polls of the node.
    pub poll: Duration,
    /// When a block can change no more.
    pub finality: Finality,
    /// Final blocks are settled so many at once, at least.
    pub settle_blocks: u64,
    /// Between two times that blocks are settled, at least.
    pub settle_interval: Duration,
    /// How long new blocks may lack in the typed hot tables. Where that is not longer than `poll`, they are there
    /// before readers see the blocks.
    pub tables_interval: Duration,
}

/// Whether a step led on; then the next one follows at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Advanced,
    Idle,
}

/// Follows one node on behalf of one run.
pub(super) struct Follower {
    pub(super) tools: Tools,
    pub(super) settings: Settings,
    pub(super) inspection: Arc<Inspection>,
    pub(super) sink: HotSink,
    pub(super) branch: Branch,
    pub(super) settled: Coverage,
    pub(super) generation: u64,
    pub(super) finalized: Option<BlockNumber>,
    /// Blocks of the branch that the typed hot tables lack.
    pub(super) pending: PendingBlocks,
    pub(super) settling: SettledBlocks,
    has_seen: bool,
    forks: ForkFinder,
    publisher: Publisher,
}

impl Follower {
    pub(super) async fn start(tools: Tools, settings: Settings) -> Result<Self, FollowError> {
        let head = retry_transient(|| Head::load(&tools.database.reader)).await?;
        let newest = head.newest.clone();
        let (sequence, segments) = newest.as_ref().map_or((0, &[][..]), |head| (head.sequence, &head.segments[..]));
        let source = tools.source.kind();
        let sink = HotSink::new(tools.database.clone(), source, tools.source.chain_id(), sequence);
        let named = retry_transient(|| tools.database.reader.named_generations()).await?;
        // Another than any before, so that the rows of this run can be recognised if it is killed.
        let generation = named.iter().map(|named| named.generation).max().unwrap_or(0) + 1;
        let tables_through = newest.as_ref().and_then(|head| head.tables_through);
        let stray = OrphanedHotRows { named, from: tables_through.map_or(0, |through| through.saturating_add(1)) };
        sink.clean(&stray).await?;
        let base = base(&tools.database.reader).await?;
        let (branch, lacking) =
            stored(&tools.database.reader, base, segments, head.blocks.unsettled(), stray.from).await?;
        let mut pending = PendingBlocks::default();
        pending.push(lacking);
        let inspection = Inspection {
            depth: tools.options.depth,
            on_refusal: OnRefusal::Stop,
            source,
            run: tools.database.writer.run().into(),
            rules: Arc::clone(&tools.options.rules),
            family: tools.options.family,
        };
        Ok(Self {
            settings,
            inspection: Arc::new(inspection),
            sink,
            branch,
            settled: head.blocks.settled().clone(),
            generation,
            finalized: None,
            pending,
            settling: SettledBlocks::default(),
            has_seen: false,
            forks: ForkFinder::default(),
            publisher: Publisher::default(),
            tools,
        })
    }

    /// Whether the node was ever reached.
    pub(super) fn has_seen(&self) -> bool {
        self.has_seen
    }

    /// One look at the node and what follows from it.
    pub(super) async fn step(&mut self, stop: &watch::Receiver<bool>) -> Result<Step, FollowError> {
        let tags = rpc::head_tags(&self.tools.node).await?;
        self.has_seen = true;
        let newest = tags.newest.number;
        self.finalized = self.finalized.max(self.settings.finality.newest_final(newest, tags.finalized));
        let fork = match self.forks.find(&self.tools.node, &self.branch, &tags).await? {
            Fork::Above(common) => common,
            Fork::Unclear => {
                self.rest().await?;
                self.publish(&tags, Publish::IfStale).await?;
                return Ok(Step::Idle);
            }
        };
        if let Some(wanted) = self.to_load(fork) {
            self.cut(fork, &tags).await?;
            self.settle_all(fork, &tags).await?;
            return self.load(wanted, stop.clone()).await;
        }
        let step = self.extend(fork, &tags, stop).await?;
        // Where the branch did not go on, nothing above the fork is known to be on the node's chain.
        let common = step.map_or(fork, |_| self.branch.tip().map(|tip| tip.number));
        let settling = self.settle(common, &tags).await?;
        self.rest().await?;
        self.forget().await?;
        self.publish(&tags, Publish::IfStale).await?;
        // One look a pause: blocks that come faster are written together.
        let is_behind = step.is_some_and(|reached| reached < tags.newest.number);
        Ok(if is_behind { Step::Advanced } else { settling })
    }

    /// Final blocks that are neither settled nor on the branch up to `fork`: worth a load if there are many.
    fn to_load(&self, fork: Option<BlockNumber>) -> Option<Vec<BlockRange>> {
        let last = self.finalized?;
        let from = self.settings.from.or_else(|| self.settled.head().map(|head| head + 1)).unwrap_or(0);
        let mut there = self.settled.clone();
        if let (Some(first), Some(fork)) = (self.branch.first(), fork) {
            there = there.ranges().iter().copied().chain(BlockRange::new(first, fork)).collect();
        }
        let missing = there.missing(BlockRange::new(from, last)?);
        let above = |range: &BlockRange| self.branch.tip().is_some_and(|tip| range.first() > tip.number);
        let is_short = match missing.as_slice() {
            [only] => above(only) && only.count() <= MAX_UNPUBLISHED_BLOCKS,
            several => several.is_empty(),
        };
        (!is_short).then_some(missing)
    }

    /// Loads final blocks into the settled tables.
    async fn load(&mut self, wanted: Vec<BlockRange>, stop: watch::Receiver<bool>) -> Result<Step, FollowError> {
        let Tools { source, database: LeasedDatabase { reader, writer, guard }, options, .. } = &self.tools;
        let known = ResumePoint {
            committed: self.settled.clone(),
            chain_id: source.chain_id(),
            edges: retry_transient(|| reader.commit_edges()).await?,
            below: None,
        };
        let (ending, _) =
            load(source.of(wanted, BlockAge::Final), writer.clone(), guard.clone(), known, options.clone(), stop)
                .await?;
        self.settled = retry_transient(|| Head::load(reader)).await?.blocks.settled().clone();
        let base = base(reader).await?;
        if base != self.branch.base() {
            // Everything below was settled before, so nothing of the branch is left.
            self.branch = Branch::stored(base, &[], Vec::new());
            self.pending.keep(&self.branch);
        }
        self.tools.note_settled(&self.settled);
        self.tools.notify_waiting();
        Ok(if ending == Ending::Complete { Step::Advanced } else { Step::Idle })
    }

    /// What can wait: writes the next group of the typed hot tables, if it is time.
    pub(super) async fn rest(&mut self) -> Result<(), FollowError> {
        if self.pending.is_due(self.settings.tables_interval) {
            self.write_pending().await?;
        }
        Ok(())
    }

    /// Writes what the typed hot tables lack.
    pub(super) async fn write_pending(&mut self) -> Result<(), FollowError> {
        self.sink.write_tables(self.pending.blocks()).await?;
        self.pending.written();
        Ok(())
    }

    /// Leaves the typed hot tables whole, for readers of SQL.
    pub(super) async fn finish(&mut self) -> Result<(), FollowError> {
        if self.pending.first().is_some() {
            self.write_pending().await?;
            if let Some(head) = self.publisher.last() {
                let head = HeadRow { tables_through: self.tables_through(), written_at: now(), ..head };
                self.publisher.publish(&mut self.sink, head, Publish::Now).await?;
            }
        }
        Ok(())
    }

    /// The branch as it is now.
    fn head(&self, tags: &HeadTags) -> HeadRow {
        HeadRow {
            sequence: 0,
            segments: self.branch.segments(),
            head_block: self.branch.tip().map_or(0, |tip| tip.number),
            safe_block: tags.safe,
            finalized_block: self.finalized,
            node_block: tags.newest.number,
            tables_through: self.tables_through(),
            chain_id: None,
            blocks: Vec::new(),
            run: String::new(),
            written_at: now(),
        }
    }

    /// Publishes the branch as it is now, if that is news or it is time.
    async fn publish(&mut self, tags: &HeadTags, when: Publish) -> Result<(), FollowError> {
        let head = self.head(tags);
        Ok(self.publisher.publish(&mut self.sink, head, when).await?)
    }

    /// Publishes the branch as it is now, with the blocks that are new on it.
    pub(super) async fn publish_blocks(
        &mut self,
        tags: &HeadTags,
        blocks: Vec<PackedBlock>,
    ) -> Result<(), FollowError> {
        let head = HeadRow { blocks, ..self.head(tags) };
        Ok(self.publisher.publish(&mut self.sink, head, Publish::Now).await?)
    }

    /// Publishes the branch as it is now.
    pub(super) async fn publish_now(&mut self, tags: &HeadTags) -> Result<(), FollowError> {
        self.publish(tags, Publish::Now).await
    }

    /// The block of the last head that was published.
    pub(super) fn published(&self) -> Option<BlockNumber> {
        self.publisher.last().map(|head| head.head_block)
    }

    fn tables_through(&self) -> Option<BlockNumber> {
        match self.pending.first() {
            Some(first) => first.checked_sub(1),
            None => self.branch.tip().map(|tip| tip.number),
        }
    }
}

/// The highest settled block.
async fn base(reader: &Reader) -> Result<Option<Base>, FollowError> {
    let edges = retry_transient(|| reader.commit_edges()).await?;
    let highest = edges.into_iter().max_by_key(|edge| edge.last_block);
    Ok(highest.map(|edge| Base {
        number: edge.last_block,
        hash: edge.last_hash,
        total_difficulty: edge.last_total_difficulty,
    }))
}
