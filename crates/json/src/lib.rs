//! Floor 2: rows become JSON text. The only package that names response fields.
//!
//! Text is written straight from column buffers, without a value tree in between.

pub mod activity;
pub mod addresses;
pub mod advanced_filters;
mod amount;
pub mod blocks;
pub mod contracts;
pub mod etherscan;
pub mod list;
pub mod logs;
pub mod otterscan;
pub mod rollups;
pub mod scan_rows;
pub mod search;
pub mod stats;
pub mod tokens;
pub mod transactions;
pub mod vocabulary;
pub mod web_assets;
mod writer;

pub use writer::{Array, JsonWriter, Object};
