//! The API server: HTTP, REST, JSON-RPC and wide scans over the tables that `trawl-ingest` writes.
//!
//! Floors below are packages: `trawl-core` (words, tables, statements, the connection), `trawl-query` (filters to plans
//! to statements), `trawl-json` (rows to text) and `trawl-evm` (calls on the state of a block).

pub mod api;
