//! Embedded ClickHouse: libchdb behind the ClickHouse HTTP interface.
//!
//! A store can be opened by one process only, so this process holds it and everybody else (ingest,
//! API, analysts) speaks HTTP to it, exactly as they would to a ClickHouse server.
//! It knows HTTP and libchdb, and nothing about chains.
//!
//! From the bottom up: [`library`] finds and loads libchdb; [`connection`] makes its C interface safe;
//! [`lexer`] and [`statement`] read just enough SQL to know where a query ends and its data begins;
//! [`reader`] says what a reader may not; [`execute`] runs one statement; [`request`], [`body`], [`codec`],
//! [`respond`], [`server`] are the HTTP around it.

pub mod account;
pub mod body;
pub mod codec;
pub mod connection;
pub mod exception;
pub mod execute;
pub mod format;
pub mod lexer;
pub mod library;
pub mod reader;
pub mod request;
pub mod respond;
pub mod running;
pub mod server;
pub mod session;
pub mod statement;
