//! A line of the log for each request, with --access-log (docs/operate/observe.md#logs).

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use trawl_serve::AccessLogEntry;

use super::requester::Requester;
use crate::app::App;

/// Writes the client, the path and the outcome of a request.
pub(crate) async fn write(
    State(app): State<App>,
    Requester(client): Requester,
    request: Request,
    next: Next,
) -> Response {
    if !app.options().access_log {
        return next.run(request).await;
    }
    let entry = AccessLogEntry::new(client, &request);
    let response = next.run(request).await;
    entry.write(&response, "x-request-id");
    response
}
