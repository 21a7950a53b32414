//! What a node says of itself and of its chain, and calls that other nodes answer.

pub(crate) mod capabilities;
pub(crate) mod client_info;
pub(crate) mod fork_config;
pub(crate) mod forward;
pub(crate) mod pool;
pub(crate) mod send;
