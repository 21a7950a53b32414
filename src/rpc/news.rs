//! What subscribers receive: blocks that became readable at the head, their logs, and logs of blocks that left. Read once
//! for all connections, and only while there are subscribers of its kind.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::feed::Event;
use crate::app::App;
use crate::error::Problem;
use crate::read::completeness::require_block;
use trawl_core::primitives::{B256, BlockNumber, BlockRange, HotRange, Readable, Span};
use trawl_core::store::Head;
use trawl_json::JsonWriter;
use trawl_json::blocks::write_rpc_header;
use trawl_query::logs::LogPage;

/// Blocks read at a time.
const CHUNK: u64 = 16;
/// Blocks that a head may be ahead of the one before: a load from files is no news, block by block.
const MAX_JUMP: u64 = 1_024;
/// How often a read is tried again, and how long after.
const ATTEMPTS: u32 = 30;
const PAUSE: Duration = Duration::from_secs(1);
/// More logs than blocks can hold.
const ALL_LOGS: u64 = 100_000_000;

/// Follows the head of `app` for ever, in a task of its own.
pub fn start_feed(app: &App) {
    let app = app.clone();
    tokio::spawn(async move {
        let mut watch = app.head_watch();
        let mut published = Published::default();
        while let Some(head) = watch.changed().await {
            published.follow(&app, head).await;
        }
    });
}

/// Up to where news were told.
#[derive(Default)]
struct Published {
    head: Option<Arc<Head>>,
    /// Hashes of the blocks that were not settled then, as far as somebody listened.
    hashes: BTreeMap<BlockNumber, B256>,
}

impl Published {
    async fn follow(&mut self, app: &App, head: Arc<Head>) {
        let feed = &app.sockets().feed;
        let before = self.head.replace(Arc::clone(&head));
        let Some(before) = before.filter(|_| feed.is_wanted()) else {
            self.hashes.clear();
            return;
        };
        if let Err(problem) = self.tell_step(app, &before, &head).await {
            tracing::warn!(%problem, "subscribers are disconnected: what is new cannot be read");
            feed.tell(Event::Broken("the database cannot be read")).await;
        }
    }

    async fn tell_step(&mut self, app: &App, before: &Head, head: &Head) -> Result<(), Problem> {
        let feed = &app.sockets().feed;
        let left = left(&before.blocks, &head.blocks);
        let settled = self.hashes.iter().filter(|(number, _)| head.blocks.generation(**number) == Some(0));
        let settled: Vec<(BlockNumber, B256)> = settled.map(|(number, hash)| (*number, *hash)).collect();
        if !retry_transient(|| are_the_same(app, head, &settled)).await? {
            feed.tell(Event::Broken("the chain was reorganised below what can be told")).await;
            return Ok(());
        }
        let joined = match joined(&before.blocks, &head.blocks, &left) {
            Some(range) if range.count() > MAX_JUMP => {
                feed.tell(Event::Broken("the head is too many blocks ahead to tell them one by one")).await;
                return Ok(());
            }
            joined => joined,
        };
        if feed.logs_are_wanted() {
            for block in left.iter().rev() {
                for event in retry_transient(|| removed_logs(app, before, *block)).await? {
                    feed.tell(event).await;
                }
            }
        }
        for chunk in joined.into_iter().flat_map(chunks) {
            for event in retry_transient(|| news(app, head, chunk)).await? {
                feed.tell(event).await;
            }
        }
        self.hashes = retry_transient(|| hot_hashes(app, head)).await?;
        Ok(())
    }
}

/// Repeats a read that fails, for half a minute.
async fn retry_transient<T, F: Future<Output = Result<T, Problem>>>(mut read: impl FnMut() -> F) -> Result<T, Problem> {
    for _ in 1..ATTEMPTS {
        match read().await {
            Err(Problem::Busy | Problem::TooExpensive | Problem::Internal) => tokio::time::sleep(PAUSE).await,
            outcome => return outcome,
        }
    }
    read().await
}

/// Blocks that were readable and lost their place, each by itself, ascending.
fn left(before: &Readable, now: &Readable) -> Vec<HotRange> {
    let blocks = |range: &HotRange| {
        let generation = range.generation;
        (range.blocks.first()..=range.blocks.last()).map(move |number| (number, generation))
    };
    let has_left = |(number, generation): &(BlockNumber, u64)| !matches!(now.generation(*number), Some(now) if now == 0 || now == *generation);
    let single = |(number, generation)| HotRange { blocks: BlockRange::single(number), generation };
    before.hot().iter().flat_map(blocks).filter(has_left).map(single).collect()
}

/// From the first new block to the head: behind the head of before, or in the place of what left.
fn joined(before: &Readable, now: &Readable, left: &[HotRange]) -> Option<BlockRange> {
    let behind = before.head().map_or(Some(0), |number| number.checked_add(1))?;
    let first = left.first().map_or(behind, |lost| lost.blocks.first().min(behind));
    BlockRange::new(first, now.head()?)
}

fn chunks(range: BlockRange) -> impl Iterator<Item = BlockRange> {
    let starts = (range.first()..=range.last()).step_by(usize::try_from(CHUNK).unwrap_or(1));
    starts.filter_map(move |first| BlockRange::new(first, range.last().min(first.saturating_add(CHUNK - 1))))
}

/// Headers and, if somebody wants them, logs of new blocks.
async fn news(app: &App, head: &Head, range: BlockRange) -> Result<Vec<Event>, Problem> {
    let mut events = Vec::new();
    let batches = app.reader().all(&trawl_query::blocks::newest(&head.blocks.within(range), CHUNK)).await?;
    // They come from the highest down.
    for batch in batches.iter().rev() {
        let view = batch.view();
        for row in (0..batch.len()).rev() {
            require_block(&view, row)?;
            let mut writer = JsonWriter::new();
            write_rpc_header(&mut writer, &view, row);
            events.push(Event::Header(writer.into_bytes()));
        }
    }
    if app.sockets().feed.logs_are_wanted() {
        let is_told = |number| !head.blocks.contains(number) || head.receipts.contains(number);
        if !(range.first()..=range.last()).all(is_told) {
            events.push(Event::LogsUnknown);
            return Ok(events);
        }
        let logs = LogPage::new(Default::default(), head.receipts.within(range), ALL_LOGS).statement();
        events.extend(app.reader().all(&logs).await?.into_iter().map(Event::Logs));
    }
    Ok(events)
}

/// The logs of a block that lost its place. Its rows are there until a block of its height is settled and longer.
async fn removed_logs(app: &App, before: &Head, block: HotRange) -> Result<Vec<Event>, Problem> {
    if !before.receipts.contains(block.blocks.first()) {
        return Ok(vec![Event::LogsUnknown]);
    }
    let span = Span { settled: Vec::new(), hot: vec![block] };
    let logs = LogPage::new(Default::default(), span, ALL_LOGS).statement();
    Ok(app.reader().all(&logs).await?.into_iter().rev().map(Event::Removed).collect())
}

/// Whether settled blocks have the hashes they had before.
async fn are_the_same(app: &App, head: &Head, known: &[(BlockNumber, B256)]) -> Result<bool, Problem> {
    let (Some((first, _)), Some((last, _))) = (known.first(), known.last()) else { return Ok(true) };
    let Some(range) = BlockRange::new(*first, *last) else { return Ok(true) };
    let now = hashes(app, &head.blocks.within(range)).await?;
    Ok(known.iter().all(|(number, hash)| now.get(number) == Some(hash)))
}

async fn hot_hashes(app: &App, head: &Head) -> Result<BTreeMap<BlockNumber, B256>, Problem> {
    let hot = Span { settled: Vec::new(), hot: head.blocks.hot().to_vec() };
    if hot.is_empty() { Ok(BTreeMap::new()) } else { hashes(app, &hot).await }
}

async fn hashes(app: &App, blocks: &Span) -> Result<BTreeMap<BlockNumber, B256>, Problem> {
    let rows = app.reader().rows(&trawl_query::blocks::hashes(blocks)).await?;
    Ok(rows.into_iter().map(|row| (row.block_number, row.hash)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(settled: u64, hot: &[(u64, u64, u64)]) -> Readable {
        let range = |first, last| BlockRange::new(first, last).expect("ordered");
        let hot: Vec<HotRange> = hot
            .iter()
            .map(|(first, last, generation)| HotRange { blocks: range(*first, *last), generation: *generation })
            .collect();
        Readable::new([range(0, settled)].into_iter().collect(), &hot)
    }

    fn step(before: &Readable, after: &Readable) -> (Vec<u64>, Option<(u64, u64)>) {
        let left = left(before, after);
        let joined = joined(before, after, &left).map(|range| (range.first(), range.last()));
        (left.iter().map(|lost| lost.blocks.first()).collect(), joined)
    }

    #[test]
    fn what_leaves_and_what_joins() {
        let before = head(10, &[(11, 14, 1)]);
        assert_eq!(step(&before, &head(10, &[(11, 14, 1), (15, 16, 2)])), (vec![], Some((15, 16))));
        assert_eq!(step(&before, &head(10, &[(11, 12, 1), (13, 15, 2)])), (vec![13, 14], Some((13, 15))));
        assert_eq!(step(&before, &head(10, &[(11, 12, 1)])), (vec![13, 14], None), "the head goes back");
        assert_eq!(step(&before, &head(13, &[(14, 14, 1)])), (vec![], None), "settling is no news");
        assert_eq!(step(&before, &head(13, &[(14, 15, 3)])), (vec![14], Some((14, 15))));
        assert_eq!(step(&Readable::default(), &before), (vec![], Some((0, 14))));
    }

    #[test]
    fn chunks_cover_a_range() {
        let range = |first, last| BlockRange::new(first, last).expect("ordered");
        assert_eq!(chunks(range(5, 40)).collect::<Vec<_>>(), [range(5, 20), range(21, 36), range(37, 40)]);
        assert_eq!(chunks(range(5, 5)).collect::<Vec<_>>(), [range(5, 5)]);
    }
}
