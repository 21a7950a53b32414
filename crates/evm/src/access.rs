//! Access lists (EIP-2930): the accounts and slots that a call loads.

use std::collections::BTreeMap;

use alloy_eips::eip2930::AccessListItem;
use revm::context::result::{ExecutionResult, ResultAndState};

use super::call::{CallContext, CallEnvironment};
use super::precompiles::ChainPrecompiles;
use super::{Call, Failure, Step};
use trawl_core::primitives::{Address, B256};

/// The accounts and slots that a call loads, and its gas with this list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessList {
    /// Accounts and their slots, ascending. Sender, recipient, miner and precompiles are here with slots only.
    pub items: Vec<AccessListItem>,
    /// Gas the call uses with the list.
    pub gas_used: u64,
    /// Why the call failed, if it did.
    pub failure: Option<Failure>,
}

/// Most runs until the list must be stable: a list may change what a call loads. More than two have not been observed.
const MAX_ROUNDS: usize = 16;

/// Finds the accounts and slots that `call` loads after the block of `context`, as if in that block.
#[must_use]
pub fn access_list(call: &Call, context: CallContext<'_>) -> Step<AccessList> {
    let environment = context.environment();
    let gas = call.gas.unwrap_or(environment.block.gas_limit).min(context.limits.gas);
    let mut list = call.access_list.clone().unwrap_or_default();
    for _ in 0..MAX_ROUNDS {
        let outcome = match environment.run(call, gas, Some(&list)) {
            Step::Missing(keys) => return Step::Missing(keys),
            Step::Done(Err(failure)) => return Step::Done(Err(failure)),
            Step::Done(Ok(outcome)) => outcome,
        };
        let touched = environment.touched(call, &outcome);
        if touched == list.0 {
            return Step::Done(Ok(of_outcome(touched, outcome)));
        }
        list = touched.into();
    }
    Step::Done(Err(Failure::Invalid("what the call accesses depends on its access list".into())))
}

fn of_outcome(items: Vec<AccessListItem>, outcome: ResultAndState) -> AccessList {
    let gas_used = outcome.result.tx_gas_used();
    let failure = match outcome.result {
        ExecutionResult::Success { .. } => None,
        ExecutionResult::Revert { output, .. } => Some(Failure::Reverted(output)),
        ExecutionResult::Halt { reason, .. } => Some(reason.into()),
    };
    AccessList { items, gas_used, failure }
}

impl CallEnvironment<'_> {
    /// The accounts and slots that a run loaded.
    fn touched(&self, call: &Call, outcome: &ResultAndState) -> Vec<AccessListItem> {
        let precompiles = ChainPrecompiles::of(self.rules);
        let warm_anyway = |address: &Address| {
            *address == call.from
                || Some(*address) == call.to
                || *address == self.block.beneficiary
                || precompiles.contains(address)
        };
        let slots = |account: &revm::state::Account| {
            let mut slots: Vec<B256> = account.storage.keys().map(|slot| B256::from(*slot)).collect();
            slots.sort_unstable();
            slots
        };
        let accounts: BTreeMap<Address, Vec<B256>> =
            outcome.state.iter().map(|(address, account)| (*address, slots(account))).collect();
        let listed = accounts.into_iter().filter(|(address, slots)| !slots.is_empty() || !warm_anyway(address));
        listed.map(|(address, storage_keys)| AccessListItem { address, storage_keys }).collect()
    }
}
