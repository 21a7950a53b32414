//! The tracer of a run, and its limits.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use alloy_primitives::map::HashSet;
use alloy_rpc_types_trace::geth::FourByteFrame;
use alloy_rpc_types_trace::geth::call::{CallConfig, FlatCallConfig};
use alloy_rpc_types_trace::geth::pre_state::PreStateConfig;
use alloy_rpc_types_trace::parity::{LocalizedTransactionTrace, TraceType};
use revm::DatabaseRef;
use revm::context::result::ResultAndState;
use revm::state::Account;
use revm_inspectors::tracing::types::CallTraceNode;
use revm_inspectors::tracing::{
    FourByteInspector, TraceLimitBehavior, TraceLimits, TracingInspector, TracingInspectorConfig,
};

use super::StepOptions;
use super::changes::Changes;
use super::destructions::Destructions;
use super::log_indices::{LogIndices, place_without_calls};
use super::run::{Run, RunError, Trace};
use super::steps::StepLog;
use crate::Failure;
use crate::partial_state::ProbeError;
use trawl_core::primitives::{Address, B256, U256};

/// What is traced of a run.
#[derive(Debug, Clone)]
pub enum Tracer {
    /// Its calls, as geth's `callTracer`.
    Calls(CallConfig),
    /// Its calls in a list, as geth's `flatCallTracer`.
    FlatCalls(FlatCallConfig),
    /// What it read or changed, as geth's `prestateTracer`.
    State(PreStateConfig),
    /// How often each selector was called with how much input, as geth's `4byteTracer`.
    Selectors,
    /// Nothing, as geth's `noopTracer`.
    Nothing,
    /// What each of these tracers reports, by its name, as geth's `muxTracer`. The run is repeated for each.
    Several(BTreeMap<String, Tracer>),
    /// Its steps, as geth without a tracer.
    Steps(StepOptions),
    /// Calls, changes and steps, as Parity.
    Parity(HashSet<TraceType>),
    /// By account that it touched, its balance before and after.
    Balances,
}

/// The position of a run; empty for a call.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Position {
    pub block_hash: Option<B256>,
    pub transaction_hash: Option<B256>,
    pub index: Option<u64>,
    /// The number of logs in the block before those of the run.
    pub first_log: u64,
}

/// Most calls of a trace.
const MAX_CALLS: usize = 100_000;
/// Most steps of a trace of Parity: each takes some hundred bytes, and about as many of text.
const MAX_STEPS: u64 = 100_000;
/// Most bytes of inputs and memory in a trace.
const MAX_BYTES: usize = 64 << 20;

impl Tracer {
    /// Runs a call or a transaction and returns its trace.
    pub(super) fn trace(&self, run: &Run<'_, '_>, position: Position) -> Result<(ResultAndState, Trace), RunError> {
        match self {
            Self::Steps(options) => {
                let mut log = StepLog::new(*options);
                let outcome = run.inspect(&mut log)?;
                let trace = log.into_json(&outcome.result);
                Ok((outcome, trace))
            }
            Self::Selectors => {
                let mut selectors = FourByteInspector::default();
                let outcome = run.inspect(&mut selectors)?;
                let trace = json(&FourByteFrame::from(&selectors));
                Ok((outcome, trace))
            }
            Self::Nothing => Ok((run.execute()?, Ok(b"{}".to_vec()))),
            Self::Several(tracers) => several(tracers, run, position),
            _ => {
                let limits = TraceLimits::default().set_max_recorded_bytes(Some(MAX_BYTES));
                let limits = limits.set_behavior(TraceLimitBehavior::Skip);
                let inspector = TracingInspector::new(self.configuration()).with_limits(limits);
                let mut both = (inspector, Destructions::default());
                let outcome = run.inspect(&mut both)?;
                let (mut inspector, destructions) = both;
                destructions.write_into(inspector.traces_mut().nodes_mut());
                let trace = self.written(inspector, &outcome, run, position)?;
                Ok((outcome, trace))
            }
        }
    }

    fn configuration(&self) -> TracingInspectorConfig {
        match self {
            Self::Calls(config) => TracingInspectorConfig::from_geth_call_config(config),
            Self::FlatCalls(config) => TracingInspectorConfig::from_flat_call_config(config),
            Self::State(config) => TracingInspectorConfig::from_geth_prestate_config(config),
            Self::Parity(types) => TracingInspectorConfig {
                step_limit: NonZeroU64::new(MAX_STEPS + 1),
                ..TracingInspectorConfig::from_parity_config(types)
            },
            Self::Selectors | Self::Nothing | Self::Several(_) | Self::Steps(_) | Self::Balances => {
                TracingInspectorConfig::none()
            }
        }
    }

    /// The trace as JSON.
    fn written(
        &self,
        mut inspector: TracingInspector,
        outcome: &ResultAndState,
        run: &Run<'_, '_>,
        position: Position,
    ) -> Result<Trace, ProbeError> {
        let nodes = inspector.traces().nodes();
        let steps: usize = nodes.iter().map(|node| node.trace.steps.len()).sum();
        if nodes.len() > MAX_CALLS || steps as u64 > MAX_STEPS || inspector.limit_exceeded() {
            let text =
                format!("the trace has more than {MAX_CALLS} calls, {MAX_STEPS} steps or {} MiB", MAX_BYTES >> 20);
            return Ok(Err(Failure::Invalid(text)));
        }
        let gas_used = outcome.result.tx_gas_used();
        Ok(match self {
            Self::Calls(config) => {
                inspector.set_transaction_gas_limit(run.gas);
                let indices = LogIndices::new(inspector.traces().nodes(), position.first_log);
                let mut frame = inspector.into_geth_builder().geth_call_traces(*config, gas_used);
                indices.write_into(&mut frame);
                if config.only_top_call.unwrap_or_default() {
                    place_without_calls(&mut frame);
                }
                json(&frame)
            }
            Self::FlatCalls(config) => {
                inspector.set_transaction_gas_limit(run.gas);
                inspector.set_transaction_gas_used(gas_used);
                json(&flat_calls(inspector, *config, run, position))
            }
            Self::State(config) => {
                json(&inspector.into_geth_builder().geth_prestate_traces(outcome, config, run.state)?)
            }
            Self::Parity(types) => {
                json(&inspector.into_parity_builder().into_trace_results_with_state(outcome, types, run.state)?)
            }
            _ => json(&balances(outcome, run.state)?),
        })
    }
}

/// The traces of several tracers in one object; a failure if one of them fails.
fn several(
    tracers: &BTreeMap<String, Tracer>,
    run: &Run<'_, '_>,
    position: Position,
) -> Result<(ResultAndState, Trace), RunError> {
    let mut outcome = None;
    let mut traces = Vec::new();
    for (name, tracer) in tracers {
        let (result, trace) = tracer.trace(run, position)?;
        outcome = Some(result);
        traces.push(trace.and_then(|trace| Ok([json(name)?, trace].join(&b':'))));
    }
    let outcome = match outcome {
        Some(outcome) => outcome,
        None => run.execute()?,
    };
    let traces: Result<Vec<Vec<u8>>, Failure> = traces.into_iter().collect();
    Ok((outcome, traces.map(|traces| [b"{", traces.join(&b',').as_slice(), b"}"].concat())))
}

fn json(value: &impl serde::Serialize) -> Trace {
    serde_json::to_vec(value).map_err(|error| Failure::Invalid(error.to_string()))
}

/// The calls in a list. Errors have geth's words, unless those of Parity are requested.
fn flat_calls(
    inspector: TracingInspector,
    config: FlatCallConfig,
    run: &Run<'_, '_>,
    position: Position,
) -> Vec<LocalizedTransactionTrace> {
    let nodes = inspector.traces().nodes().to_vec();
    let has_words_of_parity = config.convert_parity_errors.unwrap_or_default();
    let mut traces = inspector.into_parity_builder().into_transaction_traces();
    if !has_words_of_parity {
        for trace in traces.iter_mut().filter(|trace| trace.error.is_some()) {
            let node = node_at(&nodes, &trace.trace_address);
            trace.error = node.and_then(|node| node.geth_empty_call_frame(false).error);
        }
    }
    let located = |trace| LocalizedTransactionTrace {
        trace,
        block_hash: position.block_hash,
        block_number: Some(run.block.number.saturating_to()),
        transaction_hash: position.transaction_hash,
        transaction_position: position.index,
    };
    traces.into_iter().map(located).collect()
}

fn node_at<'n>(nodes: &'n [CallTraceNode], path: &[usize]) -> Option<&'n CallTraceNode> {
    path.iter().try_fold(nodes.first()?, |node, child| nodes.get(*node.children.get(*child)?))
}

/// The balances of the accounts that a transaction touched, before and after it.
fn balances(outcome: &ResultAndState, db: &Changes<'_>) -> Result<BTreeMap<Address, (U256, U256)>, ProbeError> {
    let of_account = |(address, account): (&Address, &Account)| {
        let before = db.basic_ref(*address)?.map_or(U256::ZERO, |before| before.balance);
        let after = if account.is_selfdestructed() { U256::ZERO } else { account.info.balance };
        Ok((*address, (before, after)))
    };
    outcome.state.iter().map(of_account).collect()
}
