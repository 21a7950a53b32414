//! What is readable now: followed in the background, read once per request.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::{Reader, StoreError};
use crate::primitives::{BlockNumber, BlockRange, Coverage};
use crate::schema::Column;
use crate::schema::columns::columns;
use crate::statement::Statement;

/// A consistent view of what is committed. A request takes one and uses it to its end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Head {
    /// Blocks that are readable.
    pub blocks: Coverage,
    /// Blocks whose receipts and logs are readable; a subset of `blocks`.
    pub receipts: Coverage,
    /// Blocks whose withdrawals are readable; a subset of `blocks`.
    pub withdrawals: Coverage,
    /// Blocks the headers of whose uncles are readable; a subset of `blocks`.
    pub uncles: Coverage,
    /// The chain, as far as the sources told it.
    pub chain_id: Option<u64>,
    /// How many commits this view was made of.
    commits: u64,
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
    }
}

impl Head {
    /// The highest readable block.
    #[must_use]
    pub fn number(&self) -> Option<BlockNumber> {
        self.blocks.head()
    }

    /// Reads what is committed now.
    pub async fn load(reader: &Reader) -> Result<Self, StoreError> {
        Self::read(reader, None).await.map(Arc::unwrap_or_clone)
    }

    /// Reads what is committed. `known` is returned as it is if nothing was committed since.
    async fn read(reader: &Reader, known: Option<&Arc<Self>>) -> Result<Arc<Self>, StoreError> {
        let statement = Statement::<SummaryRow>::page(include_str!("../../sql/queries/commit_summary.sql"));
        let batches = reader.all(&statement).await?;
        let (commits, chain_id) = batches.first().map_or((0, None), |batch| {
            let view = batch.view();
            (view.commits[0], Option::<u64>::get(&view.chain_id, 0))
        });
        if let Some(known) = known.filter(|known| known.commits == commits) {
            return Ok(Arc::clone(known));
        }
        let mut parts = coverage(reader).await?;
        let mut part = |name| parts.remove(name).map(Coverage::from_iter).unwrap_or_default();
        Ok(Arc::new(Self {
            blocks: part("blocks"),
            receipts: part("receipts"),
            withdrawals: part("withdrawals"),
            uncles: part("uncles"),
            chain_id,
            commits,
        }))
    }
}

/// The committed ranges of every part, in one statement, so that they belong together.
async fn coverage(reader: &Reader) -> Result<HashMap<String, Vec<BlockRange>>, StoreError> {
    let statement = Statement::<IslandRow>::page(include_str!("../../sql/queries/coverage.sql"));
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
    /// Starts to follow the commits, looking every `interval`. The task ends when the last watch is dropped.
    #[must_use]
    pub fn follow(reader: Reader, interval: Duration) -> Self {
        let (sender, head) = watch::channel(None);
        tokio::spawn(follow(reader, interval, sender));
        Self { head }
    }

    /// The newest head; `None` while the database has not answered yet.
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
    while !sender.is_closed() {
        tick.tick().await;
        match Head::read(&reader, known.as_ref()).await {
            Ok(head) => {
                failing = false;
                if known.as_ref().is_none_or(|known| !Arc::ptr_eq(known, &head)) {
                    known = Some(Arc::clone(&head));
                    sender.send_replace(Some(head));
                }
            }
            Err(error) if failing => tracing::debug!(%error, "still cannot read what is committed"),
            Err(error) => {
                failing = true;
                tracing::warn!(error = %crate::chain(&error), "cannot read what is committed; answering from what was");
            }
        }
    }
}
