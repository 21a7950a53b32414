//! What the service says of itself: probes, health with its reasons, whether it is ready, its description as OpenAPI.

pub(crate) mod health;
pub(crate) mod mcp;
pub mod openapi;
pub mod readiness;
pub(crate) mod reasons;
