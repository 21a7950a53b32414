//! Retries statements that failed for a reason that passes.

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use trawl_core::store::StoreError;

use super::figures::count_retry;

/// Between two attempts at most, jitter apart: what follows a restart of ClickHouse is late by no more than twice this.
const MAX_PAUSE: Duration = Duration::from_secs(2);

/// Runs `attempt` until it succeeds, with longer and longer pauses while ClickHouse is away or overloaded: 45 times,
/// which is about two minutes.
///
/// # Errors
///
/// The last error, or the first one that no retry can cure.
pub async fn retry_transient<T, F: Future<Output = Result<T, StoreError>>>(
    attempt: impl FnMut() -> F,
) -> Result<T, StoreError> {
    let pauses = ExponentialBuilder::default()
        .with_min_delay(Duration::from_millis(200))
        .with_max_delay(MAX_PAUSE)
        .with_max_times(45)
        .with_jitter();
    attempt
        .retry(pauses)
        .when(StoreError::is_transient)
        .notify(|error, pause| {
            count_retry(error);
            tracing::warn!(error = %trawl_core::error_chain(error), ?pause, "ClickHouse did not accept a statement; \
                                                                             trying again");
        })
        .await
}
