//! Caching: whole answers, how long they stay valid, and lookups that concurrent requests share.

pub(crate) mod answer_variant;
pub(crate) mod batch_loader;
pub(crate) mod cache_control;
pub(crate) mod generations;
pub(crate) mod responses;
pub(crate) mod run_sums;
pub(crate) mod settled_rows;
pub(crate) mod state_loads;
