//! Connections beyond the limits: a short answer, and the end.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::client::Client;
use crate::log_limiter::LogLimiter;
use crate::quota::Full;

/// Connections that wait for their refusal to arrive; further ones are closed without.
const MAX_WAITING: usize = 64;
/// How long one may wait.
const WAIT: Duration = Duration::from_secs(1);

const ANSWER: &str = "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 5\r\n\
    connection: close\r\ncontent-length: 54\r\n\r\n{\"message\":\"Too many connections; try again shortly\"}\n";

/// Refuses connections, counts them, and says so once in a while.
pub(crate) struct Refusals {
    waiting: Arc<Semaphore>,
    lines: LogLimiter,
}

impl Refusals {
    pub fn new() -> Self {
        Self { waiting: Arc::new(Semaphore::new(MAX_WAITING)), lines: LogLimiter::default() }
    }

    /// Refuses a connection whose client would understand the answer.
    pub fn refuse(&self, connection: TcpStream, client: Client, reason: Full) {
        self.count(client, reason);
        let Ok(permit) = Arc::clone(&self.waiting).try_acquire_owned() else { return };
        tokio::spawn(async move {
            // A client that does not wait for it has gone.
            let _ = timeout(WAIT, send(connection)).await;
            drop(permit);
        });
    }

    /// Counts a connection that is closed without a word.
    pub fn count(&self, client: Client, reason: Full) {
        metrics::counter!("trawl_connections_refused_total", "limit" => reason.name()).increment(1);
        if let Some(count) = self.lines.admit() {
            tracing::warn!(%client, count, limit = reason.name(), "refusing connections above the limit");
        }
    }
}

/// Sends the refusal, and takes what the client sends until it closes: closing first would reset the connection, and
/// the refusal might be lost.
async fn send(mut connection: TcpStream) -> std::io::Result<()> {
    connection.write_all(ANSWER.as_bytes()).await?;
    connection.shutdown().await?;
    while connection.read(&mut [0; 1024]).await? > 0 {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_that_of_the_body() {
        let (head, body) = ANSWER.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.contains(&format!("content-length: {}", body.len())), "{}", body.len());
    }
}
