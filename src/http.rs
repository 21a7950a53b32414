//! HTTP itself: routes, bodies that stream, headers of every answer, probes, metrics. Nothing here knows the chain's data.

pub(crate) mod body;
pub(crate) mod cached;
pub(crate) mod headers;
pub(crate) mod health;
pub mod metrics;
pub mod openapi;
pub(crate) mod percent;
pub mod readiness;
pub mod router;
