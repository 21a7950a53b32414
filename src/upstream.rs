//! Nodes that are called for what the tables do not have: where a raw transaction goes, and reads that are not covered.
//!
//! What a node answers passes unchanged, its errors too. This module knows nothing of methods.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::Semaphore;
use trawl_node::{NodeClient, NodeError, NodeSettings, RetryPolicy};
use url::Url;

use crate::error::Problem;

/// The caller waits: every node is called once, and one that failed comes last for a while.
const POLICY: RetryPolicy = RetryPolicy::OncePerNode { set_aside: Duration::from_secs(10) };

/// How nodes are called.
#[derive(Debug, Clone, Copy)]
pub struct UpstreamSettings {
    /// How long one node may take to answer, and how long a call may wait until it is sent.
    pub timeout: Duration,
    /// Calls to all nodes at the same time, at most. With the longest answer, 64 MiB, this bounds their memory.
    pub connections: usize,
}

/// A node's address cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// It is none.
    #[error("the upstream `{0}` is not an http or https URL")]
    Url(String),
    /// There can be no HTTP client.
    #[error("cannot set up the connection to the upstream")]
    Client(#[source] NodeError),
}

/// Nodes that stand in for each other, the first that works is called.
#[derive(Debug, Clone)]
pub struct Upstream {
    nodes: NodeClient,
    slots: Arc<Semaphore>,
    timeout: Duration,
}

impl Upstream {
    /// The nodes at `urls`, of which there is at least one, in the order in which they are called.
    pub fn new(urls: &[String], settings: UpstreamSettings) -> Result<Self, UpstreamError> {
        if let Some(url) = urls.iter().find(|url| !is_web_address(url)) {
            return Err(UpstreamError::Url(url.clone()));
        }
        let UpstreamSettings { timeout, connections } = settings;
        let settings = NodeSettings { timeout, concurrency: connections, retry: POLICY };
        let nodes = NodeClient::new(urls, settings).map_err(UpstreamError::Client)?;
        Ok(Self { nodes, slots: Arc::new(Semaphore::new(connections)), timeout })
    }

    /// What the first node that works answers: its result as JSON text, or its error as a [`Problem`] that is shown as
    /// it came. `chain_id`: the chain that is served; a node of another is never called.
    pub async fn forward(
        &self,
        method: &str,
        params: &[&RawValue],
        chain_id: Option<u64>,
    ) -> Result<Box<RawValue>, Problem> {
        let waiting = tokio::time::timeout(self.timeout, self.slots.acquire());
        let Ok(Ok(_slot)) = waiting.await else { return Err(Problem::Busy) };
        // Each failure is logged where it happens.
        let answer = self.nodes.relay(method, params, chain_id).await.map_err(|_| Problem::UpstreamAway)?;
        answer.map_err(|error| Problem::Relayed(error.get().to_owned()))
    }
}

fn is_web_address(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_are_taken() {
        let settings = UpstreamSettings { timeout: Duration::from_secs(1), connections: 1 };
        for bad in ["", "localhost:8545", "ws://localhost", "file:///etc/passwd"] {
            assert!(matches!(Upstream::new(&[bad.to_owned()], settings), Err(UpstreamError::Url(_))), "{bad}");
        }
    }
}
