//! The HTTP interface: requests, bodies, answers, the server.

pub mod body;
pub mod request;
pub mod respond;
pub mod server;
