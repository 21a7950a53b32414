//! A line of the log for each request, with --access-log (docs/operate/observe.md#logs).

use std::time::Instant;

use axum::body::HttpBody as _;
use axum::extract::Request;
use axum::http::Method;
use axum::response::Response;

use crate::Client;

/// Most characters of a path in a line.
const SHOWN: usize = 200;

/// A request whose line is written once its answer begins.
#[derive(Debug)]
pub struct AccessLogEntry {
    client: Client,
    method: Method,
    path: String,
    started: Instant,
}

impl AccessLogEntry {
    /// The entry of a request that begins now: without its query, which may have keys.
    #[must_use]
    pub fn new(client: Client, request: &Request) -> Self {
        let path = request.uri().path().chars().take(SHOWN).collect();
        Self { client, method: request.method().clone(), path, started: Instant::now() }
    }

    /// Writes the line: the time is that until the head of the answer; the bytes are those of its body, where they are
    /// known by then. `id_header` is the header of the answer that has the id of the request.
    pub fn write(self, response: &Response, id_header: &str) {
        let id = response.headers().get(id_header).and_then(|id| id.to_str().ok());
        tracing::info!(
            target: "trawl::access",
            client = %self.client,
            method = %self.method,
            path = self.path,
            status = response.status().as_u16(),
            seconds = self.started.elapsed().as_secs_f64(),
            bytes = response.body().size_hint().exact(),
            request = id,
            "answered"
        );
    }
}
