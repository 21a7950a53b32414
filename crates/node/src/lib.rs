//! JSON-RPC calls to nodes: transport, limits, retries, failover.
//!
//! A [`NodeClient`] has one or more interchangeable nodes of a chain. The caller's [`RetryPolicy`] determines what
//! happens when one fails. Methods and the meaning of their results are up to the caller.

mod call;
mod chain;
mod client;
mod contact;
mod error;
mod failover;
mod figures;
mod health;
mod known_block;
mod limiter;
mod message;
mod node;
mod pending;
mod relay;
mod settings;
mod transport;
mod websocket;

pub use call::{CallFailure, CallLimits};
pub use chain::KnownChain;
pub use client::NodeClient;
pub use contact::NodeStatus;
pub use error::NodeError;
pub use error::call::{Answer, CallError, METHOD_NOT_FOUND};
pub use error::failure::{Failure, FailureKind};
pub use error::kind::ErrorKind;
pub use failover::RetriesExhausted;
pub use known_block::KnownBlock;
pub use pending::PendingCall;
pub use relay::RelayedResult;
pub use settings::{MAX_BATCH, NodeSettings, RetryPolicy};
