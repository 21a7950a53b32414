//! Relayed calls: the results and errors of nodes stay unchanged.

use std::time::Instant;

use serde_json::value::RawValue;

use super::chain::KnownChain;
use super::client::NodeClient;
use super::failover::RetriesExhausted;
use super::figures;
use super::message;
use super::node::Node;
use crate::error::failure::Failure;

/// The unchanged result or error object of a call.
pub type RelayedResult = Result<Box<RawValue>, Box<RawValue>>;

/// Longest response that is relayed.
const MAX_RELAYED_BYTES: usize = 64 << 20;

impl NodeClient {
    /// The result of a call as JSON text, or its error object. `chain_id`: a node of another chain is not called. The
    /// call does not wait for the limits of nodes, since a client waits.
    ///
    /// # Errors
    ///
    /// If no node answers within what the policy allows.
    pub async fn relay(
        &self,
        method: &str,
        params: &[&RawValue],
        chain_id: Option<u64>,
    ) -> Result<RelayedResult, RetriesExhausted> {
        let body = message::single_request(method, params);
        self.with_failover(|| async {
            let node = self.node();
            let answer = relay_to_chain(node, body.clone(), chain_id).await;
            answer.inspect_err(|failure| {
                tracing::warn!(node = node.name, method, cause = failure.cause, "a call to an upstream node failed");
            })
        })
        .await
    }
}

async fn relay_to_chain(node: &Node, body: String, chain_id: Option<u64>) -> Result<RelayedResult, Failure> {
    if let Some(expected) = chain_id.filter(|expected| !node.is_of_chain(&KnownChain::of_id(*expected))) {
        let answer = relay_to(node, message::single_request("eth_chainId", &[])).await?;
        let answer = answer.map_err(|_| Failure::transient("it does not return its chain id"))?;
        node.compare_chain(&answer, expected)?;
    }
    relay_to(node, body).await
}

async fn relay_to(node: &Node, body: String) -> Result<RelayedResult, Failure> {
    let started = Instant::now();
    let answer = relay_uncounted(node, body).await;
    figures::count_relayed(&answer, started.elapsed());
    answer
}

async fn relay_uncounted(node: &Node, body: String) -> Result<RelayedResult, Failure> {
    // A node that was away may be another one when it is back.
    let incoming = node.transport.send(body).await.inspect_err(|_| node.distrust())?;
    let (failure, may_answer) = (incoming.status_failure(), incoming.may_answer());
    let text = incoming.text(MAX_RELAYED_BYTES).await?;
    match message::raw_answer(&text) {
        Some(answer) if may_answer => Ok(answer),
        _ => Err(failure.unwrap_or_else(|| Failure::transient("its answer is not JSON-RPC"))),
    }
}
