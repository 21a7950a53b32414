//! `GET /metrics`: how the slots are used, and what the tables of the system say of disks, parts, memory and merges.
//! Not at this path on a ClickHouse server.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use trawl_metrics::{CONTENT_TYPE, Exposition};

use crate::execute::admission::SlotUsage;
use crate::execute::figures::SystemTables;

/// How long an answer waits for the tables of the system.
const TIMEOUT: Duration = Duration::from_secs(2);

/// What other parts of the engine count.
pub struct EngineCounts {
    /// How the slots of each workload are used.
    pub uses: Vec<SlotUsage>,
    /// Parts that were broken at the start.
    pub broken_parts: u64,
    /// Statements that the log had no time for, if there is a log.
    pub left_out_of_log: Option<u64>,
}

/// The answer with all metrics.
pub async fn metrics(exposition: &Exposition, tables: &Arc<SystemTables>, counted: EngineCounts) -> Response<Body> {
    for one in &counted.uses {
        let workload = one.workload.name();
        metrics::gauge!("trawl_engine_slots", "workload" => workload).set(f64::from(one.slots));
        metrics::gauge!("trawl_engine_statements_running", "workload" => workload).set(one.running as f64);
        metrics::gauge!("trawl_engine_statements_waiting", "workload" => workload).set(one.waiting as f64);
        metrics::counter!("trawl_engine_statements_total", "workload" => workload).absolute(one.started);
        metrics::counter!("trawl_engine_statements_refused_total", "workload" => workload).absolute(one.refused);
    }
    metrics::gauge!("trawl_engine_broken_parts").set(counted.broken_parts as f64);
    metrics::counter!("trawl_engine_query_log_left_out_total").absolute(counted.left_out_of_log.unwrap_or(0));
    let reading = Arc::clone(tables);
    let read = tokio::task::spawn_blocking(move || reading.show());
    let is_missing = !matches!(tokio::time::timeout(TIMEOUT, read).await, Ok(Ok(true)));
    metrics::gauge!("trawl_engine_figures_missing").set(f64::from(u8::from(is_missing)));
    let answer = Response::builder().header("Content-Type", CONTENT_TYPE);
    answer.body(Body::from(exposition.render())).unwrap_or_default()
}
