//! Calls and batches over HTTP.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::value::RawValue;

use super::context::TakenHead;
use super::envelope::{self, Call, Id, Message};
use super::methods;
use crate::app::App;
use crate::error::Problem;
use crate::http::body::{BodySender, Broken, body};
use trawl_json::JsonWriter;

/// How long a body may take to arrive. It needs 2.7 Mbit/s at its longest.
const BODY_LIMIT: Duration = Duration::from_secs(60);

/// Answers one call or a batch. A failed call is an answer too, so the status is 200 whatever comes of it.
pub(crate) async fn serve(State(app): State<App>, request: Request) -> Response {
    let text = match whole(request.into_body(), app.options().max_body, BODY_LIMIT).await {
        Ok(text) => text,
        Err((status, text)) => return refuse(status, &Problem::InvalidRequest(text.into())),
    };
    let calls = match Message::read(&text) {
        Err(problem) => return refuse(StatusCode::BAD_REQUEST, &problem),
        Ok(Message::One(call)) => return answer(body(|sender| answer_single(app, call, sender))),
        Ok(Message::Batch(calls)) => calls,
    };
    let limit = app.options().max_batch;
    if calls.len() > limit {
        let text = format!("Payload Too Large. Max batch size is {limit}");
        return refuse(StatusCode::PAYLOAD_TOO_LARGE, &Problem::InvalidRequest(text));
    }
    answer(body(|sender| answer_batch(app, calls, sender)))
}

/// All of a body, which is neither longer than `longest` bytes nor too slow.
async fn whole(body: Body, longest: usize, limit: Duration) -> Result<Bytes, (StatusCode, &'static str)> {
    match tokio::time::timeout(limit, axum::body::to_bytes(body, longest)).await {
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "Request Timeout")),
        Ok(Err(_)) => Err((StatusCode::PAYLOAD_TOO_LARGE, "Payload Too Large")),
        Ok(Ok(text)) => Ok(text),
    }
}

fn answer(body: Body) -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
}

/// An error for a message that has no id of its own.
fn refuse(status: StatusCode, problem: &Problem) -> Response {
    let mut writer = JsonWriter::new();
    envelope::write_error(&mut writer, &Id::null(), problem);
    writer.raw("\n");
    let json = HeaderValue::from_static("application/json");
    (status, [(CONTENT_TYPE, json)], Bytes::from(writer.into_bytes())).into_response()
}

async fn answer_single(app: App, call: Box<RawValue>, sender: BodySender) {
    let head = app.head();
    let mut writer = JsonWriter::new();
    match answer_call((&app, &head), &call, &mut writer, &sender).await {
        Ok(()) => {
            writer.raw("\n");
            // A client that has gone needs no end.
            let _ = sender.flush(&mut writer).await;
        }
        Err(Broken::Gone) => {}
        Err(Broken::Problem(problem)) => sender.abort(&problem).await,
    }
}

/// Answers in the order of the calls, one after another: memory is that of one answer. All of them have one head.
async fn answer_batch(app: App, calls: Vec<Box<RawValue>>, sender: BodySender) {
    let head = app.head();
    let mut writer = JsonWriter::new();
    writer.raw("[");
    for (position, call) in calls.iter().enumerate() {
        if position > 0 {
            writer.raw(",");
        }
        match answer_call((&app, &head), call, &mut writer, &sender).await {
            Ok(()) => {}
            Err(Broken::Gone) => return,
            Err(Broken::Problem(problem)) => return sender.abort(&problem).await,
        }
    }
    writer.raw("]\n");
    // A client that has gone needs no end.
    let _ = sender.flush(&mut writer).await;
}

/// Writes the answer to one call. Failures before its first byte become its error object.
async fn answer_call(
    (app, head): (&App, &TakenHead),
    text: &RawValue,
    writer: &mut JsonWriter,
    sender: &BodySender,
) -> Result<(), Broken> {
    let (id, called) = Call::read(text);
    let outcome = match called {
        Ok(call) => {
            let outcome = methods::call(app, head, &call).await;
            methods::count(&call.method, outcome.is_ok());
            outcome
        }
        Err(problem) => Err(problem),
    };
    match outcome {
        Err(problem) => envelope::write_error(writer, &id, &problem),
        Ok(answer) => {
            envelope::open_result(writer);
            answer.write(writer, sender).await?;
            envelope::close(writer, &id);
        }
    }
    sender.flush_if_full(writer).await.map_err(Broken::from)
}

#[cfg(test)]
mod tests {
    use futures_util::{StreamExt, stream};

    use super::*;

    #[tokio::test]
    async fn a_body_that_stays_out_is_given_up() {
        let pieces = |count| {
            stream::iter(std::iter::repeat_n(b"[", count).map(|piece| std::io::Result::Ok(Bytes::from_static(piece))))
        };
        let silent = Body::from_stream(pieces(1).chain(stream::pending()));
        let (status, _) = whole(silent, 100, Duration::from_millis(50)).await.expect_err("it never ends");
        assert_eq!(status, StatusCode::REQUEST_TIMEOUT);
        let (status, _) = whole(Body::from(vec![b'['; 101]), 100, BODY_LIMIT).await.expect_err("it is too long");
        assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
        assert_eq!(whole(Body::from_stream(pieces(2)), 100, BODY_LIMIT).await.expect("two bytes"), "[[");
    }
}
