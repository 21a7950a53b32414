//! The nodes of a chain: which one is asked, and how often until it is given up.
//!
//! The first node that is not set aside answers. One that fails is set aside with growing pauses while others take
//! over; all calls of one attempt go to the same node, as nodes may stand on different branches.

mod ask;
mod failure;
mod node;
mod pace;
mod socket;
mod transport;

use std::future::Future;
use std::sync::Arc;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use backon::{BackoffBuilder, ExponentialBuilder};
use serde_json::{Value, json};

use crate::source::SourceError;
pub(super) use ask::AskError;
pub(super) use failure::{Answer, CallError, Failure, METHOD_NOT_FOUND};
use node::Node;

/// Calls in one request; hosted nodes commonly refuse more than 100.
pub(super) const MAX_BATCH: usize = 50;
/// How often something is asked of each node; with the pauses between, about a minute.
const ATTEMPTS: u32 = 10;
/// The same while a node says that it is asked too much: it lives, and is asked less and less.
const PATIENT_ATTEMPTS: u32 = 40;

/// How nodes are asked.
#[derive(Debug, Clone, Copy)]
pub struct NodeSettings {
    /// How long one request may take.
    pub timeout: Duration,
    /// Requests to one node at the same time, at most.
    pub concurrency: usize,
}

/// Nodes that stand in for each other.
#[derive(Debug, Clone)]
pub struct NodeClient {
    nodes: Arc<[Node]>,
    /// The chain they are all of.
    chain_id: Arc<OnceLock<u64>>,
}

tokio::task_local! {
    /// The node whose turn it is, for all calls of one attempt.
    static TURN: usize;
}

impl NodeClient {
    /// A client for the nodes at `urls`, of which there is at least one. Nothing is sent yet.
    pub fn new(urls: &[String], settings: NodeSettings) -> Result<Self, SourceError> {
        let nodes: Vec<Node> = urls.iter().map(|url| Node::new(url, settings)).collect::<Result<_, _>>()?;
        assert!(!nodes.is_empty(), "a source of nodes names at least one");
        Ok(Self { nodes: nodes.into(), chain_id: Arc::default() })
    }

    /// The chain of the nodes that can be reached; they must agree. The others are asked when their turn comes.
    pub async fn chain_id(&self) -> Result<u64, SourceError> {
        if let Some(known) = self.chain_id.get() {
            return Ok(*known);
        }
        let first = self.quantity("eth_chainId").await?;
        let known = *self.chain_id.get_or_init(|| first);
        for node in self.nodes.iter() {
            match node.check_chain(known).await {
                Ok(()) => {}
                Err(failure) => match failure.chain {
                    Some(found) => {
                        return Err(SourceError::Chains { node: node.name.clone(), found, expected: known });
                    }
                    None => {
                        tracing::warn!(node = node.name, cause = failure.cause, "this node cannot be reached yet");
                        node.set_aside(Instant::now(), failure.retry_after);
                    }
                },
            }
        }
        Ok(known)
    }

    /// Calls a method without parameters that answers a quantity.
    pub async fn quantity(&self, method: &'static str) -> Result<u64, SourceError> {
        self.retry(method, || async {
            let mut answers = self.batch(&[(method, json!([]))]).await?;
            let value = answers.pop().ok_or_else(|| Failure::transient("no answer"))??;
            failure::quantity(&value)
        })
        .await
    }

    /// The node whose turn it is.
    fn node(&self) -> &Node {
        &self.nodes[TURN.try_with(|turn| *turn).unwrap_or_default()]
    }

    /// What the node whose turn it is has said of a way to answer that it does not have.
    pub(super) fn lacks(&self, way: &'static str) -> Option<String> {
        self.node().lacks(way)
    }

    /// Remembers that the node whose turn it is does not have a way to answer.
    pub(super) fn is_without(&self, way: &'static str, told: &str) {
        self.node().is_without(way, told);
    }

    /// Whether the node whose turn it is has none of these ways to answer, and another may have one.
    pub(super) fn is_elsewhere(&self, ways: &[&'static str]) -> bool {
        let has_none = |node: &Node| ways.iter().all(|way| node.lacks(way).is_some());
        has_none(self.node()) && !self.nodes.iter().all(has_none)
    }

    /// Sends calls, in as few requests as the node takes. The answers are in the order of the calls, one each.
    pub(super) async fn batch(&self, calls: &[(&'static str, Value)]) -> Result<Vec<Answer>, Failure> {
        let node = self.node();
        if let Some(known) = self.chain_id.get() {
            node.check_chain(*known).await?;
        }
        node.batch(calls).await
    }

    /// Repeats `attempt` until it succeeds, fails for good at every node or has failed too often.
    pub(super) async fn retry<T, F: Future<Output = Result<T, Failure>>>(
        &self,
        what: &str,
        attempt: impl FnMut() -> F,
    ) -> Result<T, SourceError> {
        self.insist(attempt).await.map_err(|exhausted| exhausted.of(what))
    }

    /// The same for a caller that can do without.
    pub(super) async fn insist<T, F: Future<Output = Result<T, Failure>>>(
        &self,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, Exhausted> {
        let mut pauses = pauses();
        let (mut attempts, mut patient) = (0, 0);
        let mut refused = vec![false; self.nodes.len()];
        loop {
            let turn = self.choose(&refused);
            let (node, started) = (&self.nodes[turn], Instant::now());
            let failure = match TURN.scope(turn, attempt()).await {
                Ok(value) => {
                    node.recovered();
                    return Ok(value);
                }
                Err(failure) => failure,
            };
            tracing::debug!(node = node.name, cause = failure.cause, "a node failed");
            refused[turn] |= failure.is_final();
            match failure.is_overload() {
                true => patient += 1,
                false => attempts += 1,
            }
            let nodes = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
            let everywhere = refused.iter().all(|refused| *refused);
            if everywhere
                || attempts >= ATTEMPTS.saturating_mul(nodes)
                || attempts + patient >= PATIENT_ATTEMPTS.saturating_mul(nodes)
            {
                let attempts = (!everywhere).then_some(attempts + patient);
                return Err(Exhausted { node: node.name.clone(), attempts, failure });
            }
            if !failure.is_elsewhere() {
                node.set_aside(started, failure.retry_after);
            }
            if !self.any_ready(&refused) {
                let pause = pauses.next().unwrap_or(Duration::from_secs(10));
                let wait = failure.retry_after.map_or(pause, |wait| wait.min(Duration::from_secs(60)).max(pause));
                tokio::time::sleep(wait).await;
            }
        }
    }

    /// The first node that is neither refusing nor set aside; if all are, the one whose time is up first.
    fn choose(&self, refused: &[bool]) -> usize {
        let candidates = || (0..self.nodes.len()).filter(|turn| !refused[*turn]);
        let ready = candidates().find(|turn| self.nodes[*turn].is_ready());
        ready.or_else(|| candidates().min_by_key(|turn| self.nodes[*turn].ready_at())).unwrap_or_default()
    }

    fn any_ready(&self, refused: &[bool]) -> bool {
        self.nodes.iter().zip(refused).any(|(node, refused)| !refused && node.is_ready())
    }
}

/// Why an attempt was given up.
#[derive(Debug)]
pub(super) struct Exhausted {
    /// The node that was asked last.
    node: String,
    /// How often it was tried; `None` if every node refused for good.
    attempts: Option<u32>,
    /// The last failure.
    pub failure: Failure,
}

impl Exhausted {
    /// The same as an error about `what`.
    pub fn of(self, what: &str) -> SourceError {
        let Self { node, attempts, failure } = self;
        let (what, cause) = (what.to_owned(), failure.cause);
        match attempts {
            Some(attempts) => SourceError::Unreachable { node, what, attempts, cause },
            None => SourceError::Refused { node, what, cause },
        }
    }
}

/// Pauses between attempts when no node is left to ask: growing, with jitter.
fn pauses() -> impl Iterator<Item = Duration> {
    ExponentialBuilder::default()
        .with_min_delay(Duration::from_millis(200))
        .with_max_delay(Duration::from_secs(10))
        .without_max_times()
        .with_jitter()
        .build()
}
