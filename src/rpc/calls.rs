//! Calls on state: `eth_call`, `eth_estimateGas`, `eth_createAccessList`, `eth_fillTransaction`.

mod fill;
pub(crate) mod params;
mod signed;
mod unsigned;

pub(super) use fill::fill_transaction;

use std::collections::BTreeMap;
use std::sync::Arc;

use revm::primitives::hardfork::SpecId;
use serde_json::Value;
use serde_json::value::RawValue;

use super::protocol::answer::Answer;
use super::protocol::context::{Context, wrong_count};
use super::protocol::params::{BlockId, value};
use super::state;
use crate::app::App;
use crate::error::Problem;
use crate::read::calls::{Execution, RunStep};
use trawl_core::primitives::{Address, U256};
use trawl_core::store::Head;
use trawl_evm::{self, AccountOverride, BlockOverrides, Call};
use trawl_json::JsonWriter;

/// The output of a call.
pub(super) async fn call(call: Context<'_>) -> Result<Answer, Problem> {
    let output = CallRequest::read(call.params, 4)?.run(call.app, call.head()?, trawl_evm::execute).await?;
    Ok(Answer::of(|writer| writer.hex(&output)))
}

/// The least gas limit with which a call succeeds.
pub(super) async fn estimate_gas(call: Context<'_>) -> Result<Answer, Problem> {
    let gas = CallRequest::read(call.params, 4)?.run(call.app, call.head()?, trawl_evm::estimate).await?;
    Ok(Answer::of(|writer| writer.quantity(gas)))
}

/// The access list of a call (EIP-2930).
pub(super) async fn create_access_list(call: Context<'_>) -> Result<Answer, Problem> {
    let list = CallRequest::read(call.params, 3)?.run(call.app, call.head()?, trawl_evm::access_list).await?;
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
    /// The call itself, with its parameters.
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
    /// Parses the parameters, of which the call is the first, and at most `max` are allowed.
    fn read(params: &[&RawValue], max: usize) -> Result<Self, Problem> {
        let (first, rest) = params.split_first().ok_or_else(wrong_count)?;
        if params.len() > max {
            return Err(wrong_count());
        }
        let get = |position: usize| rest.get(position).map(|param| value(param)).filter(|value| !value.is_null());
        Ok(Self {
            call: params::call(&value(first))?,
            chain_id: params::chain_id(&value(first))?,
            fork: params::fork_of(&value(first)),
            block: state::block(rest.first().copied())?,
            accounts: get(1).map(|value| params::accounts(&value)).transpose()?.unwrap_or_default(),
            overrides: get(2).map(|value| params::block(&value)).transpose()?.unwrap_or_default(),
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
            call: params::call(call)?,
            chain_id: params::chain_id(call)?,
            fork: params::fork_of(call),
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

    /// Runs the call by a function that runs it on a part of the state, as [`Execution::run`] does.
    ///
    /// # Errors
    ///
    /// When it is for another chain; as [`Execution::run`].
    pub async fn run<T: Send + 'static>(self, app: &App, head: &Arc<Head>, run: impl RunStep<T>) -> Result<T, Problem> {
        self.require_chain(app, head)?;
        let number = state::height(self.block, app, head).await?;
        let Self { call, fork, accounts, overrides, .. } = self;
        Execution { call, fork, accounts, overrides }.run(app, head, number, run).await
    }
}
