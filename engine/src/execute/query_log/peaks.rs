//! Memory and rows of statements that take long: libchdb reports a statement's memory only while it runs, and nothing
//! of one that failed.

use std::time::{Duration, Instant};

use dashmap::DashMap;

use crate::execute::query_log::table::Table;

/// What was seen of a statement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peak {
    /// About when it began.
    began: Instant,
    seen: Instant,
    /// Bytes of memory, the most so far.
    pub(super) memory: u64,
    /// Rows read so far.
    pub(super) rows: u64,
    /// Bytes read so far, uncompressed.
    pub(super) bytes: u64,
}

/// How long what was seen is remembered: a statement leaves the engine a little before it is written down.
const REMEMBERED: Duration = Duration::from_secs(10);

/// What was seen, by the numbers of statements.
#[derive(Debug, Default)]
pub(super) struct Peaks(DashMap<u64, Peak>);

impl Peaks {
    /// Looks at what runs.
    pub(super) fn sample(&self, table: &mut Table) {
        match table.long() {
            Ok(long) => {
                let seen = Instant::now();
                for [number, elapsed, memory, rows, bytes] in long {
                    let began = seen.checked_sub(Duration::from_millis(elapsed)).unwrap_or(seen);
                    self.0.insert(number, Peak { began, seen, memory, rows, bytes });
                }
            }
            Err(error) => tracing::debug!(%error, "system.processes cannot be read"),
        }
        self.0.retain(|_, peak| peak.seen.elapsed() < REMEMBERED);
    }

    /// What was seen of the statement with this number that was taken up at `since`; another one before may have had
    /// the same.
    pub(super) fn take(&self, number: u64, since: Instant) -> Option<Peak> {
        let (_, peak) = self.0.remove(&number)?;
        (peak.began + Duration::from_millis(100) >= since).then_some(peak)
    }
}
