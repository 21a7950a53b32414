//! Transactions of a block and calls, traced: as geth's `debug_trace…` and as Parity's `trace_…` methods tell them.

mod block;
mod calls;
mod changes;
mod destructions;
mod log_indices;
#[cfg(test)]
mod rollup_tests;
mod run;
mod steps;
mod storage;
mod tracer;

pub use alloy_rpc_types_trace::geth::GethDefaultTracingOptions as StepOptions;
pub use alloy_rpc_types_trace::geth::call::{CallConfig, FlatCallConfig};
pub use alloy_rpc_types_trace::geth::pre_state::PreStateConfig;
pub use alloy_rpc_types_trace::parity::TraceType;

pub use block::{Progress, RecordedTransaction, Replay};
pub use calls::trace_calls;
pub(crate) use changes::Changes;
pub use run::Trace;
pub(crate) use run::{RunContext, RunError};
pub use storage::StorageWrites;
pub use tracer::Tracer;
