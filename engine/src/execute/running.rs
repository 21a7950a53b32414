//! Statements in progress: the ids their clients gave, and the numbers by which they are cancelled.
//!
//! libchdb gives every query an id of its own, so both travel in the setting `log_comment`, in front of the client's
//! own comment. Cancelling goes by number: an id is the client's choice, and may be somebody else's by accident.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use dashmap::DashSet;

use crate::exception::Exception;

/// First line of the `log_comment` of every statement, up to its number.
const NUMBER: &str = "trawl-engine:";
/// Second line, up to the client's id.
const QUERY_ID: &str = "query_id:";

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
    /// What [`crate::chdb::connection::Engine::cancel`] takes.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Tells whether this statement is still in progress, without keeping it so.
    #[must_use]
    pub fn alive(&self) -> Weak<()> {
        Arc::downgrade(&self.alive)
    }

    /// The `log_comment` of the statement; `comment` is the client's own.
    #[must_use]
    pub fn log_comment(&self, comment: &str) -> String {
        let id = self.query_id.replace(['\n', '\0'], " ");
        format!("{}{QUERY_ID}{id}\n{comment}", prefix(self.number))
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.running.query_ids.remove(&self.query_id);
    }
}

/// How the `log_comment` of statement `number` starts.
#[must_use]
pub fn prefix(number: u64) -> String {
    format!("{NUMBER}{number}\n")
}

/// How the `log_comment` of every statement starts that came over HTTP.
pub const ANY: &str = NUMBER;

/// An SQL expression: the id that a query's client gave, or libchdb's own.
#[must_use]
pub fn client_query_id() -> String {
    format!(
        "if(startsWith(Settings['log_comment'], '{NUMBER}'), \
         extract(Settings['log_comment'], '^{NUMBER}[0-9]+\\\\n{QUERY_ID}([^\\\\n]*)'), query_id)"
    )
}
