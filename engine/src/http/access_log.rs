//! A line of the log for each request, with --access-log (docs/operate/observe.md#logs).

use std::net::Ipv4Addr;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use trawl_serve::{AccessLogEntry, Client};

/// Which requests are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessLog {
    /// None.
    Off,
    /// Each, refused ones too.
    On,
}

/// Writes the client, the path and the outcome of a request, with the id of its statement.
pub(super) async fn write(request: Request, next: Next) -> Response {
    let client = request.extensions().get().copied().unwrap_or(Client::of(Ipv4Addr::UNSPECIFIED.into()));
    let entry = AccessLogEntry::new(client, &request);
    let response = next.run(request).await;
    entry.write(&response, "x-clickhouse-query-id");
    response
}
