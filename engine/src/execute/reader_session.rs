//! The current database and the settings of a session whose user is not the owner, as USE and SET change them.
//!
//! Such a session has no connection. Each of its requests is one as any other, with this as parameters of the request
//! where it has none of its own.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::account::Role;
use crate::exception::Exception;
use crate::execute::query::Query;
use crate::execute::session::SessionRequest;
use crate::sql::limits::ReaderLimits;
use crate::sql::reader;
use crate::sql::settings::{of_set, of_use};

/// Most sessions of a user. The one that would end first makes room for another.
const MAX_SESSIONS: usize = 64;
/// Most settings of a session.
const MAX_SETTINGS: usize = 64;
/// Most bytes of an id, a name or a value.
const LONGEST: usize = 256;

/// A USE or a SET.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// The current database.
    Database(String),
    /// Names and values of settings.
    Settings(Vec<(String, String)>),
}

impl Change {
    /// The change that `text` makes, if it is one of those that users of a role may make.
    pub(super) fn of(role: Role, text: &[u8]) -> Option<Self> {
        let change = || of_use(text).map(Self::Database).or_else(|| of_set(text).map(Self::Settings));
        if role == Role::Owner { None } else { change() }
    }

    /// Makes it a part of a request.
    ///
    /// # Errors
    ///
    /// If it is longer than a session stores, or sets what its user may not set, or not to this value.
    pub(super) fn apply(&self, query: &mut Query, limits: Option<&ReaderLimits>) -> Result<(), Exception> {
        let is_long = match self {
            Self::Database(database) => database.len() > LONGEST,
            Self::Settings(settings) => {
                for (name, value) in settings {
                    reader::check_setting(name, value)?;
                    limits.map_or(Ok(()), |limits| limits.check(name, value))?;
                }
                let is_long = |(name, value): &(String, String)| name.len() > LONGEST || value.len() > LONGEST;
                settings.len() > MAX_SETTINGS || settings.iter().any(is_long)
            }
        };
        if is_long {
            let text = format!("a session keeps {MAX_SETTINGS} settings, and names and values of {LONGEST} bytes");
            return Err(Exception::bad_arguments(text));
        }
        match self {
            Self::Database(database) => query.database = Some(database.clone()),
            Self::Settings(settings) => query.settings.extend(settings.iter().cloned()),
        }
        Ok(())
    }
}

#[derive(Debug)]
struct SessionState {
    database: Option<String>,
    settings: Vec<(String, String)>,
    expires: Instant,
}

/// The sessions of all users but the owner, by user and id.
#[derive(Debug, Default)]
pub struct ReaderSessions(Mutex<HashMap<String, HashMap<String, SessionState>>>);

impl ReaderSessions {
    /// Adds what the session of `query` says to it, where it does not say it itself.
    pub(super) fn complete(&self, user: &str, query: &mut Query) {
        let Some(request) = &query.session else { return };
        let mut sessions = self.sessions();
        let known = sessions.get_mut(user).and_then(|sessions| sessions.get_mut(&request.id));
        let Some(known) = known.filter(|known| known.expires > Instant::now()) else { return };
        known.expires = Instant::now() + request.timeout;
        if query.database.as_ref().is_none_or(String::is_empty) {
            query.database.clone_from(&known.database);
        }
        let given: Vec<String> = query.settings.iter().map(|(name, _)| name.clone()).collect();
        query.settings.extend(known.settings.iter().filter(|(name, _)| !given.contains(name)).cloned());
    }

    /// Keeps a change that was tried.
    ///
    /// # Errors
    ///
    /// If the session has too many settings, or too long an id.
    pub(super) fn keep(&self, user: &str, request: &SessionRequest, change: Change) -> Result<(), Exception> {
        if request.id.len() > LONGEST {
            return Err(Exception::bad_arguments(format!("the id of a session has at most {LONGEST} bytes")));
        }
        let expires = Instant::now() + request.timeout;
        let mut all = self.sessions();
        let sessions = all.entry(user.to_owned()).or_default();
        if sessions.len() >= MAX_SESSIONS && !sessions.contains_key(&request.id) {
            let first = sessions.iter().min_by_key(|(_, session)| session.expires).map(|(id, _)| id.clone());
            first.map(|id| sessions.remove(&id));
        }
        let fresh = || SessionState { database: None, settings: Vec::new(), expires };
        let session = sessions.entry(request.id.clone()).or_insert_with(fresh);
        session.expires = expires;
        match change {
            Change::Database(database) => session.database = Some(database),
            Change::Settings(settings) => {
                let mut merged = session.settings.clone();
                merged.retain(|(known, _)| settings.iter().all(|(name, _)| name != known));
                merged.extend(settings);
                if merged.len() > MAX_SETTINGS {
                    return Err(Exception::bad_arguments(format!("a session keeps {MAX_SETTINGS} settings")));
                }
                session.settings = merged;
            }
        }
        Ok(())
    }

    /// Forgets sessions that were unused for their timeout.
    pub fn expire(&self) {
        let now = Instant::now();
        self.sessions().retain(|_, sessions| {
            sessions.retain(|_, session| session.expires > now);
            !sessions.is_empty()
        });
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, HashMap<String, SessionState>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn request(id: &str) -> SessionRequest {
        SessionRequest { id: id.into(), timeout: Duration::from_secs(60), must_exist: false }
    }

    fn completed(sessions: &ReaderSessions, user: &str, query: Query) -> (Option<String>, String) {
        let mut query = query;
        sessions.complete(user, &mut query);
        let settings: Vec<String> = query.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        (query.database, settings.join(" "))
    }

    fn settings(name: &str, value: &str) -> Change {
        Change::Settings(vec![(name.into(), value.into())])
    }

    #[test]
    fn a_session_is_its_users_own_and_what_a_request_says_comes_before_it() {
        let sessions = ReaderSessions::default();
        sessions.keep("ana", &request("s"), Change::Database("mainnet".into())).expect("stored");
        sessions.keep("ana", &request("s"), settings("max_threads", "2")).expect("stored");
        sessions.keep("ana", &request("s"), settings("max_threads", "1")).expect("stored");
        let plain = Query { session: Some(request("s")), ..Query::default() };
        let own = Query {
            database: Some("system".into()),
            settings: vec![("max_threads".into(), "3".into())],
            ..plain.clone()
        };
        assert_eq!(completed(&sessions, "ana", plain.clone()), (Some("mainnet".into()), "max_threads=1".into()));
        assert_eq!(completed(&sessions, "ana", own), (Some("system".into()), "max_threads=3".into()));
        let other = Query { session: Some(request("t")), ..Query::default() };
        for (user, query) in [("bob", plain), ("ana", other), ("ana", Query::default())] {
            assert_eq!(completed(&sessions, user, query), (None, String::new()), "{user}");
        }
    }

    #[test]
    fn sessions_are_few_and_end() {
        let sessions = ReaderSessions::default();
        let over = SessionRequest { timeout: Duration::ZERO, ..request("over") };
        sessions.keep("ana", &over, settings("limit", "1")).expect("stored");
        let query = Query { session: Some(over), ..Query::default() };
        assert_eq!(completed(&sessions, "ana", query), (None, String::new()));
        for number in 0..MAX_SESSIONS + 10 {
            sessions.keep("ana", &request(&number.to_string()), settings("limit", "1")).expect("stored");
        }
        assert_eq!(sessions.sessions()["ana"].len(), MAX_SESSIONS);
        let newest = Query { session: Some(request(&(MAX_SESSIONS + 9).to_string())), ..Query::default() };
        assert_eq!(completed(&sessions, "ana", newest).1, "limit=1");
        for number in 0..MAX_SETTINGS {
            sessions.keep("bob", &request("s"), settings(&number.to_string(), "1")).expect("stored");
        }
        assert!(sessions.keep("bob", &request("s"), settings("more", "1")).is_err());
        assert!(sessions.keep("bob", &request(&"s".repeat(LONGEST + 1)), settings("a", "1")).is_err());
        for change in [
            settings("a", &"1".repeat(LONGEST + 1)),
            settings("readonly", "0"),
            settings("log_comment", &"x".repeat(999)),
        ] {
            assert!(change.apply(&mut Query::default(), None).is_err(), "{change:?}");
        }
    }
}
