//! A run of a call over the known part of the state.

use std::time::Instant;

use alloy_eips::eip2930::AccessList;
use alloy_eips::eip7702::SignedAuthorization;
use revm::MainContext;
use revm::context::result::{EVMError, ExecutionResult, ResultAndState};
use revm::context::{BlockEnv, CfgEnv, Context, TxEnv};
use revm::context_interface::either::Either;
use revm::database_interface::WrapDatabaseRef;
use revm::primitives::TxKind;
use revm::primitives::eip3860::MAX_INITCODE_SIZE;
use trawl_chains::Tips;

use super::environment::environment;
use super::handler::{self, Origin};
use super::partial_state::ProbeError;
use super::{BlockContext, BlockOverrides, Failure, Key, PartialState, Rules, RulesError};
use trawl_core::primitives::{Address, B256, Bytes, TransactionType, U256};

/// A call to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Call {
    /// Account that calls or creates.
    pub from: Address,
    /// Callee; `None` creates a contract.
    pub to: Option<Address>,
    /// Gas limit, if given.
    pub gas: Option<u64>,
    /// Price of gas.
    pub fees: Fees,
    /// Wei to transfer.
    pub value: U256,
    /// Input, or init code.
    pub input: Bytes,
    /// Nonce, if given; else that of the account.
    pub nonce: Option<u64>,
    /// Accounts and slots announced ahead (EIP-2930); `None` for a call without such a list.
    pub access_list: Option<AccessList>,
    /// Versioned hashes of its blobs (EIP-4844); empty for a call without blobs.
    pub blob_hashes: Vec<B256>,
    /// Wei for a unit of blob gas.
    pub max_fee_per_blob_gas: u128,
    /// Delegations that accounts signed (EIP-7702); empty for a call without them.
    pub authorizations: Vec<SignedAuthorization>,
}

/// Price of gas, in wei.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fees {
    /// None: the base fee is not charged either.
    #[default]
    None,
    /// Wei per gas, of which the base fee is a part.
    Price(u128),
    /// A base fee and a tip, both limited (EIP-1559).
    Dynamic {
        /// Maximum per gas.
        max: u128,
        /// Maximum tip per gas.
        priority: u128,
    },
}

impl Fees {
    pub(super) fn at_most(self) -> u128 {
        match self {
            Self::None => 0,
            Self::Price(price) => price,
            Self::Dynamic { max, .. } => max,
        }
    }
}

/// Limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most gas of a call, whatever its own limit.
    pub gas: u64,
    /// When the run ends without a result.
    pub deadline: Instant,
}

/// Outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<T> {
    /// The run is complete.
    Done(Result<T, Failure>),
    /// Missing pieces of state, ascending and not empty. The next run may not need all of them.
    Missing(Vec<Key>),
}

/// The block that a call seems to be in, and the state that it runs on.
#[derive(Debug, Clone, Copy)]
pub struct CallContext<'a> {
    /// The block after which the state is.
    pub block: &'a BlockContext,
    /// What the call sees otherwise than in this block.
    pub overrides: &'a BlockOverrides,
    /// The rules of the block.
    pub rules: &'a Rules,
    /// The state, as far as it was read.
    pub state: &'a PartialState,
    /// Limits of the run.
    pub limits: Limits,
}

impl<'a> CallContext<'a> {
    pub(super) fn environment(self) -> CallEnvironment<'a> {
        let block = environment(self.block, self.rules, self.overrides);
        CallEnvironment { rules: self.rules, block, state: self.state, limits: self.limits }
    }
}

/// State, block and rules of a call, as the EVM takes them.
pub(super) struct CallEnvironment<'a> {
    pub rules: &'a Rules,
    pub block: BlockEnv,
    pub state: &'a PartialState,
    pub limits: Limits,
}

/// Runs `call` after the block of `context`, as if in that block. The result is the return data.
#[must_use]
pub fn execute(call: &Call, context: CallContext<'_>) -> Step<Bytes> {
    let most = context.limits.gas;
    let gas = call.gas.unwrap_or(most).min(most);
    match context.environment().run(call, gas, call.access_list.as_ref()) {
        Step::Missing(keys) => Step::Missing(keys),
        Step::Done(Err(failure)) => Step::Done(Err(failure)),
        Step::Done(Ok(ResultAndState { result, .. })) => Step::Done(match result {
            ExecutionResult::Success { output, .. } => Ok(output.into_data()),
            ExecutionResult::Revert { output, .. } => Err(Failure::Reverted(output)),
            ExecutionResult::Halt { reason, .. } => Err(reason.into()),
        }),
    }
}

impl CallEnvironment<'_> {
    /// Runs the call once with `gas`.
    pub fn run(&self, call: &Call, gas: u64, access_list: Option<&AccessList>) -> Step<ResultAndState> {
        let probe = self.state.probe(self.limits.deadline);
        let mut block = self.block.clone();
        if call.fees.at_most() == 0 {
            // As in nodes: a call without a gas price has a base fee of zero.
            block.basefee = 0;
        }
        let context =
            Context::mainnet().with_db(WrapDatabaseRef(&probe)).with_cfg(settings(call, self.rules)).with_block(block);
        // The nonce determines the address of a created contract.
        let nonce = call.nonce.or_else(|| self.state.nonce(&call.from)).unwrap_or_default();
        let transaction = transaction(call, gas, nonce, self.rules, access_list);
        let outcome = handler::run(context, transaction, self.rules, Origin::Call);
        match outcome {
            Err(EVMError::Database(ProbeError::Late)) => return Step::Done(Err(Failure::TooLong)),
            Err(EVMError::Database(ProbeError::Astray)) => return Step::Missing(probe.missing()),
            _ => {}
        }
        // With missing state, the outcome would be that of another state.
        let missing = probe.missing();
        if !missing.is_empty() {
            return Step::Missing(missing);
        }
        Step::Done(match outcome {
            Ok(outcome) => Ok(outcome),
            Err(EVMError::Transaction(reason)) => Err(reason.into()),
            Err(EVMError::Custom(text)) => Err(Failure::NotAvailable(RulesError::NotAvailable(text))),
            Err(other) => Err(Failure::Invalid(other.to_string())),
        })
    }
}

/// A call is no transaction: nonce, base fee, code of the sender and the limits of blocks are not checked.
pub(super) fn settings(call: &Call, rules: &Rules) -> CfgEnv {
    let mut settings = CfgEnv::new_with_spec(rules.fork).with_chain_id(rules.chain_id);
    settings.tx_chain_id_check = false;
    settings.disable_nonce_check = true;
    settings.disable_eip3607 = true;
    settings.disable_block_gas_limit = true;
    settings.disable_base_fee = call.fees.at_most() == 0;
    settings.tx_gas_limit_cap = Some(u64::MAX);
    if let Some(longest) = rules.chain.and_then(|chain| chain.longest_code) {
        settings.limit_contract_code_size = Some(longest);
        settings.limit_contract_initcode_size = Some(MAX_INITCODE_SIZE);
    }
    settings.blob_base_fee_update_fraction = rules.blobs.and_then(|blobs| u64::try_from(blobs.update_fraction).ok());
    settings
}

/// The transaction of revm, with its gas limit and nonce.
pub(super) fn transaction(call: &Call, gas: u64, nonce: u64, rules: &Rules, access_list: Option<&AccessList>) -> TxEnv {
    let fees = match (call.fees, rules.tips) {
        (Fees::None, _) | (_, Tips::Paid) => call.fees,
        (fees, Tips::Dropped) => Fees::Dynamic { max: fees.at_most(), priority: 0 },
    };
    let (price, priority) = match fees {
        Fees::None => (0, None),
        Fees::Price(price) => (price, None),
        Fees::Dynamic { max, priority } => (max, Some(priority)),
    };
    let kind = if !call.authorizations.is_empty() {
        TransactionType::SetCode
    } else if !call.blob_hashes.is_empty() {
        TransactionType::Blob
    } else if priority.is_some() {
        TransactionType::DynamicFee
    } else if access_list.is_some() {
        TransactionType::AccessList
    } else {
        TransactionType::Legacy
    };
    let has_price = matches!(kind, TransactionType::Legacy | TransactionType::AccessList);
    TxEnv {
        tx_type: kind.byte(),
        caller: call.from,
        gas_limit: gas,
        gas_price: price,
        gas_priority_fee: priority.or((!has_price).then_some(price)),
        kind: call.to.map_or(TxKind::Create, TxKind::Call),
        value: call.value,
        data: call.input.clone(),
        nonce,
        chain_id: Some(rules.chain_id),
        access_list: access_list.cloned().unwrap_or_default(),
        blob_hashes: call.blob_hashes.clone(),
        max_fee_per_blob_gas: call.max_fee_per_blob_gas,
        authorization_list: call.authorizations.iter().cloned().map(Either::Left).collect(),
    }
}
