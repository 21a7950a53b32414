//! Opens the connection that a statement runs on: its own, a pooled one, or its session's.

use crate::account::Role;
use crate::chdb::connection::Connection;
use crate::chdb::pool::{PooledConnection, Purpose};
use crate::exception::Exception;
use crate::execute::access::Level;
use crate::execute::job::Job;
use crate::execute::session::Lease;
use crate::sql::limits::ReaderLimits;
use crate::sql::log_comment;

/// A connection with the request's settings and database.
pub(super) enum ConnectionLease {
    Own(Connection),
    Pooled(PooledConnection),
    Session(Lease),
}

impl ConnectionLease {
    pub(super) fn get(&mut self) -> &mut Connection {
        match self {
            Self::Own(connection) => connection,
            Self::Pooled(pooled) => &mut pooled.connection,
            Self::Session(lease) => lease.connection(),
        }
    }

    /// Returns the connection of a query that left no trace to the pool, if it can be pooled.
    pub(super) fn keep(self, job: &Job) {
        if let Self::Pooled(pooled) = self
            && job.ticket.is_over()
        {
            job.engine.pool.give(pooled);
        }
    }
}

/// Opens what a statement runs on; a reader's with `level`.
pub(super) fn connect(job: &Job, level: Level) -> Result<ConnectionLease, Exception> {
    let query = &job.query;
    let mut settings = settings(job, level);
    settings.push(("log_comment".into(), job.ticket.log_comment(reader(job), &own_comment(job))));
    // ClickHouse refuses every SET after `readonly = 1`.
    settings.sort_by_key(|(name, _)| name == "readonly");
    if let Some(session) = &query.session
        && job.role == Role::Owner
    {
        let mut lease = job.sessions.lease(&job.engine, session)?;
        lease.set_all(&settings)?;
        if let Some(database) = database(job) {
            lease.use_database(database)?;
        }
        return Ok(ConnectionLease::Session(lease));
    }
    open(job, &settings).map(ConnectionLease::Own)
}

/// The same for a query, which may get a pooled connection, and whose connection may be pooled.
pub(super) fn connect_to_read(job: &Job, level: Level) -> Result<ConnectionLease, Exception> {
    let has_comment = job.query.settings.iter().any(|(name, _)| name == "log_comment");
    if job.query.session.is_some() || job.query.is_named || has_comment {
        return connect(job, level);
    }
    let mut settings = settings(job, level);
    let database = database(job).unwrap_or("default").to_owned();
    let purpose = Purpose { role: job.role, user: job.user.clone(), settings: settings.clone(), database };
    if let Some(pooled) = job.engine.pool.take(&purpose) {
        job.ticket.runs_on(pooled.number);
        return Ok(ConnectionLease::Pooled(pooled));
    }
    let number = job.ticket.number();
    job.ticket.runs_on(number);
    settings.push(("log_comment".into(), log_comment::of_pooled(number, reader(job))));
    let connection = open(job, &settings)?;
    Ok(ConnectionLease::Pooled(job.engine.pool.opened(purpose, connection, number)))
}

fn open(job: &Job, settings: &[(String, String)]) -> Result<Connection, Exception> {
    let mut connection = match job.role {
        Role::Owner => job.engine.connect(settings)?,
        Role::Api | Role::Reader => job.engine.connect_to_read(settings)?,
        Role::Modeler => job.engine.connect_to_model(settings)?,
    };
    // It starts in `default`.
    if let Some(database) = database(job).filter(|name| *name != "default") {
        connection.use_database(database)?;
    }
    Ok(connection)
}

fn database(job: &Job) -> Option<&str> {
    job.query.database.as_deref().filter(|name| !name.is_empty())
}

/// The user of a statement that sees only its own in the log.
fn reader(job: &Job) -> Option<&str> {
    (job.role != Role::Owner).then_some(job.user.as_str())
}

fn own_comment(job: &Job) -> String {
    let comment = job.query.settings.iter().find(|(name, _)| name == "log_comment");
    comment.map(|(_, comment)| comment.clone()).unwrap_or_default()
}

/// Default settings of readers. With buffering, the newest few rows of a view whose order begins with
/// its key are found after reading ahead through millions.
const FOR_READERS: [(&str, &str); 1] = [("read_in_order_use_buffering", "0")];

/// The request's settings without `log_comment`, and those that its user and its method demand.
fn settings(job: &Job, level: Level) -> Vec<(String, String)> {
    let mut settings: Vec<_> = job.query.settings.iter().filter(|(name, _)| name != "log_comment").cloned().collect();
    let is_limited = settings.iter().any(|(name, value)| name == "readonly" && value != "0");
    if let Some(level) = level {
        settings.retain(|(name, _)| name != "readonly");
        settings.push(("readonly".into(), level.into()));
        for (name, most) in job.limits.iter().flat_map(ReaderLimits::settings) {
            let given = settings.iter().rfind(|(given, _)| given == name).map(|(_, value)| value.as_str());
            let value = ReaderLimits::within(name, given, most).to_string();
            settings.retain(|(given, _)| given != name);
            settings.push((name.into(), value));
        }
        for (name, value) in FOR_READERS.iter().filter(|_| job.role.is_limited()) {
            if settings.iter().all(|(given, _)| given != name) {
                settings.push(((*name).into(), (*value).into()));
            }
        }
    } else if job.query.is_read_only && !is_limited {
        settings.retain(|(name, _)| name != "readonly");
        settings.push(("readonly".into(), "2".into()));
    }
    settings
}
