//! Streamed bodies: a task fills a bounded channel, the connection empties it.

use std::any::Any;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;
use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};
use http_body::Frame;
use http_body_util::StreamBody;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use trawl_core::served_chain::for_same_chain;
use trawl_serve::Client;

use crate::error::Problem;
use crate::limits::{Limits, MemoryReservation};
use trawl_json::JsonWriter;

/// Chunks between the writer and the connection. Together with the rows that are written between two checks of
/// [`CHUNK_BYTES`], 128 or 512 logs, this bounds the memory of a slow client: a megabyte of text of usual logs, or
/// three batches of Arrow.
const MAX_CHUNKS: usize = 3;
/// Bytes of text that are sent as one chunk.
pub(crate) const CHUNK_BYTES: usize = 64 << 10;

/// A client that has not taken a chunk for so long is slow: its answer holds a statement while others wait.
const SLOW_AFTER: Duration = Duration::from_secs(2);

/// Who takes a body, and the limits that hold for it.
#[derive(Clone)]
pub(crate) struct ResponseBudget {
    pub limits: Arc<Limits>,
    pub client: Client,
}

/// The sending half of a body. When the client has gone, every send fails, and the task should end.
pub(crate) struct BodySender {
    sender: mpsc::Sender<io::Result<Frame<Bytes>>>,
    taker: ResponseBudget,
    /// Memory of text that was written and is not sent yet.
    charged: Mutex<Vec<MemoryReservation>>,
    /// Whether the body ends without its rest.
    is_cut: Arc<AtomicBool>,
}

/// The client has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the client has gone")]
pub(crate) struct ClientDisconnected;

/// Why an answer that has begun cannot be completed.
pub(crate) enum StreamError {
    /// The client has gone.
    Disconnected,
    /// The rest of the answer cannot be produced.
    Problem(Problem),
}

impl From<ClientDisconnected> for StreamError {
    fn from(_: ClientDisconnected) -> Self {
        Self::Disconnected
    }
}

impl From<Problem> for StreamError {
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
    pub async fn flush_if_full(&self, writer: &mut JsonWriter) -> Result<(), ClientDisconnected> {
        if writer.len() < CHUNK_BYTES { Ok(()) } else { self.flush(writer).await }
    }

    /// Sends the text of the writer.
    ///
    /// # Errors
    ///
    /// When the client has gone.
    pub async fn flush(&self, writer: &mut JsonWriter) -> Result<(), ClientDisconnected> {
        if writer.is_empty() {
            return Ok(());
        }
        self.send(writer.take().into()).await
    }

    /// Takes memory for text that is written next. It is given back when the client has taken the text.
    ///
    /// # Errors
    ///
    /// When there is none, so that the text must not be held.
    pub fn charge(&self, bytes: usize) -> Result<(), Problem> {
        let held = self.taker.limits.answers.hold(self.taker.client, bytes)?;
        self.charged.lock().unwrap_or_else(PoisonError::into_inner).push(held);
        Ok(())
    }

    /// Sends bytes. Text of a writer that comes before them has to be flushed first. A client that takes them slowly
    /// needs a slot among such clients; without one its answer is broken off.
    ///
    /// # Errors
    ///
    /// When the client has gone.
    pub async fn send(&self, bytes: Bytes) -> Result<(), ClientDisconnected> {
        let charged = std::mem::take(&mut *self.charged.lock().unwrap_or_else(PoisonError::into_inner));
        let bytes = charged.into_iter().fold(bytes, |bytes, held| held.with(bytes));
        self.send_frame(Frame::data(bytes)).await
    }

    /// Sends the trailers of the answer, after its last bytes. A client that did not say `TE: trailers` does not get
    /// them.
    ///
    /// # Errors
    ///
    /// When the client has gone.
    pub async fn send_trailers(&self, trailers: HeaderMap) -> Result<(), ClientDisconnected> {
        self.send_frame(Frame::trailers(trailers)).await
    }

    async fn send_frame(&self, frame: Frame<Bytes>) -> Result<(), ClientDisconnected> {
        let slot = match timeout(SLOW_AFTER, self.sender.reserve()).await {
            Ok(slot) => slot,
            Err(_) => {
                let _slow = self.taker.limits.acquire_slow_slot(self.taker.client).map_err(|_| self.cut())?;
                self.sender.reserve().await
            }
        };
        slot.map_err(|_| ClientDisconnected)?.send(Ok(frame));
        Ok(())
    }

    /// Ends the body without its rest, and not as if it were whole. The channel is full, so an error finds no room in
    /// it.
    fn cut(&self) -> ClientDisconnected {
        tracing::debug!("an answer was broken off: its client reads slowly, and too many answers are read slowly");
        self.is_cut.store(true, Ordering::Release);
        ClientDisconnected
    }

    /// Aborts the transfer, so that a partial answer cannot be mistaken for a complete one.
    pub async fn abort(self, cause: &(dyn std::error::Error + Sync)) {
        tracing::error!(cause = trawl_core::error_chain(cause), "an answer was aborted");
        self.cut_off().await;
    }

    /// The same for a cause that is no fault of this server's, and not logged.
    pub async fn cut_off(self) {
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
pub(crate) fn body<F: Future<Output = ()> + Send + 'static>(
    taker: ResponseBudget,
    task: impl FnOnce(BodySender) -> F,
) -> Body {
    let (sender, receiver) = mpsc::channel(MAX_CHUNKS);
    let connection = sender.clone();
    let is_cut = Arc::new(AtomicBool::new(false));
    // No state of the task is used after a panic.
    let sender = BodySender { sender, taker, charged: Mutex::default(), is_cut: Arc::clone(&is_cut) };
    let writing = AssertUnwindSafe(task(sender)).catch_unwind();
    tokio::spawn(for_same_chain(async move {
        let written = tokio::select! {
            written = writing => written,
            () = connection.closed() => return,
        };
        if let Err(panic) = written {
            tracing::error!(panic = panic_text(&*panic), "a panic aborted an answer");
            // The client may have gone already.
            let _ = connection.send(Err(incomplete())).await;
        }
    }));
    let end = stream::once(async move { is_cut.load(Ordering::Acquire).then(|| Err(incomplete())) });
    let chunks = ReceiverStream::new(receiver).chain(end.filter_map(async |cut| cut));
    // Compression polls once more after the end, so the stream must be fused.
    Body::new(StreamBody::new(chunks.fuse()))
}

/// The message of a panic; empty if its payload is not text.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let owned = || panic.downcast_ref::<String>().map(String::as_str);
    panic.downcast_ref::<&str>().copied().or_else(owned).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::options::{LimitSettings, SocketSettings};

    fn taker() -> ResponseBudget {
        let limits = Arc::new(Limits::new(&LimitSettings::default(), SocketSettings::default()));
        ResponseBudget { limits, client: Client::of(Ipv4Addr::LOCALHOST.into()) }
    }

    /// Four of a client may be slow; the others are cut, and cannot be mistaken for whole answers.
    #[tokio::test]
    async fn slow_answers_are_limited() {
        let taker = taker();
        let endless = |sender: BodySender| async move { while sender.send(Bytes::from_static(b"[")).await.is_ok() {} };
        let bodies: Vec<Body> = (0..10).map(|_| body(taker.clone(), endless)).collect();
        tokio::time::sleep(SLOW_AFTER + Duration::from_millis(500)).await;
        let mut cut = 0;
        for body in bodies {
            let chunks: Vec<_> = body.into_data_stream().take(2 * MAX_CHUNKS).collect().await;
            cut += u32::from(chunks.len() == MAX_CHUNKS + 1 && chunks[MAX_CHUNKS].is_err());
        }
        assert_eq!(cut, 6);
    }

    /// Without the error, HTTP would end the body as if it were whole.
    #[tokio::test]
    async fn a_panic_aborts_the_body() {
        let broken = body(taker(), |sender| async move {
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
        let _unread = body(taker(), |_body| async move { sender.send(()).expect("a receiver") });
        timeout(Duration::from_secs(5), done).await.expect("in time").expect("done");
    }

    #[tokio::test]
    async fn the_task_ends_when_the_client_goes() {
        let (guard, dropped) = tokio::sync::oneshot::channel::<()>();
        let waiting = body(taker(), |_sender| async move {
            std::future::pending::<()>().await;
            drop(guard);
        });
        tokio::task::yield_now().await;
        drop(waiting);
        let ended = timeout(Duration::from_secs(5), dropped).await;
        assert!(matches!(ended, Ok(Err(_))), "{ended:?}");
    }
}
