//! `module=stats`: figures about the chain.

pub(crate) mod days;
pub(crate) mod fees;
pub(crate) mod supply;
