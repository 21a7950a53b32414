//! Bodies that are written while they are read: a task fills a bounded channel, the connection empties it.

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

/// Chunks between the writer and the connection. With what is written between two looks at [`CHUNK`], as 128 or 512 rows of
/// logs, this bounds a slow client's memory: a megabyte of text of usual logs, or three batches of Arrow.
const CHUNKS: usize = 3;
/// How much text is written before it is handed over.
const CHUNK: usize = 64 << 10;

/// Where a task sends a body. When the client has gone, every send fails and the task should end.
pub(crate) struct BodySender {
    sender: mpsc::Sender<io::Result<Bytes>>,
}

/// The client has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the client has gone")]
pub(crate) struct Gone;

/// Why an answer that has begun cannot be ended.
pub(crate) enum Broken {
    /// Nobody reads it.
    Gone,
    /// What was sent so far is not all of it.
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
    /// Sends what the writer holds if that is enough for a chunk.
    pub async fn flush_if_full(&self, writer: &mut JsonWriter) -> Result<(), Gone> {
        if writer.len() < CHUNK { Ok(()) } else { self.flush(writer).await }
    }

    /// Sends what the writer holds.
    pub async fn flush(&self, writer: &mut JsonWriter) -> Result<(), Gone> {
        if writer.is_empty() {
            return Ok(());
        }
        self.send(writer.take().into()).await
    }

    /// Sends bytes that are there. Whoever writes text beside them flushes it first.
    pub async fn send(&self, bytes: Bytes) -> Result<(), Gone> {
        self.sender.send(Ok(bytes)).await.map_err(|_| Gone)
    }

    /// Breaks the transfer off, so that what was sent cannot pass for a whole answer.
    pub async fn abort(self, cause: &(dyn std::error::Error + Sync)) {
        tracing::error!(cause = trawl_core::chain(cause), "an answer was broken off");
        // The client may have gone already.
        let _ = self.sender.send(Err(incomplete())).await;
    }
}

/// What breaks a transfer off.
fn incomplete() -> io::Error {
    io::Error::other("the answer cannot be completed")
}

/// A body that `task` writes. The task runs on its own: if it ran while the body is read, a client that does not read
/// would stop it wherever it stands, with whatever it holds that others wait for, and with its clocks running. When the
/// client goes, the task is dropped where it stands, and with it the query that it waits for; when it panics, the transfer
/// is broken off.
pub(crate) fn body<F: Future<Output = ()> + Send + 'static>(task: impl FnOnce(BodySender) -> F) -> Body {
    let (sender, receiver) = mpsc::channel(CHUNKS);
    let connection = sender.clone();
    // Nothing that the task touched is looked at after a panic.
    let writing = AssertUnwindSafe(task(BodySender { sender })).catch_unwind();
    tokio::spawn(async move {
        let written = tokio::select! {
            written = writing => written,
            () = connection.closed() => return,
        };
        if let Err(panic) = written {
            tracing::error!(panic = panic_text(&*panic), "an answer was broken off by a panic");
            // The client may have gone already.
            let _ = connection.send(Err(incomplete())).await;
        }
    });
    // Compression polls once more behind the end, so the stream must be fused.
    Body::from_stream(ReceiverStream::new(receiver).fuse())
}

/// What a panic said, if it said it in words.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let owned = || panic.downcast_ref::<String>().map(String::as_str);
    panic.downcast_ref::<&str>().copied().or_else(owned).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the error, HTTP would end the body as if it were whole.
    #[tokio::test]
    async fn a_panic_breaks_the_body_off() {
        let broken = body(|sender| async move {
            let mut writer = JsonWriter::new();
            writer.raw("[1,");
            sender.flush(&mut writer).await.expect("read");
            panic!("a bug");
        });
        assert!(axum::body::to_bytes(broken, usize::MAX).await.is_err());
    }

    /// What it holds, as a place among those who compute, is let go.
    #[tokio::test]
    async fn the_task_goes_on_though_nobody_reads() {
        let (over, told) = tokio::sync::oneshot::channel();
        let _unread = body(|_sender| async move { over.send(()).expect("somebody waits") });
        tokio::time::timeout(std::time::Duration::from_secs(5), told).await.expect("in time").expect("told");
    }

    #[tokio::test]
    async fn a_client_that_goes_ends_the_task() {
        let (held, dropped) = tokio::sync::oneshot::channel::<()>();
        let waiting = body(|_sender| async move {
            std::future::pending::<()>().await;
            drop(held);
        });
        tokio::task::yield_now().await;
        drop(waiting);
        let ended = tokio::time::timeout(std::time::Duration::from_secs(5), dropped).await;
        assert!(matches!(ended, Ok(Err(_))), "{ended:?}");
    }
}
