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
    /// Problems of its last report, after the fact that it has stopped, if so.
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
            problems: problems(state, report),
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

/// Problems, each as a sentence. Those of a `follow` that has stopped may be the reason why it did.
fn problems(state: Option<String>, report: Option<FollowReport>) -> Vec<String> {
    let when = if state.is_some() { "at its last report: " } else { "" };
    let reported = report.into_iter().flat_map(|report| report.problems);
    state.into_iter().chain(reported.map(|problem| format!("{when}{}", problem.detail))).collect()
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
    use trawl_core::schema::ReportedProblem;

    fn report(event: &str, age_s: u64) -> FollowReport {
        FollowReport {
            run: "run".into(),
            event: event.into(),
            interval_ms: 2_000,
            node_block: Some(7),
            node_silence_ms: 100,
            head_block: Some(7),
            head_age_ms: 100,
            problems: Vec::new(),
            report_age_ms: age_s * 1_000,
        }
    }

    #[test]
    fn a_follow_that_is_gone_is_no_follow_without_lag() {
        assert_eq!(state(Some(&report("alive", 3))), None);
        assert_eq!(state(Some(&report("ended", 3))).as_deref(), Some("follow was stopped 3 s ago"));
        let silent = state(Some(&report("alive", 90)));
        assert_eq!(silent.as_deref(), Some("follow has not reported for 90 s: it has stopped, or cannot write"));
        assert!(state(None).is_some());
    }

    #[test]
    fn a_problem_is_named_after_follow_has_stopped() {
        let full = ReportedProblem { kind: "disk".into(), detail: "the disk is full".into(), age_ms: 4_000 };
        let report = FollowReport { problems: vec![full], ..report("ended", 3) };
        assert_eq!(problems(None, Some(report.clone())), ["the disk is full"]);
        let stopped = problems(state(Some(&report)), Some(report));
        assert_eq!(stopped, ["follow was stopped 3 s ago", "at its last report: the disk is full"]);
    }
}
