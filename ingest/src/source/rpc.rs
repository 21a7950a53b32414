//! JSON-RPC nodes: several blocks in flight, in order.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use trawl_chains::{Family, NodeQuirks};
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_metrics::queue::PipelineQueue;
use trawl_node::NodeClient;

use super::{BlockSource, RawBlock, RawBlocks, RawBody, SourceError};
use crate::source::Total;

mod age;
mod answer;
mod canonical;
mod fetch;
mod head_tags;
mod horizon;
mod memory_budget;
mod progress;
mod state;
mod tokens;
mod traces;

pub use age::BlockAge;
use fetch::Node;
pub use head_tags::{HeadTags, head_tags, headers};
pub use horizon::{MissingPart, MissingReason};
use memory_budget::MemoryBudget;
pub use state::RequestedState;
use state::StateTracing;
pub use tokens::{TokenAnswers, TokenFailure, newest_block, token};
use traces::TraceCalls;
pub use traces::TraceChoice;

/// Blocks of one node.
#[derive(Clone)]
pub struct RpcSource {
    node: Arc<Node>,
    chain_id: u64,
    ranges: Vec<BlockRange>,
    age: BlockAge,
    concurrency: usize,
}

impl RpcSource {
    /// Requests the blocks of `ranges` from `client` (ascending), `concurrency` of them at a time, with the traces of
    /// `choice`.
    pub async fn new(
        client: NodeClient,
        ranges: Vec<BlockRange>,
        concurrency: usize,
        choice: TraceChoice,
    ) -> Result<Self, SourceError> {
        let chain_id = client.chain_id().await?;
        let quirks = NodeQuirks::NONE;
        let node =
            Node { client, state: StateTracing::new(RequestedState::Never), traces: TraceCalls::new(choice), quirks };
        Ok(Self { node: Arc::new(node), chain_id, ranges, age: BlockAge::Final, concurrency: concurrency.max(1) })
    }

    /// Sets the family of its chain, which determines what its nodes leave out.
    #[must_use]
    pub fn with_family(mut self, family: Option<&Family>) -> Self {
        if let (Some(node), Some(family)) = (Arc::get_mut(&mut self.node), family) {
            node.quirks = family.quirks;
        }
        self
    }

    /// Sets whether state is requested from the node too.
    #[must_use]
    pub fn with_state(mut self, wish: RequestedState) -> Self {
        if let Some(node) = Arc::get_mut(&mut self.node) {
            node.state = StateTracing::new(wish);
        }
        self
    }

    /// The same source for other blocks (ascending); it shares what calls found out about the nodes.
    #[must_use]
    pub fn of(&self, ranges: Vec<BlockRange>, age: BlockAge) -> Self {
        Self { ranges, age, ..self.clone() }
    }

    /// Whether no node is known to have a part of a block, by its name.
    #[must_use]
    pub fn lacks(&self, part: &str, block: BlockNumber) -> bool {
        self.node.lacks(part, block)
    }

    /// The parts that no node had for the last requested block.
    #[must_use]
    pub fn missing_parts(&self) -> Vec<MissingPart> {
        self.node.missing_parts()
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
        Total::Blocks(self.ranges.iter().map(|range| range.count()).sum())
    }

    fn into_blocks(self) -> RawBlocks {
        let (node, age) = (self.node, self.age);
        let ended = Arc::clone(&node);
        let numbers = self.ranges.into_iter().flat_map(|range| range.first()..=range.last());
        let budget = MemoryBudget::default();
        PipelineQueue::Fetch.show_capacity(self.concurrency);
        stream::iter(numbers)
            // In the order of the blocks, so that the one all others wait for never waits for memory.
            .then(move |number| {
                let budget = budget.clone();
                async move { (number, budget.reserve().await) }
            })
            .map(move |(number, mut reservation)| {
                let (node, queued) = (Arc::clone(&node), PipelineQueue::Fetch.enter());
                async move {
                    let block = node.block(number, age).await;
                    if let Ok(RawBlock { body: RawBody::Parts(parts), .. }) = &block {
                        reservation.resize(parts.bytes());
                    }
                    (block, reservation, queued)
                }
            })
            .buffered(self.concurrency)
            .map(|(block, _reservation, _queued)| block)
            .chain(stream::once(async move { ended.finish() }).filter_map(async |()| None))
            .boxed()
    }
}
