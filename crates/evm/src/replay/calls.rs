//! Calls that are traced, one after the other.

use revm::{DatabaseCommit, DatabaseRef};

use super::changes::Changes;
use super::run::{Run, RunError};
use super::tracer::{Position, Tracer};
use crate::handler::Origin;
use crate::partial_state::ProbeError;
use crate::{Call, CallContext, Failure, Step};

/// Most bytes of all traces together.
const MAX_BYTES: usize = 64 << 20;

/// Runs calls after the block of `context`, as if in that block, each on what those before it changed. The results are
/// their traces as JSON.
///
/// A call that is not valid is a failure of all; one that reverts or halts has a trace that says so.
#[must_use]
pub fn trace_calls(calls: &[(Call, Tracer)], context: CallContext<'_>) -> Step<Vec<Vec<u8>>> {
    let CallContext { rules, state, limits, .. } = context;
    let probe = state.probe(limits.deadline);
    let mut changes = Changes::new(&probe);
    let mut traces = Vec::new();
    let environment = context.environment().block;
    let mut each = |(call, tracer): &(Call, Tracer)| {
        let mut block = environment.clone();
        if call.fees.at_most() == 0 {
            // As in nodes: a call without a gas price has a base fee of zero.
            block.basefee = 0;
        }
        let nonce = match call.nonce {
            Some(nonce) => nonce,
            None => changes.basic_ref(call.from)?.map_or(0, |account| account.nonce),
        };
        let gas = call.gas.unwrap_or(limits.gas).min(limits.gas);
        let run = Run { call, origin: Origin::Call, gas, nonce, rules, block, state: &changes };
        let (outcome, trace) = tracer.trace(&run, Position::default())?;
        changes.commit(outcome.state);
        let trace = trace.map_err(RunError::Failed)?;
        traces.push(trace);
        let bytes: usize = traces.iter().map(Vec::len).sum();
        if bytes > MAX_BYTES {
            let text = format!("the traces have more than {} MiB", MAX_BYTES >> 20);
            return Err(RunError::Failed(Failure::Invalid(text)));
        }
        Ok(())
    };
    let ended = calls.iter().try_for_each(&mut each);
    if let Err(RunError::State(ProbeError::Late)) = ended {
        return Step::Done(Err(Failure::TooLong));
    }
    // With missing state, the outcome would be that of another state.
    if probe.is_missing_some() {
        return Step::Missing(probe.missing());
    }
    Step::Done(match ended {
        Ok(()) => Ok(traces),
        Err(RunError::State(error)) => Err(Failure::Invalid(error.to_string())),
        Err(RunError::Failed(failure)) => Err(failure),
    })
}
