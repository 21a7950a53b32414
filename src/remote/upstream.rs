//! Upstream nodes: they get raw transactions, and reads whose data is not indexed.
//!
//! Results and errors of a node are returned unchanged. This module knows nothing of methods.

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
    /// The longest one node may take to answer, and the longest a call may wait until it is sent.
    pub timeout: Duration,
    /// Most calls to all nodes at the same time. With the longest answer, 64 MiB, this bounds their memory.
    pub connections: usize,
}

/// A node's address cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// It is not an http or https URL.
    #[error("the upstream `{0}` is not an http or https URL")]
    Url(String),
    /// The HTTP client cannot be set up.
    #[error("cannot set up the connection to the upstream")]
    Client(#[source] NodeError),
}

/// Several nodes of one chain; the first that works is called.
#[derive(Debug, Clone)]
pub struct Upstream {
    nodes: NodeClient,
    slots: Arc<Semaphore>,
    timeout: Duration,
}

impl Upstream {
    /// The nodes at `urls`, of which there is at least one, in the order in which they are called.
    ///
    /// # Errors
    ///
    /// When a URL is not an http or https URL, or when the HTTP client cannot be set up.
    pub fn new(urls: &[String], settings: UpstreamSettings) -> Result<Self, UpstreamError> {
        if let Some(url) = urls.iter().find(|url| !is_web_address(url)) {
            return Err(UpstreamError::Url(url.clone()));
        }
        let UpstreamSettings { timeout, connections } = settings;
        let settings = NodeSettings { timeout, concurrency: connections, retry: POLICY };
        let nodes = NodeClient::new(urls, settings).map_err(UpstreamError::Client)?;
        Ok(Self { nodes, slots: Arc::new(Semaphore::new(connections)), timeout })
    }

    /// The result of the first node that works, as JSON text. `chain_id` is the chain that is served; a node of another
    /// chain is never called.
    ///
    /// # Errors
    ///
    /// [`Problem::Relayed`] with the error of the node, [`Problem::UpstreamAway`] if no node answers, [`Problem::Busy`]
    /// if too many calls wait.
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
