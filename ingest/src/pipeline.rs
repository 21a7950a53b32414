//! The stages of a load as tasks with bounded channels between them.
//!
//! In memory at once, at most: the blocks a source fetches ahead, one block per decoder, one batch filling, one
//! waiting and one being written.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt;
use tokio::sync::{mpsc, watch};
use trawl::primitives::{B256, Coverage, TimestampOutOfRange};
use trawl::store::{CommitEdges, Writer};

use crate::batch::{Batch, BlockRows, Limits};
use crate::block::Parts;
use crate::decode::{DecodeError, decode};
use crate::lease::Held;
use crate::progress::Progress;
use crate::rows::rows;
use crate::sink::{Sink, SinkError, Written};
use crate::source::{BlockSource, RawBlock, RawBody, SourceError};
use crate::state::Rules;
use crate::tokens::Offers;
use crate::verify::{VerifyError, verify};

/// Why a load ended before its end. What was committed until then stays.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The source gives no more.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A block cannot be read.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A block does not hold together.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// A block's time does not fit the tables.
    #[error("block {number} is refused")]
    Timestamp {
        /// Height.
        number: u64,
        /// Why.
        source: TimestampOutOfRange,
    },
    /// The source's chain is not the one in the database.
    #[error("block {number} belongs to chain {found} and the database holds chain {expected}")]
    Chain {
        /// Height.
        number: u64,
        /// What the database holds.
        expected: u64,
        /// What the block says.
        found: u64,
    },
    /// A batch was not written.
    #[error(transparent)]
    Sink(#[from] SinkError),
}

/// How a load that did not fail came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Everything asked for is there.
    Complete,
    /// It was told to stop; the batch in hand is committed.
    Stopped,
}

/// Settings of a load.
#[derive(Debug, Clone)]
pub struct Options {
    /// When a batch is full.
    pub limits: Limits,
    /// Blocks decoded at the same time.
    pub decoders: usize,
    /// What is known of the chain beyond its blocks.
    pub rules: Arc<Rules>,
    /// Where to say which token contracts are in what was committed.
    pub tokens: Option<Offers>,
}

/// What is known before the first block.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Blocks that are committed; they are passed over.
    pub committed: Coverage,
    /// The chain in the database.
    pub chain_id: Option<u64>,
    /// Ends of the committed ranges.
    pub edges: Vec<CommitEdges>,
}

/// A block ready for a batch.
struct Prepared {
    rows: BlockRows,
    number: u64,
    hash: B256,
    chain_id: Option<u64>,
    parent_hash: B256,
    parts: Parts,
    bytes: usize,
    position: u64,
}

/// Loads everything `source` gives until its end, an error, or `stop` becomes true.
pub async fn load(
    source: impl BlockSource,
    writer: Writer,
    held: Held,
    known: Known,
    options: Options,
    stop: watch::Receiver<bool>,
) -> Result<(Ending, Written), LoadError> {
    let progress = Progress::new(source.total());
    let sink = Sink::new(writer, held, source.kind());
    let chain_id = source.chain_id().or(known.chain_id);
    // One batch waits here while another is written and a third fills.
    let (full, batches) = mpsc::channel(1);
    let writing = tokio::spawn(write_batches(sink, batches, progress, options.tokens.clone()));
    let links = Links::new(&known.edges);
    let filled = fill_batches(source, Filling { links, taken: known.committed, chain_id, options, full }, stop).await;
    // Whatever was filled before an error is whole and gets written.
    let written = writing.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?;
    Ok((filled?, written))
}

async fn write_batches(
    mut sink: Sink,
    mut batches: mpsc::Receiver<(Batch, Option<u64>, u64)>,
    mut progress: Progress,
    offers: Option<Offers>,
) -> Result<Written, SinkError> {
    while let Some((mut batch, chain_id, position)) = batches.recv().await {
        let tokens = std::mem::take(&mut batch.tokens);
        let written = sink.write(batch, chain_id).await?;
        if let Some(offers) = &offers {
            offers.offer(tokens);
        }
        progress.committed(written, position);
    }
    Ok(progress.finish())
}

struct Filling {
    links: Links,
    /// Heights that are committed or in a batch: none is written twice, however often a source gives it.
    taken: Coverage,
    chain_id: Option<u64>,
    options: Options,
    full: mpsc::Sender<(Batch, Option<u64>, u64)>,
}

async fn fill_batches(
    source: impl BlockSource,
    mut filling: Filling,
    mut stop: watch::Receiver<bool>,
) -> Result<Ending, LoadError> {
    let decoders = filling.options.decoders.max(1);
    let rules = Arc::clone(&filling.options.rules);
    let mut blocks = source
        .into_blocks()
        .map(move |raw| {
            let rules = Arc::clone(&rules);
            async move {
                let prepared = tokio::task::spawn_blocking(move || prepare(raw?, &rules));
                prepared.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
            }
        })
        .buffered(decoders)
        .boxed();
    let mut batch = Batch::default();
    let mut position = 0;
    let ended = loop {
        let next = tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => break Ok(Ending::Stopped),
            next = blocks.next() => next,
            // Commits what a slow source gave so far.
            () = tokio::time::sleep(filling.options.limits.age), if batch.blocks > 0 => {
                if !filling.send(&mut batch, position).await {
                    break Ok(Ending::Stopped);
                }
                continue;
            }
        };
        let prepared = match next {
            None => break Ok(Ending::Complete),
            Some(Ok(prepared)) if !filling.taken.insert(prepared.number) => continue,
            Some(prepared) => prepared.and_then(|prepared| filling.accept(prepared)),
        };
        match prepared {
            Err(error) => break Err(error),
            Ok(prepared) => {
                position = prepared.position;
                batch.push(prepared.rows, prepared.parts, prepared.bytes);
            }
        }
        if batch.is_full(filling.options.limits) && !filling.send(&mut batch, position).await {
            break Ok(Ending::Stopped);
        }
    };
    if batch.blocks > 0 {
        filling.send(&mut batch, position).await;
    }
    ended
}

impl Filling {
    /// Hands the batch over; false if the writer has failed, which then says why.
    async fn send(&self, batch: &mut Batch, position: u64) -> bool {
        self.full.send((std::mem::take(batch), self.chain_id, position)).await.is_ok()
    }

    /// The checks that need to know about other blocks.
    fn accept(&mut self, prepared: Prepared) -> Result<Prepared, LoadError> {
        self.links.check(&prepared)?;
        match (self.chain_id, prepared.chain_id) {
            (Some(expected), Some(found)) if expected != found => {
                return Err(LoadError::Chain { number: prepared.number, expected, found });
            }
            (known, found) => self.chain_id = known.or(found),
        }
        Ok(prepared)
    }
}

/// What a source gave to rows, on a thread that may be busy.
fn prepare(raw: RawBlock, rules: &Rules) -> Result<Prepared, LoadError> {
    let mut block = match raw.body {
        RawBody::Json(text) => decode(&text)?,
        RawBody::Block(block) => *block,
    };
    verify(&block)?;
    rules.complete(&mut block)?;
    let (number, hash) = (block.header.number, block.header.hash);
    Ok(Prepared {
        number,
        hash,
        chain_id: block.chain_id(),
        parent_hash: block.header.parent_hash,
        parts: block.parts(),
        bytes: block.source_bytes,
        position: raw.position,
        rows: rows(block).map_err(|source| LoadError::Timestamp { number, source })?,
    })
}

/// Which hashes the neighbours of committed and loaded blocks must have.
struct Links {
    /// Hash of the block at a height, where a range ends there.
    hashes: HashMap<u64, B256>,
    /// Hash that the block below a height must have, where a range starts there.
    parents: HashMap<u64, B256>,
    last: Option<(u64, B256)>,
}

impl Links {
    fn new(edges: &[CommitEdges]) -> Self {
        Self {
            hashes: edges.iter().map(|edge| (edge.last_block, edge.last_hash)).collect(),
            parents: edges.iter().map(|edge| (edge.first_block, edge.first_parent_hash)).collect(),
            last: None,
        }
    }

    fn check(&mut self, block: &Prepared) -> Result<(), VerifyError> {
        let below = block.number.checked_sub(1);
        let parent = match self.last {
            Some((number, hash)) if Some(number) == below => Some(hash),
            _ => below.and_then(|below| self.hashes.get(&below).copied()),
        };
        let refuse = |check, expected: B256, found: B256| {
            Err(VerifyError { number: block.number, check, expected: expected.to_string(), found: found.to_string() })
        };
        if let Some(parent) = parent.filter(|parent| *parent != block.parent_hash) {
            return refuse("parent hash", parent, block.parent_hash);
        }
        let child = block.number.checked_add(1).and_then(|above| self.parents.get(&above).copied());
        if let Some(wanted) = child.filter(|wanted| *wanted != block.hash) {
            return refuse("hash known to the block above", wanted, block.hash);
        }
        self.last = Some((block.number, block.hash));
        Ok(())
    }
}
