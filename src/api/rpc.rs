//! The JSON-RPC endpoint (specification 4.10): envelope, batches, one table of methods.

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::value::RawValue;

use super::streamed::{BodySender, Gone, body};
use super::{App, Problem};
use crate::json::JsonWriter;

mod blocks;
mod envelope;
mod logs;
mod methods;
mod params;
mod transactions;

use envelope::{Call, Id};
use methods::Answer;

/// Longest body; twenty million bytes as clients of this API family expect.
const MAX_BODY: usize = 20_000_000;

/// Answers one call or a batch. A failed call is an answer too, so the status is 200 whatever comes of it.
pub(super) async fn serve(State(app): State<App>, request: Request) -> Response {
    let text = match axum::body::to_bytes(request.into_body(), MAX_BODY).await {
        Ok(text) => text,
        Err(_) => return refuse(StatusCode::PAYLOAD_TOO_LARGE, &Problem::InvalidRequest("Payload Too Large".into())),
    };
    let calls: Vec<Box<RawValue>> = match serde_json::from_slice::<Box<RawValue>>(&text) {
        Err(_) => return refuse(StatusCode::BAD_REQUEST, &Problem::ParseError),
        Ok(single) if !single.get().starts_with('[') => {
            return answer(body(|sender| answer_single(app, single, sender)));
        }
        Ok(batch) => match serde_json::from_str(batch.get()) {
            Ok(calls) => calls,
            Err(_) => return refuse(StatusCode::BAD_REQUEST, &Problem::ParseError),
        },
    };
    let limit = app.options().max_batch;
    if calls.len() > limit {
        let text = format!("Payload Too Large. Max batch size is {limit}");
        return refuse(StatusCode::PAYLOAD_TOO_LARGE, &Problem::InvalidRequest(text));
    }
    answer(body(|sender| answer_batch(app, calls, sender)))
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
    let mut writer = JsonWriter::new();
    match answer_call(&app, &call, &mut writer, &sender).await {
        Ok(()) => {
            writer.raw("\n");
            // A client that has gone needs no end.
            let _ = sender.flush(&mut writer).await;
        }
        Err(Broken::Gone) => {}
        Err(Broken::Problem(problem)) => sender.abort(&problem).await,
    }
}

/// Answers in the order of the calls, one after another: memory is that of one answer.
async fn answer_batch(app: App, calls: Vec<Box<RawValue>>, sender: BodySender) {
    let mut writer = JsonWriter::new();
    writer.raw("[");
    for (position, call) in calls.iter().enumerate() {
        if position > 0 {
            writer.raw(",");
        }
        match answer_call(&app, call, &mut writer, &sender).await {
            Ok(()) => {}
            Err(Broken::Gone) => return,
            Err(Broken::Problem(problem)) => return sender.abort(&problem).await,
        }
    }
    writer.raw("]\n");
    // A client that has gone needs no end.
    let _ = sender.flush(&mut writer).await;
}

/// Why an answer that has begun cannot be ended.
enum Broken {
    /// Nobody reads it.
    Gone,
    /// What was sent so far is not all of it.
    Problem(Problem),
}

impl From<Gone> for Broken {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

impl From<Problem> for Broken {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// Writes the answer to one call. Failures before its first byte become its error object.
async fn answer_call(app: &App, text: &RawValue, writer: &mut JsonWriter, sender: &BodySender) -> Result<(), Broken> {
    let (id, called) = Call::read(text);
    let outcome = match called {
        Ok(call) => {
            let outcome = methods::call(app, &call).await;
            let name = methods::known_name(&call.method).unwrap_or("other");
            let verdict = if outcome.is_ok() { "ok" } else { "error" };
            metrics::counter!("trawl_rpc_requests_total", "method" => name, "outcome" => verdict).increment(1);
            outcome
        }
        Err(problem) => Err(problem),
    };
    match outcome {
        Err(problem) => envelope::write_error(writer, &id, &problem),
        Ok(Answer::Whole(json)) => {
            envelope::open_result(writer);
            writer.raw(json);
            envelope::close(writer, &id);
        }
        Ok(Answer::Logs(logs)) => {
            envelope::open_result(writer);
            logs.write(writer, sender).await?;
            envelope::close(writer, &id);
        }
    }
    sender.flush_if_full(writer).await.map_err(Broken::from)
}
