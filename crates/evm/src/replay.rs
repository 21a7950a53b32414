//! A transaction of a block run again, and how it is traced: as geth's `debug_traceTransaction` and as Parity's
//! `trace_replayTransaction` tell.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Instant;

use alloy_eips::eip2935::{HISTORY_SERVE_WINDOW, HISTORY_STORAGE_ADDRESS};
use alloy_eips::eip4788::BEACON_ROOTS_ADDRESS;
use alloy_primitives::map::HashSet;
pub use alloy_rpc_types_trace::geth::call::CallConfig;
pub use alloy_rpc_types_trace::geth::pre_state::PreStateConfig;
pub use alloy_rpc_types_trace::parity::TraceType;
use revm::context::result::{EVMError, ResultAndState};
use revm::context::{BlockEnv, Context, TxEnv};
use revm::database::CacheDB;
use revm::primitives::KECCAK_EMPTY;
use revm::primitives::hardfork::SpecId;
use revm::state::Account;
use revm::{DatabaseCommit, DatabaseRef, ExecuteEvm, InspectEvm, MainBuilder, MainContext};
use revm_inspectors::tracing::{TraceLimitBehavior, TraceLimits, TracingInspector, TracingInspectorConfig};

use super::call::{settings, transaction};
use super::environment::environment;
use super::partial_state::{Probe, ProbeError};
use super::{BlockContext, BlockOverrides, Call, Failure, PartialState, Rules, Step};
use trawl_core::primitives::{Address, B256, U256};

/// A transaction as it was recorded.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// What it called, with gas limit and nonce.
    pub call: Call,
    /// The gas that it used.
    pub gas_used: u64,
}

/// A transaction and what comes before it in its block.
#[derive(Debug, Clone)]
pub struct Replay {
    /// The transactions before it.
    pub before: Vec<Recorded>,
    /// The transaction.
    pub traced: Recorded,
    /// Hash of the parent of the block (EIP-2935).
    pub parent_hash: B256,
    /// Root of the parent beacon block (EIP-4788).
    pub beacon_root: Option<B256>,
}

/// What is told of a transaction.
#[derive(Debug, Clone)]
pub enum Tracer {
    /// Its calls, as geth's `callTracer`.
    Calls(CallConfig),
    /// What it read or changed, as geth's `prestateTracer`.
    State(PreStateConfig),
    /// Calls, changes and steps, as Parity.
    Parity(HashSet<TraceType>),
    /// By account that it touched, its balance before and after.
    Balances,
}

/// Most calls of a trace.
const MAX_CALLS: usize = 100_000;
/// Most steps of a trace: each takes some hundred bytes, and about as many of text.
const MAX_STEPS: u64 = 100_000;
/// Most bytes of inputs and memory in a trace.
const MAX_BYTES: usize = 64 << 20;

/// Why a run ended without a trace.
enum Ended {
    Database(ProbeError),
    Failed(Failure),
}

impl From<ProbeError> for Ended {
    fn from(error: ProbeError) -> Self {
        Self::Database(error)
    }
}

/// Runs the transactions of a block up to one on the state before the block, and traces this one. The result is JSON. A
/// run that uses other gas than the receipts say is refused.
#[must_use]
pub fn replay(
    replay: &Replay,
    block: &BlockContext,
    rules: &Rules,
    state: &PartialState,
    (tracer, deadline): (&Tracer, Instant),
) -> Step<Vec<u8>> {
    let probe = state.probe(deadline);
    let run = Run { probe: &probe, rules, block: environment(block, rules, &BlockOverrides::default()) };
    let ended = run.trace(replay, block, tracer);
    if let Err(Ended::Database(ProbeError::Late)) = ended {
        return Step::Done(Err(Failure::TooLong));
    }
    // With missing state, the outcome would be that of another state.
    let missing = probe.missing();
    if !missing.is_empty() {
        return Step::Missing(missing);
    }
    Step::Done(ended.map_err(|ended| match ended {
        Ended::Database(error) => Failure::Invalid(error.to_string()),
        Ended::Failed(failure) => failure,
    }))
}

/// The state before the block, with what ran since.
type Db<'p> = CacheDB<&'p Probe<'p>>;

struct Run<'p> {
    probe: &'p Probe<'p>,
    rules: &'p Rules,
    block: BlockEnv,
}

impl Run<'_> {
    fn trace(&self, replay: &Replay, block: &BlockContext, tracer: &Tracer) -> Result<Vec<u8>, Ended> {
        let mut db = Db::new(self.probe);
        self.write_system(&mut db, replay, block)?;
        for recorded in &replay.before {
            let call = &recorded.call;
            let context = Context::mainnet().with_db(&mut db).with_cfg(settings(call, self.rules));
            let context = context.with_block(self.block.clone());
            let outcome = context.build_mainnet().transact(self.transaction(call));
            if let Some(outcome) = self.checked(outcome, recorded)? {
                db.commit(outcome.state);
            }
        }
        let call = &replay.traced.call;
        let mut inspector = TracingInspector::new(configuration(tracer)).with_limits(limits());
        let context = Context::mainnet().with_db(&mut db).with_cfg(settings(call, self.rules));
        let context = context.with_block(self.block.clone());
        let outcome = context.build_mainnet_with_inspector(&mut inspector).inspect_tx(self.transaction(call));
        match self.checked(outcome, &replay.traced)? {
            Some(outcome) => written(inspector, &outcome, tracer, (call, &db)),
            None => Err(Ended::Database(ProbeError::Astray)),
        }
    }

    fn transaction(&self, call: &Call) -> TxEnv {
        let (gas, nonce) = (call.gas.unwrap_or_default(), call.nonce.unwrap_or_default());
        transaction(call, (gas, nonce), self.rules, call.access_list.as_ref())
    }

    /// The outcome of a transaction; `None` if it did not run because state is missing.
    fn checked(
        &self,
        outcome: Result<ResultAndState, EVMError<ProbeError>>,
        recorded: &Recorded,
    ) -> Result<Option<ResultAndState>, Ended> {
        let is_known = self.probe.missing().is_empty();
        match outcome {
            Ok(outcome) if is_known && outcome.result.tx_gas_used() != recorded.gas_used => {
                let (found, told) = (outcome.result.tx_gas_used(), recorded.gas_used);
                let text = format!("the transaction used {told} gas and {found} when it ran again: it is not traced");
                Err(Ended::Failed(Failure::Invalid(text)))
            }
            Ok(outcome) => Ok(Some(outcome)),
            Err(EVMError::Database(error)) => Err(error.into()),
            Err(EVMError::Transaction(_)) if !is_known => Ok(None),
            Err(EVMError::Transaction(reason)) => Err(Ended::Failed(reason.into())),
            Err(other) => Err(Ended::Failed(Failure::Invalid(other.to_string()))),
        }
    }

    /// What the system writes before the first transaction, where the contracts for it are.
    fn write_system(&self, db: &mut Db<'_>, replay: &Replay, block: &BlockContext) -> Result<(), ProbeError> {
        if let Some(root) = replay.beacon_root {
            let slot = block.timestamp % BEACON_ROOTS;
            let values = [(slot, U256::from(block.timestamp)), (slot + BEACON_ROOTS, root.into())];
            self.write(db, BEACON_ROOTS_ADDRESS, &values)?;
        }
        let has_history = self.rules.fork >= SpecId::PRAGUE;
        let Some(parent) = block.number.checked_sub(1).filter(|_| has_history) else { return Ok(()) };
        let slot = parent % u64::try_from(HISTORY_SERVE_WINDOW).unwrap_or(u64::MAX);
        self.write(db, HISTORY_STORAGE_ADDRESS, &[(slot, replay.parent_hash.into())])
    }

    fn write(&self, db: &mut Db<'_>, contract: Address, values: &[(u64, U256)]) -> Result<(), ProbeError> {
        let account = self.probe.basic_ref(contract)?;
        if account.is_none_or(|account| account.code_hash == KECCAK_EMPTY) {
            return Ok(());
        }
        values.iter().try_for_each(|(slot, value)| db.insert_account_storage(contract, U256::from(*slot), *value))
    }
}

/// Beacon roots that are kept (EIP-4788).
const BEACON_ROOTS: u64 = 8_191;

fn limits() -> TraceLimits {
    TraceLimits::default().set_max_recorded_bytes(Some(MAX_BYTES)).set_behavior(TraceLimitBehavior::Skip)
}

fn configuration(tracer: &Tracer) -> TracingInspectorConfig {
    match tracer {
        Tracer::Calls(config) => TracingInspectorConfig::from_geth_call_config(config),
        Tracer::State(config) => TracingInspectorConfig::from_geth_prestate_config(config),
        Tracer::Parity(types) => TracingInspectorConfig {
            step_limit: NonZeroU64::new(MAX_STEPS + 1),
            ..TracingInspectorConfig::from_parity_config(types)
        },
        Tracer::Balances => TracingInspectorConfig::none(),
    }
}

/// The trace as JSON.
fn written(
    mut inspector: TracingInspector,
    outcome: &ResultAndState,
    tracer: &Tracer,
    (call, db): (&Call, &Db<'_>),
) -> Result<Vec<u8>, Ended> {
    let nodes = inspector.traces().nodes();
    let steps: usize = nodes.iter().map(|node| node.trace.steps.len()).sum();
    if nodes.len() > MAX_CALLS || steps as u64 > MAX_STEPS || inspector.limit_exceeded() {
        let text = format!("the trace has more than {MAX_CALLS} calls, {MAX_STEPS} steps or {} MiB", MAX_BYTES >> 20);
        return Err(Ended::Failed(Failure::Invalid(text)));
    }
    let json = match tracer {
        Tracer::Calls(config) => {
            inspector.set_transaction_gas_limit(call.gas.unwrap_or_default());
            let gas_used = outcome.result.tx_gas_used();
            serde_json::to_vec(&inspector.into_geth_builder().geth_call_traces(*config, gas_used))
        }
        Tracer::State(config) => {
            serde_json::to_vec(&inspector.into_geth_builder().geth_prestate_traces(outcome, config, db)?)
        }
        Tracer::Balances => serde_json::to_vec(&balances(outcome, db)?),
        Tracer::Parity(types) => {
            serde_json::to_vec(&inspector.into_parity_builder().into_trace_results_with_state(outcome, types, db)?)
        }
    };
    json.map_err(|error| Ended::Failed(Failure::Invalid(error.to_string())))
}

/// The balances of the accounts that a transaction touched, before and after it.
fn balances(outcome: &ResultAndState, db: &Db<'_>) -> Result<BTreeMap<Address, (U256, U256)>, ProbeError> {
    let of_account = |(address, account): (&Address, &Account)| {
        let before = db.basic_ref(*address)?.map_or(U256::ZERO, |before| before.balance);
        let after = if account.is_selfdestructed() { U256::ZERO } else { account.info.balance };
        Ok((*address, (before, after)))
    };
    outcome.state.iter().map(of_account).collect()
}
