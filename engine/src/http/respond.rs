//! HTTP answers as a ClickHouse server gives them: headers, status, and errors before and in mid-stream.

use std::io;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode};
use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, stream};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::chdb::engine::Engine;
use crate::chdb::outcome::Stats;
use crate::codec::{Encoder, Encoding};
use crate::exception::Exception;
use crate::execute::job::Reply;
use crate::execute::running::Ticket;
use crate::sql::format::content_type;

/// How much is read from the pipe at a time; with the pipe itself this bounds what an answer holds: about 1.3 MiB.
const CHUNK: usize = 256 << 10;
/// Most that is collected for `wait_end_of_query`; a server would go on in a file.
const MAX_COLLECTED: usize = 256 << 20;
/// How long a result that has begun may take to end and still be sent as one piece with its final statistics.
const PATIENCE: Duration = Duration::from_millis(5);

/// What an answer needs to know of its request.
#[derive(Debug)]
pub struct Context {
    /// The engine.
    pub engine: Arc<Engine>,
    /// Announced in `X-ClickHouse-Query-Id`.
    pub query_id: String,
    /// How to compress.
    pub encoding: Encoding,
    /// Collect everything before answering.
    pub wait_end_of_query: bool,
    /// When the request came.
    pub started: Instant,
}

/// Cancels the statement if the answer is dropped before it is over, that is if the client has gone.
#[derive(Debug)]
pub struct CancelOnDrop {
    engine: Arc<Engine>,
    statement: Option<(u64, Weak<()>)>,
}

/// When a statement is cancelled that does not end: it may not have reached the engine yet.
const CANCELS: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(100), Duration::from_secs(1), Duration::from_secs(10)];

impl CancelOnDrop {
    /// Watches over the statement of `ticket`.
    #[must_use]
    pub fn new(engine: Arc<Engine>, ticket: &Ticket) -> Self {
        Self { engine, statement: Some((ticket.number(), ticket.alive())) }
    }

    /// There is nothing left to cancel.
    pub fn over(&mut self) {
        self.statement = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let (Some((number, alive)), Ok(runtime)) = (self.statement.take(), Handle::try_current()) else { return };
        let engine = Arc::clone(&self.engine);
        runtime.spawn(async move {
            for pause in CANCELS {
                tokio::time::sleep(pause).await;
                if alive.strong_count() == 0 {
                    return;
                }
                let engine = Arc::clone(&engine);
                // It ends early only if this program does.
                let _ = tokio::task::spawn_blocking(move || engine.cancel(number)).await;
            }
        });
    }
}

/// Turns a reply into an HTTP answer.
pub async fn respond(context: Context, reply: Reply, mut watch: CancelOnDrop) -> Response<Body> {
    match reply {
        Reply::Whole { bytes, format, stats } => {
            watch.over();
            complete(&context, bytes, &format, stats)
        }
        Reply::Stream { pipe, format, end } => match Receiver::from_owned_fd(pipe.into()) {
            Ok(pipe) => stream_reply(context, pipe, &format, end, watch).await,
            Err(error) => refuse(&context, &Exception::new(76, "CANNOT_OPEN_FILE", error)),
        },
    }
}

async fn stream_reply(
    context: Context,
    mut pipe: Receiver,
    format: &str,
    end: oneshot::Receiver<Result<Stats, Exception>>,
    mut watch: CancelOnDrop,
) -> Response<Body> {
    let mut first = BytesMut::new();
    let mut over = read(&mut pipe, &mut first).await;
    while matches!(over, Ok(false)) {
        if context.wait_end_of_query && first.len() > MAX_COLLECTED {
            let text = format!("the result has more than {MAX_COLLECTED} bytes: leave out wait_end_of_query");
            return refuse(&context, &Exception::new(396, "TOO_MANY_ROWS_OR_BYTES", text));
        }
        if context.wait_end_of_query {
            over = read(&mut pipe, &mut first).await;
        } else if first.len() < CHUNK
            && let Ok(more) = tokio::time::timeout(PATIENCE, read(&mut pipe, &mut first)).await
        {
            over = more;
        } else {
            return streaming(&context, pipe, first.freeze(), format, end, watch);
        }
    }
    if let Err(error) = over {
        // What came is not all of it. The statement may still write, so the watch cancels it.
        return refuse(&context, &Exception::new(74, "CANNOT_READ_FROM_FILE_DESCRIPTOR", error));
    }
    watch.over();
    match outcome(end.await) {
        Ok(stats) => complete(&context, first.freeze(), format, stats),
        Err(exception) => refuse(&context, &exception),
    }
}

/// Appends what the pipe has; true at its end.
async fn read(pipe: &mut Receiver, into: &mut BytesMut) -> io::Result<bool> {
    into.reserve(CHUNK);
    Ok(pipe.read_buf(into).await? == 0)
}

fn outcome(end: Result<Result<Stats, Exception>, oneshot::error::RecvError>) -> Result<Stats, Exception> {
    end.unwrap_or_else(|_| Err(Exception::new(1002, "UNKNOWN_EXCEPTION", "the query ended without an outcome")))
}

/// An answer known to its end.
fn complete(context: &Context, bytes: Bytes, format: &str, stats: Stats) -> Response<Body> {
    let body = Encoder::new(context.encoding).and_then(|mut encoder| {
        let mut body = Vec::from(encoder.push(bytes)?);
        body.extend(encoder.finish()?);
        Ok(body)
    });
    match body {
        Ok(body) => head(context, StatusCode::OK, content_type(format), context.encoding)
            .header("X-ClickHouse-Format", value(format))
            .header("X-ClickHouse-Summary", value(&summary(stats, context.started)))
            .body(Body::from(body))
            .unwrap_or_default(),
        Err(error) => refuse(context, &Exception::new(432, "CANNOT_COMPRESS", error)),
    }
}

/// An answer whose end is not known: an error in mid-stream follows the data in a server's own notation.
fn streaming(
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
        broken: false,
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
    /// The error text is sent; only the visible break of the transfer remains.
    broken: bool,
}

impl Answer {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        if self.broken {
            // Lets the connection write out the error text before the transfer breaks off.
            tokio::time::sleep(Duration::from_millis(20)).await;
            self.broken = false;
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
                self.broken = true;
                let text = self.in_mid_stream(&exception);
                let sent = encoder.push(text.into()).and_then(|bytes| Ok([bytes, encoder.finish()?.into()].concat()));
                self.encoder = Encoder::new(Encoding::Identity).ok();
                Some(sent.map(Bytes::from))
            }
        }
    }

    /// ClickHouse's `WriteBufferFromHTTPServerResponse`: marker, tag, text, length of the text and tag, marker.
    fn in_mid_stream(&self, exception: &Exception) -> String {
        let text = exception.body(&self.version);
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

/// An answer that is an error and nothing else.
#[must_use]
pub fn refuse(context: &Context, exception: &Exception) -> Response<Body> {
    let said: String = exception.message.chars().take(200).collect();
    tracing::info!(code = exception.code, query_id = context.query_id, said, "query refused");
    let text = Bytes::from(exception.body(&context.engine.version));
    let (body, encoding) = match context.encoding {
        Encoding::Blocks => (Encoder::Blocks.push(text.clone()).unwrap_or(text), Encoding::Blocks),
        _ => (text, Encoding::Identity),
    };
    let mut builder = head(context, exception.status(), "text/plain; charset=UTF-8", encoding)
        .header("X-ClickHouse-Exception-Code", exception.code);
    if exception.status() == StatusCode::UNAUTHORIZED {
        builder = builder.header("WWW-Authenticate", "Basic realm=\"ClickHouse server HTTP API\"");
    }
    builder.body(Body::from(body)).unwrap_or_default()
}

fn head(
    context: &Context,
    status: StatusCode,
    content_type: &str,
    encoding: Encoding,
) -> axum::http::response::Builder {
    let builder = Response::builder()
        .status(status)
        .header("Content-Type", content_type)
        .header("X-ClickHouse-Query-Id", value(&context.query_id))
        .header("X-ClickHouse-Server-Display-Name", "trawl-engine")
        .header("X-ClickHouse-Timezone", value(&context.engine.timezone));
    match encoding.header() {
        Some(name) => builder.header("Content-Encoding", name),
        None => builder,
    }
}

/// A header value; bytes that a header cannot hold become `?`.
fn value(text: &str) -> HeaderValue {
    let clean: String = text.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect();
    HeaderValue::from_str(&clean).unwrap_or(HeaderValue::from_static(""))
}

/// Numbers are strings, as a server writes them; `memory_usage` is left out because libchdb does not tell it.
fn summary(stats: Stats, started: Instant) -> String {
    serde_json::json!({
        "read_rows": stats.read_rows.to_string(),
        "read_bytes": stats.read_bytes.to_string(),
        "written_rows": stats.written_rows.to_string(),
        "written_bytes": stats.written_bytes.to_string(),
        "total_rows_to_read": stats.read_rows.to_string(),
        "result_rows": stats.result_rows.to_string(),
        "result_bytes": stats.result_bytes.to_string(),
        "elapsed_ns": started.elapsed().as_nanos().to_string(),
    })
    .to_string()
}
