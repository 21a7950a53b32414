//! A request's text goes out and its answer's comes back, over HTTP or a WebSocket.

use std::time::Duration;

use futures_util::StreamExt;
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, Url};

use super::failure::Failure;
use super::socket::Sockets;

/// Bytes of an answer, at most, unpacked: a node must not be able to fill the memory.
pub(super) const MAX_ANSWER: usize = 256 << 20;

/// The way to a node.
#[derive(Debug)]
pub(super) enum Transport {
    Http(Client, Url),
    Socket(Sockets),
}

impl Transport {
    /// The way to `url`, and its name without what may be secret.
    pub fn new(url: &str, timeout: Duration) -> Result<(Self, String), String> {
        let url = Url::parse(url).map_err(|error| error.to_string())?;
        let name = url.origin().ascii_serialization();
        let transport = match url.scheme() {
            "http" | "https" => {
                let client = Client::builder().timeout(timeout).build().map_err(|error| error.to_string())?;
                Self::Http(client, url)
            }
            "ws" | "wss" => Self::Socket(Sockets::new(url.into(), timeout)),
            other => return Err(format!("scheme `{other}` is not http, https, ws or wss")),
        };
        Ok((transport, name))
    }

    /// Sends a request and waits for its answer of at most `limit` bytes.
    pub async fn post(&self, body: String, limit: usize) -> Result<String, Failure> {
        match self {
            Self::Http(client, url) => post(client, url, body, limit).await,
            // A message is one frame, and has been read by the time its length is known.
            Self::Socket(sockets) => sockets.post(body).await.and_then(|answer| match answer.len() > limit {
                true => Err(too_large(limit)),
                false => Ok(answer),
            }),
        }
    }
}

fn too_large(limit: usize) -> Failure {
    Failure::too_large(format!("an answer of more than {limit} bytes"))
}

async fn post(client: &Client, url: &Url, body: String, limit: usize) -> Result<String, Failure> {
    let request = client.post(url.clone()).header(CONTENT_TYPE, "application/json").body(body);
    let response = request.send().await.map_err(failed)?;
    let status = response.status();
    if !status.is_success() {
        return Err(Failure::status(status.as_u16(), retry_after(response.headers())));
    }
    let mut bytes = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        bytes.extend_from_slice(&chunk.map_err(failed)?);
        if bytes.len() > limit {
            return Err(too_large(limit));
        }
    }
    String::from_utf8(bytes).map_err(|_| Failure::transient("its answer is no text"))
}

fn failed(error: reqwest::Error) -> Failure {
    let is_timeout = error.is_timeout();
    let cause = trawl_core::chain(&error.without_url());
    if is_timeout { Failure::slow(cause) } else { Failure::transient(cause) }
}

/// Seconds until the node wants to be asked again; dates are not read.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}
