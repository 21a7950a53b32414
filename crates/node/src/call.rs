//! Calls that are sent once, to one node, with their own limits on the response.

use std::time::Duration;

use serde_json::Value;

use super::client::NodeClient;
use crate::error::call::Answer;
use crate::error::failure::Failure;

/// Limits on a response.
#[derive(Debug, Clone, Copy)]
pub struct CallLimits {
    /// Most bytes of the response.
    pub bytes: usize,
    /// Longest wait, from the time the request is sent.
    pub timeout: Duration,
}

/// Why a call that is sent once failed.
#[derive(Debug, thiserror::Error)]
pub enum CallFailure {
    /// The response exceeds the limits.
    #[error("its answer is too long or takes too long")]
    TooLong,
    /// Cause of any other failure, in words.
    #[error("{0}")]
    Failed(String),
}

impl From<Failure> for CallFailure {
    fn from(failure: Failure) -> Self {
        if failure.is_too_large() { Self::TooLong } else { Self::Failed(failure.cause) }
    }
}

impl NodeClient {
    /// The name of the node that the next call goes to: scheme, host and port.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.first_ready().name
    }

    /// Sends calls in one request, once, to the first node that works.
    ///
    /// # Errors
    ///
    /// If the node fails, or its answer exceeds `limits`.
    pub async fn call(&self, calls: &[(&'static str, Value)], limits: CallLimits) -> Result<Vec<Answer>, CallFailure> {
        let node = self.first_ready();
        if let Some(known) = self.known_chain() {
            // A node that could not be reached before may be of another chain: its failure is not the contract's.
            node.check_chain(&known).await.map_err(|failure| CallFailure::Failed(failure.cause))?;
        }
        Ok(node.once(calls, limits.bytes, limits.timeout).await?)
    }
}
