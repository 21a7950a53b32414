//! Streamed bodies: a task fills a bounded channel, the connection empties it.

use std::any::Any;
use std::io;
use std::panic::AssertUnwindSafe;

use axum::body::Body;
use bytes::Bytes;
use futures_util::{FutureExt, StreamExt};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::error::Problem;
use trawl_json::JsonWriter;

/// Chunks between the writer and the connection. Together with the rows that are written between two checks of
/// [`CHUNK_BYTES`], 128 or 512 logs, this bounds the memory of a slow client: a megabyte of text of usual logs, or
/// three batches of Arrow.
const MAX_CHUNKS: usize = 3;
/// Bytes of text that are sent as one chunk.
const CHUNK_BYTES: usize = 64 << 10;

/// The sending half of a body. When the client has gone, every send fails, and the task should end.
pub(crate) struct BodySender {
    sender: mpsc::Sender<io::Result<Bytes>>,
}

/// The client has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the client has gone")]
pub(crate) struct Gone;

/// Why an answer that has begun cannot be completed.
pub(crate) enum Broken {
    /// The client has gone.
    Gone,
    /// The rest of the answer cannot be produced.
    Problem(Problem),
}

impl From<Gone> for Broken {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

impl From<Problem> for Broken {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl BodySender {
    /// Sends the text of the writer if it is a full chunk.
    ///
    /// # Errors
    ///
    /// When the client has gone.
    pub async fn flush_if_full(&self, writer: &mut JsonWriter) -> Result<(), Gone> {
        if writer.len() < CHUNK_BYTES { Ok(()) } else { self.flush(writer).await }
    }

    /// Sends the text of the writer.
    ///
    /// # Errors
    ///
    /// When the client has gone.
    pub async fn flush(&self, writer: &mut JsonWriter) -> Result<(), Gone> {
        if writer.is_empty() {
            return Ok(());
        }
        self.send(writer.take().into()).await
    }

    /// Sends bytes. Text of a writer that comes before them has to be flushed first.
    ///
    /// # Errors
    ///
    /// When the client has gone.
    pub async fn send(&self, bytes: Bytes) -> Result<(), Gone> {
        self.sender.send(Ok(bytes)).await.map_err(|_| Gone)
    }

    /// Aborts the transfer, so that a partial answer cannot be mistaken for a complete one.
    pub async fn abort(self, cause: &(dyn std::error::Error + Sync)) {
        tracing::error!(cause = trawl_core::error_chain(cause), "an answer was aborted");
        // The client may have gone already.
        let _ = self.sender.send(Err(incomplete())).await;
    }
}

/// The error that aborts a transfer.
fn incomplete() -> io::Error {
    io::Error::other("the answer cannot be completed")
}

/// A body that `task` writes. The task is spawned: if it were polled with the body, a client that stops reading would
/// suspend it at any point, with locks and permits that others wait for, and with its timeouts running. When the client
/// goes, the task is dropped, and with it the query that it waits for; when the task panics, the transfer is aborted.
pub(crate) fn body<F: Future<Output = ()> + Send + 'static>(task: impl FnOnce(BodySender) -> F) -> Body {
    let (sender, receiver) = mpsc::channel(MAX_CHUNKS);
    let connection = sender.clone();
    // No state of the task is used after a panic.
    let writing = AssertUnwindSafe(task(BodySender { sender })).catch_unwind();
    tokio::spawn(async move {
        let written = tokio::select! {
            written = writing => written,
            () = connection.closed() => return,
        };
        if let Err(panic) = written {
            tracing::error!(panic = panic_text(&*panic), "a panic aborted an answer");
            // The client may have gone already.
            let _ = connection.send(Err(incomplete())).await;
        }
    });
    // Compression polls once more after the end, so the stream must be fused.
    Body::from_stream(ReceiverStream::new(receiver).fuse())
}

/// The message of a panic; empty if its payload is not text.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let owned = || panic.downcast_ref::<String>().map(String::as_str);
    panic.downcast_ref::<&str>().copied().or_else(owned).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the error, HTTP would end the body as if it were whole.
    #[tokio::test]
    async fn a_panic_aborts_the_body() {
        let broken = body(|sender| async move {
            let mut writer = JsonWriter::new();
            writer.raw("[1,");
            sender.flush(&mut writer).await.expect("read");
            panic!("a bug");
        });
        assert!(axum::body::to_bytes(broken, usize::MAX).await.is_err());
    }

    /// Resources of the task, such as a permit to compute, are released.
    #[tokio::test]
    async fn the_task_runs_while_the_client_does_not_read() {
        let (sender, done) = tokio::sync::oneshot::channel();
        let _unread = body(|_body| async move { sender.send(()).expect("a receiver") });
        tokio::time::timeout(std::time::Duration::from_secs(5), done).await.expect("in time").expect("done");
    }

    #[tokio::test]
    async fn the_task_ends_when_the_client_goes() {
        let (guard, dropped) = tokio::sync::oneshot::channel::<()>();
        let waiting = body(|_sender| async move {
            std::future::pending::<()>().await;
            drop(guard);
        });
        tokio::task::yield_now().await;
        drop(waiting);
        let ended = tokio::time::timeout(std::time::Duration::from_secs(5), dropped).await;
        assert!(matches!(ended, Ok(Err(_))), "{ended:?}");
    }
}
