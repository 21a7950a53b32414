//! Bodies that are written while they are read: a task fills a bounded channel, the connection empties it.

use std::io;

use axum::body::Body;
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::json::JsonWriter;

/// Chunks between the writer and the connection; with [`CHUNK`] this bounds a slow client's memory to about 256 KiB.
const CHUNKS: usize = 3;
/// How much text is written before it is handed over.
const CHUNK: usize = 64 << 10;

/// Where a task sends a body. When the client has gone, every send fails and the task should end.
pub(super) struct BodySender {
    sender: mpsc::Sender<io::Result<Bytes>>,
}

/// The client has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the client has gone")]
pub(super) struct Gone;

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
        self.sender.send(Ok(writer.take().into())).await.map_err(|_| Gone)
    }

    /// Breaks the transfer off, so that what was sent cannot pass for a whole answer.
    pub async fn abort(self, cause: &(dyn std::error::Error + Sync)) {
        tracing::error!(cause = crate::chain(cause), "an answer was broken off");
        // The client may have gone already.
        let _ = self.sender.send(Err(io::Error::other("the answer cannot be completed"))).await;
    }
}

/// A body that `task` writes. The task runs on its own and ends when the client goes.
pub(super) fn body<F: Future<Output = ()> + Send + 'static>(task: impl FnOnce(BodySender) -> F) -> Body {
    let (sender, receiver) = mpsc::channel(CHUNKS);
    tokio::spawn(task(BodySender { sender }));
    // Compression polls once more behind the end, so the stream must be fused.
    Body::from_stream(ReceiverStream::new(receiver).fuse())
}
