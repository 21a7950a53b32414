//! Traces as nodes write them to frames in one shape ([`crate::block::trace`] says which).
//!
//! A line may hold both forms of the same traces. `trace_block`'s is taken then: it alone tells of rewards and of what
//! the outermost frame really got, and its words are those the raw-trace endpoint answers with.

mod call_tracer;
mod trace_block;

use serde_json::value::RawValue;
use trawl::primitives::B256;

use super::json::Line;
use super::{DecodeError, unreadable};
use crate::block::trace::{RootGas, Traces};

/// Reads the traces of a block with `transactions` transactions, if the line has any.
pub(super) fn traces(number: u64, transactions: usize, line: &Line<'_>) -> Result<Option<Traces>, DecodeError> {
    let unreadable = |source| unreadable(number, "traces", source);
    if let Some(flat) = line.parity_traces {
        let told = trace_block::read(flat, line.parity_rewards, transactions).map_err(unreadable)?;
        return Ok(Some(Traces {
            root_gas: RootGas::OfExecution,
            transactions: told.transactions,
            rewards: Some(told.rewards),
        }));
    }
    let Some(trees) = line.traces else { return Ok(None) };
    let transactions = call_tracer::read(trees).map_err(unreadable)?;
    Ok(Some(Traces { root_gas: RootGas::OfNode, transactions, rewards: None }))
}

/// Whether an answer of `trace_block` is of the block with this hash.
pub fn traces_fit(answer: &RawValue, block_hash: B256) -> Result<bool, DecodeError> {
    trace_block::are_of(answer, block_hash).map_err(|source| unreadable("?", "traces", source))
}
