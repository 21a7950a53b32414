//! Questions that are asked once, of one node, with bounds of their own on the answer.

use std::time::Duration;

use serde_json::Value;

use super::NodeClient;
use super::failure::{Answer, Failure};

/// Why a question that is asked once has no answer.
#[derive(Debug, thiserror::Error)]
pub(in super::super) enum AskError {
    /// The answer is longer than the caller wants to read, or takes longer than it wants to wait.
    #[error("its answer is too long or takes too long")]
    TooLong,
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

impl From<Failure> for AskError {
    fn from(failure: Failure) -> Self {
        if failure.is_too_large() { Self::TooLong } else { Self::Failed(failure.cause) }
    }
}

impl NodeClient {
    /// The name of the node whose turn it is: scheme, host and port.
    pub(in super::super) fn name(&self) -> &str {
        &self.nodes[self.choose(&vec![false; self.nodes.len()])].name
    }

    /// Sends calls in one request, once, and reads at most `limit` bytes of the answer within `patience`.
    pub(in super::super) async fn ask(
        &self,
        calls: &[(&'static str, Value)],
        limit: usize,
        patience: Duration,
    ) -> Result<Vec<Answer>, AskError> {
        let node = &self.nodes[self.choose(&vec![false; self.nodes.len()])];
        if let Some(known) = self.chain_id.get() {
            // A node whose turn came late may be of another chain; its failure is not the contract's.
            node.check_chain(*known).await.map_err(|failure| AskError::Failed(failure.cause().into()))?;
        }
        Ok(node.once(calls, limit, patience).await?)
    }
}
