//! HTTP: routes, streamed bodies, common headers, probes, metrics. This module knows nothing of the chain's data.

pub(crate) mod body;
pub(crate) mod cached;
pub(crate) mod client;
mod cors;
pub(crate) mod headers;
pub(crate) mod health;
pub mod metrics;
mod newest_block;
pub mod openapi;
pub(crate) mod percent;
pub(crate) mod queued;
pub mod readiness;
pub(crate) mod reasons;
pub(crate) mod request_body;
pub(crate) mod request_head;
pub(crate) mod route;
pub mod router;
