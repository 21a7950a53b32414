//! Floor 2: filters become plans, plans become statements. Pure: no I/O, no clock.
//!
//! Every list plan pins or bounds the leading key column, so a full scan cannot be expressed.

pub mod account;
pub mod addresses;
pub mod blocks;
pub mod contracts;
pub mod labels;
pub mod logs;
pub mod scan;
pub mod search;
mod select;
pub mod sources;
pub mod state;
pub mod stats;
pub mod tokens;
pub mod transactions;
pub mod user_operations;
pub mod walk;
