//! A statement as its client sent it.

use crate::execute::session::SessionRequest;

/// A statement and how it is to be run, as its client gave them.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// Beginning of the statement's text; the body has the rest.
    pub text: String,
    /// Values of `{name:Type}`.
    pub parameters: Vec<(String, String)>,
    /// Settings for this statement.
    pub settings: Vec<(String, String)>,
    /// Current database; `default` if none.
    pub database: Option<String>,
    /// Output format if the text names none.
    pub default_format: Option<String>,
    /// The version of the native protocol that its client reads `Native` by; 0 for the form without a version.
    pub protocol_version: u64,
    /// The session it belongs to.
    pub session: Option<SessionRequest>,
    /// It may not change anything: it came by GET or HEAD.
    pub is_read_only: bool,
    /// Its client gave it an id, by which others may look for it in `log_comment`.
    pub is_named: bool,
}

impl Query {
    /// Whether it may not change anything, by its method or as its client asks.
    pub(super) fn only_reads(&self) -> bool {
        self.is_read_only || self.settings.iter().any(|(name, value)| name == "readonly" && value != "0")
    }
}
