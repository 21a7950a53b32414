//! Something that is wrong, for operators.

use std::time::Duration;

use serde::Serialize;

/// Something that is wrong.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Problem {
    /// Its kind, as metrics name it.
    pub kind: String,
    /// The problem in words, for operators.
    pub detail: String,
    /// How long it has been so; `None` if that is not known.
    pub seconds: Option<u64>,
}

impl Problem {
    pub fn new(kind: &str, detail: String, age: Duration) -> Self {
        Self { kind: kind.into(), detail, seconds: Some(age.as_secs()) }
    }

    /// A problem that is found by a check, which does not show when it began.
    pub fn of_unknown_age(kind: &str, detail: String) -> Self {
        Self { kind: kind.into(), detail, seconds: None }
    }
}

/// The kinds of problems: those that `follow` reports, and those that the API finds.
pub(crate) const KINDS: [&str; 18] = [
    "node_unreachable",
    "node_silent",
    "node_slow",
    "node_failing",
    "node_rate_limited",
    "node_pruned",
    "node_foreign",
    "node_behind",
    "clickhouse_unreachable",
    "clickhouse_refuses",
    "disk_full",
    "standing_still",
    "shard_missing",
    "address_missing",
    "address_lags",
    "follow_silent",
    "follow_ended",
    "stale",
];

/// Sets `trawl_problem` of each kind that is there to 1, and of all others to 0.
pub(crate) fn show(problems: &[Problem]) {
    for kind in KINDS {
        let is_there = problems.iter().any(|problem| problem.kind == kind);
        metrics::gauge!("trawl_problem", "kind" => kind).set(f64::from(u8::from(is_there)));
    }
    // A newer `follow` may know more.
    for problem in problems.iter().filter(|problem| !KINDS.contains(&&*problem.kind)) {
        tracing::debug!(kind = problem.kind, "follow reported a problem of an unknown kind");
    }
}
