//! The users of the endpoint: an owner, and optionally an API and readers, which can change nothing, and a modeler,
//! which has databases of its own.
//!
//! libchdb always logs in as `default`, so users exist only here.

use sha2::{Digest as _, Sha256};

use crate::exception::Exception;

/// The role of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Any statement, writes and settings among them.
    Owner,
    /// Queries that leave no trace and touch nothing outside the database, in the slots of their stated workload.
    Api,
    /// The same queries within limits, in slots of their own.
    Reader,
    /// The rights of a reader, and the right to create, fill and drop tables and views in its own databases.
    Modeler,
}

impl Role {
    /// Whether limits and slots of readers are for it.
    #[must_use]
    pub fn is_limited(self) -> bool {
        matches!(self, Self::Reader | Self::Modeler)
    }
}

/// A name and a password, as a client gives them.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// Name, as the client gives it.
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

/// The SHA-256 of a password: it is compared, and is the only form that is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of a password.
    #[must_use]
    pub fn of(password: &str) -> Self {
        Self(Sha256::digest(password.as_bytes()).into())
    }

    /// Reads 64 hexadecimal digits.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        let is_whole = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        for (at, byte) in bytes.iter_mut().enumerate().filter(|_| is_whole) {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
        }
        is_whole.then_some(Self(bytes))
    }

    /// Compares in constant time.
    fn matches(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Digest")
    }
}

/// A user of this endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Name, unique among [`Accounts`].
    pub user: String,
    /// Digest of the password.
    pub digest: Digest,
    /// Role of the user.
    pub role: Role,
}

impl Account {
    /// Whether the password is empty.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.digest == Digest::of("")
    }
}

/// The users of this endpoint: at least an owner, and no name twice.
#[derive(Debug, Clone)]
pub struct Accounts(Vec<Account>);

/// Two users of one name.
#[derive(Debug, thiserror::Error)]
#[error("there are two users called `{0}`: give one of them another name")]
pub struct SameName(String);

impl Accounts {
    /// Creates the users of this endpoint.
    ///
    /// # Errors
    ///
    /// If two have the same name.
    pub fn new(accounts: Vec<Account>) -> Result<Self, SameName> {
        let is_twice = |at: usize| accounts[..at].iter().any(|other| other.user == accounts[at].user);
        match (0..accounts.len()).find(|at| is_twice(*at)) {
            Some(at) => Err(SameName(accounts[at].user.clone())),
            None => Ok(Self(accounts)),
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Account> {
        self.0.iter()
    }

    /// The role of the user whose credentials these are.
    ///
    /// # Errors
    ///
    /// A server's own error if there is no such user, or with another password.
    pub fn authenticate(&self, given: &Credentials) -> Result<Role, Exception> {
        let digest = Digest::of(&given.password);
        // All of them: how long it takes does not tell which names there are.
        let known = self.0.iter().fold(None, |known, account| {
            let is_password = account.digest.matches(&digest);
            if is_password & (account.user == given.user) { Some(account.role) } else { known }
        });
        known.ok_or_else(|| {
            let user = &given.user;
            let text =
                format!("{user}: Authentication failed: password is incorrect, or there is no user with such name.");
            Exception::new(516, "AUTHENTICATION_FAILED", text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_name_and_password_together_let_somebody_in() {
        let account =
            |user: &str, password: &str, role| Account { user: user.into(), digest: Digest::of(password), role };
        let hex = "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8";
        let bob = Account { digest: Digest::from_hex(hex).expect("64 digits"), ..account("bob", "", Role::Reader) };
        let accounts = vec![account("default", "p", Role::Owner), account("ana", "q", Role::Reader), bob];
        assert!(Accounts::new([&accounts[..], &accounts[1..2]].concat()).is_err());
        let accounts = Accounts::new(accounts).expect("three names");
        let role = |user: &str, password: &str| {
            accounts.authenticate(&Credentials { user: user.into(), password: password.into() }).ok()
        };
        assert_eq!((role("default", "p"), role("ana", "q")), (Some(Role::Owner), Some(Role::Reader)));
        assert_eq!(role("bob", "password"), Some(Role::Reader));
        for (user, password) in [("ana", "p"), ("ana", ""), ("bob", hex), ("", "p"), ("nobody", "q"), ("ANA", "q")] {
            assert_eq!(role(user, password), None, "{user} {password}");
        }
        for text in [&hex[1..], "", &format!("{hex}0"), &hex.replace('5', "é"), &hex.replace('5', "+")] {
            assert!(Digest::from_hex(text).is_none(), "{text}");
        }
    }
}
