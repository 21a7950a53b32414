//! Loads a range of blocks: from a source, through checks and rows, into committed batches.

pub mod completeness;
mod deposits;
pub mod error;
pub mod pipeline;
pub mod prepare;
pub mod progress;
