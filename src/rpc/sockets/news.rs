//! Events for subscribers: new blocks at the head, their logs, and logs of reorganised blocks. They are read once for
//! all connections, and only while there are subscribers of their kind.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::feed::Event;
use crate::app::App;
use crate::error::Problem;
use crate::read::completeness::require_shown_block;
use crate::rpc::node::client_info::{is_syncing, write_progress};
use crate::rpc::service::Rpc;
use trawl_core::primitives::{B256, BlockNumber, BlockRange, HotRange};
use trawl_core::readable::{Readable, Span};
use trawl_core::served_chain::for_same_chain;
use trawl_core::store::Head;
use trawl_json::JsonWriter;
use trawl_json::blocks::write_rpc_header;
use trawl_query::logs::LogPage;

/// Blocks that are read at a time.
const BLOCKS_PER_READ: u64 = 16;
/// Most new blocks in one step of the head: blocks of a load from files are not sent one by one.
const MAX_NEW_BLOCKS: u64 = 1_024;
/// Most attempts of one read.
const MAX_ATTEMPTS: u32 = 30;
/// Time between two attempts.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// More logs than the blocks of one read can contain.
const UNLIMITED_LOGS: u64 = 100_000_000;

impl Rpc {
    /// Starts a task that follows the head and sends the events of each step to the subscribers. The task runs until
    /// the head is no longer followed.
    pub fn start_feed(&self) {
        let rpc = self.clone();
        tokio::spawn(for_same_chain(async move {
            let mut watch = rpc.app().head_watch();
            let mut published = PublishedState::default();
            while let Some(head) = watch.changed().await {
                published.follow(&rpc, head).await;
            }
        }));
    }
}

/// The state of the chain up to which events were sent.
#[derive(Default)]
struct PublishedState {
    head: Option<Arc<Head>>,
    /// Hashes of the blocks that were not settled then; empty without subscribers.
    hashes: BTreeMap<BlockNumber, B256>,
}

impl PublishedState {
    async fn follow(&mut self, rpc: &Rpc, head: Arc<Head>) {
        let feed = &rpc.sockets().feed;
        let before = self.head.replace(Arc::clone(&head));
        if feed.has_syncing_subscribers()
            && before.as_ref().is_some_and(|before| is_syncing(before) != is_syncing(&head))
        {
            feed.send(Event::Syncing(lag(&head))).await;
        }
        let Some(before) = before.filter(|_| feed.has_block_subscribers()) else {
            self.hashes.clear();
            return;
        };
        if let Err(problem) = self.publish_step(rpc, &before, &head).await {
            tracing::warn!(%problem, "disconnecting subscribers: new blocks cannot be read");
            feed.send(Event::Broken("the database cannot be read")).await;
        }
    }

    async fn publish_step(&mut self, rpc: &Rpc, before: &Head, head: &Head) -> Result<(), Problem> {
        let (app, feed) = (rpc.app(), &rpc.sockets().feed);
        let removed = before.blocks.orphaned_in(&head.blocks);
        let settled = self.hashes.iter().filter(|(number, _)| head.blocks.generation(**number) == Some(0));
        let settled: Vec<(BlockNumber, B256)> = settled.map(|(number, hash)| (*number, *hash)).collect();
        if !retry_transient(|| are_the_same(app, head, &settled)).await? {
            feed.send(Event::Broken("the chain was reorganised below the blocks that can be reported")).await;
            return Ok(());
        }
        let added = match added_blocks(&before.blocks, &head.blocks, &removed) {
            Some(range) if range.count() > MAX_NEW_BLOCKS => {
                feed.send(Event::Broken("the head is too many blocks ahead to report them one by one")).await;
                return Ok(());
            }
            added => added,
        };
        if feed.has_log_subscribers() {
            for block in removed.iter().rev() {
                for event in retry_transient(|| removed_logs(app, before, *block)).await? {
                    feed.send(event).await;
                }
            }
        }
        for chunk in added.into_iter().flat_map(chunks) {
            for event in retry_transient(|| events_of_blocks(rpc, head, chunk)).await? {
                feed.send(event).await;
            }
        }
        self.hashes = retry_transient(|| hot_hashes(app, head)).await?;
        Ok(())
    }
}

/// The message to subscribers of the lag.
fn lag(head: &Head) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    if is_syncing(head) {
        writer.object(|lag| {
            lag.key("syncing").bool(true);
            lag.key("status").object(|status| write_progress(status, head));
        });
    } else {
        writer.bool(false);
    }
    writer.into_bytes()
}

/// Retries a read that fails, for half a minute.
async fn retry_transient<T, F: Future<Output = Result<T, Problem>>>(mut read: impl FnMut() -> F) -> Result<T, Problem> {
    for _ in 1..MAX_ATTEMPTS {
        match read().await {
            Err(
                Problem::Busy | Problem::Unreachable | Problem::Reorganised | Problem::TooExpensive | Problem::Internal,
            ) => tokio::time::sleep(RETRY_DELAY).await,
            outcome => return outcome,
        }
    }
    read().await
}

/// The blocks from the first new one to the head: after the head before, or from the lowest removed block on.
fn added_blocks(before: &Readable, now: &Readable, removed: &[HotRange]) -> Option<BlockRange> {
    let after_head = before.head().map_or(Some(0), |number| number.checked_add(1))?;
    let first = removed.first().map_or(after_head, |block| block.blocks.first().min(after_head));
    BlockRange::new(first, now.head()?)
}

fn chunks(range: BlockRange) -> impl Iterator<Item = BlockRange> {
    let starts = (range.first()..=range.last()).step_by(usize::try_from(BLOCKS_PER_READ).unwrap_or(1));
    starts.filter_map(move |first| BlockRange::new(first, range.last().min(first.saturating_add(BLOCKS_PER_READ - 1))))
}

/// Headers and, if there are subscribers of logs, logs of new blocks.
async fn events_of_blocks(rpc: &Rpc, head: &Head, range: BlockRange) -> Result<Vec<Event>, Problem> {
    let app = rpc.app();
    let mut events = Vec::new();
    let batches = app.reader().all(&trawl_query::blocks::newest(&head.blocks.within(range), BLOCKS_PER_READ)).await?;
    // The rows come from the highest block down.
    for batch in batches.iter().rev() {
        let view = batch.view();
        for row in (0..batch.len()).rev() {
            require_shown_block(&view, row, app.family(head))?;
            let mut writer = JsonWriter::new();
            write_rpc_header(&mut writer, &view, row);
            events.push(Event::Header(writer.into_bytes()));
        }
    }
    if rpc.sockets().feed.has_log_subscribers() {
        let has_logs = |number| !head.blocks.contains(number) || head.receipts.contains(number);
        if !(range.first()..=range.last()).all(has_logs) {
            events.push(Event::LogsUnknown);
            return Ok(events);
        }
        let logs = LogPage::new(Default::default(), head.receipts.within(range), UNLIMITED_LOGS).statement();
        events.extend(app.reader().all(&logs).await?.into_iter().map(Event::Logs));
    }
    Ok(events)
}

/// The logs of a reorganised block. Its rows exist at least until a block of its height is settled.
async fn removed_logs(app: &App, before: &Head, block: HotRange) -> Result<Vec<Event>, Problem> {
    if !before.receipts.contains(block.blocks.first()) {
        return Ok(vec![Event::LogsUnknown]);
    }
    let logs = LogPage::new(Default::default(), before.receipts.within(block.blocks), UNLIMITED_LOGS).statement();
    Ok(app.reader().all(&logs).await?.into_iter().rev().map(Event::Removed).collect())
}

/// Whether settled blocks still have the hashes that they had as hot blocks.
async fn are_the_same(app: &App, head: &Head, known: &[(BlockNumber, B256)]) -> Result<bool, Problem> {
    let (Some((first, _)), Some((last, _))) = (known.first(), known.last()) else { return Ok(true) };
    let Some(range) = BlockRange::new(*first, *last) else { return Ok(true) };
    let now = hashes(app, &head.blocks.within(range)).await?;
    Ok(known.iter().all(|(number, hash)| now.get(number) == Some(hash)))
}

async fn hot_hashes(app: &App, head: &Head) -> Result<BTreeMap<BlockNumber, B256>, Problem> {
    hashes(app, &head.blocks.span().without_settled()).await
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
        let removed = before.orphaned_in(after);
        let added = added_blocks(before, after, &removed).map(|range| (range.first(), range.last()));
        (removed.iter().map(|block| block.blocks.first()).collect(), added)
    }

    #[test]
    fn steps_remove_and_add_blocks() {
        let before = head(10, &[(11, 14, 1)]);
        assert_eq!(step(&before, &head(10, &[(11, 14, 1), (15, 16, 2)])), (vec![], Some((15, 16))));
        assert_eq!(step(&before, &head(10, &[(11, 12, 1), (13, 15, 2)])), (vec![13, 14], Some((13, 15))));
        assert_eq!(step(&before, &head(10, &[(11, 12, 1)])), (vec![13, 14], None), "the head goes back");
        assert_eq!(step(&before, &head(13, &[(14, 14, 1)])), (vec![], None), "settling is no event");
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
