//! Measurements of requests.

use std::time::Instant;

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;

/// Counts a request and measures the time until its response headers.
pub(crate) async fn measure(path: Option<MatchedPath>, request: Request<Body>, next: Next) -> Response {
    let started = Instant::now();
    let route = path.map_or_else(|| "other".to_owned(), |path| path.as_str().to_owned());
    let method = label(request.method());
    let response = next.run(request).await;
    let status = response.status().as_u16().to_string();
    let seconds = started.elapsed().as_secs_f64();
    metrics::counter!("trawl_http_requests_total", "route" => route.clone(), "method" => method, "status" => status)
        .increment(1);
    metrics::histogram!("trawl_http_request_duration_seconds", "route" => route).record(seconds);
    response
}

/// The label of a method. HTTP clients can send any method, and labels are never freed, so unknown ones are `other`.
fn label(method: &Method) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"];
    KNOWN.into_iter().find(|known| *known == method.as_str()).unwrap_or("other")
}
