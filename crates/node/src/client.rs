//! The nodes of a chain, and calls to the one in use.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use serde_json::{Value, json};

use super::call_error::Answer;
use super::error::NodeError;
use super::failure::Failure;
use super::message;
use super::node::Node;
use super::settings::{NodeSettings, RetryPolicy};

/// Interchangeable nodes of one chain.
#[derive(Debug, Clone)]
pub struct NodeClient {
    pub(crate) nodes: Arc<[Node]>,
    pub(crate) policy: RetryPolicy,
    /// The chain of all nodes.
    chain_id: Arc<OnceLock<u64>>,
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
        Ok(Self { nodes: nodes.into(), policy: settings.retry, chain_id: Arc::default() })
    }

    /// The chain of the reachable nodes, which must agree. The others are checked before their first use.
    ///
    /// # Errors
    ///
    /// If no node answers, or nodes are of different chains.
    pub async fn chain_id(&self) -> Result<u64, NodeError> {
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
                        return Err(NodeError::Chains { node: node.name.clone(), found, expected: known });
                    }
                    None => {
                        tracing::warn!(node = node.name, cause = failure.cause, "this node cannot be reached yet");
                        node.health.set_aside(Instant::now(), failure.retry_after, self.policy);
                    }
                },
            }
        }
        Ok(known)
    }

    /// The chain, once it is known.
    pub(crate) fn known_chain(&self) -> Option<u64> {
        self.chain_id.get().copied()
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
            node.check_chain(known).await?;
        }
        node.batch(calls).await
    }
}
