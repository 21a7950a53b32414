//! `GET /metrics`: what the places are doing, and how many parts are broken, as Prometheus text. Not at this path on a ClickHouse server.

use std::fmt::Write as _;

use axum::body::Body;
use axum::http::Response;

use crate::execute::admission::SlotUsage;

/// The metrics of the places, of the parts that were broken at the start, and of the log if there is one.
#[must_use]
pub fn metrics(uses: &[SlotUsage], broken_parts: u64, left_out_of_log: Option<u64>) -> Response<Body> {
    type Metric = (&'static str, &'static str, &'static str, fn(&SlotUsage) -> u64);
    let metrics: [Metric; 5] = [
        ("trawl_engine_places", "gauge", "Statements that may run at a time.", |one| u64::from(one.places)),
        ("trawl_engine_statements_running", "gauge", "Statements that run.", |one| one.running as u64),
        ("trawl_engine_statements_waiting", "gauge", "Statements that wait for a place.", |one| one.waiting as u64),
        ("trawl_engine_statements_total", "counter", "Statements that got a place.", |one| one.started),
        ("trawl_engine_statements_refused_total", "counter", "Statements that got no place.", |one| one.refused),
    ];
    let mut text = String::new();
    for (name, kind, help, value) in metrics {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for one in uses {
            let _ = writeln!(text, "{name}{{workload=\"{}\"}} {}", one.workload.name(), value(one));
        }
    }
    let _ = writeln!(
        text,
        "# HELP trawl_engine_broken_parts Parts of tables that were broken at the start.\n\
         # TYPE trawl_engine_broken_parts gauge\ntrawl_engine_broken_parts {broken_parts}"
    );
    if let Some(left_out) = left_out_of_log {
        let _ = writeln!(
            text,
            "# HELP trawl_engine_query_log_left_out_total Statements that system.query_log had no time for.\n\
             # TYPE trawl_engine_query_log_left_out_total counter\ntrawl_engine_query_log_left_out_total {left_out}"
        );
    }
    let answer = Response::builder().header("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    answer.body(Body::from(text)).unwrap_or_default()
}
