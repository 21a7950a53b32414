//! The time limit on this side of the connection. The server's limits do not help against a server that hangs.

use std::time::Duration;

use crate::store::StoreError;

/// The output of `answer` within `timeout`; a server that hangs for longer counts as unreachable.
pub(crate) async fn within<T>(timeout: Duration, answer: impl Future<Output = T>) -> Result<T, StoreError> {
    tokio::time::timeout(timeout, answer).await.map_err(|_| StoreError::silent())
}
