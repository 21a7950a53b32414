//! The readable blocks: followed in the background, taken once per request.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::damage_watch::DamageWatch;
use super::{Damage, Reader, StoreError};
use crate::primitives::{BlockNumber, BlockRange, Coverage, HotRange, Readable};
use crate::schema::columns::columns;
use crate::schema::{Column, HeadRow, Segment};
use crate::statement::Statement;

/// A consistent view of the readable blocks. A request takes one and uses it to its end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Head {
    /// Readable blocks.
    pub blocks: Readable,
    /// Blocks whose receipts and logs are readable; a subset of `blocks`, as all of the following are.
    pub receipts: Readable,
    /// Blocks whose withdrawals are readable.
    pub withdrawals: Readable,
    /// Blocks whose uncle headers are readable.
    pub uncles: Readable,
    /// Blocks whose call frames are readable.
    pub traces: Readable,
    /// Blocks whose rewards, reported by a tracing node, are readable.
    pub rewards: Readable,
    /// Blocks whose whole effect on state is readable.
    pub state: Readable,
    /// Blocks whose effect on state is readable except for writes to system contracts.
    pub state_but_system: Readable,
    /// Blocks of which only the effect of the transactions on state is readable.
    pub state_transactions: Readable,
    /// The chain, if a source reported it.
    pub chain_id: Option<u64>,
    /// The newest head that `trawl-ingest follow` wrote, if it ever ran.
    pub newest: Option<HeadRow>,
    /// The rules of the chain as its genesis file states them, JSON in geth's form, if one was given.
    pub configuration: Option<String>,
    /// Number of complete loads of labels; a cache generation.
    pub labels: u64,
    /// Rows in `tokens`; a cache generation.
    pub tokens: u64,
    /// Rows in `token_steps`; a cache generation of token statistics.
    pub token_steps: u64,
    /// Whether `log_topics` may be read: operators can leave the table out.
    pub log_topics: bool,
    /// Number of the view in this process, from 1: a later view that differs has a higher one.
    pub view: u64,
    /// The view that first showed the newest commit. Under the same number, responses about settled blocks stay valid;
    /// a commit may add parts to blocks that were already readable.
    pub settled_view: u64,
    /// What was lost; those blocks are not among the readable ones.
    pub damage: Damage,
    /// The highest committed block, whether or not its rows are still there.
    pub committed_through: Option<BlockNumber>,
    /// The summary that this view was made from.
    seen: Option<SummaryRow>,
}

columns! {
    pub struct IslandRow / IslandView {
        part: String,
        first_block: u64,
        last_block: u64,
    }
}

columns! {
    pub struct SummaryRow / SummaryView {
        commits: u64,
        chain_id: Option<u64>,
        sequence: Option<u64>,
        configurations: u64,
        label_loads: u64,
        tokens: u64,
        token_steps: u64,
        log_topics: u8,
    }
}

impl Head {
    /// The highest readable block.
    #[must_use]
    pub fn number(&self) -> Option<BlockNumber> {
        self.blocks.head()
    }

    /// The highest readable block that the node called safe, at least the finalized one.
    #[must_use]
    pub fn safe(&self) -> Option<BlockNumber> {
        self.named(|head| head.safe_block).max(self.finalized())
    }

    /// The highest readable block that cannot change: settled, or called finalized by the node.
    #[must_use]
    pub fn finalized(&self) -> Option<BlockNumber> {
        self.named(|head| head.finalized_block).max(self.blocks.settled().head())
    }

    fn named(&self, name: impl FnOnce(&HeadRow) -> Option<BlockNumber>) -> Option<BlockNumber> {
        let named = self.newest.as_ref().and_then(name)?;
        let up_to = self.blocks.within(BlockRange::new(0, named)?);
        up_to.hot.last().map(|range| range.blocks.last()).max(up_to.settled.last().map(|range| range.last()))
    }

    /// Whether the newest of the settled blocks lost rows, so that what is newest cannot be told.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.committed_through != self.blocks.settled().head()
            || self.damage.withdrawn.head() > self.blocks.settled().head()
    }

    /// Reads the committed ranges, whatever was lost of them.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn load(reader: &Reader) -> Result<Self, StoreError> {
        Self::read(reader, None, &Damage::default()).await.map(Arc::unwrap_or_clone)
    }

    /// Reads the committed ranges. Returns `known` itself if nothing was committed since.
    async fn read(reader: &Reader, known: Option<&Arc<Self>>, damage: &Damage) -> Result<Arc<Self>, StoreError> {
        let statement = Statement::<SummaryRow>::page(include_str!("../../../../sql/queries/commit_summary.sql"));
        let summary = reader.rows(&statement).await?.pop();
        if let Some(known) = known.filter(|known| known.seen == summary && known.damage == *damage) {
            return Ok(Arc::clone(known));
        }
        // The newest blocks first: blocks that leave them meanwhile are committed, and the second read finds them.
        let statement = Statement::<HeadRow>::page(include_str!("../../../../sql/queries/newest_head.sql"));
        let newest = reader.rows(&statement).await?.pop();
        let mut settled = coverage(reader).await?;
        let committed_through = settled.get("blocks").and_then(|ranges| ranges.last()).map(|range| range.last());
        let mut settled = |part: &str| {
            let committed = settled.remove(part).map(Coverage::from_iter).unwrap_or_default();
            committed.without(&damage.of_part(part))
        };
        let segments = newest.as_ref().map_or(&[][..], |head| &head.segments);
        let blocks = settled("blocks");
        let mut part = |name: &str| Readable::new(settled(name), &hot(segments, name, &blocks));
        let committed_chain = summary.as_ref().and_then(|summary| summary.chain_id);
        let chain_id = committed_chain.or(newest.as_ref().and_then(|head| head.chain_id));
        let configuration = match chain_id {
            Some(chain_id) if summary.as_ref().is_some_and(|summary| summary.configurations > 0) => {
                reader.configuration(chain_id).await?
            }
            _ => None,
        };
        let view = known.map_or(1, |known| known.view + 1);
        let commits = |seen: &Option<SummaryRow>| seen.as_ref().map_or(0, |seen| seen.commits);
        let is_same =
            |known: &&Arc<Self>| commits(&known.seen) == commits(&summary) && *known.blocks.settled() == blocks;
        let same = known.filter(is_same);
        Ok(Arc::new(Self {
            settled_view: same.map_or(view, |known| known.settled_view),
            receipts: part("receipts"),
            withdrawals: part("withdrawals"),
            uncles: part("uncles"),
            traces: part("traces"),
            rewards: part("rewards"),
            state: part("state"),
            state_but_system: part("state_but_system"),
            state_transactions: part("state_transactions"),
            blocks: Readable::new(blocks.clone(), &hot(segments, "blocks", &blocks)),
            chain_id,
            newest,
            configuration,
            labels: summary.as_ref().map_or(0, |summary| summary.label_loads),
            tokens: summary.as_ref().map_or(0, |summary| summary.tokens),
            token_steps: summary.as_ref().map_or(0, |summary| summary.token_steps),
            damage: damage.clone(),
            committed_through,
            log_topics: summary.as_ref().is_some_and(|summary| summary.log_topics == 1),
            seen: summary,
            view,
        }))
    }
}

/// The blocks of segments with `part` that are not settled.
fn hot(segments: &[Segment], part: &str, settled: &Coverage) -> Vec<HotRange> {
    let having = segments.iter().filter(|segment| segment.parts.iter().any(|name| name == part));
    having
        .flat_map(|segment| {
            let range = BlockRange::new(segment.first_block, segment.last_block);
            let unsettled = range.map_or_else(Vec::new, |range| settled.missing(range));
            unsettled.into_iter().map(|blocks| HotRange { blocks, generation: segment.generation })
        })
        .collect()
}

/// The committed ranges of every part, from one statement, so that they are consistent.
async fn coverage(reader: &Reader) -> Result<HashMap<String, Vec<BlockRange>>, StoreError> {
    let statement = Statement::<IslandRow>::page(include_str!("../../../../sql/queries/coverage.sql"));
    let mut parts: HashMap<String, Vec<BlockRange>> = HashMap::new();
    for batch in reader.all(&statement).await? {
        let view = batch.view();
        for row in 0..batch.len() {
            let ranges = parts.entry(String::get(&view.part, row).into()).or_default();
            ranges.extend(BlockRange::new(view.first_block[row], view.last_block[row]));
        }
    }
    Ok(parts)
}

/// The newest head known, kept up to date by a task of its own.
#[derive(Clone)]
pub struct HeadWatch {
    head: watch::Receiver<Option<Arc<Head>>>,
}

impl HeadWatch {
    /// Follows the commits once `ready` resolves, reading every `interval`. The task ends when the last watch is
    /// dropped.
    #[must_use]
    pub fn follow(reader: Reader, interval: Duration, ready: impl Future<Output = ()> + Send + 'static) -> Self {
        let (sender, head) = watch::channel(None);
        tokio::spawn(async move {
            ready.await;
            follow(reader, interval, sender).await;
        });
        Self { head }
    }

    /// Waits for a head that this watch has not returned yet; `None` once the background task has ended.
    pub async fn changed(&mut self) -> Option<Arc<Head>> {
        loop {
            self.head.changed().await.ok()?;
            let head = self.head.borrow_and_update().clone();
            if head.is_some() {
                return head;
            }
        }
    }

    /// The newest head; `None` before the first successful read.
    #[must_use]
    pub fn now(&self) -> Option<Arc<Head>> {
        self.head.borrow().clone()
    }
}

async fn follow(reader: Reader, interval: Duration, sender: watch::Sender<Option<Arc<Head>>>) {
    let mut tick = tokio::time::interval(interval);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut known: Option<Arc<Head>> = None;
    let mut failing = false;
    let mut damage = DamageWatch::default();
    while !sender.is_closed() {
        tick.tick().await;
        let read = async {
            let damage = damage.now(&reader).await?;
            Head::read(&reader, known.as_ref(), &damage).await
        };
        match read.await {
            Ok(head) => {
                failing = false;
                if known.as_ref().is_none_or(|known| !Arc::ptr_eq(known, &head)) {
                    known = Some(Arc::clone(&head));
                    sender.send_replace(Some(head));
                }
            }
            Err(error) if failing => tracing::debug!(%error, "still cannot read the committed ranges"),
            Err(error) => {
                failing = true;
                damage.forget();
                tracing::warn!(error = %crate::error_chain(&error), "cannot read the committed ranges; serving the last known ones");
            }
        }
    }
}
