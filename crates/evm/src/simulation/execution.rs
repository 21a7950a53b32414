//! The blocks of a simulation, one after the other.

use alloy_consensus::Header;
use alloy_eips::eip2935::HISTORY_STORAGE_ADDRESS;
use alloy_eips::eip4895::GWEI_TO_WEI;
use alloy_primitives::keccak256;
use revm::context::result::ResultAndState;
use revm::context_interface::block::BlobExcessGasAndPrice;
use revm::primitives::hardfork::SpecId;

use super::accounts::{credit, override_account};
use super::block::{BlockError, BlockRun};
use super::body::Body;
use super::gas::GasLeft;
use super::header::{begun, context};
use super::logs::LogCollector;
use super::outcome::{CallOutcome, SimulatedBlock};
use super::plan::{BlockCall, BlockPlan, Mode};
use super::precompiles::MovedPrecompiles;
use super::refusal::Refusal;
use super::sequence::{ScheduleEntry, schedule};
use super::whole_state::WholeState;
use super::{deposits, system};
use crate::environment::environment;
use crate::partial_state::{Probe, ProbeError};
use crate::replay::{Changes, RunError};
use crate::{Failure, Limits, PartialState, Schedule, Step};
use trawl_core::primitives::{Address, B256, U256};

/// Most bytes of what all calls return and log.
const MAX_BYTES: usize = 32 << 20;
/// What a log takes besides its data.
const BYTES_OF_LOG: usize = 512;
/// What a block takes besides its calls.
const BYTES_OF_BLOCK: usize = 4096;

/// Blocks to simulate, and the block that they follow.
#[derive(Debug)]
pub struct Simulation {
    /// Header of that block.
    pub base: Header,
    /// Keccak-256 of that header.
    pub base_hash: B256,
    /// The forks of the chain.
    pub schedule: Schedule,
    /// The blocks, ascending.
    pub blocks: Vec<BlockPlan>,
    /// What is checked and logged.
    pub mode: Mode,
    /// The state after the base block, if all of it is known.
    pub whole: Option<WholeState>,
}

impl Simulation {
    /// Runs the blocks on `state`, the state after the base block.
    #[must_use]
    pub fn run(&self, state: &PartialState, limits: Limits) -> Step<Result<Vec<SimulatedBlock>, Refusal>> {
        run(self, state, limits)
    }

    /// The accounts that its calls name.
    #[must_use]
    pub fn accounts(&self) -> Vec<Address> {
        let of_call = |call: &BlockCall| [Some(call.call.from), call.call.to];
        let of_block = |plan: &BlockPlan| {
            let calls = plan.calls.iter().flat_map(of_call).flatten();
            calls.chain(plan.accounts.keys().copied()).collect::<Vec<_>>()
        };
        let mut all: Vec<Address> = self.blocks.iter().flat_map(of_block).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Runs the blocks on the state after the base block.
fn run(simulation: &Simulation, state: &PartialState, limits: Limits) -> Step<Result<Vec<SimulatedBlock>, Refusal>> {
    let probe = state.probe(limits.deadline);
    let ended = Run { simulation, limits, bytes: 0 }.blocks(&probe);
    if let Err(BlockError::Run(RunError::State(ProbeError::Late))) = ended {
        return Step::Done(Err(Failure::TooLong));
    }
    // With missing state, the outcome would be that of another state.
    if probe.is_missing_some() {
        return Step::Missing(probe.missing());
    }
    Step::Done(match ended {
        Ok(blocks) => Ok(Ok(blocks)),
        Err(BlockError::Refused(refusal)) => Ok(Err(refusal)),
        Err(BlockError::Run(RunError::State(error))) => Err(Failure::Invalid(error.to_string())),
        Err(BlockError::Run(RunError::Failed(failure))) => Err(failure),
    })
}

/// A run of a simulation.
struct Run<'a> {
    simulation: &'a Simulation,
    limits: Limits,
    /// Bytes of the answer so far.
    bytes: usize,
}

/// The block before one that is simulated.
struct Parent {
    header: Header,
    hash: Option<B256>,
}

impl Run<'_> {
    fn blocks<'p>(&mut self, probe: &'p Probe<'p>) -> Result<Vec<SimulatedBlock>, BlockError> {
        let base = &self.simulation.base;
        let scheduled = schedule(&self.simulation.blocks, base.number, base.timestamp).map_err(BlockError::Refused)?;
        let mut changes = Changes::new(probe);
        let mut gas = GasLeft::new(self.limits.gas);
        let mut parent = Parent { header: base.clone(), hash: Some(self.simulation.base_hash) };
        let mut blocks = Vec::with_capacity(scheduled.len());
        for one in &scheduled {
            let block = self.block(one, &parent, &mut changes, &mut gas)?;
            // What is not known is never read: see `check_hashes`.
            changes.cache.block_hashes.insert(U256::from(one.number), block.hash.unwrap_or_default());
            parent = Parent { header: block.header.clone(), hash: block.hash };
            blocks.push(block);
        }
        Ok(blocks)
    }

    fn block(
        &mut self,
        scheduled: &ScheduleEntry<'_>,
        parent: &Parent,
        changes: &mut Changes<'_>,
        gas: &mut GasLeft,
    ) -> Result<SimulatedBlock, BlockError> {
        let plan = &*scheduled.plan;
        let (mut header, rules) = begun(scheduled, &parent.header, &self.simulation.schedule, self.simulation.mode)
            .map_err(BlockError::Refused)?;
        header.parent_hash = parent.hash.unwrap_or_default();
        let precompiles = MovedPrecompiles::of(plan, rules.fork).map_err(BlockError::Refused)?;
        for (address, forced) in &plan.accounts {
            override_account(changes, *address, forced)?;
        }
        let mut block = environment(&context(&header), &rules, &Default::default());
        if let Some(blob_gasprice) = plan.overrides.blob_base_fee {
            let excess_blob_gas = header.excess_blob_gas.unwrap_or_default();
            block.blob_excess_gas_and_price = Some(BlobExcessGasAndPrice { excess_blob_gas, blob_gasprice });
        }
        let run = BlockRun {
            header: &header,
            rules: &rules,
            environment: block,
            precompiles,
            mode: self.simulation.mode,
            deadline: self.limits.deadline,
        };
        system::begin(&run, changes, parent.hash)?;
        gas.begin(header.gas_limit);
        let (body, calls) = self.calls(&run, plan, changes, gas)?;
        let requests = match rules.fork >= SpecId::PRAGUE {
            true => Some(system::requests(&run, changes, self.deposits(&calls)?)?),
            false => None,
        };
        let has_withdrawals = rules.fork >= SpecId::SHANGHAI;
        let withdrawals = has_withdrawals.then(|| plan.withdrawals.clone());
        for withdrawal in withdrawals.iter().flatten() {
            credit(changes, withdrawal.address, U256::from(withdrawal.amount) * U256::from(GWEI_TO_WEI))?;
        }
        run.check_time()?;
        body.complete(&mut header, withdrawals.as_deref().unwrap_or_default());
        header.requests_hash = requests.map(|requests| requests.requests_hash());
        let state_root = self.simulation.whole.as_ref().map(|whole| whole.root_after(&changes.cache));
        header.state_root = state_root.unwrap_or_default();
        let hash = parent.hash.and(state_root).map(|_| keccak256(alloy_rlp::encode(&header)));
        let size = body.size(&header, withdrawals.as_deref());
        let transactions = body.transactions;
        Ok(SimulatedBlock {
            hash,
            parent_hash: parent.hash,
            state_root,
            size,
            transactions,
            calls,
            withdrawals,
            header,
        })
    }

    fn calls(
        &mut self,
        run: &BlockRun<'_>,
        plan: &BlockPlan,
        changes: &mut Changes<'_>,
        gas: &mut GasLeft,
    ) -> Result<(Body, Vec<CallOutcome>), BlockError> {
        let (mut body, mut outcomes, mut next) = (Body::default(), Vec::new(), 0);
        self.count(BYTES_OF_BLOCK)?;
        for call in &plan.calls {
            let limit = gas.limit(call.call.gas).map_err(BlockError::Refused)?;
            let collector = LogCollector::new(run.mode.logs_transfers, next);
            let (mut outcome, collector, ran) = run.call(call, limit, changes, &mut body, collector)?;
            self.check_hashes(run.header.number, &collector, &ran, changes)?;
            gas.take(outcome.gas_used);
            (outcome.logs, next) = collector.finish();
            let logs = outcome.logs.iter().map(|log| BYTES_OF_LOG + 2 * log.log.data.data.len());
            self.count(BYTES_OF_LOG + 2 * outcome.output.len() + 2 * call.call.input.len() + logs.sum::<usize>())?;
            outcomes.push(outcome);
        }
        Ok((body, outcomes))
    }

    fn count(&mut self, bytes: usize) -> Result<(), BlockError> {
        self.bytes += bytes;
        if self.bytes > MAX_BYTES {
            let text = format!("the answer is longer than {} MiB", MAX_BYTES >> 20);
            return Err(BlockError::Refused(Refusal::TooMuch(text)));
        }
        Ok(())
    }

    /// Refuses a call that read the hash of a simulated block, if it is not known.
    fn check_hashes(
        &self,
        number: u64,
        collector: &LogCollector,
        ran: &ResultAndState,
        changes: &Changes<'_>,
    ) -> Result<(), BlockError> {
        let first = self.simulation.base.number + 1;
        let is_unknown = |number: &u64| changes.cache.block_hashes.get(&U256::from(*number)).is_some_and(B256::is_zero);
        let mut read = collector.hashes_read.range(first.min(number)..number);
        let slots = ran.state.get(&HISTORY_STORAGE_ADDRESS).map(|account| &account.storage);
        let is_stored =
            |number: &u64| slots.is_some_and(|slots| slots.contains_key(&U256::from(system::history_slot(*number))));
        let mut stored = first..number;
        let unknown = read.find(|number| is_unknown(number)).copied();
        match unknown.or_else(|| stored.find(|number| is_unknown(number) && is_stored(number))) {
            Some(number) => Err(BlockError::Refused(Refusal::UnknownHash(number))),
            None => Ok(()),
        }
    }

    /// The data of deposits of validators (EIP-6110) in the logs of a block.
    fn deposits(&self, calls: &[CallOutcome]) -> Result<Vec<u8>, BlockError> {
        let Some(contract) = self.simulation.schedule.deposits() else { return Ok(Vec::new()) };
        let logs = calls.iter().flat_map(|call| &call.logs).map(|log| &log.log);
        let deposits = logs.filter(|log| log.address == contract);
        deposits::of_logs(deposits).map_err(BlockError::Refused)
    }
}
