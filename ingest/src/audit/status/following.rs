//! The state of following the head, as heads and reports tell it.

use serde::Serialize;
use trawl_core::store::{FollowRate, FollowReport, Head};

/// The state of following the head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FollowStatus {
    /// The newest block the node showed.
    pub node_block: u64,
    /// How many blocks the newest readable block lags; `None` while nothing follows, as far as is known.
    pub lag_blocks: Option<u64>,
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
    /// What was wrong at its last report, or that none came since.
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
        let state = state(report.as_ref());
        let lag = node_block.saturating_sub(head.number().unwrap_or(0));
        let silence = report.as_ref().map(|report| report.node_silence_ms.saturating_add(report.report_age_ms));
        Some(Self {
            node_block,
            lag_blocks: state.is_none().then_some(lag),
            safe_block: newest.safe_block,
            finalized_block: newest.finalized_block,
            hot_blocks: head.blocks.unsettled().iter().map(|range| range.blocks.count()).sum(),
            silent_ms: silence.unwrap_or(pace.silent_ms),
            report_age_ms: report.as_ref().map(|report| report.report_age_ms),
            problems: match state {
                Some(state) => vec![state],
                None => report.into_iter().flat_map(|report| report.problems).map(|problem| problem.detail).collect(),
            },
            blocks_per_hour: (pace.blocks * 3_600_000).checked_div(pace.millis).unwrap_or(0),
        })
    }

    /// For a person.
    pub(super) fn text(&self) -> String {
        let number = |number: Option<u64>| number.map_or_else(|| "unknown".into(), |number| number.to_string());
        format!(
            "node at {}, {}, safe {}, finalized {}, {} blocks not settled, {} blocks/h, a node answered {:.1} s ago",
            self.node_block,
            self.lag_blocks.map_or_else(|| "lag unknown".into(), |lag| format!("lag {lag} blocks")),
            number(self.safe_block),
            number(self.finalized_block),
            self.hot_blocks,
            self.blocks_per_hour,
            self.silent_ms as f64 / 1000.0
        )
    }
}

/// That nothing follows, by the newest report; `None` while it goes on.
fn state(report: Option<&FollowReport>) -> Option<String> {
    let Some(report) = report else { return Some("follow has not reported for more than a day".into()) };
    let seconds = report.age().as_secs();
    match (report.is_last(), report.is_missed()) {
        (true, _) => Some(format!("follow was stopped {seconds} s ago")),
        (false, true) => Some(format!("follow has not reported for {seconds} s: it has stopped, or cannot write")),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_follow_that_is_gone_is_no_follow_without_lag() {
        let report = |event: &str, age_s: u64| FollowReport {
            run: "run".into(),
            event: event.into(),
            interval_ms: 2_000,
            node_block: Some(7),
            node_silence_ms: 100,
            head_block: Some(7),
            head_age_ms: 100,
            problems: Vec::new(),
            report_age_ms: age_s * 1_000,
        };
        assert_eq!(state(Some(&report("alive", 3))), None);
        assert_eq!(state(Some(&report("ended", 3))).as_deref(), Some("follow was stopped 3 s ago"));
        let silent = state(Some(&report("alive", 90)));
        assert_eq!(silent.as_deref(), Some("follow has not reported for 90 s: it has stopped, or cannot write"));
        assert!(state(None).is_some());
    }
}
