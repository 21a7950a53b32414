//! A small HTTP client for checks.

use std::time::Duration;

use anyhow::Context as _;
use serde_json::Value;
use ureq::Agent;

/// An answer of any status.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Status code of HTTP.
    pub status: u16,
    /// Headers of the response.
    pub headers: ureq::http::HeaderMap,
    /// Body, as it was sent.
    pub body: Vec<u8>,
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> anyhow::Result<Value> {
        serde_json::from_slice(&self.body).with_context(|| format!("no JSON: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header, or the empty text.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
    }
}

/// An agent that hands over every status as an answer.
#[must_use]
pub fn agent() -> Agent {
    Agent::config_builder().http_status_as_error(false).timeout_global(Some(Duration::from_secs(120))).build().into()
}

fn read(mut response: ureq::http::Response<ureq::Body>) -> anyhow::Result<Answer> {
    Ok(Answer {
        status: response.status().as_u16(),
        headers: response.headers().clone(),
        body: response.body_mut().with_config().limit(u64::MAX).read_to_vec()?,
    })
}

/// GET, with an answer of any status.
pub fn get(agent: &Agent, url: &str) -> anyhow::Result<Answer> {
    read(agent.get(url).call().with_context(|| format!("GET {url}"))?)
}

/// POST of any bytes.
pub fn post(agent: &Agent, url: &str, body: &[u8]) -> anyhow::Result<Answer> {
    read(agent.post(url).send(body).with_context(|| format!("POST {url}"))?)
}

/// A JSON-RPC call; returns the whole envelope.
pub fn rpc(agent: &Agent, url: &str, method: &str, params: &Value) -> anyhow::Result<Value> {
    let body = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let request = agent.post(url).header("content-type", "application/json");
    read(request.send(serde_json::to_vec(&body)?).with_context(|| format!("{method} at {url}"))?)?.json()
}
