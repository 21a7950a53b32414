//! Looks whether node, database and this machine are fit for loading and following, and says what to do where they are
//! not.

use std::fmt;

mod database;
mod machine;
mod node;

pub use database::examine_database;
pub use machine::examine_machine;
pub use node::examine_node;

/// The chain that a database has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoredChain {
    /// Its id, if a source has named it.
    pub chain_id: Option<u64>,
    /// The newest readable block.
    pub head: Option<u64>,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// As it should be.
    Fine,
    /// It works, and something is missing or will be.
    Warning,
    /// It does not work.
    Wrong,
}

/// What was looked at, and what to do if it is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// What was looked at, such as `node` and `room`.
    pub subject: &'static str,
    /// What was found.
    pub found: String,
    /// What to do; empty if nothing.
    pub advice: String,
}

impl Finding {
    /// As it should be.
    fn fine(subject: &'static str, found: impl Into<String>) -> Self {
        Self { severity: Severity::Fine, subject, found: found.into(), advice: String::new() }
    }

    /// Something is missing.
    fn warning(subject: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, subject, found: found.into(), advice: advice.into() }
    }

    /// It does not work.
    fn wrong(subject: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { severity: Severity::Wrong, subject, found: found.into(), advice: advice.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Fine => "fine",
            Severity::Warning => "warning",
            Severity::Wrong => "WRONG",
        };
        write!(formatter, "{severity:<8} {:<14} {}", self.subject, self.found)?;
        if self.advice.is_empty() { Ok(()) } else { write!(formatter, "\n{:24}{}", "", self.advice) }
    }
}
