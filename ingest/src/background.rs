//! Works beside a load, and never holds it up: what token contracts answer, and what their transfers add up to.

pub mod token_metadata;
pub mod token_statistics;
mod transaction_totals;
