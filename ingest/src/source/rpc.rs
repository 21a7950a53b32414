//! JSON-RPC nodes: several blocks in flight, in order.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_node::{Failure, MAX_BATCH, METHOD_NOT_FOUND, NodeClient};

use super::{BlockSource, RawBlock, RawBlocks, RawBody, SourceError};
use crate::decode::{self, BlockParts, BlockPeek};
use crate::source::Total;

mod answer;
mod head_tags;
mod memory_budget;
mod progress;
mod state;
mod tokens;
mod traces;

use answer::present;
pub use head_tags::{HeadTags, head_tags, headers};
use memory_budget::MemoryBudget;
use progress::Progress;
use state::StateTracing;
pub use state::StateWish;
pub use tokens::{TokenAnswers, TokenFailure, newest_block, token};
pub use traces::TraceChoice;
use traces::{TraceCalls, Traced};

/// The method that gives all receipts of a block.
const BLOCK_RECEIPTS: &str = "eth_getBlockReceipts";

/// Blocks of one node.
#[derive(Clone)]
pub struct RpcSource {
    node: Arc<Node>,
    chain_id: u64,
    wanted: Vec<BlockRange>,
    concurrency: usize,
}

struct Node {
    client: NodeClient,
    state: StateTracing,
    traces: TraceCalls,
}

impl RpcSource {
    /// Requests the blocks of `wanted` from `client` (ascending), `concurrency` of them at a time, with the traces of
    /// `choice`.
    pub async fn new(
        client: NodeClient,
        wanted: Vec<BlockRange>,
        concurrency: usize,
        choice: TraceChoice,
    ) -> Result<Self, SourceError> {
        let chain_id = client.chain_id().await?;
        let node = Node { client, state: StateTracing::default(), traces: TraceCalls::new(choice) };
        Ok(Self { node: Arc::new(node), chain_id, wanted, concurrency: concurrency.max(1) })
    }

    /// Sets whether state is requested from the node too.
    #[must_use]
    pub fn with_state(mut self, wish: StateWish) -> Self {
        if let Some(node) = Arc::get_mut(&mut self.node) {
            node.state = StateTracing::new(wish);
        }
        self
    }

    /// The same source with what was learned of its nodes, for other blocks (ascending).
    #[must_use]
    pub fn of(&self, wanted: Vec<BlockRange>) -> Self {
        Self { wanted, ..self.clone() }
    }
}

impl BlockSource for RpcSource {
    fn kind(&self) -> &'static str {
        "rpc"
    }

    fn chain_id(&self) -> Option<u64> {
        Some(self.chain_id)
    }

    fn total(&self) -> Total {
        Total::Blocks(self.wanted.iter().map(|range| range.count()).sum())
    }

    fn into_blocks(self) -> RawBlocks {
        let node = self.node;
        let numbers = self.wanted.into_iter().flat_map(|range| range.first()..=range.last());
        let budget = MemoryBudget::default();
        stream::iter(numbers)
            // In the order of the blocks, so that the one all others wait for never waits for memory.
            .then(move |number| {
                let budget = budget.clone();
                async move { (number, budget.reserve().await) }
            })
            .map(move |(number, mut reservation)| {
                let node = Arc::clone(&node);
                async move {
                    let block = node.block(number).await;
                    if let Ok(RawBlock { body: RawBody::Parts(parts), .. }) = &block {
                        reservation.resize(parts.bytes());
                    }
                    (block, reservation)
                }
            })
            .buffered(self.concurrency)
            .map(|(block, _reservation)| block)
            .boxed()
    }
}

impl Node {
    /// One block with everything that belongs to it.
    async fn block(&self, number: BlockNumber) -> Result<RawBlock, SourceError> {
        let progress = Progress::default();
        let (parts, peek) = match self.client.with_failover(|| self.attempt(number, &progress)).await {
            Ok(whole) => whole,
            Err(exhausted) => match progress.take() {
                // Only the traces were still to come.
                Some(bare) if self.traces.can_do_without(number, &exhausted.failure) => bare,
                _ => return Err(exhausted.of(&format!("block {number}")).into()),
            },
        };
        let parts = self.state.add(&self.client, &peek, parts).await?;
        Ok(RawBlock { body: RawBody::Parts(Box::new(parts)), position: 0 })
    }

    /// The block with its traces. Earlier answers are kept, as long as they fit the rest.
    async fn attempt(&self, number: BlockNumber, progress: &Progress) -> Result<(BlockParts, BlockPeek), Failure> {
        let peek = match progress.peek() {
            Some(peek) => peek,
            None => {
                // All of a block comes from one node where that is possible.
                if self.client.only_others_have(&self.traces.ways()) {
                    return Err(Failure::unsupported("it gives no traces"));
                }
                let (parts, peek) = self.bare(number, progress).await?;
                progress.keep(parts, peek.clone());
                peek
            }
        };
        let traces = match self.traces.of(&self.client, &peek).await.map_err(|failure| progress.heed(failure))? {
            Traced::Part(part, traces) => Some((part, traces)),
            // After the fourth they are handed on, to be refused by name.
            Traced::OfAnotherBlock(part, traces) => match progress.disagreement() {
                Some(count) => return Err(progress.start_again("its traces are not those of its block", count)),
                None => Some((part, traces)),
            },
            Traced::Gone => match progress.disagreement() {
                Some(count) => return Err(progress.start_again("it does not have the block it gave any more", count)),
                None => return Err(Failure::unsupported("it has no traces of the block it gave")),
            },
            Traced::Nothing => None,
        };
        let (parts, peek) = progress.take().ok_or_else(|| Failure::transient("the block is gone"))?;
        match traces {
            Some((part, traces)) => Ok((parts.with(part, traces), peek)),
            None => Ok((parts, peek)),
        }
    }

    /// The block without its traces and its state.
    async fn bare(&self, number: BlockNumber, progress: &Progress) -> Result<(BlockParts, BlockPeek), Failure> {
        let height = json!(format!("{number:#x}"));
        let mut calls = vec![("eth_getBlockByNumber", json!([height, true]))];
        if self.client.missing(BLOCK_RECEIPTS).is_none() {
            calls.push((BLOCK_RECEIPTS, json!([height])));
        }
        let mut answers = self.client.batch(&calls).await?.into_iter();
        let block = present(answers.next(), "the block is not there yet")?;
        let peek = decode::peek_block(&block).map_err(|error| Failure::transient(trawl_core::error_chain(&error)))?;
        if peek.number != number {
            return Err(Failure::transient(format!("it answered with block {}", peek.number)));
        }
        let receipts = match answers.next() {
            Some(Err(error)) if error.code == METHOD_NOT_FOUND => {
                self.client.mark_missing(BLOCK_RECEIPTS, &error.message);
                self.receipts(&peek).await?
            }
            // A block whose receipts are too much for one answer.
            Some(Err(error)) if error.is_too_large() => self.receipts(&peek).await?,
            None => self.receipts(&peek).await?,
            answer => present(answer, "the receipts are not there yet")?,
        };
        // The two answers may be of different branches if the node switches in between; verification decides.
        let fit = decode::receipts_fit(&receipts, &peek)
            .map_err(|error| Failure::transient(trawl_core::error_chain(&error)))?;
        if let Some(count) = (!fit).then(|| progress.disagreement()).flatten() {
            return Err(Failure::inconsistent("its receipts are not those of its block", count));
        }
        let uncles = self.uncles(json!(peek.hash), peek.uncles).await?;
        Ok((BlockParts::new(block, receipts, uncles), peek))
    }

    /// Receipts of a block, one call per transaction.
    async fn receipts(&self, block: &BlockPeek) -> Result<Box<RawValue>, Failure> {
        let mut receipts = Vec::with_capacity(block.transactions.len());
        for some in block.transactions.chunks(MAX_BATCH) {
            let calls: Vec<_> = some.iter().map(|hash| ("eth_getTransactionReceipt", json!([hash]))).collect();
            for answer in self.client.batch(&calls).await? {
                receipts.push(present(Some(answer), "a receipt is not there yet")?);
            }
        }
        list(&receipts)
    }

    /// Headers of a block's uncles, in order.
    async fn uncles(&self, block_hash: Value, count: usize) -> Result<Box<RawValue>, Failure> {
        let calls: Vec<_> = (0..count)
            .map(|index| ("eth_getUncleByBlockHashAndIndex", json!([block_hash, format!("{index:#x}")])))
            .collect();
        let answers = if calls.is_empty() { Vec::new() } else { self.client.batch(&calls).await? };
        let uncles = answers.into_iter().map(|answer| present(Some(answer), "an uncle is not there yet"));
        list(&uncles.collect::<Result<Vec<_>, _>>()?)
    }
}

/// Answers as one list.
fn list(answers: &[Box<RawValue>]) -> Result<Box<RawValue>, Failure> {
    serde_json::value::to_raw_value(answers).map_err(|error| Failure::transient(error.to_string()))
}
