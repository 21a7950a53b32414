//! What ingest keeps beside the chain: runs, leases, hot rows, labels, tokens and statistics.

pub(crate) mod configurations;
pub(crate) mod fill;
pub(crate) mod follow_reports;
pub(crate) mod hot;
pub(crate) mod labels;
pub(crate) mod leases;
pub(crate) mod loaded_contracts;
pub(crate) mod runs;
pub(crate) mod statistics;
pub(crate) mod tokens;
