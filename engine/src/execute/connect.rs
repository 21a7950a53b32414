//! Opens the connection that a statement runs on: its own, or its session's.

use crate::account::Role;
use crate::chdb::connection::Connection;
use crate::exception::Exception;
use crate::execute::access::Level;
use crate::execute::job::Job;
use crate::execute::session::Lease;

/// A connection with the request's settings and database.
pub(super) enum Leased {
    Own(Connection),
    Session(Lease),
}

impl Leased {
    pub(super) fn get(&mut self) -> &mut Connection {
        match self {
            Self::Own(connection) => connection,
            Self::Session(lease) => lease.connection(),
        }
    }
}

/// Opens what a statement runs on; a reader's with `level`.
pub(super) fn connect(job: &Job, level: Level) -> Result<Leased, Exception> {
    let query = &job.query;
    let mut settings = query.settings.clone();
    let comment = settings.iter().position(|(name, _)| name == "log_comment").map(|at| settings.remove(at).1);
    settings.push(("log_comment".into(), job.ticket.log_comment(&comment.unwrap_or_default())));
    if let Some(level) = level {
        settings.push(("readonly".into(), level.into()));
    } else if query.is_read_only && !settings.iter().any(|(name, value)| name == "readonly" && value != "0") {
        settings.retain(|(name, _)| name != "readonly");
        settings.push(("readonly".into(), "2".into()));
    }
    let mut leased = match &query.session {
        Some(session) if job.role == Role::Owner => {
            let mut lease = job.sessions.lease(&job.engine, session)?;
            for (name, value) in &settings {
                lease.set(name, value)?;
            }
            Leased::Session(lease)
        }
        _ => Leased::Own(job.engine.connect(&settings)?),
    };
    if let Some(database) = query.database.as_deref().filter(|name| !name.is_empty()) {
        match &mut leased {
            Leased::Session(lease) => lease.use_database(database)?,
            // It starts there.
            Leased::Own(_) if database == "default" => {}
            Leased::Own(connection) => connection.use_database(database)?,
        }
    }
    Ok(leased)
}
