//! Whether a database will do: it has the schema of this program and is of the chain that the options name.

use std::time::Duration;

use crate::options::Options;
use crate::options::OtherChain;
use trawl_core::store::{Head, MigrateError, Reader, StoreError};

/// Why a database will not do, for now or for good.
#[derive(Debug, thiserror::Error)]
pub enum NotReady {
    /// Its schema is another, or cannot be read.
    #[error(transparent)]
    Schema(#[from] MigrateError),
    /// It is of another chain.
    #[error(transparent)]
    Chain(#[from] OtherChain),
    /// What is committed cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl NotReady {
    /// Whether waiting helps: until the tables are made, or until the store is there again.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Schema(MigrateError::Older { .. }) => true,
            Self::Schema(MigrateError::Store(error)) | Self::Store(error) => is_away(error),
            Self::Schema(_) | Self::Chain(_) => false,
        }
    }
}

/// Whether the store is away or busy; a gateway before it says so without an error code of ClickHouse.
fn is_away(error: &StoreError) -> bool {
    error.is_transient() || matches!(error, StoreError::Refused { code: 0, .. })
}

/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_secs(1);

/// Looks once.
pub async fn check(reader: &Reader, options: &Options) -> Result<(), NotReady> {
    reader.require_schema().await?;
    if options.chain_id.is_some() {
        options.served_chain(&Head::load(reader).await?)?;
    }
    Ok(())
}

/// Waits until the database will do; an error if it never will.
pub async fn until_ready(reader: &Reader, options: &Options) -> Result<(), NotReady> {
    let mut waited = false;
    loop {
        match check(reader, options).await {
            Err(not_ready) if not_ready.is_transient() => {
                let cause = trawl_core::chain(&not_ready);
                match waited {
                    false => tracing::warn!(cause, "not ready: waiting for the database"),
                    true => tracing::debug!(cause, "still not ready"),
                }
                waited = true;
            }
            outcome => return outcome,
        }
        tokio::time::sleep(PAUSE).await;
    }
}
