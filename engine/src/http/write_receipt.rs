//! Bytes of a body, and the moment when the connection has written them.

use std::time::Duration;

use bytes::Bytes;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// The longest wait: a client that reads a few bytes now and then never reaches the write timeout.
const LONGEST: Duration = Duration::from_mins(5);

/// A connection drops what it has not written when a body ends with an error, so the error waits for this.
pub(super) struct WriteReceipt(oneshot::Receiver<()>);

/// hyper keeps a reference until the socket has taken all bytes: with the last one the sender is dropped.
struct TrackedBytes {
    bytes: Vec<u8>,
    _written: oneshot::Sender<()>,
}

impl AsRef<[u8]> for TrackedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl WriteReceipt {
    /// The bytes to hand to the connection, and what to wait for.
    pub fn of(bytes: Vec<u8>) -> (Bytes, Self) {
        let (sender, receiver) = oneshot::channel();
        (Bytes::from_owner(TrackedBytes { bytes, _written: sender }), Self(receiver))
    }

    /// Waits until the bytes are written, at most five minutes. The connection's write timeout still ends a connection
    /// whose client reads nothing, and the time limit for answers to readers still applies.
    pub async fn wait(self) {
        // The sender is dropped and never used.
        let _ = timeout(LONGEST, self.0).await;
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::io;

    use axum::body::Body;
    use axum::http::{Request, Response};
    use futures_util::{StreamExt, stream};
    use hyper::body::Incoming;
    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// The end of an answer for a client that reads nothing for a while: hyper takes the data and the text at once, and
    /// the socket takes 64 bytes of them.
    async fn last_words() -> Vec<u8> {
        let (mut client, server) = tokio::io::duplex(64);
        let service = service_fn(|_: Request<Incoming>| async {
            let (text, written) = WriteReceipt::of(b"last words".to_vec());
            let pieces = stream::iter([Ok(Bytes::from(vec![b'x'; 100_000])), Ok(text)]);
            let end = stream::once(async {
                written.wait().await;
                Err(io::Error::other("broken off"))
            });
            Ok::<_, Infallible>(Response::new(Body::from_stream(pieces.chain(end))))
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(server), service));
        client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("sent");
        tokio::time::sleep(Duration::from_millis(200)).await;
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.expect("read");
        answer
    }

    #[tokio::test]
    async fn the_last_bytes_are_written_before_the_transfer_breaks_off() {
        let answer = last_words().await;
        assert!(answer.ends_with(b"last words\r\n"), "{} bytes", answer.len());
    }
}
