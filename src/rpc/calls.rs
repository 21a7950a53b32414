//! Calls on state: `eth_call`, `eth_estimateGas`, `eth_createAccessList`. The EVM runs on the part of the state that is
//! cached; the values that it misses are read in one batch, and it runs again, until nothing is missing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use revm::primitives::hardfork::SpecId;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::timeout_at;

use super::answer::Answer;
use super::call_params;
use super::context::{Context, wrong_count};
use super::params::{BlockId, value};
use super::state;
use crate::app::App;
use crate::error::Problem;
use crate::read::state::State;
use crate::values::BlockName;
use trawl_core::primitives::{Address, BlockNumber, Bytes, U256};
use trawl_core::store::Head;
use trawl_evm::{
    self, AccountOverride, BlockContext, BlockOverrides, Call, Failure, Key, Limits, PartialState, Rules, Schedule,
    StateValue, Step,
};
use trawl_json::JsonWriter;

/// The output of a call.
pub(super) async fn call(call: Context<'_>) -> Result<Answer, Problem> {
    let output = CallRequest::read(call.params, 4)?.run(call.app, call.head()?, trawl_evm::execute).await?;
    Ok(Answer::of(|writer| writer.hex(&output)))
}

/// What a contract returns to a call of nobody after a block.
///
/// # Errors
///
/// [`Problem::Call`] when it fails; when the state is not known, or the rules.
pub(crate) async fn returned(
    app: &App,
    head: &Arc<Head>,
    number: BlockNumber,
    (contract, input): (Address, Bytes),
) -> Result<Bytes, Problem> {
    CallRequest::without_sender(number, contract, input).run(app, head, trawl_evm::execute).await
}

/// The other contracts that such a call touches, also if it fails.
///
/// # Errors
///
/// As [`returned`].
pub(crate) async fn touched(
    app: &App,
    head: &Arc<Head>,
    number: BlockNumber,
    (contract, input): (Address, Bytes),
) -> Result<Vec<Address>, Problem> {
    let list = CallRequest::without_sender(number, contract, input).run(app, head, trawl_evm::access_list).await?;
    Ok(list.items.into_iter().map(|item| item.address).collect())
}

/// The least gas limit with which a call succeeds.
pub(super) async fn estimate_gas(call: Context<'_>) -> Result<Answer, Problem> {
    let gas = CallRequest::read(call.params, 4)?.run(call.app, call.head()?, trawl_evm::estimate).await?;
    Ok(Answer::of(|writer| writer.quantity(gas)))
}

/// The access list of a call (EIP-2930).
pub(super) async fn create_access_list(call: Context<'_>) -> Result<Answer, Problem> {
    let list = CallRequest::read(call.params, 2)?.run(call.app, call.head()?, trawl_evm::access_list).await?;
    Ok(Answer::of(|writer| write_access_list(writer, &list)))
}

fn write_access_list(writer: &mut JsonWriter, list: &trawl_evm::AccessList) {
    writer.object(|object| {
        object.key("accessList").array(|array| {
            for item in &list.items {
                array.item().object(|object| {
                    object.key("address").hex(item.address.as_slice());
                    object.key("storageKeys").array(|keys| {
                        item.storage_keys.iter().for_each(|key| keys.item().hex(key.as_slice()));
                    });
                });
            }
        });
        if let Some(failure) = &list.failure {
            object.key("error").string(&failure.to_string());
        }
        object.key("gasUsed").quantity(list.gas_used);
    });
}

/// A call, the block after which it runs, and the overrides of state and block.
pub(super) struct CallRequest {
    /// The call.
    pub call: Call,
    /// The chain that it is for, if it says so.
    chain_id: Option<U256>,
    /// The fork that its members need.
    fork: SpecId,
    block: BlockId,
    /// Overrides of accounts.
    pub accounts: BTreeMap<Address, AccountOverride>,
    /// Overrides of the block.
    pub overrides: BlockOverrides,
}

impl CallRequest {
    /// A call after a block that names no sender: the zero address.
    fn without_sender(number: BlockNumber, contract: Address, input: Bytes) -> Self {
        Self {
            call: Call { to: Some(contract), input, ..Call::default() },
            chain_id: None,
            fork: SpecId::FRONTIER,
            block: BlockId::Name(BlockName::Number(number)),
            accounts: BTreeMap::new(),
            overrides: BlockOverrides::default(),
        }
    }

    /// Parses the parameters, of which the call is the first, and at most `max` are allowed.
    fn read(params: &[&RawValue], max: usize) -> Result<Self, Problem> {
        let (first, rest) = params.split_first().ok_or_else(wrong_count)?;
        if params.len() > max {
            return Err(wrong_count());
        }
        let get = |position: usize| rest.get(position).map(|param| value(param)).filter(|value| !value.is_null());
        Ok(Self {
            call: call_params::call(&value(first))?,
            chain_id: call_params::chain_id(&value(first))?,
            fork: call_params::fork_of(&value(first)),
            block: state::block(rest.first().copied())?,
            accounts: get(1).map(|value| call_params::accounts(&value)).transpose()?.unwrap_or_default(),
            overrides: get(2).map(|value| call_params::block(&value)).transpose()?.unwrap_or_default(),
        })
    }

    /// A call after a block, the newest one if it is absent, without overrides.
    ///
    /// # Errors
    ///
    /// When one of them is missing or has a wrong value.
    pub fn new(call: Option<&Value>, block: Option<&Value>) -> Result<Self, Problem> {
        let call = call.ok_or_else(wrong_count)?;
        Ok(Self {
            call: call_params::call(call)?,
            chain_id: call_params::chain_id(call)?,
            fork: call_params::fork_of(call),
            block: state::block_of(block)?,
            accounts: BTreeMap::new(),
            overrides: BlockOverrides::default(),
        })
    }

    /// Refuses a call for another chain.
    ///
    /// # Errors
    ///
    /// When it is for another chain.
    pub fn require_chain(&self, app: &App, head: &Head) -> Result<(), Problem> {
        match (self.chain_id, app.chain_id(head)) {
            (Some(have), Some(want)) if have != U256::from(want) => Err(Problem::OtherChain { have, want }),
            _ => Ok(()),
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

    /// Runs the call until no part of the state is missing, by a function that runs it on a part of the state.
    ///
    /// # Errors
    ///
    /// When the state or the rules are not known, when the run fails or takes too long; or when the store fails.
    pub async fn run<T: Send + 'static>(
        self,
        app: &App,
        head: &Arc<Head>,
        run: impl Fn(&Call, (&BlockContext, &BlockOverrides), &Rules, &PartialState, Limits) -> Step<T>
        + Send
        + Sync
        + 'static,
    ) -> Result<T, Problem> {
        self.require_chain(app, head)?;
        let number = state::height(self.block, app, head).await?;
        let after = State::after(app, number, head).await?;
        let options = app.options();
        let limits = Limits { gas: options.call_gas, deadline: Instant::now() + options.call_timeout };
        let mut partial = after.partial(self.accounts.clone());
        let too_long = |_| Problem::CallTooLong;
        let deadline = tokio::time::Instant::from_std(limits.deadline);
        timeout_at(deadline, after.fetch(&self.first_keys(number), &mut partial)).await.map_err(too_long)??;
        let Some(StateValue::Block(context)) = partial.value(&Key::Block(number)) else {
            return Err(Problem::Internal);
        };
        let rules = rules(app, head, &context)?;
        self.require_fork(&rules)?;
        let work = Arc::new((self, context, rules, run));
        loop {
            let (step, used) = app
                .compute({
                    let work = Arc::clone(&work);
                    move || {
                        let (request, context, rules, run) = &*work;
                        (run(&request.call, (context, &request.overrides), rules, &partial, limits), partial)
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

/// Whether the EVM rules at a block are known, and Ethereum's: who gets fees is then what Ethereum says.
pub(crate) fn has_ethereums_rules(app: &App, head: &Head, block: &BlockContext) -> bool {
    rules(app, head, block).is_ok_and(|rules| rules.chain.is_none())
}

/// The EVM rules at a block.
pub(super) fn rules(app: &App, head: &Head, block: &BlockContext) -> Result<Rules, Problem> {
    schedule(app, head)?.at(block).map_err(Problem::RulesUnknown)
}

/// The forks of the chain: those of a public chain, else those of the genesis file.
pub(super) fn schedule(app: &App, head: &Head) -> Result<Schedule, Problem> {
    let chain_id = app.chain_id(head).ok_or(Problem::RulesUnknown(trawl_evm::RulesError::UnknownChain(0)))?;
    let of_genesis = || match &head.configuration {
        Some(configuration) => Schedule::of_genesis(chain_id, configuration),
        None => Err(trawl_evm::RulesError::UnknownChain(chain_id)),
    };
    Schedule::of_chain(chain_id).map_or_else(of_genesis, Ok).map_err(Problem::RulesUnknown)
}
