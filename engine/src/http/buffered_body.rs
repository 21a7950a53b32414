//! Answers to the reader: each keeps its statement's slot until it is taken, and ends if that takes too long.
//! Otherwise answers that wait in memory for their clients would be bounded by the connections alone.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::http::Response;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use tokio::time::{Instant, timeout_at};

use crate::execute::admission::Slot;

/// How much is handed to the connection at a time. It asks for more while it has less than about 400 KiB.
const PIECE: usize = 64 << 10;

struct BufferedBody {
    body: BodyDataStream,
    pending: Bytes,
    ends: Instant,
    _slot: Arc<Slot>,
}

/// The same answer, which keeps `slot` and may take so long.
pub(super) fn held(answer: Response<Body>, slot: Arc<Slot>, longest: Duration) -> Response<Body> {
    let ends = Instant::now() + longest;
    answer.map(|body| {
        let held = BufferedBody { body: body.into_data_stream(), pending: Bytes::new(), ends, _slot: slot };
        let pieces = stream::unfold(held, |mut held| async { held.next().await.map(|piece| (piece, held)) });
        Body::from_stream(pieces.fuse())
    })
}

impl BufferedBody {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        while self.pending.is_empty() {
            self.pending = match timeout_at(self.ends, self.body.next()).await {
                Ok(Some(Ok(bytes))) => bytes,
                Ok(Some(Err(error))) => return Some(Err(io::Error::other(error))),
                Ok(None) => return None,
                Err(_) => return Some(Err(io::Error::other("the client took too long to read its answer"))),
            };
        }
        if Instant::now() > self.ends {
            return Some(Err(io::Error::other("the client took too long to read its answer")));
        }
        Some(Ok(self.pending.split_to(PIECE.min(self.pending.len()))))
    }
}
