//! Metrics of following. The names follow <https://prometheus.io/docs/practices/naming/>.

use std::time::Duration;

use trawl_core::primitives::BlockNumber;

use super::problem::{Problem, ProblemKind};

/// Shows how far nodes and readers are, and what is wrong.
pub(super) fn show(
    (node_block, node_silence): (Option<BlockNumber>, Duration),
    (head_block, head_age): (Option<BlockNumber>, Duration),
    problems: &[Problem],
) {
    if let Some(node) = node_block {
        metrics::gauge!("trawl_ingest_node_block").set(node as f64);
        let behind = node.saturating_sub(head_block.unwrap_or(0));
        metrics::gauge!("trawl_ingest_lag_blocks").set(behind as f64);
    }
    metrics::gauge!("trawl_ingest_node_silence_seconds").set(node_silence.as_secs_f64());
    metrics::gauge!("trawl_ingest_head_age_seconds").set(head_age.as_secs_f64());
    for kind in ProblemKind::ALL {
        let is_there = problems.iter().any(|problem| problem.kind == kind);
        metrics::gauge!("trawl_ingest_problem", "kind" => kind.name()).set(f64::from(u8::from(is_there)));
    }
}
