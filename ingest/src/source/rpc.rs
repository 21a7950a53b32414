//! JSON-RPC nodes: several blocks in flight, in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::{StreamExt, stream};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use trawl::primitives::{BlockNumber, BlockRange};

use super::{BlockSource, RawBlock, RawBlocks, RawBody, SourceError};
use crate::decode::{self, BlockPeek};
use crate::progress::Total;

mod client;
mod sights;
mod state;
mod tokens;
mod traces;

use client::{Answer, Failure};
pub use client::{NodeClient, NodeSettings};
pub use sights::Sights;
pub use state::StateWish;
use state::{StateOf, StateTracing};
pub use tokens::{TokenAnswers, TokenFailure};
pub use traces::TraceChoice;
use traces::{TraceCalls, Traced};

/// How often a block and receipts that do not belong together are asked for again before they are handed on as they
/// are, to be refused by name.
const DISAGREEMENTS: u32 = 4;

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
    /// Set once the node has said that it does not know `eth_getBlockReceipts`.
    receipts_one_by_one: AtomicBool,
    state: StateTracing,
    traces: TraceCalls,
}

impl RpcSource {
    /// Asks `client` for the blocks of `wanted` (ascending), `concurrency` of them at a time, with the traces of
    /// `choice`.
    pub async fn new(
        client: NodeClient,
        wanted: Vec<BlockRange>,
        concurrency: usize,
        choice: TraceChoice,
    ) -> Result<Self, SourceError> {
        let chain_id = client.chain_id().await?;
        let node = Node {
            client,
            receipts_one_by_one: AtomicBool::new(false),
            state: StateTracing::default(),
            traces: TraceCalls::new(choice),
        };
        Ok(Self { node: Arc::new(node), chain_id, wanted, concurrency: concurrency.max(1) })
    }

    /// Says whether the node is asked for state too.
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
        stream::iter(numbers)
            .map(move |number| {
                let node = Arc::clone(&node);
                async move { node.block(number).await }
            })
            .buffered(self.concurrency)
            .boxed()
    }
}

impl Node {
    /// One block with everything that belongs to it. A block that changes between calls is asked for again.
    async fn block(&self, number: BlockNumber) -> Result<RawBlock, SourceError> {
        let what = format!("block {number}");
        let mut disagreements = 0;
        let (text, of) = loop {
            let mut attempt = 0;
            let attempts = || {
                attempt += 1;
                self.attempt(number, attempt)
            };
            let (line, peek, of) = self.client.retry(&what, attempts).await?;
            // Retried apart from the block, so that a node that fails now and then is not asked for everything each time.
            let traces = self.client.retry(&what, || self.traces.of(&self.client, &peek)).await?;
            disagreements += 1;
            match traces {
                Traced::Part(part, traces) => break (decode::with_part(line, part, &traces), of),
                Traced::Nothing => break (line, of),
                Traced::OfAnotherBlock(_) if disagreements < DISAGREEMENTS => {}
                // As with receipts: handed on to be refused by name.
                Traced::OfAnotherBlock(Some((part, traces))) => break (decode::with_part(line, part, &traces), of),
                Traced::OfAnotherBlock(None) => {
                    let gone = || async { Err(Failure::last("it has no traces of the block it gave")) };
                    return self.client.retry(&what, gone).await;
                }
            }
        };
        let text = self.state.add(&self.client, &of, text).await?;
        Ok(RawBlock { body: RawBody::Json(text), position: 0 })
    }

    /// The block without its traces and its state.
    async fn attempt(&self, number: BlockNumber, attempt: u32) -> Result<(String, BlockPeek, StateOf), Failure> {
        let height = json!(format!("{number:#x}"));
        let one_by_one = self.receipts_one_by_one.load(Ordering::Relaxed);
        let mut calls = vec![("eth_getBlockByNumber", json!([height, true]))];
        if !one_by_one {
            calls.push(("eth_getBlockReceipts", json!([height])));
        }
        let mut answers = self.client.batch(&calls).await?.into_iter();
        let block = present(answers.next(), "the block is not there yet")?;
        let peek = decode::peek_block(&block).map_err(|error| Failure::transient(trawl::chain(&error)))?;
        if peek.number != number {
            return Err(Failure::transient(format!("it answered with block {}", peek.number)));
        }
        let receipts = match answers.next() {
            Some(Err(error)) if error.code == client::METHOD_NOT_FOUND => {
                self.receipts_one_by_one.store(true, Ordering::Relaxed);
                self.receipts(&peek).await?
            }
            // A block whose receipts are too much for one answer.
            Some(Err(error)) if error.is_too_large() => self.receipts(&peek).await?,
            None => self.receipts(&peek).await?,
            answer => present(answer, "the receipts are not there yet")?,
        };
        // The two answers may be of different branches if the node switches in between; verification has the last word.
        let fit = decode::receipts_fit(&receipts, &peek).map_err(|error| Failure::transient(trawl::chain(&error)))?;
        if !fit && attempt < DISAGREEMENTS {
            return Err(Failure::transient("its receipts are not those of its block"));
        }
        let uncles = self.uncles(json!(peek.hash), peek.uncles).await?;
        let line = decode::line(&block, Some(&receipts), &uncles);
        Ok((line, peek.clone(), StateOf::new(peek, &block)?))
    }

    /// Receipts of a block, one call per transaction.
    async fn receipts(&self, block: &BlockPeek) -> Result<Box<RawValue>, Failure> {
        let mut receipts = Vec::with_capacity(block.transactions.len());
        for some in block.transactions.chunks(client::MAX_BATCH) {
            let calls: Vec<_> = some.iter().map(|hash| ("eth_getTransactionReceipt", json!([hash]))).collect();
            for answer in self.client.batch(&calls).await? {
                receipts.push(present(Some(answer), "a receipt is not there yet")?);
            }
        }
        serde_json::value::to_raw_value(&receipts).map_err(|error| Failure::transient(error.to_string()))
    }

    /// Headers of a block's uncles, in order.
    async fn uncles(&self, block_hash: Value, count: usize) -> Result<Vec<Box<RawValue>>, Failure> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let calls: Vec<_> = (0..count)
            .map(|index| ("eth_getUncleByBlockHashAndIndex", json!([block_hash, format!("{index:#x}")])))
            .collect();
        let answers = self.client.batch(&calls).await?;
        answers.into_iter().map(|answer| present(Some(answer), "an uncle is not there yet")).collect()
    }
}

/// The result of a call; `null` means that the node does not have it (yet).
fn present(answer: Option<Answer>, absent: &str) -> Result<Box<RawValue>, Failure> {
    match answer {
        Some(Ok(value)) if value.get() != "null" => Ok(value),
        Some(Ok(_)) | None => Err(Failure::transient(absent)),
        Some(Err(error)) => Err(error.into()),
    }
}
