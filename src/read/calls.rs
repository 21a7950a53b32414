//! Calls that run on the state after a block. The EVM runs on the part of the state that is cached; the values that it
//! misses are read in one batch, and it runs again, until nothing is missing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use revm::primitives::hardfork::SpecId;
use tokio::time::timeout_at;

use super::rules::rules;
use super::state::State;
use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::{Address, BlockNumber, Bytes};
use trawl_core::store::Head;
use trawl_evm::{AccountOverride, BlockOverrides, Call, CallContext, Failure, Key, Limits, Rules, StateValue, Step};

/// A function that runs a call on a part of the state.
pub(crate) trait RunStep<T>: Fn(&Call, CallContext<'_>) -> Step<T> + Send + Sync + 'static {}

impl<T, F> RunStep<T> for F where F: Fn(&Call, CallContext<'_>) -> Step<T> + Send + Sync + 'static {}

/// The return data of a contract after a block, for a call from the zero address.
///
/// # Errors
///
/// [`Problem::Call`] when it fails; when the state is not known, or the rules.
pub(crate) async fn returned(
    app: &App,
    head: &Arc<Head>,
    number: BlockNumber,
    contract: Address,
    input: Bytes,
) -> Result<Bytes, Problem> {
    Execution::without_sender(contract, input).run(app, head, known(number, head)?, trawl_evm::execute).await
}

/// The other contracts that such a call touches, also if it fails.
///
/// # Errors
///
/// [`Problem::Call`] when it fails; when the state is not known, or the rules.
pub(crate) async fn touched(
    app: &App,
    head: &Arc<Head>,
    number: BlockNumber,
    contract: Address,
    input: Bytes,
) -> Result<Vec<Address>, Problem> {
    let execution = Execution::without_sender(contract, input);
    let list = execution.run(app, head, known(number, head)?, trawl_evm::access_list).await?;
    Ok(list.items.into_iter().map(|item| item.address).collect())
}

/// A block of which the state may be known.
fn known(number: BlockNumber, head: &Head) -> Result<BlockNumber, Problem> {
    head.number().filter(|head| number <= *head).map(|_| number).ok_or(Problem::BlockNotFound)
}

/// A call and what it runs under.
pub(crate) struct Execution {
    /// What is run, as `eth_call` takes it.
    pub call: Call,
    /// The fork that its members need.
    pub fork: SpecId,
    /// Overrides of accounts.
    pub accounts: BTreeMap<Address, AccountOverride>,
    /// Overrides of the block.
    pub overrides: BlockOverrides,
}

impl Execution {
    /// A call that names no sender: the zero address.
    fn without_sender(contract: Address, input: Bytes) -> Self {
        Self {
            call: Call { to: Some(contract), input, ..Call::default() },
            fork: SpecId::FRONTIER,
            accounts: BTreeMap::new(),
            overrides: BlockOverrides::default(),
        }
    }

    /// Refuses members that came with a later fork, as geth does.
    fn require_fork(&self, rules: &Rules) -> Result<(), Problem> {
        let text = match self.fork {
            fork if rules.fork >= fork => return Ok(()),
            SpecId::CANCUN => "transaction type not supported: blob tx",
            _ => "maxFeePerGas and maxPriorityFeePerGas are not valid before London is active",
        };
        Err(Problem::Call(Failure::Invalid(text.into())))
    }

    /// Keys that every run needs; reading them first saves runs.
    fn first_keys(&self, number: BlockNumber) -> Vec<Key> {
        let accounts = [Some(self.call.from), self.call.to, self.overrides.fee_recipient];
        let listed = self.call.access_list.iter().flat_map(|list| &list.0).flat_map(|item| {
            let slots = item.storage_keys.iter().map(|slot| Key::Slot(item.address, *slot));
            [Key::Account(item.address)].into_iter().chain(slots)
        });
        let accounts = accounts.into_iter().flatten().map(Key::Account);
        [Key::Block(number)].into_iter().chain(accounts).chain(listed).collect()
    }

    /// Runs the call after a block until no part of the state is missing, by a function that runs it on a part of it.
    ///
    /// # Errors
    ///
    /// When the state or the rules are not known, when the run fails or takes too long; or when the store fails.
    pub async fn run<T: Send + 'static>(
        self,
        app: &App,
        head: &Arc<Head>,
        number: BlockNumber,
        run: impl RunStep<T>,
    ) -> Result<T, Problem> {
        let after = State::after(app, number, head).await?;
        let options = app.options();
        let limits = Limits { gas: options.call_gas, deadline: Instant::now() + options.call_timeout };
        let mut partial = after.partial(self.accounts.clone());
        let too_long = |_| Problem::CallTooLong;
        let deadline = tokio::time::Instant::from_std(limits.deadline);
        timeout_at(deadline, after.fetch(&self.first_keys(number), &mut partial)).await.map_err(too_long)??;
        let Some(StateValue::Block(block)) = partial.value(&Key::Block(number)) else {
            return Err(Problem::Internal);
        };
        let rules = rules(app, head, &block)?;
        self.require_fork(&rules)?;
        let work = Arc::new((self, block, rules, run));
        loop {
            let (step, used) = app
                .compute({
                    let work = Arc::clone(&work);
                    move || {
                        let (Self { call, overrides, .. }, block, rules, run) = &*work;
                        (run(call, CallContext { block, overrides, rules, state: &partial, limits }), partial)
                    }
                })
                .await?;
            partial = used;
            match step {
                Step::Done(result) => return result.map_err(Problem::from),
                // At the deadline, the statements of the read are cancelled.
                Step::Missing(keys) => {
                    timeout_at(deadline, after.fetch(&keys, &mut partial)).await.map_err(too_long)??;
                }
            }
        }
    }
}
