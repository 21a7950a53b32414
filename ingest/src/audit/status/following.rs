//! The state of following the head, as heads and reports tell it.

use serde::Serialize;
use trawl_core::store::{FollowRate, FollowReport, Head};

/// The state of following the head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FollowStatus {
    /// The newest block the node showed.
    pub node_block: u64,
    /// How many blocks the newest readable block lags.
    pub lag_blocks: u64,
    /// The block the node calls safe.
    pub safe_block: Option<u64>,
    /// The block that counts as final.
    pub finalized_block: Option<u64>,
    /// Blocks that are readable and not settled yet.
    pub hot_blocks: u64,
    /// Milliseconds since a node answered.
    pub silent_ms: u64,
    /// Milliseconds since follow reported; `None` if that was over a day ago.
    pub report_age_ms: Option<u64>,
    /// What was wrong at its last report.
    pub problems: Vec<String>,
    /// Blocks an hour, of late.
    pub blocks_per_hour: u64,
}

impl FollowStatus {
    /// What the newest head and the newest report say.
    #[must_use]
    pub fn new(head: &Head, pace: FollowRate, report: Option<FollowReport>) -> Option<Self> {
        let newest = head.newest.as_ref()?;
        let reported = report.as_ref().and_then(|report| report.node_block).unwrap_or(0);
        let node_block = newest.node_block.max(reported);
        let silence = report.as_ref().map(|report| report.node_silence_ms.saturating_add(report.report_age_ms));
        Some(Self {
            node_block,
            lag_blocks: node_block.saturating_sub(head.number().unwrap_or(0)),
            safe_block: newest.safe_block,
            finalized_block: newest.finalized_block,
            hot_blocks: head.blocks.unsettled().iter().map(|range| range.blocks.count()).sum(),
            silent_ms: silence.unwrap_or(pace.silent_ms),
            report_age_ms: report.as_ref().map(|report| report.report_age_ms),
            problems: report.into_iter().flat_map(|report| report.problems).map(|problem| problem.detail).collect(),
            blocks_per_hour: (pace.blocks * 3_600_000).checked_div(pace.millis).unwrap_or(0),
        })
    }

    /// For a person.
    pub(super) fn text(&self) -> String {
        let number = |number: Option<u64>| number.map_or_else(|| "unknown".into(), |number| number.to_string());
        format!(
            "node at {}, lag {} blocks, safe {}, finalized {}, {} blocks not settled, {} blocks/h, a node answered {:.1} s ago",
            self.node_block,
            self.lag_blocks,
            number(self.safe_block),
            number(self.finalized_block),
            self.hot_blocks,
            self.blocks_per_hour,
            self.silent_ms as f64 / 1000.0
        )
    }
}
