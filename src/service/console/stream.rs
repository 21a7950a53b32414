//! The answer of a statement, as ClickHouse writes it: streamed; an answer that breaks off never looks complete.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::json;
use tokio::time::timeout_at;
use trawl_core::store::{Visitor, VisitorAnswer};
use trawl_serve::Client;

use super::error::ConsoleError;
use super::format::TextFormat;
use crate::app::App;
use crate::http::body::{BodySender, ClientDisconnected, ResponseBudget, body};
use crate::limits::BudgetShare;

/// How long ClickHouse may take to let an account in.
pub(super) const LOGIN_TIMEOUT: Duration = Duration::from_secs(15);
/// How much longer than its statement may run an answer may take: as the embedded engine has it for readers.
const DELIVERY: Duration = Duration::from_secs(30);

/// What comes within a time.
pub(super) async fn in_time<T>(most: Duration, answer: impl Future<Output = T>) -> Result<T, ConsoleError> {
    tokio::time::timeout(most, answer).await.map_err(|_| ConsoleError::Silent)
}

/// Runs a statement and streams what it gives. `slot` is taken until the end.
pub(super) async fn respond(
    app: &App,
    client: Client,
    visitor: &Visitor,
    statement: &str,
    format: TextFormat,
    slot: BudgetShare,
) -> Result<Response, ConsoleError> {
    let began = Instant::now();
    let most = visitor.time_limit() + DELIVERY;
    let answer = in_time(most, visitor.run(statement, format.name())).await??;
    if !format.begins(answer.beginning()) {
        return Err(ConsoleError::OtherFormat);
    }
    let taker = ResponseBudget { limits: Arc::clone(app.limits()), client };
    let written = body(taker, move |sender| async move {
        let _slot = slot;
        write(answer, format, began, most, sender).await;
    });
    let headers =
        [(CONTENT_TYPE, format.media_type()), (CACHE_CONTROL, "no-store"), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
    let file: Option<[(HeaderName, HeaderValue); 1]> =
        format.file().map(|file| [(CONTENT_DISPOSITION, HeaderValue::from_static(file))]);
    let mut response = (headers, written).into_response();
    response.headers_mut().extend(file.into_iter().flatten());
    Ok(response)
}

/// Hands on the pieces; lines say at their end how it ended, and other formats break off if it did not end well.
async fn write(answer: VisitorAnswer, format: TextFormat, began: Instant, most: Duration, sender: BodySender) {
    let outcome = pieces(answer, format, began + most, &sender).await;
    let line = match &outcome {
        // No client is left to send it to.
        Err(StreamEnd::Disconnected) => return,
        Ok(()) => json!({"end": {"seconds": began.elapsed().as_secs_f64()}}),
        Err(StreamEnd::Error(error)) => json!({"error": error.body()}),
    };
    match outcome {
        // A line may have been begun.
        _ if format == TextFormat::Lines => drop(sender.send(Bytes::from(format!("\n{line}\n"))).await),
        Err(StreamEnd::Error(_)) => sender.cut_off().await,
        _ => {}
    }
}

/// Why an answer ends early.
enum StreamEnd {
    /// The client has gone.
    Disconnected,
    Error(ConsoleError),
}

impl From<ClientDisconnected> for StreamEnd {
    fn from(_: ClientDisconnected) -> Self {
        Self::Disconnected
    }
}

async fn pieces(
    mut answer: VisitorAnswer,
    format: TextFormat,
    until: Instant,
    sender: &BodySender,
) -> Result<(), StreamEnd> {
    let mut exception = ExceptionLine::default();
    loop {
        let next = timeout_at(until.into(), answer.next()).await;
        let piece = next.map_err(|_| StreamEnd::Error(ConsoleError::Silent))?;
        match piece.map_err(|error| StreamEnd::Error(error.into()))? {
            // A client that takes it too slowly must not see it end as if it were whole.
            Some(piece) if format == TextFormat::Lines && exception.is_in(&piece) => {
                sender.send(piece).await?;
                return Err(StreamEnd::Error(ConsoleError::Failed));
            }
            Some(piece) => match timeout_at(until.into(), sender.send(piece)).await {
                Ok(sent) => sent?,
                Err(_) => return Err(StreamEnd::Error(ConsoleError::Silent)),
            },
            None => return Ok(()),
        }
    }
}

/// Looks for the line by which the format of lines says that its statement failed, in an answer that comes in pieces of
/// any length (`http_write_exception_in_output_format` of ClickHouse). In texts of values a line feed is escaped.
#[derive(Default)]
struct ExceptionLine {
    /// The end of what was looked at, shorter than what is looked for.
    before: Vec<u8>,
}

impl ExceptionLine {
    const BEGINNING: &[u8] = b"\n{\"exception\":";

    /// Whether the line begins in this piece, or began at the end of the one before.
    fn is_in(&mut self, piece: &[u8]) -> bool {
        let begins = |text: &[u8]| {
            let mut feeds = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
            feeds.any(|(at, _)| text[at..].starts_with(Self::BEGINNING))
        };
        let carried = Self::BEGINNING.len() - 1;
        self.before.extend_from_slice(&piece[..piece.len().min(carried)]);
        let found = begins(&self.before) || begins(piece);
        if piece.len() >= carried {
            self.before.clear();
            self.before.extend_from_slice(&piece[piece.len() - carried..]);
        } else {
            self.before.drain(..self.before.len().saturating_sub(carried));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_an_exception_is_found_in_pieces_of_any_length() {
        let failed = b"{\"meta\":[]}\n{\"row\":[\"\\n{\\\"exception\\\":\"]}\n{\"exception\":\"Code: 1\"}\n";
        let is_found = |text: &[u8], length: usize| {
            let mut line = ExceptionLine::default();
            text.chunks(length).any(|piece| line.is_in(piece))
        };
        let whole = &failed[..failed.len() - 24];
        for length in 1..=failed.len() {
            assert!(is_found(failed, length), "pieces of {length}");
            assert!(!is_found(whole, length), "pieces of {length}: {}", String::from_utf8_lossy(whole));
        }
    }
}
