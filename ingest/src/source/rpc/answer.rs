//! What an answer of a node holds.

use serde_json::value::RawValue;

use trawl_node::{Answer, Failure};

/// The result of a call; `null` means that the node does not have it (yet).
pub(super) fn present(answer: Option<Answer>, absent: &str) -> Result<Box<RawValue>, Failure> {
    match answer {
        Some(Ok(value)) if value.get() != "null" => Ok(value),
        Some(Ok(_)) | None => Err(Failure::not_ready(absent)),
        Some(Err(error)) => Err(error.into()),
    }
}
