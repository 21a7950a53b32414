//! Looks for lost rows at the start and every few minutes, beside what is going on.

use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use crate::served_chain::for_same_chain;
use crate::store::{Damage, Reader, StoreError};

/// Time between two checks. Rows are lost when ClickHouse starts; a failed read of the head, as during a restart, leads
/// to a check at once.
const CHECK_INTERVAL: Duration = Duration::from_secs(120);
/// The same while something is lost, so that a repair is noticed.
const DAMAGED_INTERVAL: Duration = Duration::from_secs(15);

/// What is known to be lost.
#[derive(Debug, Default)]
pub(crate) struct DamageWatch {
    known: Option<(Damage, Instant)>,
    check: Option<JoinHandle<Result<Damage, StoreError>>>,
}

impl DamageWatch {
    /// What is lost as far as it is known. Waits for the first check, and for none later.
    pub async fn now(&mut self, reader: &Reader) -> Result<Damage, StoreError> {
        if let Some(check) = self.check.take_if(|check| check.is_finished()) {
            self.take(check.await.unwrap_or_else(|_| Err(StoreError::silent())));
        }
        match &self.known {
            Some((damage, since)) => {
                let interval = if damage.is_none() { CHECK_INTERVAL } else { DAMAGED_INTERVAL };
                if since.elapsed() > interval && self.check.is_none() {
                    let reader = reader.clone();
                    self.check = Some(tokio::spawn(for_same_chain(async move { reader.damage().await })));
                }
                Ok(damage.clone())
            }
            None => match reader.damage().await {
                Err(error) if error.is_transient() => Err(error),
                checked => {
                    self.take(checked);
                    Ok(self.known.as_ref().map(|(damage, _)| damage.clone()).unwrap_or_default())
                }
            },
        }
    }

    /// Nothing is known any more: the database may have been restarted.
    pub fn forget(&mut self) {
        self.known = None;
        self.check = None;
    }

    fn take(&mut self, checked: Result<Damage, StoreError>) {
        let before = self.known.take().map(|(damage, _)| damage).unwrap_or_default();
        let damage = checked.unwrap_or_else(|error| {
            tracing::warn!(error = %crate::error_chain(&error), "cannot check whether rows were lost");
            before.clone()
        });
        if damage != before && !damage.is_none() {
            tracing::error!(%damage, "rows were lost: run `trawl-ingest repair`; requests that need them are refused \
                                      until then");
        }
        self.known = Some((damage, Instant::now()));
    }
}
