//! The body of an answer that is sent while its query runs.

use std::io;
use std::time::Instant;

use axum::body::Body;
use axum::http::{Response, StatusCode};
use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, stream};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::oneshot;

use crate::chdb::outcome::Stats;
use crate::codec::{Encoder, Encoding};
use crate::exception::Exception;
use crate::execute::figures::count_error;
use crate::http::cancel::CancelOnDrop;
use crate::http::head::{Context, head, refuse, summary, value};
use crate::http::write_receipt::WriteReceipt;
use crate::sql::format::content_type;

/// How much is read from the pipe at a time; with the pipe itself this bounds what an answer holds: about 1.3 MiB.
pub(super) const CHUNK: usize = 256 << 10;

/// The longest message of an error in mid-stream: `MAX_EXCEPTION_SIZE` of a ClickHouse server.
const MAX_EXCEPTION_BYTES: usize = 16 << 10;

/// Appends what the pipe has; true at its end.
pub(super) async fn read(pipe: &mut Receiver, into: &mut BytesMut) -> io::Result<bool> {
    into.reserve(CHUNK);
    Ok(pipe.read_buf(into).await? == 0)
}

pub(super) fn outcome(end: Result<Result<Stats, Exception>, oneshot::error::RecvError>) -> Result<Stats, Exception> {
    end.unwrap_or_else(|_| Err(Exception::new(1002, "UNKNOWN_EXCEPTION", "the query ended without an outcome")))
}

/// An answer whose end is not known: an error in mid-stream follows the data in a server's own notation.
pub(super) fn streaming(
    context: &Context,
    pipe: Receiver,
    first: Bytes,
    format: &str,
    end: oneshot::Receiver<Result<Stats, Exception>>,
    watch: CancelOnDrop,
) -> Response<Body> {
    let encoder = match Encoder::new(context.encoding) {
        Ok(encoder) => encoder,
        Err(error) => return refuse(context, &Exception::new(432, "CANNOT_COMPRESS", error)),
    };
    let tag = exception_tag(&context.query_id, context.started);
    let answer = Answer {
        pipe,
        end: Some(end),
        watch,
        encoder: Some(encoder),
        pending: Some(first),
        tag: tag.clone(),
        version: context.engine.version.clone(),
        broken: None,
    };
    let body = stream::unfold(answer, |mut answer| async move { answer.next().await.map(|item| (item, answer)) });
    head(context, StatusCode::OK, content_type(format), context.encoding)
        .header("X-ClickHouse-Format", value(format))
        .header("X-ClickHouse-Summary", value(&summary(Stats::default(), context.started)))
        .header("X-ClickHouse-Exception-Tag", value(&tag))
        .body(Body::from_stream(body.fuse()))
        .unwrap_or_default()
}

/// The rest of an answer that has begun.
struct Answer {
    pipe: Receiver,
    end: Option<oneshot::Receiver<Result<Stats, Exception>>>,
    watch: CancelOnDrop,
    /// `None` once the compressed stream is closed.
    encoder: Option<Encoder>,
    pending: Option<Bytes>,
    tag: String,
    version: String,
    /// The error's text is handed to the connection; once it is written, only the visible break of the transfer remains.
    broken: Option<WriteReceipt>,
}

impl Answer {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        if let Some(written) = self.broken.take() {
            written.wait().await;
            return Some(Err(io::Error::other("the query failed in mid-stream")));
        }
        loop {
            let encoder = self.encoder.as_mut()?;
            let piece = match self.pending.take() {
                Some(piece) => piece,
                None => {
                    let mut piece = BytesMut::new();
                    match read(&mut self.pipe, &mut piece).await {
                        Ok(false) => piece.freeze(),
                        Ok(true) => return self.last().await,
                        Err(error) => return Some(Err(error)),
                    }
                }
            };
            match encoder.push(piece) {
                Ok(bytes) if bytes.is_empty() => {}
                sent => return Some(sent),
            }
        }
    }

    /// What follows the last byte of the pipe: nothing, the end of the compressed stream, or the error.
    async fn last(&mut self) -> Option<io::Result<Bytes>> {
        self.watch.over();
        let mut encoder = self.encoder.take()?;
        match outcome(self.end.take()?.await) {
            Ok(_) => match encoder.finish() {
                Ok(bytes) if bytes.is_empty() => None,
                bytes => Some(bytes.map(Bytes::from)),
            },
            Err(exception) => {
                count_error(&exception);
                let text = self.in_mid_stream(&exception);
                let sent = encoder.push(text.into()).and_then(|bytes| Ok([bytes, encoder.finish()?.into()].concat()));
                self.encoder = Encoder::new(Encoding::Identity).ok();
                Some(sent.map(|bytes| {
                    let (bytes, written) = WriteReceipt::of(bytes);
                    self.broken = Some(written);
                    bytes
                }))
            }
        }
    }

    /// ClickHouse's `WriteBufferFromHTTPServerResponse`: marker, tag, text, length of the text and tag, marker.
    fn in_mid_stream(&self, exception: &Exception) -> String {
        let text = exception.shortened(MAX_EXCEPTION_BYTES).body(&self.version);
        let tag = &self.tag;
        format!("\r\n__exception__\r\n{tag}\r\n{text}{} {tag}\r\n__exception__\r\n", text.len())
    }
}

/// Sixteen letters that the data cannot be expected to hold.
fn exception_tag(query_id: &str, started: Instant) -> String {
    use std::hash::{BuildHasher, RandomState};
    let hash = RandomState::new().hash_one((query_id, started));
    (0..16).map(|letter| char::from(b'a' + u8::try_from((hash >> (letter * 4)) & 15).unwrap_or(0))).collect()
}
