//! The stages of a load as tasks with bounded channels between them.
//!
//! In memory at once, at most: the blocks a source fetches ahead, two blocks per decoder, one batch filling and one
//! being written.

use std::sync::Arc;

use futures_util::StreamExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use trawl_chains::Family;
use trawl_core::primitives::{BlockNumber, Coverage};
use trawl_core::store::{CommitEdges, Writer};
use trawl_metrics::queue::{PipelineQueue, QueuedItem};

use crate::background::token_metadata::TokenQueue;
use crate::load::error::LoadError;
use crate::load::prepare::{BlockOutcome, Inspection, OnRefusal, PreparedBlock};
use crate::load::progress::Progress;
use crate::source::BlockSource;
use crate::state::rules::Rules;
use crate::verify::Depth;
use crate::verify::links::Links;
use crate::write::batch::{Batch, CommittedBatch, Limits};
use crate::write::lease::LeaseGuard;
use crate::write::sink::{Sink, SinkError};

/// How a load that did not fail came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The source has ended.
    Complete,
    /// `stop` became true; the batch in hand is committed.
    Stopped,
}

/// Settings of a load.
#[derive(Debug, Clone)]
pub struct Options {
    /// When a batch is full.
    pub limits: Limits,
    /// Blocks decoded at the same time.
    pub decoders: usize,
    /// How much is checked of a block.
    pub depth: Depth,
    /// What a refused block leads to.
    pub on_refusal: OnRefusal,
    /// The family of the chain; `None` if the chain is not known before its blocks.
    pub family: Option<&'static Family>,
    /// What is known of the chain beyond its blocks.
    pub rules: Arc<Rules>,
    /// Takes the token contracts of what was committed.
    pub tokens: Option<TokenQueue>,
}

/// What is known before the first block.
#[derive(Debug, Clone, Default)]
pub struct ResumePoint {
    /// Blocks that are committed; they are passed over.
    pub committed: Coverage,
    /// The chain in the database.
    pub chain_id: Option<u64>,
    /// Ends of the committed ranges.
    pub edges: Vec<CommitEdges>,
    /// A block that the source gives for the link of the one above it, and that another load writes.
    pub below: Option<BlockNumber>,
}

/// Batches that there may be after they were filled: the one that is written, and one that waits for it, which keeps
/// the next from being filled.
const WRITE_QUEUE: usize = 2;

/// Loads everything `source` gives until its end, an error, or `stop` becomes true.
pub async fn load(
    source: impl BlockSource,
    writer: Writer,
    guard: LeaseGuard,
    known: ResumePoint,
    options: Options,
    stop: watch::Receiver<bool>,
) -> Result<(Ending, CommittedBatch), LoadError> {
    let progress = Progress::new(source.total());
    let run = writer.run().to_owned();
    let sink = Sink::new(writer, guard, source.kind());
    let chain_id = source.chain_id().or(known.chain_id);
    let (full, batches) = mpsc::channel(1);
    PipelineQueue::Write.show_capacity(WRITE_QUEUE);
    let writing = tokio::spawn(write_batches(sink, batches, progress, options.tokens.clone()));
    let inspection = Inspection {
        depth: options.depth,
        on_refusal: options.on_refusal,
        source: source.kind(),
        run: run.clone(),
        rules: Arc::clone(&options.rules),
        family: options.family,
    };
    let filling = BatchBuilder {
        inspection: Arc::new(inspection),
        links: Links::new(&known.edges),
        taken: known.committed,
        below: known.below,
        position: 0,
        chain_id,
        options,
        full,
        writing: Arc::new(Semaphore::new(1)),
    };
    let filled = fill_batches(source, filling, stop).await;
    // Whatever was filled before an error is whole and gets written.
    let written = writing.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?;
    Ok((filled?, written))
}

async fn write_batches(
    mut sink: Sink,
    mut batches: mpsc::Receiver<FilledBatch>,
    mut progress: Progress,
    queue: Option<TokenQueue>,
) -> Result<CommittedBatch, SinkError> {
    while let Some(FilledBatch { mut batch, chain_id, position, permit: _permit, queued: _queued }) =
        batches.recv().await
    {
        let tokens = std::mem::take(&mut batch.tokens);
        let written = sink.write(batch, chain_id).await?;
        if let Some(queue) = &queue {
            queue.push(tokens);
        }
        progress.committed(written, position);
    }
    Ok(progress.finish())
}

struct BatchBuilder {
    inspection: Arc<Inspection>,
    links: Links,
    /// Heights that are committed or in a batch.
    taken: Coverage,
    /// A height that is looked at and not written.
    below: Option<BlockNumber>,
    /// How far into the source the last block lies.
    position: u64,
    chain_id: Option<u64>,
    options: Options,
    full: mpsc::Sender<FilledBatch>,
    /// LeaseGuard by the batch that is being written, so that none waits beside it in memory.
    writing: Arc<Semaphore>,
}

/// A batch on its way to the writer.
struct FilledBatch {
    batch: Batch,
    chain_id: Option<u64>,
    position: u64,
    permit: OwnedSemaphorePermit,
    queued: QueuedItem,
}

async fn fill_batches(
    source: impl BlockSource,
    mut filling: BatchBuilder,
    mut stop: watch::Receiver<bool>,
) -> Result<Ending, LoadError> {
    let decoders = filling.options.decoders.max(1);
    // One more each, so that no decoder waits while the blocks of the others are put into the batch.
    let mut blocks = filling.inspection.prepared(source, 2 * decoders);
    let mut batch = Batch::default();
    let ended = loop {
        let next = tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => break Ok(Ending::Stopped),
            next = blocks.next() => next,
            // Commits what a slow source gave so far.
            () = tokio::time::sleep(filling.options.limits.age), if !batch.is_empty() => {
                if !filling.send(&mut batch).await {
                    break Ok(Ending::Stopped);
                }
                continue;
            }
        };
        let filled = match next {
            None => break Ok(Ending::Complete),
            Some(fate) => fate.and_then(|fate| filling.fill(&mut batch, fate)),
        };
        if let Err(error) = filled {
            break Err(error);
        }
        if batch.is_full(filling.options.limits) && !filling.send(&mut batch).await {
            break Ok(Ending::Stopped);
        }
    };
    if !batch.is_empty() {
        filling.send(&mut batch).await;
    }
    ended
}

impl BatchBuilder {
    /// Hands the batch over; false if the writer has failed, which then returns its error.
    async fn send(&self, batch: &mut Batch) -> bool {
        let queued = PipelineQueue::Write.enter();
        let Ok(permit) = Arc::clone(&self.writing).acquire_owned().await else { return false };
        let (batch, chain_id, position) = (std::mem::take(batch), self.chain_id, self.position);
        let filled = FilledBatch { batch, chain_id, position, permit, queued };
        self.full.send(filled).await.is_ok()
    }

    /// The checks that need to know about other blocks.
    fn accept(&mut self, prepared: Box<PreparedBlock>) -> Result<BlockOutcome, LoadError> {
        match (self.chain_id, prepared.chain_id) {
            (Some(expected), Some(found)) if expected != found => {
                return Err(LoadError::Chain { number: prepared.link.number, expected, found });
            }
            (known, found) => self.chain_id = known.or(found),
        }
        self.inspection.link(prepared, &mut self.links)
    }

    /// Puts a block, or the verdict on one that is set aside, into the batch.
    fn fill(&mut self, batch: &mut Batch, fate: BlockOutcome) -> Result<(), LoadError> {
        let prepared = match fate {
            BlockOutcome::Prepared(prepared) if self.below == Some(prepared.link.number) => {
                self.links.remember(prepared.link);
                return Ok(());
            }
            // No height is written twice, however often a source gives it.
            BlockOutcome::Prepared(prepared) if self.taken.contains(prepared.link.number) => return Ok(()),
            BlockOutcome::Prepared(prepared) => self.accept(prepared)?,
            quarantined @ BlockOutcome::Quarantined { .. } => quarantined,
        };
        match prepared {
            BlockOutcome::Prepared(prepared) => {
                self.taken.insert(prepared.link.number);
                self.position = prepared.position;
                batch.push(prepared.rows, prepared.parts, prepared.bytes);
                batch.end_at(prepared.link.total_difficulty);
            }
            BlockOutcome::Quarantined { number, verdict }
                if !self.taken.contains(number) && self.below != Some(number) =>
            {
                batch.push_verdict(*verdict);
            }
            BlockOutcome::Quarantined { .. } => {}
        }
        Ok(())
    }
}
