//! HTTP sessions: a connection that several requests use, with its temporary tables and settings.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dashmap::{DashMap, Entry};

use crate::chdb::connection::Connection;
use crate::chdb::engine::Engine;
use crate::exception::Exception;

/// The session of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRequest {
    /// Chosen by the client.
    pub id: String,
    /// How long the session outlives its last request.
    pub timeout: Duration,
    /// Fail if the session does not exist.
    pub must_exist: bool,
}

/// Longest life of an unused session, as a server's default.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(3600);

#[derive(Debug)]
struct SessionEntry {
    /// `None` while a request uses it.
    connection: Option<Connection>,
    expires: Instant,
}

/// All sessions of the process.
#[derive(Debug, Default)]
pub struct Sessions(DashMap<String, SessionEntry>);

impl Sessions {
    /// Takes the session's connection for one request, opening it at the first.
    ///
    /// # Errors
    ///
    /// Code 373 if another request uses the session, 372 if it must exist and does not, or the engine's exception.
    pub fn lease(self: &Arc<Self>, engine: &Engine, request: &SessionRequest) -> Result<Lease, Exception> {
        self.expire();
        let connection = match self.0.entry(request.id.clone()) {
            Entry::Occupied(mut entry) => entry.get_mut().connection.take().ok_or_else(|| {
                let text = format!("Session {} is locked by a concurrent client", request.id);
                Exception::new(373, "SESSION_IS_LOCKED", text)
            })?,
            Entry::Vacant(_) if request.must_exist => {
                return Err(Exception::new(372, "SESSION_NOT_FOUND", format!("Session {} not found", request.id)));
            }
            Entry::Vacant(entry) => {
                let connection = engine.connect(&[])?;
                entry.insert(SessionEntry { connection: None, expires: Instant::now() + MAX_TIMEOUT });
                connection
            }
        };
        let mut lease = Lease {
            sessions: Arc::clone(self),
            request: request.clone(),
            connection: Some(connection),
            restore: Vec::new(),
            database: None,
            own_level: None,
            level: None,
        };
        lease.lift()?;
        Ok(lease)
    }

    /// Closes sessions that were unused for their timeout.
    pub fn expire(&self) {
        let now = Instant::now();
        self.0.retain(|_, session| session.connection.is_none() || session.expires > now);
    }

    /// Closes all sessions, for shutdown.
    pub fn clear(&self) {
        self.0.clear();
    }
}

/// A session's connection while a request uses it; goes back when dropped, with the request's settings and
/// database undone.
#[derive(Debug)]
pub struct Lease {
    sessions: Arc<Sessions>,
    request: SessionRequest,
    connection: Option<Connection>,
    restore: Vec<(String, Option<String>)>,
    database: Option<String>,
    /// The `readonly` that the session has by a SET of its own; lifted until the settings of a request are applied.
    own_level: Option<String>,
    /// The `readonly` that the request's statement runs with.
    level: Option<String>,
}

/// The setting after which a session takes no others.
const READONLY: &str = "readonly";

/// The `readonly` of a connection, if it has one.
fn level(connection: &mut Connection) -> Result<Option<String>, Exception> {
    let level = connection.text("SELECT value FROM system.settings WHERE name = 'readonly' AND changed")?;
    Ok(Some(level).filter(|level| !matches!(level.as_str(), "" | "0")))
}

impl Lease {
    /// The connection, with temporary tables and settings of its session.
    pub fn connection(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("taken only by drop")
    }

    /// Lets a request of a read-only session apply its settings. DEFAULT is the only value that `readonly` takes then.
    fn lift(&mut self) -> Result<(), Exception> {
        let Some(own) = level(self.connection())? else { return Ok(()) };
        self.connection().set(READONLY, None)?;
        // From now on the drop restores it, also if the request fails.
        (self.own_level, self.level) = (Some(own), None);
        Ok(())
    }

    /// Applies a request's settings for the time of this lease, `readonly` last. That of the session stays, unless the
    /// request asks for less than that allows.
    ///
    /// # Errors
    ///
    /// The engine's exception if there is no such setting, or it does not take its value.
    pub fn set_all(&mut self, settings: &[(String, String)]) -> Result<(), Exception> {
        let (levels, others): (Vec<_>, Vec<_>) = settings.iter().partition(|(name, _)| name == READONLY);
        others.into_iter().try_for_each(|(name, value)| self.set(name, value))?;
        let asked = levels.last().map(|(_, value)| value.clone());
        let level = if asked.as_deref() == Some("1") { asked } else { self.own_level.clone().or(asked) };
        let Some(level) = level else { return Ok(()) };
        self.set(READONLY, &level)?;
        self.level = Some(level).filter(|level| level != "0");
        Ok(())
    }

    /// Makes `database` the current one for the time of this lease.
    ///
    /// # Errors
    ///
    /// The engine's exception if there is no such database.
    pub fn use_database(&mut self, database: &str) -> Result<(), Exception> {
        let before = self.connection().text("SELECT currentDatabase()")?;
        self.connection().use_database(database)?;
        self.database = Some(before);
        Ok(())
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), Exception> {
        let connection = self.connection();
        let before = connection.query(
            b"SELECT changed, value FROM system.settings WHERE name = {name:String}",
            "TSVRaw",
            &[("name".into(), name.into())],
        )?;
        let before = String::from_utf8_lossy(before.bytes()).trim_end_matches('\n').to_owned();
        let previous = before.strip_prefix("1\t").map(str::to_owned);
        connection.set(name, Some(value))?;
        self.restore.push((name.into(), previous));
        Ok(())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(mut connection) = self.connection.take() else { return };
        // Its statement may have been the SET that makes the session read-only, or that no longer does.
        let now = level(&mut connection).unwrap_or_else(|_| self.level.clone());
        let own_level = if now == self.level { self.own_level.take() } else { now.clone() };
        if now.is_some()
            && let Err(error) = connection.set(READONLY, None)
        {
            tracing::warn!(%error, "a session stays read-only");
        }
        for (name, previous) in self.restore.drain(..).rev() {
            if let Err(error) = connection.set(&name, previous.as_deref()) {
                tracing::warn!(%error, name, "a session keeps a setting of one of its requests");
            }
        }
        if let Some(before) = self.database.take()
            && let Err(error) = connection.use_database(&before)
        {
            tracing::warn!(%error, before, "a session keeps the database of one of its requests");
        }
        if let Some(level) = own_level
            && let Err(error) = connection.set(READONLY, Some(&level))
        {
            // It must not go on as one that may write.
            tracing::warn!(%error, "a session ends that could not be made read-only again");
            self.sessions.0.remove(&self.request.id);
            return;
        }
        let entry = SessionEntry { connection: Some(connection), expires: Instant::now() + self.request.timeout };
        self.sessions.0.insert(self.request.id.clone(), entry);
    }
}
