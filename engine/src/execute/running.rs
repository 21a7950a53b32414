//! Statements in progress: the ids their clients gave, and the numbers by which they are cancelled.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use dashmap::{DashMap, Entry};

use crate::exception::Exception;
use crate::sql::log_comment;

/// All statements in progress.
#[derive(Debug, Default)]
pub struct StatementRegistry {
    by_query_id: DashMap<String, Arc<Progress>>,
    next: AtomicU64,
    /// KILL statements that look for others by their id: until they are over, no connection gets another statement.
    seeking: AtomicU64,
}

/// One statement in progress, until dropped.
#[derive(Debug)]
pub struct Ticket {
    running: Arc<StatementRegistry>,
    query_id: String,
    progress: Arc<Progress>,
}

/// The progress of a statement.
#[derive(Debug)]
pub struct Progress(Mutex<State>);

#[derive(Debug)]
struct State {
    /// In the `log_comment` that it runs with: its own, or that of a pooled connection.
    number: u64,
    /// Its connection is pooled, so its comment does not have its id.
    is_pooled: bool,
    phase: Phase,
    since: Instant,
}

#[derive(Debug, PartialEq, Eq)]
enum Phase {
    Running,
    /// Its client has gone, and it is being cancelled by its number.
    Abandoned,
    /// Its connection may have another statement already.
    Over,
}

impl StatementRegistry {
    /// Enters a statement; refused while another one of this id is in progress.
    ///
    /// # Errors
    ///
    /// Code 216 if the id is in use.
    pub fn enter(self: &Arc<Self>, query_id: &str) -> Result<Ticket, Exception> {
        let Entry::Vacant(entry) = self.by_query_id.entry(query_id.into()) else {
            let text = format!("Query with id = {query_id} is already running.");
            return Err(Exception::new(216, "QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING", text));
        };
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let state = State { number, is_pooled: false, phase: Phase::Running, since: Instant::now() };
        let progress = Arc::new(Progress(Mutex::new(state)));
        entry.insert(Arc::clone(&progress));
        Ok(Ticket { running: Arc::clone(self), query_id: query_id.into(), progress })
    }

    /// Whether one has been in progress for longer than `age`.
    #[must_use]
    pub fn has_older_than(&self, age: Duration) -> bool {
        self.by_query_id.iter().any(|entry| entry.value().state().since.elapsed() > age)
    }
}

impl Ticket {
    /// Its progress, without keeping it in progress.
    #[must_use]
    pub fn progress(&self) -> Weak<Progress> {
        Arc::downgrade(&self.progress)
    }

    /// Its number, by which it is cancelled.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.progress.state().number
    }

    /// The `log_comment` of the statement; `comment` is the client's own, `reader` its user, if it sees only its own
    /// statements.
    #[must_use]
    pub fn log_comment(&self, reader: Option<&str>, comment: &str) -> String {
        log_comment::written(self.number(), &self.query_id, reader, comment)
    }

    /// It runs on a pooled connection that has this number.
    pub(super) fn runs_on(&self, number: u64) {
        let mut state = self.progress.state();
        state.number = number;
        state.is_pooled = true;
    }

    /// Whether its connection may have another statement now: this one is not being cancelled by its number, and will
    /// not be.
    pub(super) fn is_over(&self) -> bool {
        let mut state = self.progress.state();
        let is_free = state.phase == Phase::Running && self.running.seeking.load(Ordering::SeqCst) == 0;
        if is_free {
            state.phase = Phase::Over;
        }
        is_free
    }

    /// Finds the statements on pooled connections, whose ids the engine does not know, for a KILL.
    pub(super) fn seek(&self) -> RunningStatements {
        self.running.seeking.fetch_add(1, Ordering::SeqCst);
        let mut pooled = Vec::new();
        for entry in &self.running.by_query_id {
            let state = entry.value().state();
            if state.is_pooled && state.phase != Phase::Over {
                pooled.push((state.number, entry.key().clone()));
            }
        }
        RunningStatements { running: Arc::clone(&self.running), pooled }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.running.by_query_id.remove(&self.query_id);
    }
}

/// The statements on pooled connections; until this is dropped, their numbers mean them.
#[derive(Debug)]
pub(super) struct RunningStatements {
    running: Arc<StatementRegistry>,
    /// Numbers, and the ids that belong to them.
    pub(super) pooled: Vec<(u64, String)>,
}

impl Drop for RunningStatements {
    fn drop(&mut self) {
        self.running.seeking.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Progress {
    /// Its client has gone. Its number from now on means this statement and no other; `None` if it is over.
    #[must_use]
    pub fn abandon(&self) -> Option<u64> {
        let mut state = self.state();
        if state.phase == Phase::Over {
            return None;
        }
        state.phase = Phase::Abandoned;
        Some(state.number)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
