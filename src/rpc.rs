//! The JSON-RPC endpoints over HTTP and WebSockets: the specification's (docs/reference/http-contract.md#json-rpc) and
//! that of nodes; envelope, batches, and one table of methods.

mod answer;
mod block_parts;
mod blocks;
mod call_params;
mod calls;
mod capabilities;
mod client_info;
mod context;
mod encodings;
mod endpoint;
mod envelope;
mod feed;
mod fees;
mod filter_store;
mod filters;
mod fork_config;
mod forward;
#[cfg(fuzzing)]
pub mod fuzzed;
mod http;
mod ids;
pub(crate) mod logs;
mod methods;
mod news;
mod otterscan;
pub(crate) mod params;
mod pool;
mod proofs;
mod replays;
mod send;
mod service;
mod session;
mod simulation;
mod socket;
mod sockets;
mod state;
mod storage_values;
mod traces;
mod transaction_traces;
mod transactions;
mod whole;

pub(crate) use endpoint::Endpoint;
pub(crate) use fees::{acceptance, oracle};
pub(crate) use http::{answer_one, serve};
#[cfg(test)]
pub(crate) use methods::names as method_names;
pub use service::Rpc;
pub(crate) use socket::connect;
