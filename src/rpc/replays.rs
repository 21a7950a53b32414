//! Transactions that run again: `debug_traceTransaction`, `trace_replayTransaction`, and all of a block; and calls that
//! are traced.

pub(super) mod blocks;
pub(super) mod calls;
mod tracers;

use serde_json::value::RawValue;

use super::protocol::answer::Answer;
use super::protocol::context::{Context, required};
use super::protocol::params::value;
use super::protocol::trace_option::OF_RUNS;
use crate::error::Problem;
use crate::http::values::{bytes32, invalid};
use crate::read::replay::run_again;
use tracers::{GethOptions, parity_tracer};
use trawl_core::primitives::BlockNumber;
use trawl_evm::Failure;

/// A trace in the form of geth's tracers.
pub(super) async fn trace_transaction(call: Context<'_>) -> Result<Answer, Problem> {
    let [hash, options] = call.with_optional()?;
    let options = GethOptions::read(options)?;
    let found = position(call, required(hash)?).await?;
    let (block, index) = found.ok_or_else(|| Problem::Call(Failure::Invalid("transaction not found".into())))?;
    run_again(call.app, call.head()?, block, index, options.tracer()?).await.map(Answer::Whole)
}

/// A trace in the form of Parity: of the kinds `trace`, `stateDiff` and `vmTrace`; `null` if the transaction is not
/// readable.
pub(super) async fn replay_transaction(call: Context<'_>) -> Result<Answer, Problem> {
    let call = call.without_options(2, &OF_RUNS)?;
    let [hash, kinds] = call.exactly()?;
    let tracer = parity_tracer(value(kinds))?;
    match position(call, hash).await? {
        Some((block, index)) => run_again(call.app, call.head()?, block, index, tracer).await.map(Answer::Whole),
        None => Ok(Answer::null()),
    }
}

/// The block and the position of a transaction; `None` if it is not readable.
async fn position(call: Context<'_>, hash: &RawValue) -> Result<Option<(BlockNumber, u32)>, Problem> {
    let hash = bytes32(&value(hash)).ok_or_else(|| invalid("Transaction hash is invalid"))?;
    let found = call.app.transaction(&hash, call.head()?).await?;
    Ok(found.map(|(batch, row)| (batch.view().block_number[row], batch.view().transaction_index[row])))
}
