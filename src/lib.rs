//! The API server: HTTP, REST, JSON-RPC and wide scans over the tables that `trawl-ingest` writes.
//!
//! Floors below are packages: `trawl-core` (words, tables, statements, the connection), `trawl-query` (filters to plans
//! to statements), `trawl-json` (rows to text) and `trawl-evm` (calls on the state of a block). In here, from the top:
//!
//! - [`http`]: routes and what is done to every request;
//! - [`rest`], [`rpc`] and `scan`: one interface each;
//! - `enrich` and `read`: what a page shows beside its rows, and where rows come from;
//! - `cache`, [`upstream`], [`app`], [`options`], [`error`]: what all of them share.

pub mod app;
mod cache;
pub mod enrich;
pub mod error;
pub mod http;
mod log_filter;
pub mod options;
mod read;
pub mod rest;
pub mod rpc;
mod scan;
pub mod upstream;
mod values;
