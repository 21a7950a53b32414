//! The nodes of a chain, and calls to the one in use.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::chain::KnownChain;
use super::contact::NodeStatus;
use super::error::NodeError;
use super::message;
use super::node::Node;
use super::pending::{PendingCall, PendingCalls};
use super::settings::{NodeSettings, RetryPolicy};
use crate::error::call::Answer;
use crate::error::failure::{Failure, FailureKind};

/// Interchangeable nodes of one chain.
#[derive(Debug, Clone)]
pub struct NodeClient {
    pub(crate) nodes: Arc<[Node]>,
    pub(crate) policy: RetryPolicy,
    /// The chain of all nodes, once it is known.
    chain: Arc<RwLock<Option<KnownChain>>>,
    pub(crate) pending: Arc<PendingCalls>,
    /// Cancels all calls once it is true.
    stop: Option<watch::Receiver<bool>>,
}

tokio::task_local! {
    /// The node in use for all calls of one attempt.
    pub(crate) static TURN: usize;
}

impl NodeClient {
    /// A client for the nodes at `urls`, of which there is at least one. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// If an address cannot be used.
    ///
    /// # Panics
    ///
    /// If there is no address.
    pub fn new(urls: &[String], settings: NodeSettings) -> Result<Self, NodeError> {
        let nodes: Vec<Node> = urls.iter().map(|url| Node::new(url, settings)).collect::<Result<_, _>>()?;
        assert!(!nodes.is_empty(), "a client of nodes has at least one");
        let (chain, pending) = (Arc::default(), Arc::default());
        Ok(Self { nodes: nodes.into(), policy: settings.retry, chain, pending, stop: None })
    }

    /// The same nodes, whose calls end once `stop` is true, however long a node would take.
    #[must_use]
    pub fn until(self, stop: watch::Receiver<bool>) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// Returns once calls are to be cancelled.
    pub(crate) async fn stopped(&self) {
        match self.stop.clone() {
            // Its sender lives as long as the process.
            Some(mut stop) => drop(stop.wait_for(|stop| *stop).await),
            None => std::future::pending().await,
        }
    }

    /// The chain of the reachable nodes, which must agree. The others are checked before their first use.
    ///
    /// # Errors
    ///
    /// If no node answers, or nodes are of different chains.
    pub async fn chain_id(&self) -> Result<u64, NodeError> {
        if let Some(known) = self.known_chain() {
            return Ok(known.id);
        }
        let id = self.quantity("eth_chainId").await?;
        let known = KnownChain::of_id(id);
        self.expect(known.clone());
        for node in self.nodes.iter() {
            match node.check_chain(&known).await {
                Ok(()) => {}
                Err(failure) => match failure.chain {
                    Some(found) => {
                        return Err(NodeError::Chains { node: node.name.clone(), found, expected: id });
                    }
                    None => {
                        tracing::warn!(node = node.name, cause = failure.cause, "this node cannot be reached yet");
                        node.health.set_aside(Instant::now(), failure.retry_after, self.policy);
                    }
                },
            }
        }
        Ok(id)
    }

    /// The chain, once it is known.
    pub(crate) fn known_chain(&self) -> Option<KnownChain> {
        self.chain.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on a node is called only if it is of this chain.
    pub fn expect(&self, chain: KnownChain) {
        *self.chain.write().unwrap_or_else(PoisonError::into_inner) = Some(chain);
    }

    /// Checks the chain of each node anew before its next call.
    pub fn distrust(&self) {
        self.nodes.iter().for_each(Node::distrust);
    }

    /// Calls a method without parameters that returns a quantity.
    ///
    /// # Errors
    ///
    /// If no node answers within what the policy allows.
    pub async fn quantity(&self, method: &'static str) -> Result<u64, NodeError> {
        self.retry(method, || async {
            let mut answers = self.batch(&[(method, json!([]))]).await?;
            let value = answers.pop().ok_or_else(|| Failure::transient("no answer"))??;
            message::quantity(&value)
        })
        .await
    }

    /// The node in use.
    pub(crate) fn node(&self) -> &Node {
        &self.nodes[TURN.try_with(|turn| *turn).unwrap_or_default()]
    }

    /// Why the node in use does not have a feature, if known.
    #[must_use]
    pub fn missing(&self, feature: &'static str) -> Option<String> {
        self.node().missing(feature)
    }

    /// Records that the node in use does not have a feature.
    pub fn mark_missing(&self, feature: &'static str, cause: &str) {
        self.node().mark_missing(feature, cause);
    }

    /// Whether the node in use has none of these features, and another may have one.
    #[must_use]
    pub fn only_others_have(&self, features: &[&'static str]) -> bool {
        let has_none = |node: &Node| features.iter().all(|feature| node.missing(feature).is_some());
        has_none(self.node()) && !self.nodes.iter().all(has_none)
    }

    /// Sends calls in as few requests as the node accepts. The answers are in the order of the calls, one each.
    ///
    /// # Errors
    ///
    /// If the node in use fails; the error of a single call is part of its answer.
    pub async fn batch(&self, calls: &[(&'static str, Value)]) -> Result<Vec<Answer>, Failure> {
        let node = self.node();
        if let Some(known) = self.known_chain() {
            node.check_chain(&known).await?;
        }
        node.batch(calls).await
    }

    /// [`NodeClient::batch`] for an optional part. What a gateway denies is a refusal of the part if the gateway lets
    /// another call through; else it denies everything, as with a key that has expired.
    ///
    /// # Errors
    ///
    /// If the node in use fails, or does not have the part.
    pub async fn batch_of_a_part(&self, calls: &[(&'static str, Value)]) -> Result<Vec<Answer>, Failure> {
        let denied = match self.batch(calls).await {
            Ok(answers) => return Ok(answers),
            Err(failure) if failure.kind() != FailureKind::Denied => return Err(failure.of_a_part()),
            Err(denied) => denied,
        };
        Err(match self.batch(&[("eth_blockNumber", json!([]))]).await {
            Ok(_) => Failure::unsupported(denied.cause),
            // Whether the part is denied, or everything, is unknown.
            Err(failure) if failure.is_about_the_call() => denied,
            Err(failure) => failure,
        })
    }

    /// Probes all nodes, apart from other calls and their limits. Returns when all have answered, or after `timeout`.
    pub async fn poll(&self, timeout: Duration) {
        let expected = self.known_chain();
        join_all(self.nodes.iter().map(|node| node.poll(timeout, expected.as_ref()))).await;
    }

    /// Looks that were sent have not been answered for long.
    pub fn miss(&self, silence: Duration) {
        let silent = self.nodes.iter().filter(|node| node.contact.status(&node.name).silence >= silence);
        silent.for_each(|node| node.contact.missed());
    }

    /// The status of each node.
    #[must_use]
    pub fn status(&self) -> Vec<NodeStatus> {
        self.nodes.iter().map(|node| node.contact.status(&node.name)).collect()
    }

    /// The call that has waited longest for its answer.
    #[must_use]
    pub fn oldest_call(&self) -> Option<PendingCall> {
        self.pending.oldest()
    }
}
