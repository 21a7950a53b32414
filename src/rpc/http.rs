//! Calls and batches over HTTP.

mod calls_ahead;
mod effect;

use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use serde_json::value::RawValue;
use trawl_serve::Client;

use super::methods;
use super::protocol::context::{HeadSnapshot, RequestContext};
use super::protocol::endpoint::{Endpoint, RpcRequester};
use super::protocol::envelope;
use super::protocol::envelope::{Call, Id, Message};
use super::service::Rpc;
use crate::error::Problem;
use crate::http::body::{BodySender, CHUNK_BYTES, ResponseBudget, StreamError, body};
use crate::http::request_body;
use crate::limits::{Allowance, MemoryReservation};
use crate::middleware::requester::Requester;
use calls_ahead::{Batch, CallsAhead, EarlyAnswer};
use trawl_json::JsonWriter;

/// Answers one call or a batch. The error of a call is an answer too, so the status is 200 in that case as well.
pub(crate) async fn serve(
    State(rpc): State<Rpc>,
    Extension(endpoint): Extension<Endpoint>,
    Requester(client): Requester,
    allowance: Allowance,
    request: Request,
) -> Response {
    let (parts, unread) = request.into_parts();
    let (limits, options) = (rpc.app().limits(), rpc.app().options());
    let received = request_body::read(&limits.bodies, client, &parts.headers, unread, options.max_body).await;
    let received = match received {
        Ok(received) => received,
        Err(problem) => return refuse_body(endpoint, &problem),
    };
    let requester = RpcRequester { endpoint, client };
    let taker = ResponseBudget { limits: Arc::clone(limits), client };
    let held = received.held;
    let calls = match Message::read(&received.text) {
        Err(problem) => return refuse(endpoint.status_of_refused(StatusCode::BAD_REQUEST), &problem),
        Ok(Message::One(call)) => {
            return answer(body(taker, |sender| answer_single(rpc, requester, call, held, sender)));
        }
        Ok(Message::Batch(calls)) => calls,
    };
    let refuse_batch = |problem: &Problem| {
        let text = envelope::refused_batch(&calls, endpoint, problem);
        refusal(endpoint.status_of_refused(StatusCode::PAYLOAD_TOO_LARGE), text, problem)
    };
    if let Err(problem) = endpoint.check_batch(calls.len(), options) {
        return refuse_batch(&problem);
    }
    // The request was counted for one call.
    if let Err(problem) = allowance.take(calls.len().saturating_sub(1)) {
        return match problem.retry_after_seconds() {
            Some(_) => refuse(problem.status(), &problem),
            None => refuse_batch(&problem),
        };
    }
    let batch = Batch::new(rpc, requester, calls, held);
    answer(body(taker, |sender| answer_batch(batch, sender)))
}

/// Answers one call that is not a message of a client, by the rules of the specification's endpoint.
///
/// # Errors
///
/// When there is no memory for it.
pub(crate) async fn answer_one(rpc: Rpc, client: Client, call: &Value) -> Result<Response, Problem> {
    let text = serde_json::value::to_raw_value(call).map_err(|_| Problem::ParseError)?;
    let held = rpc.app().limits().bodies.hold(client, text.get().len())?;
    let (requester, limits) =
        (RpcRequester { endpoint: Endpoint::Specification, client }, Arc::clone(rpc.app().limits()));
    Ok(answer(body(ResponseBudget { limits, client }, move |sender| answer_single(rpc, requester, text, held, sender))))
}

/// Refuses a body. The text of one that is too long is that of the contract.
fn refuse_body(endpoint: Endpoint, problem: &Problem) -> Response {
    match problem {
        Problem::PayloadTooLarge => {
            refuse(StatusCode::PAYLOAD_TOO_LARGE, &Problem::InvalidRequest("Payload Too Large".into()))
        }
        Problem::Malformed => refuse(endpoint.status_of_refused(StatusCode::BAD_REQUEST), &Problem::ParseError),
        problem => refuse(problem.status(), problem),
    }
}

fn answer(body: Body) -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
}

/// The answer to a message without a readable id.
fn refuse(status: StatusCode, problem: &Problem) -> Response {
    let mut writer = JsonWriter::new();
    envelope::write_error(&mut writer, &Id::null(), problem);
    refusal(status, writer.into_bytes(), problem)
}

/// The answer to a message that is refused whole, with its JSON text.
fn refusal(status: StatusCode, mut text: Vec<u8>, problem: &Problem) -> Response {
    text.push(b'\n');
    let json = HeaderValue::from_static("application/json");
    let mut response = (status, [(CONTENT_TYPE, json)], Bytes::from(text)).into_response();
    problem.set_retry_after(&mut response);
    response
}

async fn answer_single(
    rpc: Rpc,
    requester: RpcRequester,
    call: Box<RawValue>,
    _held: MemoryReservation,
    sender: BodySender,
) {
    let head = HeadSnapshot::of(rpc.app());
    let request = RequestContext { rpc: &rpc, head: &head, requester };
    let mut writer = JsonWriter::new();
    match answer_call(request, &call, &mut writer, &sender, "").await {
        Ok(CallKind::No) => {}
        Ok(CallKind::Yes) => {
            writer.raw("\n");
            // A client that has gone needs no end of the answer.
            let _ = sender.flush(&mut writer).await;
        }
        Err(StreamError::Disconnected) => {}
        Err(StreamError::Problem(problem)) => sender.abort(&problem).await,
    }
}

/// Answers the calls in order, all from the same head. Short answers of reads may be made before their turn. A batch of
/// notifications has no answer.
async fn answer_batch(batch: Batch, sender: BodySender) {
    let batch = Arc::new(batch);
    let mut ahead = CallsAhead::new(Arc::clone(&batch));
    let mut writer = JsonWriter::new();
    let mut before = "[";
    for (index, call) in batch.calls.iter().enumerate() {
        let answered = match ahead.take(index).await {
            Some(early) => write_early(early, &mut writer, &sender, before).await,
            None => answer_call(batch.request(), call, &mut writer, &sender, before).await,
        };
        match answered {
            Ok(CallKind::No) => {}
            Ok(CallKind::Yes) => before = ",",
            Err(StreamError::Disconnected) => return,
            Err(StreamError::Problem(problem)) => return sender.abort(&problem).await,
        }
    }
    match before {
        "[" if batch.calls.is_empty() => writer.raw("[]\n"),
        "[" => {}
        _ => writer.raw("]\n"),
    }
    // A client that has gone needs no end of the answer.
    let _ = sender.flush(&mut writer).await;
}

/// Writes an answer that was made before its turn.
async fn write_early(
    early: EarlyAnswer,
    writer: &mut JsonWriter,
    sender: &BodySender,
    before: &str,
) -> Result<CallKind, StreamError> {
    if early.text.is_empty() {
        return Ok(CallKind::No);
    }
    writer.raw(before);
    // Piece by piece, as other answers: a client that takes them slowly is noticed, and the text counts until the end.
    for piece in early.text.chunks(CHUNK_BYTES) {
        writer.raw(piece);
        sender.flush_if_full(writer).await?;
    }
    Ok(CallKind::Yes)
}

/// Whether a call was one that is answered.
enum CallKind {
    Yes,
    /// A notification: a request without `id`, which has no response.
    No,
}

/// Writes the answer to one call after the text `before`. Failures before its first byte become its error object.
async fn answer_call(
    request: RequestContext<'_>,
    text: &RawValue,
    writer: &mut JsonWriter,
    sender: &BodySender,
    before: &str,
) -> Result<CallKind, StreamError> {
    let (id, called) = Call::read(text, request.requester.endpoint);
    let outcome = match &called {
        Ok(call) => {
            let outcome = methods::call(request, call).await;
            let outcome = outcome.and_then(|answer| sender.charge(answer.len()).map(|()| answer));
            methods::count(&call.method, outcome.is_ok());
            outcome
        }
        Err(problem) => Err(problem.clone()),
    };
    let Some(id) = id else { return Ok(CallKind::No) };
    writer.raw(before);
    match outcome {
        Err(problem) => {
            let method = called.as_ref().map_or("", |call| call.method.as_str());
            envelope::write_error_of(writer, &id, method, &problem);
        }
        Ok(answer) => {
            envelope::open_result(writer);
            answer.write(writer, sender).await?;
            envelope::close(writer, &id);
        }
    }
    sender.flush_if_full(writer).await?;
    Ok(CallKind::Yes)
}
