//! `eth_simulateV1`: blocks of calls that are simulated one after the other.

mod answer;
mod plan;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use revm::primitives::hardfork::SpecId;
use tokio::time::timeout_at;

use super::protocol::answer::Answer;
use super::protocol::context::{Context, required};
use super::protocol::params::value;
use super::state;
use crate::error::Problem;
use crate::read::rules::schedule;
use crate::read::state::State;
use plan::Request;
use trawl_core::primitives::{BlockNumber, U256};
use trawl_evm::simulation::{SimulatedBlock, SimulatedHeader, Simulation, WholeState};
use trawl_evm::{BlockContext, Key, Limits, Schedule, Step};

/// What blocks of calls do and return on the state after a block.
pub(super) async fn simulate(call: Context<'_>) -> Result<Answer, Problem> {
    let [request, block] = call.with_optional()?;
    let request = Request::read(&value(required(request)?))?;
    let (app, head) = (call.app, call.head()?);
    request.require_chain(app.chain_id(head))?;
    let number = state::height(state::block(block)?, app, head).await?;
    let schedule = schedule(app, head)?;
    schedule.require_ethereums_forks().map_err(Problem::RulesUnknown)?;
    let after = State::after(app, number, head).await?;
    let (base, base_hash) = app.header(head, number).await?;
    let deadline = Instant::now() + app.options().call_timeout;
    let prepared = whole(&after, &base, &schedule);
    let whole = timeout_at(deadline.into(), prepared).await.map_err(|_| Problem::CallTooLong)??;
    let Request { blocks, mode, transactions, .. } = request;
    let simulation = Simulation { base, base_hash, schedule, blocks, mode, whole };
    let blocks = run(&after, simulation, Limits { gas: app.options().call_gas, deadline }).await?;
    Ok(Answer::of(|writer| answer::write(writer, &blocks, transactions)))
}

/// All of the state after a block, if it is small.
///
/// # Errors
///
/// When the store fails.
pub(super) async fn whole(
    after: &State,
    base: &SimulatedHeader,
    schedule: &Schedule,
) -> Result<Option<WholeState>, Problem> {
    // Before the merge, blocks have a difficulty.
    let block = |number: BlockNumber| BlockContext { number, difficulty: U256::from(1), ..BlockContext::default() };
    let keeps_empty = |number| schedule.at(&block(number)).is_ok_and(|rules| rules.fork < SpecId::SPURIOUS_DRAGON);
    after.whole(base.state_root, keeps_empty).await
}

/// Runs a simulation until no part of the state is missing.
async fn run(after: &State, simulation: Simulation, limits: Limits) -> Result<Vec<SimulatedBlock>, Problem> {
    let deadline = tokio::time::Instant::from_std(limits.deadline);
    let too_long = |_| Problem::CallTooLong;
    let mut partial = after.partial(BTreeMap::new());
    let first: Vec<Key> = simulation.accounts().into_iter().map(Key::Account).collect();
    timeout_at(deadline, after.fetch(&first, &mut partial)).await.map_err(too_long)??;
    let simulation = Arc::new(simulation);
    loop {
        let work = {
            let simulation = Arc::clone(&simulation);
            move || (simulation.run(&partial, limits), partial)
        };
        let (step, used) = after.app().compute(work).await?;
        partial = used;
        match step {
            Step::Done(outcome) => return outcome.map_err(Problem::from)?.map_err(Problem::Simulation),
            Step::Missing(keys) => {
                timeout_at(deadline, after.fetch(&keys, &mut partial)).await.map_err(too_long)??;
            }
        }
    }
}
