//! Statements in progress: the ids their clients gave, and the numbers by which they are cancelled.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use dashmap::DashSet;

use crate::exception::Exception;
use crate::sql::log_comment;

/// All statements in progress.
#[derive(Debug, Default)]
pub struct Running {
    query_ids: DashSet<String>,
    next: AtomicU64,
}

/// One statement in progress, until dropped.
#[derive(Debug)]
pub struct Ticket {
    running: Arc<Running>,
    query_id: String,
    number: u64,
    alive: Arc<()>,
}

impl Running {
    /// Enters a statement; refused while another one of this id is in progress.
    ///
    /// # Errors
    ///
    /// Code 216 if the id is in use.
    pub fn enter(self: &Arc<Self>, query_id: &str) -> Result<Ticket, Exception> {
        if !self.query_ids.insert(query_id.into()) {
            let text = format!("Query with id = {query_id} is already running.");
            return Err(Exception::new(216, "QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING", text));
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        Ok(Ticket { running: Arc::clone(self), query_id: query_id.into(), number, alive: Arc::default() })
    }
}

impl Ticket {
    /// The number by which the engine cancels it.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Alive while this statement is in progress, without keeping it so.
    #[must_use]
    pub fn alive(&self) -> Weak<()> {
        Arc::downgrade(&self.alive)
    }

    /// The `log_comment` of the statement; `comment` is the client's own.
    #[must_use]
    pub fn log_comment(&self, comment: &str) -> String {
        log_comment::written(self.number, &self.query_id, comment)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.running.query_ids.remove(&self.query_id);
    }
}
