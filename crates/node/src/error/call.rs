//! The error object of JSON-RPC.

use serde::Deserialize;
use serde_json::value::RawValue;

/// JSON-RPC: the node does not have the method.
pub const METHOD_NOT_FOUND: i64 = -32601;

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
