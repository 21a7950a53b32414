//! Embedded ClickHouse: libchdb served over the ClickHouse HTTP interface.
//!
//! A store can be opened by one process only, so this process holds it, and all others (ingest,
//! API, analysts) speak HTTP to it, exactly as they would to a ClickHouse server.
//! It knows HTTP and libchdb, and nothing about chains.
//!
//! From the bottom up:
//!
//! - [`exception`], [`account`] and [`codec`]: errors, users and compression as ClickHouse has them;
//! - [`sql`] reads just enough SQL to know where a query ends, where its data begins, and what a reader may run;
//! - [`chdb`] finds and loads libchdb, and makes its C interface safe;
//! - [`execute`] runs one statement;
//! - [`http`] is the server around it; [`stopping`] bounds the end of the process.

pub mod account;
pub mod chdb;
pub mod codec;
pub mod exception;
pub mod execute;
pub mod http;
pub mod sql;
pub mod stopping;
