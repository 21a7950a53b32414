//! Keeps up with the head of a node, over reorganisations.
//!
//! Blocks that can still change lie in the hot tables, as one branch; a row of `ingest_heads` names which of their rows
//! count, so that readers move from one branch to another in one step. Blocks that are final are loaded, or moved over
//! from the hot tables, into the settled ones, where nothing ever changes.
//!
//! In memory: what a load holds, and a few hundred bytes for every block that is not final.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use tokio::sync::watch;
use trawl_core::primitives::{BlockNumber, BlockRange, Coverage};
use trawl_core::schema::HeadRow;
use trawl_core::schema::packed::HotRowsRow;
use trawl_core::store::{Head, Reader, Writer};
use trawl_node::{NodeClient, NodeError};

use crate::load::error::LoadError;
use crate::load::pipeline::{Ending, Known, Options, load};
use crate::load::prepare::{Fate, Inspection, OnRefusal, Prepared};
use crate::source::rpc::{self, HeadTags, RpcSource};
use crate::source::{BlockSource, SourceError};
use crate::verify::Check;
use crate::verify::links::Links;
use crate::write::batch::Batch;
use crate::write::clock::now;
use crate::write::lease::LeaseGuard;
use crate::write::retry::retry_transient;

mod branch;
mod error;
mod fork;
mod hot;
mod publisher;

use branch::{Base, Branch, Member, RowsByBlock};
pub use error::FollowError;
use fork::{Fork, ForkFinder};
use hot::HotSink;
use publisher::{Publish, Publisher};

/// Most blocks fetched before readers get to see them; a longer way that is final goes through a load.
const MAX_UNPUBLISHED_BLOCKS: u64 = 64;
/// How long rows stay after a head stopped naming them: longer than any request that read an older head.
const REMOVAL_DELAY: Duration = Duration::from_secs(120);
/// Heads that stay on record.
const KEPT_HEADS: u64 = 10_000;

/// What a follower works with.
pub struct Tools {
    /// The node to follow.
    pub node: NodeClient,
    /// Its blocks.
    pub source: RpcSource,
    /// Where to look.
    pub reader: Reader,
    /// Where to write.
    pub writer: Writer,
    /// The right to.
    pub guard: LeaseGuard,
    /// How blocks are checked and batched.
    pub options: Options,
}

/// How to follow.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The first block that is wanted.
    pub from: Option<BlockNumber>,
    /// Pause between two looks at the node.
    pub poll: Duration,
    /// How far below the newest block one counts as final, if the node does not know what is.
    pub final_after: u64,
    /// Final blocks are settled so many at once, at least.
    pub settle_blocks: u64,
}

/// Follows until `stop` becomes true.
pub async fn follow(tools: Tools, settings: Settings, mut stop: watch::Receiver<bool>) -> Result<(), FollowError> {
    let mut follower = Follower::start(tools, settings).await?;
    let mut is_away = false;
    while !*stop.borrow() {
        let step = match follower.step(&stop).await {
            Ok(step) => {
                if std::mem::take(&mut is_away) {
                    tracing::info!("the node answers again");
                }
                step
            }
            // Nodes restart; the follower waits for them.
            Err(FollowError::Load(LoadError::Source(error @ SourceError::Node(NodeError::Unreachable { .. }))))
                if follower.has_seen =>
            {
                if !std::mem::replace(&mut is_away, true) {
                    tracing::warn!(error = %trawl_core::error_chain(&error), "waiting for the node");
                }
                Step::Idle
            }
            Err(error) => return Err(error),
        };
        if step == Step::Idle {
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => {}
                () = tokio::time::sleep(settings.poll) => {}
            }
        }
    }
    Ok(())
}

/// Whether a step led on; then the next one follows at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Advanced,
    Idle,
}

struct Follower {
    tools: Tools,
    settings: Settings,
    inspection: Arc<Inspection>,
    sink: HotSink,
    branch: Branch,
    settled: Coverage,
    generation: u64,
    finalized: Option<BlockNumber>,
    /// Whether the node was ever reached.
    has_seen: bool,
    forks: ForkFinder,
    publisher: Publisher,
    /// Rows up to this height can go from this moment on.
    leaving: Option<(BlockNumber, u64, Instant)>,
}

impl Follower {
    async fn start(tools: Tools, settings: Settings) -> Result<Self, FollowError> {
        let head = retry_transient(|| Head::load(&tools.reader)).await?;
        let newest = head.newest.clone();
        let (sequence, segments) = newest.map_or((0, Vec::new()), |head| (head.sequence, head.segments));
        let source = tools.source.kind();
        let parts = (tools.reader.clone(), tools.writer.clone());
        let sink = HotSink::new(parts, tools.guard.clone(), source, tools.source.chain_id(), sequence);
        let named = retry_transient(|| tools.reader.named_generations()).await?;
        sink.clean(&named).await?;
        let rows = retry_transient(|| tools.reader.hot_blocks(head.blocks.unsettled())).await?;
        let counts = branch::counts(retry_transient(|| tools.reader.hot_counts(head.blocks.unsettled())).await?);
        let inspection = Inspection {
            depth: tools.options.depth,
            on_refusal: OnRefusal::Stop,
            source,
            run: tools.writer.run().into(),
            rules: Arc::clone(&tools.options.rules),
        };
        let mut follower = Self {
            settings,
            inspection: Arc::new(inspection),
            sink,
            branch: Branch::default(),
            settled: head.blocks.settled().clone(),
            // Another than any before, so that the rows of this run can be recognised if it is killed.
            generation: named.iter().map(|named| named.generation).max().unwrap_or(0) + 1,
            finalized: None,
            has_seen: false,
            forks: ForkFinder::default(),
            publisher: Publisher::default(),
            leaving: None,
            tools,
        };
        follower.branch = Branch::stored(follower.base().await?, &segments, rows, &counts);
        Ok(follower)
    }

    /// The highest settled block.
    async fn base(&self) -> Result<Option<Base>, FollowError> {
        let edges = retry_transient(|| self.tools.reader.commit_edges()).await?;
        let highest = edges.into_iter().max_by_key(|edge| edge.last_block);
        Ok(highest.map(|edge| Base {
            number: edge.last_block,
            hash: edge.last_hash,
            total_difficulty: edge.last_total_difficulty,
        }))
    }

    /// One look at the node and what follows from it.
    async fn step(&mut self, stop: &watch::Receiver<bool>) -> Result<Step, FollowError> {
        let tags = rpc::head_tags(&self.tools.node).await?;
        self.has_seen = true;
        let newest = tags.newest.number;
        let final_now = tags.finalized.or(newest.checked_sub(self.settings.final_after));
        self.finalized = self.finalized.max(final_now.map(|number| number.min(newest)));
        let fork = match self.forks.find(&self.tools.node, &self.branch, &tags).await? {
            Fork::Above(common) => common,
            Fork::Unclear => {
                self.publish(&tags, Publish::IfStale).await?;
                return Ok(Step::Idle);
            }
        };
        if let Some(wanted) = self.to_load(fork) {
            self.cut(fork, &tags).await?;
            self.settle(fork, 1, &tags).await?;
            return self.load(wanted, stop.clone()).await;
        }
        let step = self.extend(fork, &tags, stop).await?;
        // Where the branch did not go on, nothing above the fork is known to be on the node's chain.
        let common = if step == Step::Advanced { self.branch.tip().map(|tip| tip.number) } else { fork };
        self.settle(common, self.settings.settle_blocks, &tags).await?;
        self.forget().await?;
        self.publish(&tags, Publish::IfStale).await?;
        Ok(step)
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
        let Tools { source, reader, writer, guard, options, .. } = &self.tools;
        let known = Known {
            committed: self.settled.clone(),
            chain_id: source.chain_id(),
            edges: retry_transient(|| reader.commit_edges()).await?,
        };
        let (ending, _) = load(source.of(wanted), writer.clone(), guard.clone(), known, options.clone(), stop).await?;
        self.settled = retry_transient(|| Head::load(reader)).await?.blocks.settled().clone();
        let base = self.base().await?;
        if base != self.branch.base() {
            // Everything below was settled before, so nothing of the branch is left.
            self.branch = Branch::stored(base, &[], Vec::new(), &RowsByBlock::new());
        }
        Ok(if ending == Ending::Complete { Step::Advanced } else { Step::Idle })
    }

    /// Takes lost blocks off the branch, and publishes the shorter one.
    async fn cut(&mut self, fork: Option<BlockNumber>, tags: &HeadTags) -> Result<(), FollowError> {
        if self.lose(fork).await? > 0 {
            self.publish(tags, Publish::Now).await?;
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
            self.sink.retire(&lost).await?;
            self.generation += 1;
        }
        Ok(depth)
    }

    /// Fetches what is above `fork` and makes it the branch.
    async fn extend(
        &mut self,
        fork: Option<BlockNumber>,
        tags: &HeadTags,
        stop: &watch::Receiver<bool>,
    ) -> Result<Step, FollowError> {
        if self.branch.contains(&tags.newest) {
            return Ok(Step::Idle);
        }
        let first = fork.map_or(self.settings.from.unwrap_or(0), |fork| fork + 1);
        let tip = self.branch.tip().map_or(first, |tip| tip.number);
        let last = tags.newest.number.min(tip.max(first) + MAX_UNPUBLISHED_BLOCKS);
        let Some(range) = BlockRange::new(first, last) else { return Ok(Step::Idle) };
        let before = self.branch.clone();
        let fetched = match self.lose(fork).await {
            Ok(_) => self.fetch(range, stop).await,
            Err(error) => Err(error),
        };
        let is_whole = self.branch.tip().is_some_and(|reached| reached.number >= last.min(tip));
        if fetched.is_err() || !is_whole || self.branch == before {
            // The node failed or moved on; readers keep what they have until there is something whole in its place.
            self.branch = before;
            self.generation += 1;
            return fetched.map(|()| Step::Idle);
        }
        self.publish(tags, Publish::Now).await?;
        Ok(Step::Advanced)
    }

    /// Fetches, checks and writes blocks on top of the branch; ends early where the node's blocks do not follow from one
    /// another any more.
    async fn fetch(&mut self, range: BlockRange, stop: &watch::Receiver<bool>) -> Result<(), FollowError> {
        let mut links = Links::new(&self.branch.edges());
        let source = self.tools.source.of(vec![range]);
        let mut blocks = self.inspection.prepared(source, self.tools.options.decoders);
        let mut batch = Batch::default();
        let mut packed = Vec::new();
        while let Some(fate) = blocks.next().await {
            if *stop.borrow() {
                break;
            }
            let Fate::Prepared(prepared) = fate? else { break };
            let linked = match self.inspection.link(prepared, &mut links) {
                Ok(Fate::Prepared(linked)) => linked,
                Ok(Fate::Quarantined { .. }) => break,
                Err(LoadError::Verify(error)) if error.check == Check::ParentHash => break,
                Err(error) => return Err(error.into()),
            };
            self.branch.push(self.member(&linked));
            packed.push(hot::packed(&linked, self.generation)?);
            batch.push(linked.rows, linked.parts, linked.bytes);
            if batch.is_full(self.tools.options.limits) {
                self.write(std::mem::take(&mut batch), std::mem::take(&mut packed)).await?;
            }
        }
        drop(blocks);
        if batch.is_empty() { Ok(()) } else { self.write(batch, packed).await }
    }

    async fn write(&mut self, mut batch: Batch, packed: Vec<HotRowsRow>) -> Result<(), FollowError> {
        let tokens = std::mem::take(&mut batch.tokens);
        self.sink.write_packed(packed).await?;
        self.sink.write(batch, self.generation).await?;
        if let Some(queue) = &self.tools.options.tokens {
            queue.push(tokens);
        }
        Ok(())
    }

    fn member(&self, prepared: &Prepared) -> Member {
        Member {
            number: prepared.link.number,
            hash: prepared.link.hash,
            parent_hash: prepared.link.parent_hash.unwrap_or_default(),
            generation: self.generation,
            parts: prepared.parts.names(),
            total_difficulty: prepared.link.total_difficulty,
            transactions: prepared.rows.transactions.len() as u64,
            logs: prepared.rows.logs.len() as u64,
            counts: prepared.rows.counts(),
        }
    }

    /// Settles what is final of the branch up to `common`, if there are `at_least` so many blocks of it.
    async fn settle(&mut self, common: Option<BlockNumber>, at_least: u64, tags: &HeadTags) -> Result<(), FollowError> {
        let Some(last) = common.and_then(|common| Some(common.min(self.finalized?))) else { return Ok(()) };
        let segments = self.branch.up_to(last);
        let blocks: u64 = segments.iter().map(|segment| segment.range.blocks.count()).sum();
        if blocks < at_least.max(1) {
            return Ok(());
        }
        self.sink.settle(&segments).await?;
        let ranges = segments.iter().map(|segment| segment.range.blocks);
        self.settled = self.settled.ranges().iter().copied().chain(ranges).collect();
        self.branch.settled(last);
        self.publish(tags, Publish::Now).await?;
        self.leaving.get_or_insert((last, self.sink.sequence(), Instant::now() + REMOVAL_DELAY));
        Ok(())
    }

    /// Removes rows that were settled long enough ago.
    async fn forget(&mut self) -> Result<(), FollowError> {
        if let Some((last, sequence, when)) = self.leaving
            && Instant::now() >= when
        {
            self.leaving = None;
            self.sink.forget(last, sequence.saturating_sub(KEPT_HEADS)).await?;
        }
        Ok(())
    }

    /// Publishes the branch as it is now.
    async fn publish(&mut self, tags: &HeadTags, when: Publish) -> Result<(), FollowError> {
        let head = HeadRow {
            sequence: 0,
            segments: self.branch.segments(),
            head_block: self.branch.tip().map_or(0, |tip| tip.number),
            safe_block: tags.safe,
            finalized_block: self.finalized,
            node_block: tags.newest.number,
            tables_through: self.branch.tip().map(|tip| tip.number),
            chain_id: None,
            run: String::new(),
            written_at: now(),
        };
        Ok(self.publisher.publish(&mut self.sink, head, when).await?)
    }
}
