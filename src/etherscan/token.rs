//! `module=token`, and what accounts have of tokens.

pub(crate) mod contract;
pub(crate) mod facts;
pub(crate) mod holders;
pub(crate) mod holdings;
