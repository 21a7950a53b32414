//! Probes, metrics and the version: for operators, not for users of the chain's data.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::App;

/// The process runs.
pub(super) async fn live() -> &'static str {
    "ok\n"
}

/// The schema is there and a head is known.
pub(super) async fn ready(State(app): State<App>) -> Response {
    let schema = app.reader().require_schema().await.map_err(|error| crate::chain(&error));
    let head = app.head().ok().and_then(|head| head.number());
    match (schema, head) {
        (Ok(()), Some(_)) => (super::OK, "ready\n").into_response(),
        (Ok(()), None) => (StatusCode::SERVICE_UNAVAILABLE, "no block is committed yet\n").into_response(),
        (Err(error), _) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
    }
}

/// The same for people and for clients of this API family.
pub(super) async fn health(State(app): State<App>) -> (StatusCode, Json<Value>) {
    let head = app.head().ok();
    let number = head.as_ref().and_then(|head| head.number());
    let status = if number.is_some() { StatusCode::OK } else { StatusCode::INTERNAL_SERVER_ERROR };
    let body = json!({
        "healthy": number.is_some(),
        "data": {"latest_block_number": number, "ranges": head.map_or(0, |head| head.blocks.ranges().len())},
    });
    (status, Json(body))
}

/// Prometheus text.
pub(super) async fn metrics(State(app): State<App>) -> Response {
    let Some(handle) = &app.0.metrics else { return StatusCode::NOT_FOUND.into_response() };
    if let Some(number) = app.head().ok().and_then(|head| head.number()) {
        metrics::gauge!("trawl_head_block", "source" => "db").set(number as f64);
    }
    handle.run_upkeep();
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], handle.render()).into_response()
}

/// The version, as clients of this API family ask for it on every page.
pub(super) async fn backend_version() -> Json<Value> {
    Json(json!({"backend_version": concat!("v", env!("CARGO_PKG_VERSION"))}))
}
