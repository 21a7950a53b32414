//! Measurements of requests, and the upkeep of their summaries.

use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use metrics_exporter_prometheus::PrometheusHandle;

/// Time between two runs of the upkeep.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// Folds measured durations into their summaries at intervals, without end. Until it is folded, each duration is stored
/// by itself, so without upkeep the memory of a server that is never scraped would grow with every request.
pub async fn run_upkeep(handle: PrometheusHandle) {
    every(UPKEEP_INTERVAL, || handle.run_upkeep()).await;
}

async fn every(interval: Duration, mut act: impl FnMut()) {
    let mut tick = tokio::time::interval(interval);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        act();
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn upkeep_goes_on() {
        let mut runs = 0;
        let outcome =
            tokio::time::timeout(Duration::from_millis(200), every(Duration::from_millis(1), || runs += 1)).await;
        assert!(outcome.is_err() && runs > 3, "{runs}");
    }
}
