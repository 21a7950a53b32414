//! A client's connection: its share of the limits, and the time limit of its writes.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::quota::QuotaShare;

/// A connection, also after it became a WebSocket. A write that makes no progress for the time limit is an error, which
/// ends the answer, and with it what works for the answer.
pub(crate) struct Connection<C> {
    io: C,
    write_timeout: Duration,
    /// Runs while a write makes no progress.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Whether a write has timed out: later writes that make no progress fail at once.
    is_given_up: bool,
    /// Given back with the connection.
    _share: QuotaShare,
}

impl<C> Connection<C> {
    pub fn new(io: C, write_timeout: Duration, share: QuotaShare) -> Self {
        Self { io, write_timeout, stalled: None, is_given_up: false, _share: share }
    }

    /// The outcome of an attempt to write, or the error of a write without progress for too long.
    fn progress<T>(&mut self, context: &mut Context<'_>, attempt: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if attempt.is_ready() {
            self.stalled = None;
            return attempt;
        }
        let limit = self.write_timeout;
        if !self.is_given_up {
            let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(limit)));
            if stalled.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            self.stalled = None;
            self.is_given_up = true;
            metrics::counter!("trawl_connections_ended_total", "reason" => "not reading").increment(1);
            tracing::debug!("closing a connection whose client read nothing for {limit:?}");
        }
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads nothing")))
    }
}

impl<C: AsyncRead + Unpin> AsyncRead for Connection<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl<C: AsyncWrite + Unpin> AsyncWrite for Connection<C> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let attempt = Pin::new(&mut self.io).poll_write(context, bytes);
        self.progress(context, attempt)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let attempt = Pin::new(&mut self.io).poll_write_vectored(context, slices);
        self.progress(context, attempt)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::Instant;

    use super::*;
    use crate::client::Client;
    use crate::quota::Quota;

    const LIMIT: Duration = Duration::from_millis(200);

    #[tokio::test]
    async fn a_client_that_takes_nothing_is_ended_and_a_slow_one_is_not() {
        let quota = Quota::new(1, 1);
        let share = quota.take(Client::of(Ipv4Addr::LOCALHOST.into()), 1).expect("room");
        let (server, mut client) = duplex(16);
        let mut connection = Connection::new(server, LIMIT, share);
        let slow = tokio::spawn(async move {
            for _ in 0..8 {
                sleep(LIMIT / 2).await;
                client.read_exact(&mut [0; 16]).await.expect("there is more");
            }
            client
        });
        connection.write_all(&[7; 9 * 16]).await.expect("it is taken, slowly");
        let _unread = slow.await.expect("no panic");
        let started = Instant::now();
        let error = connection.write_all(&[7; 17]).await.expect_err("no one reads");
        assert!(error.kind() == io::ErrorKind::TimedOut && started.elapsed() >= LIMIT, "{error}");
        let again = Instant::now();
        connection.write_all(&[7]).await.expect_err("it is given up");
        assert!(again.elapsed() < LIMIT, "it does not wait again");
        assert_eq!(quota.taken(), 1);
        drop(connection);
        assert_eq!(quota.taken(), 0, "the connection counts no more");
    }
}
