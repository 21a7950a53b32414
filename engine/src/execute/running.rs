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
    /// Who sent it.
    user: String,
    /// What it says, once that is known and if its user may ask for it.
    text: Arc<str>,
}

#[derive(Debug, PartialEq, Eq)]
enum Phase {
    Running,
    /// It is being cancelled by its number: its client has gone, or its user has ended it.
    Cancelled,
    /// Its connection may have another statement already.
    Over,
}

impl StatementRegistry {
    /// Enters a statement of `user`; refused while another one of this id is in progress, also of another user.
    ///
    /// # Errors
    ///
    /// Code 216 if the id is in use.
    pub fn enter(self: &Arc<Self>, query_id: &str, user: &str) -> Result<Ticket, Exception> {
        let Entry::Vacant(entry) = self.by_query_id.entry(query_id.into()) else {
            let text = format!("Query with id = {query_id} is already running.");
            return Err(Exception::new(216, "QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING", text));
        };
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let state = State {
            number,
            is_pooled: false,
            phase: Phase::Running,
            since: Instant::now(),
            user: user.into(),
            text: "".into(),
        };
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

    /// Whether it is being cancelled.
    pub(super) fn is_cancelled(&self) -> bool {
        self.progress.is_cancelled()
    }

    /// It says this, which its user may ask for.
    pub(super) fn says(&self, text: &[u8]) {
        self.progress.state().text = String::from_utf8_lossy(text).into();
    }

    /// The statement of this id, if `user` has it in progress, and it is not the one of this ticket.
    ///
    /// # Errors
    ///
    /// Code 497 if it is another user's.
    pub(super) fn find_own(&self, query_id: &str, user: &str) -> Result<Option<OwnStatement>, Exception> {
        let found = self.running.by_query_id.get(query_id).map(|entry| Arc::clone(entry.value()));
        let Some(progress) = found.filter(|progress| !Arc::ptr_eq(progress, &self.progress)) else { return Ok(None) };
        let state = progress.state();
        if state.user != user {
            let text = format!("{user}: only statements of one's own can be ended, and '{query_id}' is another user's");
            return Err(Exception::access_denied(text));
        }
        let is_over = state.phase == Phase::Over;
        let own = OwnStatement { progress: Arc::downgrade(&progress), text: Arc::clone(&state.text) };
        Ok((!is_over).then_some(own))
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

/// A statement in progress of the user who looks for it.
#[derive(Debug)]
pub(super) struct OwnStatement {
    /// Its progress, without keeping it in progress.
    pub(super) progress: Weak<Progress>,
    /// What it says; empty while it arrives.
    pub(super) text: Arc<str>,
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
    /// It is to be cancelled. Its number from now on means this statement and no other; `None` if it is over.
    #[must_use]
    pub fn cancels(&self) -> Option<u64> {
        let mut state = self.state();
        if state.phase == Phase::Over {
            return None;
        }
        state.phase = Phase::Cancelled;
        Some(state.number)
    }

    /// Whether it is being cancelled.
    pub(super) fn is_cancelled(&self) -> bool {
        self.state().phase == Phase::Cancelled
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_finds_only_statements_of_its_own() {
        let running = Arc::new(StatementRegistry::default());
        let (anas, bobs) = (running.enter("one", "ana").expect("free"), running.enter("two", "bob").expect("free"));
        assert_eq!(running.enter("one", "bob").expect_err("in use").code, 216);
        anas.says(b"SELECT 1");
        let kill = running.enter("kill", "ana").expect("free");
        let found = kill.find_own("one", "ana").expect("her own").expect("in progress");
        assert_eq!(&*found.text, "SELECT 1");
        assert_eq!(found.progress.upgrade().and_then(|progress| progress.cancels()), Some(anas.number()));
        assert!(found.progress.upgrade().is_some_and(|progress| progress.is_cancelled()));
        assert!(!anas.is_over(), "its connection has no other statement while it is being cancelled");
        assert_eq!(kill.find_own("two", "ana").expect_err("bob's").code, 497);
        assert_eq!(kill.find_own("one", "Ana").expect_err("ana's").code, 497);
        for nothing in ["kill", "three", ""] {
            assert!(kill.find_own(nothing, "ana").expect("nobody's").is_none(), "{nothing}");
        }
        assert!(bobs.is_over());
        let bobs_kill = running.enter("kill of bob", "bob").expect("free");
        assert!(bobs_kill.find_own("two", "bob").expect("his own").is_none(), "it is over");
        drop(anas);
        assert!(found.progress.upgrade().is_none() && kill.find_own("one", "ana").expect("nobody's").is_none());
    }
}
