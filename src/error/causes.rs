//! What clients see of failures of calls and of the store.

use trawl_core::store::StoreError;
use trawl_evm::Failure;

use super::Problem;

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::TooLong => Self::CallTooLong,
            Failure::NotAvailable(error) => Self::RulesUnknown(error),
            failure => Self::Call(failure),
        }
    }
}

impl From<StoreError> for Problem {
    /// The client learns whether to retry or to narrow its request; the cause goes to the log.
    fn from(error: StoreError) -> Self {
        // TIMEOUT_EXCEEDED, MEMORY_LIMIT_EXCEEDED, TOO_MANY_ROWS, TOO_MANY_BYTES.
        if let StoreError::Refused { code: 159 | 241 | 158 | 307, .. } = &error {
            tracing::warn!(cause = trawl_core::error_chain(&error), "a query exceeded its limits");
            return Self::TooExpensive;
        }
        if error.is_unreachable() {
            tracing::warn!(cause = trawl_core::error_chain(&error), "the store is unreachable");
            return Self::Unreachable;
        }
        if error.is_transient() {
            tracing::warn!(cause = trawl_core::error_chain(&error), "the store is busy");
            return Self::Busy;
        }
        tracing::error!(cause = trawl_core::error_chain(&error), "a query failed");
        Self::Internal
    }
}
