//! What is kept so that it is not read again: whole answers, and lookups that are made once for all who wait.

pub(crate) mod batch_loader;
pub(crate) mod cache_control;
pub(crate) mod responses;
