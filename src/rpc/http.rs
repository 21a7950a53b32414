//! Calls and batches over HTTP.

use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::value::RawValue;

use super::context::TakenHead;
use super::endpoint::Endpoint;
use super::envelope::{self, Call, Id, Message};
use super::methods;
use crate::app::App;
use crate::error::Problem;
use crate::http::body::{BodySender, Broken, body};
use trawl_json::JsonWriter;

/// The longest a request body may take to arrive; the longest body then needs 2.7 Mbit/s.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);

/// Answers one call or a batch. The error of a call is an answer too, so the status is 200 in that case as well.
pub(crate) async fn serve(
    State(app): State<App>,
    Extension(endpoint): Extension<Endpoint>,
    request: Request,
) -> Response {
    let text = match read_body(request.into_body(), app.options().max_body, BODY_TIMEOUT).await {
        Ok(text) => text,
        Err((status, text)) => return refuse(status, &Problem::InvalidRequest(text.into())),
    };
    let calls = match Message::read(&text) {
        Err(problem) => return refuse(endpoint.status_of_refused(StatusCode::BAD_REQUEST), &problem),
        Ok(Message::One(call)) => return answer(body(|sender| answer_single(app, endpoint, call, sender))),
        Ok(Message::Batch(calls)) => calls,
    };
    if let Err(problem) = endpoint.check_batch(calls.len(), app.options().max_batch) {
        return refuse(endpoint.status_of_refused(StatusCode::PAYLOAD_TOO_LARGE), &problem);
    }
    answer(body(|sender| answer_batch(app, endpoint, calls, sender)))
}

/// Reads a whole body of at most `max_bytes` within `timeout`.
async fn read_body(body: Body, max_bytes: usize, timeout: Duration) -> Result<Bytes, (StatusCode, &'static str)> {
    match tokio::time::timeout(timeout, axum::body::to_bytes(body, max_bytes)).await {
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "Request Timeout")),
        Ok(Err(_)) => Err((StatusCode::PAYLOAD_TOO_LARGE, "Payload Too Large")),
        Ok(Ok(text)) => Ok(text),
    }
}

fn answer(body: Body) -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
}

/// The answer to a message without a readable id.
fn refuse(status: StatusCode, problem: &Problem) -> Response {
    let mut writer = JsonWriter::new();
    envelope::write_error(&mut writer, &Id::null(), problem);
    writer.raw("\n");
    let json = HeaderValue::from_static("application/json");
    (status, [(CONTENT_TYPE, json)], Bytes::from(writer.into_bytes())).into_response()
}

async fn answer_single(app: App, endpoint: Endpoint, call: Box<RawValue>, sender: BodySender) {
    let head = TakenHead::of(&app);
    let mut writer = JsonWriter::new();
    match answer_call((&app, &head, endpoint), &call, &mut writer, &sender, "").await {
        Ok(Answered::No) => {}
        Ok(Answered::Yes) => {
            writer.raw("\n");
            // A client that has gone needs no end of the answer.
            let _ = sender.flush(&mut writer).await;
        }
        Err(Broken::Gone) => {}
        Err(Broken::Problem(problem)) => sender.abort(&problem).await,
    }
}

/// Answers the calls in order, one after another, so memory is that of one answer. All calls have the same head.
/// A batch of notifications has no answer.
async fn answer_batch(app: App, endpoint: Endpoint, calls: Vec<Box<RawValue>>, sender: BodySender) {
    let head = TakenHead::of(&app);
    let mut writer = JsonWriter::new();
    let mut before = "[";
    for call in &calls {
        match answer_call((&app, &head, endpoint), call, &mut writer, &sender, before).await {
            Ok(Answered::No) => {}
            Ok(Answered::Yes) => before = ",",
            Err(Broken::Gone) => return,
            Err(Broken::Problem(problem)) => return sender.abort(&problem).await,
        }
    }
    match before {
        "[" if calls.is_empty() => writer.raw("[]\n"),
        "[" => {}
        _ => writer.raw("]\n"),
    }
    // A client that has gone needs no end of the answer.
    let _ = sender.flush(&mut writer).await;
}

/// Whether a call was one that is answered.
enum Answered {
    Yes,
    /// A notification.
    No,
}

/// Writes the answer to one call after the text `before`. Failures before its first byte become its error object.
async fn answer_call(
    shared: (&App, &TakenHead, Endpoint),
    text: &RawValue,
    writer: &mut JsonWriter,
    sender: &BodySender,
    before: &str,
) -> Result<Answered, Broken> {
    let (id, called) = Call::read(text, shared.2);
    let outcome = match called {
        Ok(call) => {
            let outcome = methods::call(shared, &call).await;
            methods::count(&call.method, outcome.is_ok());
            outcome
        }
        Err(problem) => Err(problem),
    };
    let Some(id) = id else { return Ok(Answered::No) };
    writer.raw(before);
    match outcome {
        Err(problem) => envelope::write_error(writer, &id, &problem),
        Ok(answer) => {
            envelope::open_result(writer);
            answer.write(writer, sender).await?;
            envelope::close(writer, &id);
        }
    }
    sender.flush_if_full(writer).await?;
    Ok(Answered::Yes)
}

#[cfg(test)]
mod tests {
    use futures_util::{StreamExt, stream};

    use super::*;

    #[tokio::test]
    async fn a_body_that_does_not_arrive_times_out() {
        let pieces = |count| {
            stream::iter(std::iter::repeat_n(b"[", count).map(|piece| std::io::Result::Ok(Bytes::from_static(piece))))
        };
        let silent = Body::from_stream(pieces(1).chain(stream::pending()));
        let (status, _) = read_body(silent, 100, Duration::from_millis(50)).await.expect_err("it never ends");
        assert_eq!(status, StatusCode::REQUEST_TIMEOUT);
        let (status, _) = read_body(Body::from(vec![b'['; 101]), 100, BODY_TIMEOUT).await.expect_err("it is too long");
        assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
        assert_eq!(read_body(Body::from_stream(pieces(2)), 100, BODY_TIMEOUT).await.expect("two bytes"), "[[");
    }
}
