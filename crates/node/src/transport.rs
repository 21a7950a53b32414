//! Sends the text of a request and returns its response, over HTTP or a WebSocket.

use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Response, Url};

use super::settings::NodeSettings;
use super::websocket::WebSocketPool;
use crate::error::failure::Failure;

/// Most bytes of a decompressed response, so that a node cannot exhaust the memory.
pub const MAX_RESPONSE_BYTES: usize = 256 << 20;

/// The connection to a node.
#[derive(Debug)]
pub enum Transport {
    Http(Client, Url),
    WebSocket(WebSocketPool),
}

/// A response whose body may still have to be read.
pub enum ResponseBody {
    Http(Response),
    Message(String),
}

impl Transport {
    /// The transport for `url`, and its name without secrets.
    pub fn new(url: &str, settings: NodeSettings) -> Result<(Self, String), String> {
        let url = Url::parse(url).map_err(|error| error.to_string())?;
        let name = url.origin().ascii_serialization();
        let transport = match url.scheme() {
            "http" | "https" => Self::Http(client(settings.timeout, settings.concurrency)?, url),
            "ws" | "wss" => Self::WebSocket(WebSocketPool::new(url.into(), settings.timeout, MAX_RESPONSE_BYTES)),
            other => return Err(format!("scheme `{other}` is not http, https, ws or wss")),
        };
        Ok((transport, name))
    }

    /// Sends a request and waits for the head of its response.
    pub async fn send(&self, body: String) -> Result<ResponseBody, Failure> {
        match self {
            Self::Http(client, url) => {
                let request = client.post(url.clone()).header(CONTENT_TYPE, "application/json").body(body);
                Ok(ResponseBody::Http(request.send().await.map_err(failed)?))
            }
            // A message is one frame, so its length is known only after it is read.
            Self::WebSocket(pool) => Ok(ResponseBody::Message(pool.send(body).await?)),
        }
    }
}

fn client(timeout: Duration, connections: usize) -> Result<Client, String> {
    let client = Client::builder().timeout(timeout).pool_max_idle_per_host(connections);
    client.build().map_err(|error| trawl_core::error_chain(&error))
}

impl ResponseBody {
    /// The failure of its HTTP status, if that is not success.
    pub fn status_failure(&self) -> Option<Failure> {
        match self {
            Self::Http(response) if !response.status().is_success() => {
                Some(Failure::status(response.status().as_u16(), response.headers()))
            }
            Self::Http(_) | Self::Message(_) => None,
        }
    }

    /// Whether the response may contain an answer: some nodes send JSON-RPC errors with a status of 4xx. A rate limit
    /// does not count.
    pub fn may_answer(&self) -> bool {
        match self {
            Self::Http(response) => !response.status().is_server_error() && response.status().as_u16() != 429,
            Self::Message(_) => true,
        }
    }

    /// Its body of at most `limit` bytes.
    pub async fn text(self, limit: usize) -> Result<String, Failure> {
        let too_large = || Failure::too_large(format!("an answer of more than {limit} bytes"));
        match self {
            Self::Message(text) if text.len() > limit => Err(too_large()),
            Self::Message(text) => Ok(text),
            Self::Http(mut response) => {
                let mut bytes = Vec::new();
                while let Some(chunk) = response.chunk().await.map_err(failed)? {
                    if bytes.len() + chunk.len() > limit {
                        return Err(too_large());
                    }
                    bytes.extend_from_slice(&chunk);
                }
                String::from_utf8(bytes).map_err(|_| Failure::transient("its answer is not text"))
            }
        }
    }
}

fn failed(error: reqwest::Error) -> Failure {
    let (is_timeout, is_garbled) = (error.is_timeout(), error.is_decode());
    // Errors of reqwest contain the whole URL, which may hold a key.
    let cause = trawl_core::error_chain(&error.without_url());
    match (is_timeout, is_garbled) {
        (true, _) => Failure::timeout(cause),
        (false, true) => Failure::transient(cause),
        (false, false) => Failure::unreachable(cause),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::RetryPolicy;

    #[test]
    fn names_hold_no_keys() {
        let settings = NodeSettings { timeout: Duration::from_secs(1), concurrency: 1, retry: RetryPolicy::PERSISTENT };
        let name = |url| Transport::new(url, settings).map(|(_, name)| name);
        assert_eq!(name("wss://user:key@node.example/v3/key").expect("a URL"), "wss://node.example");
        assert!(name("file:///etc/passwd").is_err() && name("localhost:8545").is_err());
    }
}
