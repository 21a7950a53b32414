//! How following goes, as it is reported in the tables: what `trawl-ingest follow` says, and what its silence says.

use std::time::Duration;

use serde_json::{Value, json};
use trawl_core::store::{FollowReport, FullDisk, StoreError};

use super::problem::Problem;
use crate::app::App;

/// The longest that the store may take to answer; a probe waits only a few seconds.
pub(crate) const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long ago things happened, by the clock of ClickHouse.
pub(crate) struct Ages {
    /// The last report.
    pub report: Duration,
    /// The last answer of a node.
    pub node: Duration,
    /// The newest block that readers see.
    pub head: Duration,
}

/// What is known of following.
#[derive(Debug, Default)]
pub(crate) struct FollowState {
    report: Option<FollowReport>,
    /// Whether the newest blocks were written by following, so that reports are due.
    is_followed: bool,
    /// Disks without room, where that was looked at.
    full: Vec<FullDisk>,
    /// Why the store does not say.
    failure: Option<StoreError>,
}

impl FollowState {
    /// Reads what is known.
    pub async fn read(app: &App) -> Self {
        let reader = app.reader();
        let is_followed = app.known_head().is_ok_and(|head| head.newest.is_some());
        let report = match within(reader.newest_follow_report()).await {
            Ok(report) => report,
            Err(error) => return Self { failure: Some(error), is_followed, ..Self::default() },
        };
        let is_missed = report.as_ref().is_some_and(FollowReport::is_missed);
        // Not every account may look at disks.
        let full = if is_missed { within(reader.full_disks()).await.unwrap_or_default() } else { Vec::new() };
        Self { report, is_followed, full, failure: None }
    }

    /// Whether the store answered.
    pub fn is_known(&self) -> bool {
        self.failure.is_none()
    }

    /// Whether a chain that was followed has no report any more: those of more than a day ago are dropped.
    fn is_forgotten(&self) -> bool {
        self.is_followed && self.is_known() && self.report.is_none()
    }

    /// What is wrong, worst first.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = self.failure.iter().map(of_store).collect();
        problems.extend(self.full.iter().map(of_disk));
        if self.is_forgotten() {
            let detail = "trawl-ingest follow has not reported for more than a day: it has stopped, or cannot write";
            problems.push(Problem::of_unknown_age("follow_silent", detail.into()));
        }
        let Some(report) = &self.report else { return problems };
        match (report.is_last(), report.is_missed()) {
            (true, _) => problems.push(Problem::new(
                "follow_ended",
                format!("trawl-ingest follow was stopped {} ago", seconds(report.age())),
                report.age(),
            )),
            (false, true) => problems.push(Problem::new(
                "follow_silent",
                format!(
                    "trawl-ingest follow has not reported for {}: it has stopped, or cannot write",
                    seconds(report.age())
                ),
                report.age(),
            )),
            (false, false) => problems.extend(report.problems.iter().map(|problem| {
                let age = Duration::from_millis(problem.age_ms).saturating_add(report.age());
                Problem::new(&problem.kind, problem.detail.clone(), age)
            })),
        }
        problems
    }

    /// Since when readers see nothing new, if that is longer than they may; of a chain that is followed.
    pub fn staleness(&self, stale_after: Option<Duration>) -> Option<Problem> {
        let limit = stale_after?;
        if self.is_forgotten() {
            let detail = "readers have seen no new block since trawl-ingest follow reported last, more than a day ago";
            return Some(Problem::of_unknown_age("stale", detail.into()));
        }
        let age = self.report.as_ref()?.head_age();
        if age < limit {
            return None;
        }
        let (age_text, limit_text) = (seconds(age), seconds(limit));
        let detail = format!("readers have seen no new block for {age_text}, longer than --stale-after {limit_text}");
        Some(Problem::new("stale", detail, age))
    }

    /// How far the node is, as far as that is known.
    pub fn node_block(&self, app: &App) -> Option<u64> {
        let named = app.known_head().ok().and_then(|head| Some(head.newest.as_ref()?.node_block));
        self.report.as_ref().and_then(|report| report.node_block).max(named)
    }

    /// How long ago things happened, for metrics.
    pub fn ages(&self) -> Option<Ages> {
        let report = self.report.as_ref()?;
        Some(Ages { report: report.age(), node: report.node_silence(), head: report.head_age() })
    }

    /// The same in JSON; null if nothing is followed.
    pub fn value(&self, app: &App, number: Option<u64>) -> Value {
        let Some(node_block) = self.node_block(app) else { return Value::Null };
        let report = self.report.as_ref();
        let millis = |of: fn(&FollowReport) -> Duration| {
            report.map(|report| u64::try_from(of(report).as_millis()).unwrap_or(u64::MAX))
        };
        json!({
            "node_block": node_block,
            "lag_blocks": number.map(|number| node_block.saturating_sub(number)),
            "silent_ms": millis(FollowReport::node_silence),
            "head_age_ms": millis(FollowReport::head_age),
            "report_age_ms": millis(FollowReport::age),
        })
    }
}

fn of_store(error: &StoreError) -> Problem {
    // The words of ClickHouse are in the log: probes are answered to strangers.
    match error.is_unreachable() {
        true => Problem::of_unknown_age("clickhouse_unreachable", "ClickHouse does not answer".into()),
        false => Problem::of_unknown_age("clickhouse_refuses", "ClickHouse refuses to read its tables".into()),
    }
}

fn of_disk(disk: &FullDisk) -> Problem {
    let detail = format!("disk {} of ClickHouse is full: {} bytes are free", disk.name, disk.free_bytes);
    Problem::of_unknown_age("disk_full", detail)
}

/// What a statement gives, if a probe can wait for it.
pub(crate) async fn within<T>(statement: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    tokio::time::timeout(PROBE_TIMEOUT, statement).await.unwrap_or_else(|_| Err(StoreError::silent()))
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}
