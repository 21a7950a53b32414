//! HTTP: streamed bodies, common headers, parameters, metrics. This module knows nothing of the store.

pub(crate) mod body;
pub(crate) mod cors;
pub(crate) mod csv_file;
pub(crate) mod gas_oracle;
pub(crate) mod headers;
pub mod metrics;
pub(crate) mod parameters;
pub(crate) mod percent;
pub(crate) mod periods;
pub(crate) mod query;
pub(crate) mod request_body;
pub(crate) mod route;
pub(crate) mod scheme;
pub(crate) mod values;
pub(crate) mod whole_body;
