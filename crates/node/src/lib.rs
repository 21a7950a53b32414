//! JSON-RPC calls to nodes: transport, limits, retries, failover.
//!
//! A [`NodeClient`] has one or more nodes of a chain that stand in for each other. The caller's [`RetryPolicy`] says what
//! happens when one fails; methods and what their answers mean are the caller's business.

mod call;
mod call_error;
mod client;
mod error;
mod failover;
mod failure;
mod health;
mod limiter;
mod message;
mod node;
mod relay;
mod settings;
mod transport;
mod websocket;

pub use call::{CallFailure, CallLimits};
pub use call_error::{Answer, CallError, METHOD_NOT_FOUND};
pub use client::NodeClient;
pub use error::NodeError;
pub use failover::Exhausted;
pub use failure::Failure;
pub use relay::Relayed;
pub use settings::{MAX_BATCH, NodeSettings, RetryPolicy};
