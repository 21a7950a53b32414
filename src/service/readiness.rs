//! Whether a database is usable: it has the schema of this program and the chain that the options name.

use std::time::Duration;

use crate::options::{Options, OtherChain};
use trawl_core::store::{Head, MigrateError, Reader, StoreError};

/// Why a database is not usable, for now or at all.
#[derive(Debug, thiserror::Error)]
pub enum NotReady {
    /// Its schema is another one, or cannot be read.
    #[error(transparent)]
    Schema(#[from] MigrateError),
    /// It has the data of another chain.
    #[error(transparent)]
    Chain(#[from] OtherChain),
    /// Its commits cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl NotReady {
    /// Whether the problem may go away: the tables may be created, the store may be reachable again.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Schema(MigrateError::Older { .. }) => true,
            Self::Schema(MigrateError::Store(error)) | Self::Store(error) => is_unreachable(error),
            Self::Schema(_) | Self::Chain(_) => false,
        }
    }
}

/// Whether the store is unreachable or busy; a gateway reports that without an error code of ClickHouse.
fn is_unreachable(error: &StoreError) -> bool {
    error.is_transient() || matches!(error, StoreError::Refused { code: 0, .. })
}

/// Time between two checks.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Checks the database once.
///
/// # Errors
///
/// When it is not usable.
pub async fn check(reader: &Reader, options: &Options) -> Result<(), NotReady> {
    reader.require_schema().await?;
    if options.chain_id.is_some() {
        options.served_chain(&Head::load(reader).await?)?;
    }
    Ok(())
}

/// Waits until the database of one of several chains is usable, however long: the others are served meanwhile.
pub async fn until_ready_at_last(reader: &Reader, options: &Options) {
    let mut known = None;
    while let Err(not_ready) = check(reader, options).await {
        let cause = trawl_core::error_chain(&not_ready);
        if known.as_ref() != Some(&cause) {
            tracing::warn!(cause, "not ready: waiting for the database of this chain");
        }
        known = Some(cause);
        tokio::time::sleep(RETRY_DELAY).await;
    }
}

/// Waits until the database is usable.
///
/// # Errors
///
/// When it is not usable and waiting does not help.
pub async fn until_ready(reader: &Reader, options: &Options) -> Result<(), NotReady> {
    let mut waited = false;
    loop {
        match check(reader, options).await {
            Err(not_ready) if not_ready.is_transient() => {
                let cause = trawl_core::error_chain(&not_ready);
                match waited {
                    false => tracing::warn!(cause, "not ready: waiting for the database"),
                    true => tracing::debug!(cause, "still not ready"),
                }
                waited = true;
            }
            outcome => return outcome,
        }
        tokio::time::sleep(RETRY_DELAY).await;
    }
}
