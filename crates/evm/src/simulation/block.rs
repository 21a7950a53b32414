//! One simulated block.

use std::time::Instant;

use alloy_consensus::Header;
use revm::context::result::{ExecutionResult, ResultAndState};
use revm::context::{BlockEnv, Context, Evm};
use revm::database_interface::WrapDatabaseRef;
use revm::handler::EthFrame;
use revm::handler::instructions::EthInstructions;
use revm::interpreter::interpreter::EthInterpreter;
use revm::{DatabaseRef, InspectEvm, MainBuilder, MainContext};

use super::accounts::commit;
use super::body::Body;
use super::logs::LogCollector;
use super::outcome::CallOutcome;
use super::plan::{BlockCall, Mode};
use super::precompiles::MovedPrecompiles;
use super::refusal::Refusal;
use super::refusal::{check_nonce, of_transaction};
use super::transaction::Envelope;
use crate::call::{settings, transaction};
use crate::partial_state::ProbeError;
use crate::replay::{Changes, RunContext, RunError};
use crate::{Call, Failure, Rules};
use revm::context::result::EVMError;
use trawl_core::primitives::U256;

/// An EVM on the state of a simulation.
type SimulationEvm<'d, 'p, I> = Evm<
    RunContext<'d, 'p>,
    I,
    EthInstructions<EthInterpreter, RunContext<'d, 'p>>,
    MovedPrecompiles,
    EthFrame<EthInterpreter>,
>;

/// A block that is simulated.
pub(super) struct BlockRun<'a> {
    pub header: &'a Header,
    pub rules: &'a Rules,
    pub environment: BlockEnv,
    pub precompiles: MovedPrecompiles,
    pub mode: Mode,
    pub deadline: Instant,
}

/// Why a block ended without an outcome.
pub(super) enum BlockError {
    /// A run ended.
    Run(RunError),
    /// It is refused.
    Refused(Refusal),
}

impl<T: Into<RunError>> From<T> for BlockError {
    fn from(error: T) -> Self {
        Self::Run(error.into())
    }
}

impl BlockRun<'_> {
    /// Fails after the time limit.
    pub fn check_time(&self) -> Result<(), RunError> {
        if Instant::now() >= self.deadline { Err(ProbeError::Late.into()) } else { Ok(()) }
    }

    /// An EVM without an inspector, for system calls.
    pub fn evm<'d, 'p>(&self, changes: &'d Changes<'p>) -> SimulationEvm<'d, 'p, ()> {
        self.context(&Call::default(), changes).build_mainnet().with_precompiles(self.precompiles.clone())
    }

    fn context<'d, 'p>(&self, call: &Call, changes: &'d Changes<'p>) -> RunContext<'d, 'p> {
        let mut settings = settings(call, self.rules);
        if self.mode.validates {
            settings.disable_nonce_check = false;
            settings.disable_base_fee = false;
        }
        Context::mainnet().with_db(WrapDatabaseRef(changes)).with_cfg(settings).with_block(self.environment.clone())
    }

    /// Runs a call with a gas limit, and keeps what it changes.
    pub fn call(
        &self,
        call: &BlockCall,
        gas: u64,
        changes: &mut Changes<'_>,
        body: &mut Body,
        mut collector: LogCollector,
    ) -> Result<(CallOutcome, LogCollector, ResultAndState), BlockError> {
        self.check_time()?;
        let sender = changes.basic_ref(call.call.from)?.unwrap_or_default();
        let nonce = call.call.nonce.unwrap_or(sender.nonce);
        if self.mode.validates {
            check_nonce(nonce, sender.nonce).map_err(BlockError::Refused)?;
        }
        let envelope = Envelope::new(call, self.rules.chain_id, nonce, gas);
        let list = call.call.access_list.as_ref();
        // The EVM takes no transaction with the last nonce.
        let transaction_env = transaction(&call.call, gas, nonce.min(u64::MAX - 1), self.rules, list);
        let ended = self
            .context(&call.call, changes)
            .build_mainnet_with_inspector(&mut collector)
            .with_precompiles(self.precompiles.clone())
            .inspect_tx(transaction_env);
        let mut outcome = match ended {
            Ok(outcome) => outcome,
            Err(EVMError::Transaction(reason)) => {
                let most = U256::from(envelope.fees().0).saturating_mul(U256::from(gas));
                let refusal = of_transaction(reason, sender.balance, most.saturating_add(call.call.value));
                return Err(BlockError::Refused(refusal));
            }
            Err(error) => return Err(RunError::from(error).into()),
        };
        if let Some(account) = outcome.state.get_mut(&call.call.from).filter(|_| sender.nonce == u64::MAX) {
            // As in geth where nothing checks it: the last nonce is followed by the first.
            account.info.nonce = 0;
        }
        let call_outcome = call_outcome(&outcome.result);
        let logs = match &outcome.result {
            ExecutionResult::Success { logs, .. } => logs.clone(),
            _ => Vec::new(),
        };
        body.add(envelope, &call_outcome, logs);
        commit(changes, outcome.state.clone(), self.rules.fork);
        Ok((call_outcome, collector, outcome))
    }
}

/// The outcome of a call, without its logs.
fn call_outcome(result: &ExecutionResult) -> CallOutcome {
    let gas = result.gas();
    let gas_needed = gas.total_gas_spent().max(gas.floor_gas());
    let (output, failure) = match result {
        ExecutionResult::Success { output, .. } => (output.data().clone(), None),
        ExecutionResult::Revert { output, .. } => (Default::default(), Some(Failure::Reverted(output.clone()))),
        ExecutionResult::Halt { reason, .. } => (Default::default(), Some(reason.clone().into())),
    };
    CallOutcome { output, logs: Vec::new(), gas_used: result.tx_gas_used(), gas_needed, failure }
}
