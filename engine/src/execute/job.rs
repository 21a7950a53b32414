//! A statement to run, and its answer.

use std::io::PipeReader;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::oneshot;

use crate::account::Role;
use crate::chdb::engine::Engine;
use crate::chdb::outcome::Stats;
use crate::exception::Exception;
use crate::execute::changes::Changes;
use crate::execute::query::Query;
use crate::execute::query_log::{Entry, QueryLog};
use crate::execute::reader_session::ReaderSessions;
use crate::execute::running::Ticket;
use crate::execute::session::Sessions;
use crate::sql::limits::ReaderLimits;
use crate::sql::settings;

/// The setting that says in which time zone times are read and written.
const TIMEZONE: &str = "session_timezone";

/// One statement to run.
pub struct Job {
    /// The engine that runs the statement.
    pub engine: Arc<Engine>,
    /// Sessions that outlive requests.
    pub sessions: Arc<Sessions>,
    /// The same of all users but the owner.
    pub reader_sessions: Arc<ReaderSessions>,
    /// Counts every INSERT.
    pub changes: Arc<Changes>,
    /// Text, parameters and settings of the statement.
    pub query: Query,
    /// The client's user name.
    pub user: String,
    /// Role of the user.
    pub role: Role,
    /// Its limits, if any.
    pub limits: Option<ReaderLimits>,
    /// Its entry among the statements in progress.
    pub ticket: Ticket,
    /// Its row in the log, if there is one.
    pub entry: Option<Entry>,
    /// The log, if there is one.
    pub query_log: Option<Arc<QueryLog>>,
}

impl Job {
    /// The format of a result whose statement names none.
    #[must_use]
    pub fn default_format(&self) -> String {
        self.query.default_format.clone().unwrap_or_else(|| "TabSeparated".into())
    }

    /// The time zone that `text`, or else the request, sets for the statement as a whole.
    pub(super) fn timezone(&self, text: &[u8]) -> Option<String> {
        let is_in_text = text.windows(TIMEZONE.len()).any(|window| window == TIMEZONE.as_bytes());
        let in_text = if is_in_text { settings::split(text, |_, _| true).settings } else { Vec::new() };
        let given = self.query.settings.iter().chain(&in_text).rfind(|(name, _)| name == TIMEZONE);
        // Empty means that of the engine.
        given.map(|(_, zone)| zone.clone()).filter(|zone| !zone.is_empty())
    }

    /// The engine gets the statement now.
    pub(super) fn runs(&mut self) {
        let number = self.ticket.number();
        self.entry.iter_mut().for_each(|entry| entry.runs(number));
    }

    /// The statement is over.
    pub(super) fn ended(&mut self, outcome: Result<Stats, &Exception>) {
        self.entry.iter_mut().for_each(|entry| entry.ended(outcome));
    }

    /// The refusal of a statement that is more than reading.
    pub(super) fn refused_as_reader(&self) -> Exception {
        Exception::new(164, "READONLY", format!("{}: Cannot execute query in readonly mode.", self.user))
    }
}

/// The answer of a statement.
#[derive(Debug)]
pub enum Reply {
    /// All of it.
    Whole {
        /// Rows in `format`, not compressed yet.
        bytes: Bytes,
        /// Name of a ClickHouse format, such as `Arrow`; `None` without a result.
        format: Option<String>,
        /// Statistics of the statement.
        stats: Stats,
        /// The time zone that the statement asked for.
        timezone: Option<String>,
    },
    /// It comes through a pipe; `end` has the outcome, after the last byte.
    Stream {
        /// Read end of the pipe.
        pipe: PipeReader,
        /// Name of a ClickHouse format, such as `Arrow`.
        format: String,
        /// Statistics of the statement, or why it failed after rows were sent.
        end: oneshot::Receiver<Result<Stats, Exception>>,
        /// The time zone that the statement asked for.
        timezone: Option<String>,
    },
}

impl Reply {
    /// Statistics of the statement, as far as known.
    pub(super) fn stats(&self) -> Stats {
        match self {
            Self::Whole { stats, .. } => *stats,
            Self::Stream { .. } => Stats::default(),
        }
    }
}
