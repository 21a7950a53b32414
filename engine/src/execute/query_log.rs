//! The log of statements: a row for each in `system.query_log`, a table in memory of bounded size.
//!
//! Statements leave their rows in a buffer, which a thread of its own writes every ten seconds, or when it is half
//! full, or when the owner says SYSTEM FLUSH LOGS. Where rows come faster than they can be written some are left out:
//! no statement waits for the log.

mod peaks;
mod row;
mod table;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::chdb::engine::Engine;
use crate::exception::Exception;
use crate::execute::running::StatementRegistry;

use peaks::Peaks;
pub use row::{Entry, Statement};
use table::Table;

/// Most bytes of rows that wait to be written.
const MAX_WAITING_BYTES: usize = 4 << 20;
/// Rows that are written at once. A table in memory needs 100 KB for a write of few rows, so they are not written one
/// by one.
const ENOUGH: usize = 1 << 20;
/// Longest time that a row waits.
const LONGEST: Duration = Duration::from_secs(10);
/// How often the thread samples long-running statements.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// The log of statements.
#[derive(Debug)]
pub struct QueryLog {
    waiting: Mutex<PendingEntries>,
    changed: Condvar,
    left_out: AtomicU64,
    peaks: Peaks,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct PendingEntries {
    /// In the format `RowBinary`.
    rows: Vec<u8>,
    /// When the first of them came.
    since: Option<Instant>,
    /// Number of rows that came so far, except those left out; how many of them are written; and how many a flush
    /// waits for.
    came: u64,
    written: u64,
    flush_target: u64,
    is_closed: bool,
}

impl QueryLog {
    /// Creates the table, which retains about `bytes` of the newest rows, and starts writing.
    ///
    /// # Errors
    ///
    /// The engine's exception if it cannot have such a table.
    pub fn start(engine: &Engine, bytes: u64, running: Arc<StatementRegistry>) -> Result<Arc<Self>, Exception> {
        let table = Table::make(engine, bytes)?;
        let log = Arc::new(Self {
            waiting: Mutex::default(),
            changed: Condvar::new(),
            left_out: AtomicU64::default(),
            peaks: Peaks::default(),
            thread: Mutex::default(),
        });
        let writer = Arc::clone(&log);
        let thread = std::thread::Builder::new().name("query-log".into()).spawn(move || writer.write(table, &running));
        let thread = thread.map_err(|error| Exception::new(439, "CANNOT_SCHEDULE_TASK", error))?;
        *log.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        Ok(log)
    }

    /// Rows that were left out so far.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    /// Waits until every row that has come is written.
    pub fn flush(&self) {
        let mut waiting = self.waiting();
        waiting.flush_target = waiting.came;
        let target = waiting.flush_target;
        self.changed.notify_all();
        let is_pending = |waiting: &mut PendingEntries| waiting.written < target && !waiting.is_closed;
        drop(self.changed.wait_timeout_while(waiting, LONGEST, is_pending));
    }

    /// Ends the thread, and with it its connection.
    pub fn close(&self) {
        self.waiting().is_closed = true;
        self.changed.notify_all();
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // It only ends early by a panic, which has been reported.
            let _ = thread.join();
        }
    }

    /// Takes a row, unless too many wait.
    fn add(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut waiting = self.waiting();
        if waiting.rows.len() >= MAX_WAITING_BYTES || waiting.is_closed {
            self.left_out.fetch_add(1, Ordering::Relaxed);
            return;
        }
        write(&mut waiting.rows);
        waiting.came += 1;
        waiting.since.get_or_insert_with(Instant::now);
        if waiting.rows.len() >= ENOUGH {
            self.changed.notify_all();
        }
    }

    /// Writes rows until the log is closed.
    fn write(&self, mut table: Table, running: &StatementRegistry) {
        let mut looked = Instant::now();
        loop {
            let is_idle = |waiting: &mut PendingEntries| !waiting.is_due() && !waiting.is_closed;
            let waited = self.changed.wait_timeout_while(self.waiting(), BETWEEN_LOOKS, is_idle);
            let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if waiting.is_closed {
                return;
            }
            let (is_due, upto) = (waiting.is_due(), waiting.came);
            let rows = if is_due { std::mem::take(&mut waiting.rows) } else { Vec::new() };
            let count = upto - waiting.written;
            waiting.since = waiting.since.filter(|_| !is_due);
            drop(waiting);
            if is_due {
                if let Err(error) = table.insert(&rows) {
                    self.left_out.fetch_add(count, Ordering::Relaxed);
                    tracing::warn!(%error, count, "statements are missing from system.query_log");
                }
                self.waiting().written = upto;
                self.changed.notify_all();
            }
            if looked.elapsed() >= BETWEEN_LOOKS {
                looked = Instant::now();
                if running.has_older_than(BETWEEN_LOOKS) {
                    self.peaks.sample(&mut table);
                }
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, PendingEntries> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingEntries {
    fn is_due(&self) -> bool {
        let is_flush_requested = self.flush_target > self.written;
        !self.rows.is_empty()
            && (is_flush_requested
                || self.rows.len() >= ENOUGH
                || self.since.is_some_and(|since| since.elapsed() >= LONGEST))
    }
}
