//! The JSON-RPC endpoints over HTTP and WebSockets: the specification's (docs/reference/http-contract.md#json-rpc) and
//! that of nodes; envelope, batches, and one table of methods.

mod answer_rows;
mod blocks;
mod calls;
mod fees;
mod filters;
#[cfg(fuzzing)]
pub mod fuzzed;
mod http;
mod ids;
pub(crate) mod logs;
mod methods;
pub(crate) mod node;
mod otterscan;
pub(crate) mod protocol;
mod replays;
mod service;
mod simulation;
pub(crate) mod sockets;
mod state;
mod traces;
mod transactions;

pub(crate) use fees::{acceptance, oracle};
pub(crate) use http::{answer_one, serve};
#[cfg(test)]
pub(crate) use methods::names as method_names;
pub use methods::start_counting;
pub(crate) use protocol::endpoint::Endpoint;
pub use service::Rpc;
pub(crate) use sockets::socket::connect;
