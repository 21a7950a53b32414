//! Who may use the endpoint: an owner, and optionally an API and a reader, who can change nothing.
//!
//! libchdb always logs in as `default`, so users exist only here.

use crate::exception::Exception;

/// What a user may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Everything.
    Owner,
    /// Queries that leave no trace and touch nothing outside the database, in the places of what they say they are for.
    Api,
    /// The same queries within limits, in places of their own.
    Reader,
}

/// A name and its password.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// User name.
    pub user: String,
    /// Password; may be empty.
    pub password: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Default for Credentials {
    /// The user a fresh ClickHouse has.
    fn default() -> Self {
        Self { user: "default".into(), password: String::new() }
    }
}

impl Credentials {
    /// Compares in a time that does not depend on where two passwords differ.
    fn matches(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.password.as_bytes(), other.password.as_bytes());
        let differing = ours.iter().zip(theirs).fold(0, |sum, (a, b)| sum | (a ^ b));
        self.user == other.user && ours.len() == theirs.len() && differing == 0
    }
}

/// The users of this endpoint.
#[derive(Debug, Clone, Default)]
pub struct Accounts {
    /// The one who may do everything.
    pub owner: Credentials,
    /// The one for `trawl-api`.
    pub api: Option<Credentials>,
    /// The one for analysts.
    pub reader: Option<Credentials>,
}

impl Accounts {
    /// The role of the user whose credentials these are.
    ///
    /// # Errors
    ///
    /// A server's own error if there is no such user, or with another password.
    pub fn authenticate(&self, given: &Credentials) -> Result<Role, Exception> {
        if self.owner.matches(given) {
            return Ok(Role::Owner);
        }
        if self.api.as_ref().is_some_and(|api| api.matches(given)) {
            return Ok(Role::Api);
        }
        if self.reader.as_ref().is_some_and(|reader| reader.matches(given)) {
            return Ok(Role::Reader);
        }
        Err(Exception::new(
            516,
            "AUTHENTICATION_FAILED",
            format!(
                "{}: Authentication failed: password is incorrect, or there is no user with such name.",
                given.user
            ),
        ))
    }
}
