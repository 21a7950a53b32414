//! Nodes that are asked for what the tables do not tell: where a raw transaction goes, and reads that are not covered.
//!
//! What a node answers passes unchanged, its errors too. It knows nothing of methods.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, StatusCode};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use tokio::sync::Semaphore;
use url::Url;

use crate::error::Problem;

/// Longest answer that is taken, in bytes.
const MAX_ANSWER: usize = 64 << 20;

/// How long a node that failed is passed over while another one is there.
const SET_ASIDE: Duration = Duration::from_secs(10);

/// How nodes are asked.
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
    Client(#[source] reqwest::Error),
}

/// Nodes that stand in for each other, the first that works is asked.
#[derive(Debug, Clone)]
pub struct Upstream(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    client: Client,
    nodes: Vec<Node>,
    slots: Semaphore,
    timeout: Duration,
}

#[derive(Debug)]
struct Node {
    url: Url,
    /// The address without what may be secret in it.
    name: String,
    /// Until when another is asked first.
    aside: Mutex<Option<Instant>>,
    /// The chain it says it is of.
    chain_id: OnceLock<u64>,
}

/// Why a node gave no answer; the next one is asked.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("it cannot be reached: {0}")]
    Transport(#[source] reqwest::Error),
    #[error("it answers with HTTP {0}")]
    Status(StatusCode),
    #[error("its answer is longer than {MAX_ANSWER} bytes")]
    TooLong,
    #[error("its answer is not JSON-RPC")]
    Garbage,
    #[error("it does not say of which chain it is")]
    NoChain,
    #[error("it is of chain {found} instead of {wanted}")]
    OtherChain { found: u64, wanted: u64 },
}

impl Upstream {
    /// The nodes at `urls`, of which there is at least one, in the order in which they are asked.
    pub fn new(urls: &[String], settings: UpstreamSettings) -> Result<Self, UpstreamError> {
        let nodes = urls.iter().map(|url| Node::new(url)).collect::<Result<_, _>>()?;
        let client = Client::builder()
            .timeout(settings.timeout)
            .pool_max_idle_per_host(settings.connections)
            .build()
            .map_err(UpstreamError::Client)?;
        let slots = Semaphore::new(settings.connections);
        Ok(Self(Arc::new(Shared { client, nodes, slots, timeout: settings.timeout })))
    }

    /// What the first node that works answers: its result as JSON text, or its error as a [`Problem`] that is shown as
    /// it came. `chain_id`: the chain that is served; a node of another is never asked.
    pub async fn forward(
        &self,
        method: &str,
        params: &[&RawValue],
        chain_id: Option<u64>,
    ) -> Result<Box<RawValue>, Problem> {
        let waiting = tokio::time::timeout(self.0.timeout, self.0.slots.acquire());
        let Ok(Ok(_slot)) = waiting.await else { return Err(Problem::Busy) };
        let body = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        for node in self.in_turn() {
            match self.ask(node, body.clone(), chain_id).await {
                Ok(reply) => {
                    node.set_aside(None);
                    return reply;
                }
                Err(failure) => {
                    let cause = trawl_core::chain(&failure);
                    tracing::warn!(node = node.name, method, cause, "an upstream node failed");
                    node.set_aside(Some(Instant::now() + SET_ASIDE));
                }
            }
        }
        Err(Problem::UpstreamAway)
    }

    /// All nodes: those that work in their order, then those that failed of late.
    fn in_turn(&self) -> Vec<&Node> {
        let mut nodes: Vec<&Node> = self.0.nodes.iter().collect();
        nodes.sort_by_key(|node| node.is_aside());
        nodes
    }

    async fn ask(
        &self,
        node: &Node,
        body: String,
        chain_id: Option<u64>,
    ) -> Result<Result<Box<RawValue>, Problem>, Failure> {
        if let Some(wanted) = chain_id {
            let found = self.chain_of(node).await?;
            if found != wanted {
                return Err(Failure::OtherChain { found, wanted });
            }
        }
        self.post(node, body).await
    }

    async fn chain_of(&self, node: &Node) -> Result<u64, Failure> {
        if let Some(known) = node.chain_id.get() {
            return Ok(*known);
        }
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}"#;
        let answer = self.post(node, body.into()).await?.map_err(|_| Failure::NoChain)?;
        let text: String = serde_json::from_str(answer.get()).map_err(|_| Failure::NoChain)?;
        let digits = text.strip_prefix("0x").ok_or(Failure::NoChain)?;
        let found = u64::from_str_radix(digits, 16).map_err(|_| Failure::NoChain)?;
        Ok(*node.chain_id.get_or_init(|| found))
    }

    async fn post(&self, node: &Node, body: String) -> Result<Result<Box<RawValue>, Problem>, Failure> {
        let request = self.0.client.post(node.url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        // What reqwest says of an error names the whole address, which may hold a key.
        let transport = |error: reqwest::Error| Failure::Transport(error.without_url());
        let mut response = request.send().await.map_err(transport)?;
        let status = response.status();
        let mut text = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(transport)? {
            if text.len() + chunk.len() > MAX_ANSWER {
                return Err(Failure::TooLong);
            }
            text.extend_from_slice(&chunk);
        }
        // Some nodes send their JSON-RPC errors with a status of 4xx; being asked too much is not one of those.
        match read(&text) {
            Some(reply) if !status.is_server_error() && status != StatusCode::TOO_MANY_REQUESTS => Ok(reply),
            _ if status.is_success() => Err(Failure::Garbage),
            _ => Err(Failure::Status(status)),
        }
    }
}

impl Node {
    fn new(url: &str) -> Result<Self, UpstreamError> {
        let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = parsed.ok_or_else(|| UpstreamError::Url(url.to_owned()))?;
        let name = url.origin().ascii_serialization();
        Ok(Self { url, name, aside: Mutex::default(), chain_id: OnceLock::new() })
    }

    fn is_aside(&self) -> bool {
        self.aside.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|until| Instant::now() < until)
    }

    fn set_aside(&self, until: Option<Instant>) {
        *self.aside.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }
}

#[derive(Deserialize)]
struct Reply {
    #[serde(default, deserialize_with = "there")]
    result: Option<Box<RawValue>>,
    error: Option<Box<RawValue>>,
}

/// A member that is `null` is there; to serde it is the same as none.
fn there<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

/// The result or the error of a JSON-RPC answer; `None` if it is no such answer.
fn read(text: &[u8]) -> Option<Result<Box<RawValue>, Problem>> {
    let reply: Reply = serde_json::from_slice(text).ok()?;
    match (reply.error, reply.result) {
        (Some(error), _) => error.get().starts_with('{').then(|| Err(Problem::Relayed(error.get().to_owned()))),
        (None, Some(result)) => Some(Ok(result)),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_taken_as_they_are() {
        let result = |text: &str| read(text.as_bytes()).expect("a reply").map(|raw| raw.get().to_owned());
        assert_eq!(result(r#"{"jsonrpc":"2.0","id":1,"result":null}"#), Ok("null".into()));
        assert_eq!(result(r#"{"id":1,"result":{"a": 1.0}}"#), Ok(r#"{"a": 1.0}"#.into()));
        let error = r#"{"code":3,"message":"execution reverted","data":"0x08c379a0"}"#;
        assert_eq!(result(&format!(r#"{{"id":1,"error":{error}}}"#)), Err(Problem::Relayed(error.into())));
        for garbage in ["", "{}", "[]", "null", r#"{"id":1}"#, r#"{"id":1,"error":"no"}"#, "<html>"] {
            assert!(read(garbage.as_bytes()).is_none(), "{garbage}");
        }
    }

    #[test]
    fn only_web_addresses_are_taken() {
        for bad in ["", "localhost:8545", "ws://localhost", "file:///etc/passwd"] {
            assert!(matches!(Node::new(bad), Err(UpstreamError::Url(_))), "{bad}");
        }
        assert_eq!(Node::new("https://user:key@node.example/v3/key").expect("a URL").name, "https://node.example");
    }
}
