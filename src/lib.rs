//! The API server: HTTP, REST, JSON-RPC and wide scans over the tables that `trawl-ingest` writes.
//!
//! The layers below are packages: `trawl-core` (primitives, tables, statements, the connection), `trawl-query` (filters
//! to plans to statements), `trawl-json` (rows to text) and `trawl-evm` (calls on the state of a block). In this
//! package, from the top:
//!
//! - [`router`]: all routes and layers;
//! - [`rest`], [`rpc`], `scan` and `etherscan`: one interface each; [`web`]: a page beside them; [`service`]: health;
//! - `middleware` and `read`: what they share;
//! - [`app`]: what requests share, over `enrich`, `cache`, [`http`], `limits`, [`remote`], [`options`] and
//!   [`error`].

pub mod app;
mod cache;
pub mod enrich;
pub mod error;
mod etherscan;
pub mod http;
mod limits;
mod middleware;
pub mod options;
mod read;
pub mod remote;
pub mod rest;
pub mod router;
pub mod rpc;
mod scan;
pub mod service;
pub mod web;
