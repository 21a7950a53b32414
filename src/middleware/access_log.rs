//! A line of the log for each request, where the operator turns it on (docs/operate/observe.md#logs).

use std::time::Instant;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http_body::Body as _;

use super::requester::Requester;
use crate::app::App;

/// Most characters of a path in a line.
const SHOWN: usize = 200;

/// Writes the client, the path and the outcome of a request: without the query, which may have keys. The time is that
/// until the head of the answer; the bytes are those of its body, where they are known by then.
pub(crate) async fn write(
    State(app): State<App>,
    Requester(client): Requester,
    request: Request,
    next: Next,
) -> Response {
    if !app.options().access_log {
        return next.run(request).await;
    }
    let (method, path) = (request.method().clone(), request.uri().path().chars().take(SHOWN).collect::<String>());
    let started = Instant::now();
    let response = next.run(request).await;
    let id = response.headers().get("x-request-id").and_then(|id| id.to_str().ok());
    tracing::info!(
        target: "trawl::access",
        %client,
        %method,
        path,
        status = response.status().as_u16(),
        seconds = started.elapsed().as_secs_f64(),
        bytes = response.body().size_hint().exact(),
        request = id,
        "answered"
    );
    response
}
