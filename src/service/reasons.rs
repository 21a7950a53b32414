//! Why a database is not ready, in a word: probes are answered to strangers, and the log has the rest.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use trawl_core::store::{MigrateError, StoreError};

/// The answer of a probe whose database has not answered for `waited`.
pub(crate) fn of_silence(waited: Duration) -> String {
    said("database-silent", &format!("ClickHouse has not answered for {waited:?}"))
}

/// The answer of a probe that failed with `error`.
pub(crate) fn of_error(error: &MigrateError) -> String {
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

/// Probes come every few seconds, from anybody: a reason is a warning when it is another than before.
fn said(reason: &'static str, cause: &str) -> String {
    static BEFORE: Mutex<&str> = Mutex::new("");
    let before = std::mem::replace(&mut *BEFORE.lock().unwrap_or_else(PoisonError::into_inner), reason);
    if before == reason {
        tracing::debug!(reason, cause, "still not ready");
    } else {
        tracing::warn!(reason, cause, "not ready");
    }
    format!("{reason}\n")
}
