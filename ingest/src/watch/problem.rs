//! What can be wrong, and since when it is.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use trawl_core::schema::ReportedProblem;

/// A kind of problem, by the name that metrics and health use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ProblemKind {
    /// There is no connection to a node.
    NodeUnreachable,
    /// A node takes calls and does not answer them.
    NodeSilent,
    /// A node answers late.
    NodeSlow,
    /// A node, or a gateway before it, answers with errors or with what is no answer.
    NodeFailing,
    /// A node limits its callers, and has reached the limit.
    NodeRateLimited,
    /// No node has call frames or state of the blocks that are fetched.
    NodePruned,
    /// A node is of another chain.
    NodeForeign,
    /// No node has the newest block that readers see.
    NodeBehind,
    /// ClickHouse does not answer.
    ClickhouseUnreachable,
    /// ClickHouse refuses writes.
    ClickhouseRefuses,
    /// ClickHouse has no room on its disk.
    DiskFull,
    /// Nothing of the above, and yet nothing new is written.
    StandingStill,
}

impl ProblemKind {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::NodeUnreachable,
        Self::NodeSilent,
        Self::NodeSlow,
        Self::NodeFailing,
        Self::NodeRateLimited,
        Self::NodePruned,
        Self::NodeForeign,
        Self::NodeBehind,
        Self::ClickhouseUnreachable,
        Self::ClickhouseRefuses,
        Self::DiskFull,
        Self::StandingStill,
    ];

    /// Its name in metrics and in `follow_reports`.
    pub fn name(self) -> &'static str {
        match self {
            Self::NodeUnreachable => "node_unreachable",
            Self::NodeSilent => "node_silent",
            Self::NodeSlow => "node_slow",
            Self::NodeFailing => "node_failing",
            Self::NodeRateLimited => "node_rate_limited",
            Self::NodePruned => "node_pruned",
            Self::NodeForeign => "node_foreign",
            Self::NodeBehind => "node_behind",
            Self::ClickhouseUnreachable => "clickhouse_unreachable",
            Self::ClickhouseRefuses => "clickhouse_refuses",
            Self::DiskFull => "disk_full",
            Self::StandingStill => "standing_still",
        }
    }
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub kind: ProblemKind,
    /// What it is about: a node, or nothing.
    pub subject: String,
    /// The problem in words, for operators.
    pub detail: String,
    /// How long it has been so.
    pub age: Duration,
}

impl Problem {
    /// One that was found now.
    pub fn new(kind: ProblemKind, subject: &str, detail: String) -> Self {
        Self { kind, subject: subject.into(), detail, age: Duration::ZERO }
    }

    /// The same for a report.
    pub fn reported(&self) -> ReportedProblem {
        let age_ms = u64::try_from(self.age.as_millis()).unwrap_or(u64::MAX);
        ReportedProblem { kind: self.kind.name().into(), detail: self.detail.clone(), age_ms }
    }
}

/// When problems began that last.
#[derive(Debug, Default)]
pub(super) struct ProblemStarts(HashMap<(ProblemKind, String), Instant>);

impl ProblemStarts {
    /// Adds to each problem since when it is; those that are gone are forgotten.
    pub fn date(&mut self, mut problems: Vec<Problem>) -> Vec<Problem> {
        let now = Instant::now();
        let mut onsets = HashMap::new();
        for problem in &mut problems {
            let key = (problem.kind, problem.subject.clone());
            let onset = self.0.get(&key).copied().unwrap_or(now);
            problem.age = problem.age.max(now.duration_since(onset));
            onsets.insert(key, onset);
        }
        self.0 = onsets;
        problems
    }
}
