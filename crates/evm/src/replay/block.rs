//! Transactions of a block that run again, one after the other, each of them once.

use std::time::Instant;

use alloy_eips::eip2935::{HISTORY_SERVE_WINDOW, HISTORY_STORAGE_ADDRESS};
use alloy_eips::eip4788::BEACON_ROOTS_ADDRESS;
use revm::context::BlockEnv;
use revm::context::result::ResultAndState;
use revm::database::Cache;
use revm::primitives::KECCAK_EMPTY;
use revm::primitives::hardfork::SpecId;
use revm::{DatabaseCommit, DatabaseRef};

use super::changes::Changes;
use super::run::{Run, RunError, Trace};
use super::storage::StorageWrites;
use super::tracer::{Position, Tracer};
use crate::environment::environment;
use crate::partial_state::{Probe, ProbeError};
use crate::{BlockContext, BlockOverrides, Call, Failure, Origin, PartialState, Rules, Step};
use trawl_core::primitives::{Address, B256, U256};

/// A transaction as it was recorded.
#[derive(Debug, Clone)]
pub struct RecordedTransaction {
    /// Keccak-256 of its encoding (EIP-2718).
    pub hash: B256,
    /// Its call, with gas limit and nonce.
    pub call: Call,
    /// Where the transaction comes from.
    pub origin: Origin,
    /// The gas that it used.
    pub gas_used: u64,
}

/// The first transactions of a block, the last of which are traced.
#[derive(Debug, Clone)]
pub struct Replay {
    /// The transactions, from the first of the block on.
    pub transactions: Vec<RecordedTransaction>,
    /// How many of them run without being traced.
    pub untraced: usize,
    /// The tracer of the others.
    pub tracer: Tracer,
    /// What their code can read of the block.
    pub block: BlockContext,
    /// The rules of the block.
    pub rules: Rules,
    /// Hash of the block.
    pub hash: B256,
    /// Hash of the parent of the block (EIP-2935).
    pub parent_hash: B256,
    /// Root of the parent beacon block (EIP-4788).
    pub beacon_root: Option<B256>,
}

/// Progress of a replay: the changes of its transactions, and traces that were not taken yet.
#[derive(Debug, Default)]
pub struct Progress {
    changes: Option<Cache>,
    next: usize,
    /// The number of logs of the transactions before the next.
    logs: u64,
    traces: Vec<Trace>,
    /// Bytes of the traces.
    bytes: usize,
}

impl Progress {
    /// What has been written into the storage of an account since the block began.
    #[must_use]
    pub fn storage_of(&self, account: Address) -> StorageWrites {
        self.changes.as_ref().map(|changes| StorageWrites::of(account, changes)).unwrap_or_default()
    }
}

/// Bytes of traces that are handed on together; one trace may be longer.
const ENOUGH: usize = 1 << 20;
/// Number of beacon roots that the contract stores (EIP-4788).
const BEACON_ROOTS: u64 = 8_191;

impl Replay {
    /// Goes on from `progress` on the state before the block, until there are about a mebibyte of traces: those of the
    /// next transactions, none after the last. A run that uses other gas than the receipts say is refused. What has run
    /// does not run again when state is missing; the transactions after it then run ahead, for what else they will
    /// need.
    #[must_use]
    pub fn advance(&self, progress: &mut Progress, state: &PartialState, deadline: Instant) -> Step<Vec<Trace>> {
        let probe = state.probe(deadline);
        let block = environment(&self.block, &self.rules, &BlockOverrides::default());
        let ended = BlockRun { replay: self, probe: &probe, block }.advance(progress);
        if let Err(RunError::State(ProbeError::Late)) = ended {
            return Step::Done(Err(Failure::TooLong));
        }
        // With missing state, the outcome would be that of another state.
        if probe.is_missing_some() {
            return Step::Missing(probe.missing());
        }
        progress.bytes = 0;
        Step::Done(match ended {
            Ok(()) => Ok(std::mem::take(&mut progress.traces)),
            Err(RunError::State(error)) => Err(Failure::Invalid(error.to_string())),
            Err(RunError::Failed(failure)) => Err(failure),
        })
    }
}

/// A replay on a state.
pub(super) struct BlockRun<'p> {
    pub replay: &'p Replay,
    pub probe: &'p Probe<'p>,
    pub block: BlockEnv,
}

impl<'p> BlockRun<'p> {
    fn advance(&self, progress: &mut Progress) -> Result<(), RunError> {
        let mut changes = Changes::new(self.probe);
        match progress.changes.take() {
            Some(earlier) => changes.cache = earlier,
            None => self.write_system(&mut changes)?,
        }
        let is_started = !self.probe.is_missing_some();
        let mut ran = None;
        while is_started && progress.next < self.replay.transactions.len() && progress.bytes < ENOUGH {
            let outcome = self.transaction(&changes, progress.next, progress.logs);
            if self.probe.is_missing_some() {
                ran = outcome.ok();
                break;
            }
            let (outcome, trace) = outcome?;
            progress.logs += outcome.result.logs().len() as u64;
            changes.commit(outcome.state);
            progress.next += 1;
            progress.bytes += trace.as_ref().map_or(0, |trace| trace.as_ref().map_or(0, Vec::len));
            progress.traces.extend(trace);
        }
        if !self.probe.is_missing_some() {
            progress.changes = Some(changes.cache);
            return Ok(());
        }
        progress.changes = is_started.then(|| changes.cache.clone());
        let ahead = progress.next + usize::from(is_started);
        self.run_ahead(changes, ran.map(|(outcome, _)| outcome), ahead)
    }

    /// Runs the transactions from one on, after an outcome that is guessed, for what they will need.
    fn run_ahead(
        &self,
        mut changes: Changes<'p>,
        guessed: Option<ResultAndState>,
        first: usize,
    ) -> Result<(), RunError> {
        if let Some(outcome) = guessed {
            changes.commit(outcome.state);
        }
        for recorded in self.replay.transactions.get(first..).unwrap_or_default() {
            match self.run(&changes, recorded)?.execute() {
                Ok(outcome) => changes.commit(outcome.state),
                Err(RunError::State(error)) => return Err(error.into()),
                // On the state before it, it may be valid.
                Err(RunError::Failed(_)) => {}
            }
        }
        Ok(())
    }

    /// Runs a transaction after those with `first_log` logs; its trace if it is one of those that are traced.
    fn transaction(
        &self,
        changes: &Changes<'p>,
        index: usize,
        first_log: u64,
    ) -> Result<(ResultAndState, Option<Trace>), RunError> {
        let recorded = &self.replay.transactions[index];
        let run = self.run(changes, recorded)?;
        let (outcome, trace) = if index < self.replay.untraced {
            (run.execute()?, None)
        } else {
            let position = Position {
                block_hash: Some(self.replay.hash),
                transaction_hash: Some(recorded.hash),
                index: Some(index as u64),
                first_log,
            };
            let (outcome, trace) = self.replay.tracer.trace(&run, position)?;
            (outcome, Some(trace))
        };
        let (found, recorded_gas) = (outcome.result.tx_gas_used(), recorded.gas_used);
        if found != recorded_gas {
            let text = format!("the transaction used {recorded_gas} gas, but {found} in the replay: it is not traced");
            return Err(RunError::Failed(Failure::Invalid(text)));
        }
        Ok((outcome, trace))
    }

    /// The run of a transaction after some changes.
    pub fn run<'d>(
        &'d self,
        changes: &'d Changes<'p>,
        recorded: &'d RecordedTransaction,
    ) -> Result<Run<'d, 'p>, ProbeError> {
        let call = &recorded.call;
        let nonce = match call.nonce {
            Some(nonce) => nonce,
            // A deposit has none of its own.
            None => changes.basic_ref(call.from)?.map_or(0, |account| account.nonce),
        };
        let (gas, rules, block) = (call.gas.unwrap_or_default(), &self.replay.rules, self.block.clone());
        Ok(Run { call, origin: recorded.origin, gas, nonce, rules, block, state: changes })
    }

    /// Applies the writes of the system before the first transaction, where its contracts exist.
    pub fn write_system(&self, changes: &mut Changes<'p>) -> Result<(), ProbeError> {
        let block = &self.replay.block;
        if let Some(root) = self.replay.beacon_root {
            let slot = block.timestamp % BEACON_ROOTS;
            let values = [(slot, U256::from(block.timestamp)), (slot + BEACON_ROOTS, root.into())];
            self.write(changes, BEACON_ROOTS_ADDRESS, &values)?;
        }
        let has_history = self.replay.rules.fork >= SpecId::PRAGUE;
        let Some(parent) = block.number.checked_sub(1).filter(|_| has_history) else { return Ok(()) };
        let slot = parent % u64::try_from(HISTORY_SERVE_WINDOW).unwrap_or(u64::MAX);
        self.write(changes, HISTORY_STORAGE_ADDRESS, &[(slot, self.replay.parent_hash.into())])
    }

    fn write(&self, changes: &mut Changes<'p>, contract: Address, values: &[(u64, U256)]) -> Result<(), ProbeError> {
        let account = self.probe.basic_ref(contract)?;
        if account.is_none_or(|account| account.code_hash == KECCAK_EMPTY) {
            return Ok(());
        }
        values.iter().try_for_each(|(slot, value)| changes.insert_account_storage(contract, U256::from(*slot), *value))
    }
}
