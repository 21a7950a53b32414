//! The time limit on this side of the connection. The server's limits are no help against a server that is silent.

use std::time::Duration;

use super::StoreError;

/// What `answer` becomes within `patience`; a server that is silent for longer counts as unreachable.
pub(super) async fn within<T>(patience: Duration, answer: impl Future<Output = T>) -> Result<T, StoreError> {
    tokio::time::timeout(patience, answer).await.map_err(|_| StoreError::silent())
}
