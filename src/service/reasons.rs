//! Why a database is not ready, in a word: probes are answered to strangers, and the log has the rest.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use trawl_core::served_chain::ServedChain;
use trawl_core::store::{MigrateError, StoreError};

/// Why a probe is refused.
pub(crate) struct Reason {
    /// As metrics have it, one of [`WORDS`].
    pub word: &'static str,
    /// The first line of the answer.
    pub text: String,
}

impl Reason {
    pub fn new(word: &'static str, text: String) -> Self {
        Self { word, text }
    }
}

/// The words of all reasons.
pub(crate) const WORDS: [&str; 10] = [
    "database-silent",
    "database-unreachable",
    "database-not-allowed",
    "database-refused",
    "schema-older",
    "schema-newer",
    "schema-unknown",
    "nothing-loaded",
    "damaged",
    "no-head",
];

/// The answer of a probe whose database has not answered for `waited`.
pub(crate) fn of_silence(waited: Duration) -> Reason {
    said("database-silent", &format!("ClickHouse has not answered for {waited:?}"))
}

/// The answer of a probe that failed with `error`.
pub(crate) fn of_error(error: &MigrateError) -> Reason {
    let reason = match error {
        MigrateError::Older { .. } => "schema-older",
        MigrateError::Newer { .. } => "schema-newer",
        MigrateError::Unreleased { .. }
        | MigrateError::Edited { .. }
        | MigrateError::Step { .. }
        | MigrateError::Cluster(_) => "schema-unknown",
        MigrateError::Store(error) if error.is_unreachable() => "database-unreachable",
        MigrateError::Store(StoreError::NotAllowed { .. }) | MigrateError::MayNotMakeRoles { .. } => {
            "database-not-allowed"
        }
        MigrateError::Store(_) | MigrateError::NoRoles => "database-refused",
    };
    said(reason, &trawl_core::error_chain(error))
}

/// Probes come every few seconds, from any client: a reason is logged as a warning when it changes.
fn said(reason: &'static str, cause: &str) -> Reason {
    static BEFORE: Mutex<BTreeMap<&str, &str>> = Mutex::new(BTreeMap::new());
    let chain = ServedChain::of_task().map_or("", ServedChain::name);
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).insert(chain, reason);
    if before == Some(reason) {
        tracing::debug!(reason, cause, "still not ready");
    } else {
        tracing::warn!(reason, cause, "not ready");
    }
    Reason::new(reason, reason.into())
}
