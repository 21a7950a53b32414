//! An encrypted connection that sends its buffered bytes after it was dropped.
//!
//! hyper drops a connection without a flush when the body of an answer ends with an error. A plain socket has given its
//! bytes to the kernel by then; rustls may still buffer 64 KiB, with the end of the answer.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;

/// How long a client may take to read what is left; one that reads nothing is given up before, by the write timeout.
const FLUSH_TIMEOUT: Duration = Duration::from_mins(1);

/// A connection below TLS, or one that is not encrypted.
pub(crate) trait Transport: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<C: AsyncRead + AsyncWrite + Unpin + Send + 'static> Transport for C {}

/// A connection after its handshake.
pub(crate) struct EncryptedConnection<C: Transport>(Option<TlsStream<C>>);

impl<C: Transport> EncryptedConnection<C> {
    pub fn new(stream: TlsStream<C>) -> Self {
        Self(Some(stream))
    }

    fn stream(&mut self) -> Pin<&mut TlsStream<C>> {
        Pin::new(self.0.as_mut().expect("only taken when it is dropped"))
    }
}

impl<C: Transport> Drop for EncryptedConnection<C> {
    fn drop(&mut self) {
        let unsent = self.0.take().filter(|stream| stream.get_ref().1.wants_write());
        if let (Some(mut stream), Ok(runtime)) = (unsent, Handle::try_current()) {
            // A client that has gone, or was given up for reading nothing, ends it at once. There is no one to report to.
            runtime.spawn(async move { drop(timeout(FLUSH_TIMEOUT, stream.flush()).await) });
        }
    }
}

impl<C: Transport> AsyncRead for EncryptedConnection<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.stream().poll_read(context, buffer)
    }
}

impl<C: Transport> AsyncWrite for EncryptedConnection<C> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.stream().poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream().poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.as_ref().is_some_and(AsyncWrite::is_write_vectored)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_shutdown(context)
    }
}
