//! Why contracts are not called any more.

use trawl_core::store::StoreError;

use crate::source::rpc::TokenFailure;

/// Why no more contracts are called.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The node answers for no contract, or has no calls.
    #[error(transparent)]
    Node(#[from] TokenFailure),
    /// ClickHouse fails, or another run writes.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl FetchError {
    /// Whether a retry cannot help: the node has no calls, or this run has lost the lease.
    pub(super) fn is_final(&self) -> bool {
        match self {
            Self::Node(failure) => failure.is_final(),
            Self::Store(error) => matches!(error, StoreError::LeaseLost | StoreError::NoSignOfLife(_)),
        }
    }
}
