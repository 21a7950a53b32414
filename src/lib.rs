//! Trawl: the indexed history of an Ethereum-compatible chain, out of ClickHouse.
//!
//! `trawl-ingest` writes tables, `trawl-api` (this package's binary) answers from them; they meet only in the
//! database. Rooms in floor order, each using only rooms below it:
//!
//! - floor 0, [`primitives`]: the words;
//! - floor 1, [`schema`] and [`statement`]: the tables as Rust sees them, SQL with typed parameters;
//! - floor 2, `query` (filters to plans to statements), `json` (rows to text), `evm` (calls on the state of a block),
//!   [`store`] (the only I/O);
//! - floor 3, `api`: HTTP, JSON-RPC and the one place that knows status codes.
//!
//! `query`, `json`, `evm` and `api` belong to the feature `api`, so ingest cannot reach them.

pub mod flags;
pub mod primitives;
pub mod schema;
pub mod statement;
pub mod store;

#[cfg(feature = "api")]
pub mod api;
#[cfg(feature = "api")]
pub mod evm;
#[cfg(feature = "api")]
pub mod json;
#[cfg(feature = "api")]
pub mod query;

/// An error with its causes, in one line.
#[must_use]
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
