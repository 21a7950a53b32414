//! Metrics of `follow`, set on each scrape.

use super::inspection::{Inspection, SettledBlock};
use super::problem::ProblemKind;

/// Sets whether `follow` runs, the heights of nodes and readers, and the problems.
pub(super) fn show(is_ready: bool, inspection: Option<&Inspection>, settled: Option<SettledBlock>) {
    metrics::gauge!("trawl_ingest_ready").set(f64::from(u8::from(is_ready)));
    if let Some(settled) = settled {
        metrics::gauge!("trawl_ingest_settled_block").set(settled.number as f64);
        metrics::gauge!("trawl_ingest_settled_age_seconds").set(settled.at.elapsed().as_secs_f64());
    }
    for kind in ProblemKind::ALL {
        let mut problems = inspection.into_iter().flat_map(|inspection| &inspection.problems);
        let is_there = problems.any(|problem| problem.kind == kind);
        metrics::gauge!("trawl_ingest_problem", "kind" => kind.name()).set(f64::from(u8::from(is_there)));
    }
    let Some(inspection) = inspection else { return };
    if let Some(node) = inspection.node_block {
        metrics::gauge!("trawl_ingest_node_block").set(node as f64);
        let behind = node.saturating_sub(inspection.head_block.unwrap_or(0));
        metrics::gauge!("trawl_ingest_lag_blocks").set(behind as f64);
    }
    let age = inspection.at.elapsed();
    metrics::gauge!("trawl_ingest_watch_age_seconds").set(age.as_secs_f64());
    metrics::gauge!("trawl_ingest_node_silence_seconds").set((inspection.node_silence + age).as_secs_f64());
    metrics::gauge!("trawl_ingest_head_age_seconds").set(inspection.head_since.elapsed().as_secs_f64());
}
