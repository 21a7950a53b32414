//! Request bodies: moved from the connection to the statement's thread, with back-pressure; forms are read at once.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use axum::body::{Body, BodyDataStream};
use axum::http::HeaderMap;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use tokio::sync::mpsc;

use crate::account::Role;
use crate::exception::Exception;
use crate::http::request::Request;

/// Chunks of a body in flight between the socket and the statement's thread; each is what hyper read at once,
/// so this bounds a body's buffers to about 1 MiB.
const CHUNKS: usize = 8;
/// Form bodies carry a statement and its parameters, never data.
const MAX_FORM: u64 = 64 << 20;
/// The same for a reader.
const MAX_FORM_OF_READER: u64 = 2 << 20;
/// Longest silence of a client in the middle of a body; a server's default `http_receive_timeout`.
const IDLE: Duration = Duration::from_secs(30);
/// Longest time that the whole body of a reader may take, who sends no data.
const WHOLE_OF_READER: Duration = Duration::from_secs(60);

/// The body as a blocking reader; a form is read into `request` at once.
///
/// # Errors
///
/// If a form cannot be read, does not arrive, or holds a table.
pub async fn read_body(
    request: &mut Request,
    headers: &HeaderMap,
    body: Body,
    role: Role,
) -> Result<Box<dyn Read + Send>, Exception> {
    let content_type = headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or("");
    if let Ok(boundary) = multer::parse_boundary(content_type) {
        read_form(request, boundary, body.into_data_stream(), role).await?;
        return Ok(Box::new(io::empty()));
    }
    let (sender, receiver) = mpsc::channel(CHUNKS);
    tokio::spawn(pump(with_timeouts(body.into_data_stream(), role), sender));
    Ok(Box::new(BodyReader { receiver, chunk: Bytes::new(), over: false }))
}

async fn read_form(request: &mut Request, boundary: String, body: BodyDataStream, role: Role) -> Result<(), Exception> {
    let longest = if role.is_limited() { MAX_FORM_OF_READER } else { MAX_FORM };
    let limits = multer::Constraints::new().size_limit(multer::SizeLimit::new().whole_stream(longest));
    let mut form = multer::Multipart::with_constraints(with_timeouts(body, role), boundary, limits);
    while let Some(field) = form.next_field().await.map_err(unreadable)? {
        let name = field.name().unwrap_or("").to_owned();
        if !Request::is_field(&name) {
            return Err(Exception::new(
                48,
                "NOT_IMPLEMENTED",
                format!("external table `{name}`: this engine takes no tables with a query"),
            ));
        }
        let value = field.text_with_charset("utf-8").await.map_err(unreadable)?;
        request.field(&name, value);
    }
    Ok(())
}

/// Why a form cannot be read: its client's silence, or its shape.
fn unreadable(error: multer::Error) -> Exception {
    match error {
        multer::Error::StreamReadFailed(cause) => {
            Exception::new(209, "SOCKET_TIMEOUT", format!("the form did not arrive: {cause}"))
        }
        other => Exception::bad_arguments(format!("the form cannot be read: {other}")),
    }
}

/// The chunks of a body, with a limit of [`IDLE`] on the wait for each, and for a reader [`WHOLE_OF_READER`] on all.
fn with_timeouts(body: BodyDataStream, role: Role) -> impl Stream<Item = io::Result<Bytes>> + Send + Unpin {
    let ends = (role.is_limited()).then(|| Instant::now() + WHOLE_OF_READER);
    Box::pin(stream::unfold(Some(body), move |body| async move {
        let mut body = body?;
        let left = ends.map_or(IDLE, |ends| ends.saturating_duration_since(Instant::now()).min(IDLE));
        match tokio::time::timeout(left, body.next()).await {
            Ok(Some(Ok(chunk))) => Some((Ok(chunk), Some(body))),
            Ok(Some(Err(error))) => Some((Err(io::Error::other(error)), None)),
            Ok(None) => None,
            Err(_) => {
                let text = if left < IDLE {
                    format!("the body took more than {} s", WHOLE_OF_READER.as_secs())
                } else {
                    format!("the client sent nothing for {} s", IDLE.as_secs())
                };
                Some((Err(io::Error::new(io::ErrorKind::TimedOut, text)), None))
            }
        }
    }))
}

/// What a body's channel carries.
enum Piece {
    /// Bytes of it.
    Data(Bytes),
    /// Its end, as the client meant it.
    End,
    /// It was cut off.
    Broken(io::Error),
}

/// Moves a body to the statement's thread; stops when either side has gone.
async fn pump(mut body: impl Stream<Item = io::Result<Bytes>> + Unpin, sender: mpsc::Sender<Piece>) {
    loop {
        let piece = match body.next().await {
            Some(Ok(chunk)) => Piece::Data(chunk),
            Some(Err(error)) => Piece::Broken(error),
            None => Piece::End,
        };
        let is_data = matches!(piece, Piece::Data(_));
        if sender.send(piece).await.is_err() || !is_data {
            return;
        }
    }
}

/// Reads a body from a blocking thread. A body that was cut off, also by this program's end, is an error and never
/// an early end: rows that look like all of them would be committed, and their repetition dropped as known.
struct BodyReader {
    receiver: mpsc::Receiver<Piece>,
    chunk: Bytes,
    over: bool,
}

impl Read for BodyReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() && !self.over {
            match self.receiver.blocking_recv() {
                Some(Piece::Data(chunk)) => self.chunk = chunk,
                Some(Piece::End) => self.over = true,
                Some(Piece::Broken(error)) => return Err(error),
                None => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the engine is shutting down")),
            }
        }
        let count = buffer.len().min(self.chunk.len());
        buffer[..count].copy_from_slice(&self.chunk.split_to(count));
        Ok(count)
    }
}
