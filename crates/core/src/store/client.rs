//! The connection to ClickHouse: addresses, requests, rows of answers, time limits, and the server that stands in.

pub(crate) mod address;
pub(crate) mod addresses;
pub(crate) mod answer_bytes;
pub(crate) mod coalescer;
pub(crate) mod connection;
pub(crate) mod failover;
pub(crate) mod messages;
pub(crate) mod origin;
pub(crate) mod rows;
pub(crate) mod timeout;
