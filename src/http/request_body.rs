//! Bodies of requests: read whole, within bounds of length, time and memory.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_LENGTH;
use futures_util::StreamExt;
use tokio::time::{Instant, timeout_at};
use trawl_serve::Client;

use crate::error::Problem;
use crate::limits::{Memory, MemoryReservation};

/// The longest a body may take to arrive; the longest body of JSON-RPC then needs 2.7 Mbit/s.
const WHOLE_TIMEOUT: Duration = Duration::from_secs(60);
/// The longest that nothing of it may arrive.
const PIECE_TIMEOUT: Duration = Duration::from_secs(10);

/// A whole body, and its memory.
pub(crate) struct BufferedRequest {
    pub text: Bytes,
    pub held: MemoryReservation,
}

/// Bounds of a body.
#[derive(Clone, Copy)]
struct Bounds {
    bytes: usize,
    whole: Duration,
    piece: Duration,
}

/// Reads a body of at most `max_bytes`. Its memory is taken before it is read: at once if its length is known, else
/// piece by piece.
///
/// # Errors
///
/// [`Problem::PayloadTooLarge`], [`Problem::RequestTimeout`] or [`Problem::Malformed`]; or those of [`Memory::hold`].
pub(crate) async fn read(
    memory: &Memory,
    client: Client,
    headers: &HeaderMap,
    body: Body,
    max_bytes: usize,
) -> Result<BufferedRequest, Problem> {
    let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let bounds = Bounds { bytes: max_bytes, whole: WHOLE_TIMEOUT, piece: PIECE_TIMEOUT };
    let mut held = memory.open(client);
    if let Some(length) = length {
        if length > max_bytes {
            return Err(Problem::PayloadTooLarge);
        }
        held.grow_to(length)?;
    }
    let text = pieces(body, &mut held, length.unwrap_or_default(), bounds).await?;
    Ok(BufferedRequest { text, held })
}

async fn pieces(body: Body, held: &mut MemoryReservation, length: usize, bounds: Bounds) -> Result<Bytes, Problem> {
    let deadline = Instant::now() + bounds.whole;
    let exact = body.size_hint().exact().and_then(|exact| usize::try_from(exact).ok()).unwrap_or(length);
    let mut text = Vec::with_capacity(exact.min(bounds.bytes));
    let mut pieces = body.into_data_stream();
    loop {
        let next = deadline.min(Instant::now() + bounds.piece);
        let piece = match timeout_at(next, pieces.next()).await {
            Err(_) => return Err(Problem::RequestTimeout),
            Ok(None) => return Ok(text.into()),
            Ok(Some(Err(_))) => return Err(Problem::Malformed),
            Ok(Some(Ok(piece))) => piece,
        };
        if text.len() + piece.len() > bounds.bytes {
            return Err(Problem::PayloadTooLarge);
        }
        held.grow_to(text.len() + piece.len())?;
        text.extend_from_slice(&piece);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use futures_util::stream;

    use super::*;

    const BOUNDS: Bounds = Bounds { bytes: 100, whole: Duration::from_millis(300), piece: Duration::from_millis(100) };

    fn client() -> Client {
        Client::of(Ipv4Addr::LOCALHOST.into())
    }

    fn repeated(piece: &'static [u8], count: usize) -> impl StreamExt<Item = std::io::Result<Bytes>> + Send + 'static {
        stream::iter(std::iter::repeat_n(piece, count).map(|piece| Ok(Bytes::from_static(piece))))
    }

    #[tokio::test]
    async fn a_body_that_does_not_arrive_times_out() {
        let memory = Memory::new("tests", 1 << 20, 1);
        let read = async |body| pieces(body, &mut memory.open(client()), 0, BOUNDS).await;
        let silent = Body::from_stream(repeated(b"[", 1).chain(stream::pending()));
        assert_eq!(read(silent).await, Err(Problem::RequestTimeout));
        let trickle = stream::repeat(()).then(async |()| {
            tokio::time::sleep(BOUNDS.piece / 2).await;
            std::io::Result::Ok(Bytes::from_static(b"["))
        });
        assert_eq!(read(Body::from_stream(trickle)).await, Err(Problem::RequestTimeout), "it never ends");
        assert_eq!(read(Body::from(vec![b'['; 101])).await, Err(Problem::PayloadTooLarge));
        assert_eq!(read(Body::from_stream(repeated(b"[", 2))).await, Ok(Bytes::from_static(b"[[")));
    }

    #[tokio::test]
    async fn a_body_without_room_is_refused_before_it_is_read() {
        let memory = Memory::new("tests", 1 << 20, 1);
        let known = HeaderMap::from_iter([(CONTENT_LENGTH, "900000".parse().expect("a value"))]);
        let unread = || Body::from_stream(stream::pending::<std::io::Result<Bytes>>());
        let refused = read(&memory, client(), &known, unread(), 1 << 20).await.err();
        assert_eq!(refused, Some(Problem::TooMuchAtOnce));
        // Without a length it is refused as soon as it does not fit.
        let endless = Body::from_stream(repeated(&[b' '; 4096], 1_000).chain(stream::pending()));
        let refused = read(&memory, client(), &HeaderMap::new(), endless, 1 << 20).await.err();
        assert_eq!((refused, memory.taken()), (Some(Problem::TooMuchAtOnce), 0));
    }
}
