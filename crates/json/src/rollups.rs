//! What rollups exchange with their L1.

pub mod deposits;
pub mod messages;
