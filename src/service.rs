//! What the service says of itself: probes, health with its reasons, whether it is ready, its description as OpenAPI.
//! And two ways to query it: tools for language models, and SQL under an account of one's own.

pub(crate) mod chain_list;
pub(crate) mod console;
pub(crate) mod health;
pub(crate) mod mcp;
pub mod openapi;
pub mod readiness;
pub(crate) mod reasons;
