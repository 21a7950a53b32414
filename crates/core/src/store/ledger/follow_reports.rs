//! Status reports of `trawl-ingest follow`, as rows of `follow_reports`, and the state of disks.

use std::time::Duration;

use crate::primitives::BlockNumber;
use crate::schema::ReportedProblem;
use crate::schema::columns::columns;
use crate::statement::{Parameter, Statement};
use crate::store::error::UNKNOWN_TABLE;
use crate::store::{Reader, StoreError, Writer};

/// With less free space than this on a disk, ClickHouse refuses even small inserts.
const FULL_BELOW_BYTES: u64 = 16 << 20;

/// Reports that are late by so many intervals are missed.
const SILENT_INTERVALS: u64 = 4;
/// The least that a report must be late to be missed: an insert may take a while.
const MIN_SILENCE: Duration = Duration::from_secs(3);

columns! {
    /// A report, as it is stored.
    pub struct FollowReport / FollowReportView {
        /// The run that reports.
        run: String,
        /// `alive` or `ended`.
        event: String,
        /// Time between two reports.
        interval_ms: u64,
        /// The newest block of the nodes, if any has answered.
        node_block: Option<u64>,
        /// Time since a node had answered.
        node_silence_ms: u64,
        /// The newest block that readers saw.
        head_block: Option<u64>,
        /// Time since that was the newest.
        head_age_ms: u64,
        /// The problems that the report names.
        problems: Vec<ReportedProblem>,
        /// How old the report is, by ClickHouse's clock.
        report_age_ms: u64,
    }
}

columns! {
    /// A disk of ClickHouse that is almost full.
    pub struct FullDisk / FullDiskView {
        /// Name of the disk in `system.disks`.
        name: String,
        /// The free space.
        free_bytes: u64,
    }
}

columns! {
    pub struct ReadersHead / ReadersHeadView {
        head_block: Option<u64>,
    }
}

/// The content of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReport<'a> {
    /// Time between two reports.
    pub interval: Duration,
    /// The newest block of the nodes.
    pub node_block: Option<BlockNumber>,
    /// Time since a node has answered.
    pub node_silence: Duration,
    /// The newest block that readers see.
    pub head_block: Option<BlockNumber>,
    /// Time since readers first saw it as the newest.
    pub head_age: Duration,
    /// The problems that the report names.
    pub problems: &'a [ReportedProblem],
    /// Whether it is the last report of this run.
    pub is_last: bool,
}

impl FollowReport {
    /// Whether `follow` was stopped after it.
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.event == "ended"
    }

    /// Whether later reports should have come.
    #[must_use]
    pub fn is_missed(&self) -> bool {
        let allowed = Duration::from_millis(self.interval_ms.saturating_mul(SILENT_INTERVALS)).max(MIN_SILENCE);
        !self.is_last() && self.age() > allowed
    }

    /// The time since readers first saw the newest block.
    #[must_use]
    pub fn head_age(&self) -> Duration {
        Duration::from_millis(self.head_age_ms.saturating_add(self.report_age_ms))
    }

    /// The time since a node has answered.
    #[must_use]
    pub fn node_silence(&self) -> Duration {
        Duration::from_millis(self.node_silence_ms.saturating_add(self.report_age_ms))
    }

    /// The time since the report.
    #[must_use]
    pub fn age(&self) -> Duration {
        Duration::from_millis(self.report_age_ms)
    }
}

fn millis(duration: Duration) -> Parameter {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).into()
}

impl Writer {
    /// Records a report; its time is that of ClickHouse.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn record_follow_report(&self, report: &NewReport<'_>) -> Result<(), StoreError> {
        let number = |number: Option<BlockNumber>| Parameter::Numbers(number.into_iter().collect());
        let texts = |of: fn(&ReportedProblem) -> &String| {
            Parameter::Texts(report.problems.iter().map(|problem| of(problem).clone()).collect())
        };
        let ages = report.problems.iter().map(|problem| problem.age_ms).collect();
        let parameters = [
            ("run", self.run().into()),
            ("event", if report.is_last { "ended" } else { "alive" }.into()),
            ("interval_ms", millis(report.interval)),
            ("node_block", number(report.node_block)),
            ("node_silence_ms", millis(report.node_silence)),
            ("head_block", number(report.head_block)),
            ("head_age_ms", millis(report.head_age)),
            ("kinds", texts(|problem| &problem.kind)),
            ("details", texts(|problem| &problem.detail)),
            ("ages", Parameter::Numbers(ages)),
        ];
        self.execute_promptly(include_str!("../../../../../sql/queries/record_follow_report.sql"), &parameters).await
    }
}

impl Reader {
    /// The newest report, if follow ever ran of late.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn newest_follow_report(&self) -> Result<Option<FollowReport>, StoreError> {
        let statement = Statement::page(include_str!("../../../../../sql/queries/newest_follow_report.sql"));
        match self.rows(&statement).await {
            Err(StoreError::Refused { code: UNKNOWN_TABLE, .. }) => Ok(None),
            rows => Ok(rows?.pop()),
        }
    }

    /// The newest block that readers see.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn readers_head(&self) -> Result<Option<BlockNumber>, StoreError> {
        let statement = Statement::<ReadersHead>::page(include_str!("../../../../../sql/queries/readers_head.sql"));
        Ok(self.rows(&statement).await?.pop().and_then(|row| row.head_block))
    }

    /// Disks that are almost full.
    ///
    /// # Errors
    ///
    /// As [`Reader::newest_follow_report`]; also if the account may not read `system.disks`.
    pub async fn full_disks(&self) -> Result<Vec<FullDisk>, StoreError> {
        let statement = Statement::page(include_str!("../../../../../sql/queries/full_disks.sql"));
        self.rows(&statement.with("bytes", FULL_BELOW_BYTES)).await
    }
}
