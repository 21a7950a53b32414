//! The error object of JSON-RPC, and its classification.

use serde::Deserialize;
use serde_json::value::RawValue;

/// JSON-RPC: the node does not have the method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// Limit exceeded, by <https://eips.ethereum.org/EIPS/eip-1474>.
const LIMIT_EXCEEDED: i64 = -32005;
/// Nodes written with jsonrpsee (Reth and others): the response is larger than they send.
const OVERSIZED_RESPONSE: i64 = -32008;

/// A node's response to one call.
pub type Answer = Result<Box<RawValue>, CallError>;

/// A JSON-RPC error object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct CallError {
    /// A code of JSON-RPC, EIP-1474 or the node itself.
    pub code: i64,
    /// A message for people.
    #[serde(default)]
    pub message: String,
}

impl CallError {
    /// Whether the request or its response is too large. There is no standard code for it.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        let message = self.message.to_ascii_lowercase();
        let batch = message.contains("batch")
            && ["large", "limit", "size", "many", "exceed"].iter().any(|word| message.contains(word));
        let response = ["response", "body", "result", "content"].iter().any(|word| message.contains(word))
            && ["too large", "too big", "size exceeded", "size limit"].iter().any(|word| message.contains(word));
        batch || response || self.code == OVERSIZED_RESPONSE
    }

    /// Whether a rate limit is exceeded.
    #[must_use]
    pub fn is_rate_limited(&self) -> bool {
        let message = self.message.to_ascii_lowercase();
        self.code == LIMIT_EXCEEDED || message.contains("rate limit") || message.contains("too many requests")
    }
}
