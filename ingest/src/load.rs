//! Loads a range of blocks: from a source, through checks and rows, into committed batches.

pub mod completeness;
mod deposits;
pub mod error;
pub mod pipeline;
mod post_states;
pub mod prepare;
pub mod progress;
mod receipt_versions;
pub mod recognition;
mod rollup_fees;
mod uncles;
