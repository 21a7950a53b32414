//! Runs a call or a transaction: as on Ethereum, with the additions of the chain.

#[cfg(test)]
mod chain_tests;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::marker::PhantomData;

use revm::Database;
use revm::context::result::{EVMError, ExecutionResult, HaltReason, InvalidTransaction, ResultAndState, ResultGas};
use revm::context::{ContextTr, Evm, JournalTr, LocalContextTr, Transaction, TxEnv};
use revm::context_interface::journaled_state::account::JournaledAccountTr;
use revm::handler::instructions::EthInstructions;
use revm::handler::{EthFrame, EvmTr, FrameResult, Handler, MainnetContext, post_execution, pre_execution};
use revm::inspector::{Inspector, InspectorHandler};
use revm::interpreter::InitialAndFloorGas;
use revm::interpreter::interpreter::EthInterpreter;
use revm::{MainBuilder, context};
use trawl_chains::{
    BASE_FEE_VAULT, DataSize, FEE_PARAMETERS, L1_FEE_VAULT, OPERATOR_FEE_VAULT, OperatorFeeFormula, Refunds,
    RollupRules,
};

use super::Rules;
use super::instructions::adapt;
use super::partial_state::ProbeError;
use super::precompiles::ChainPrecompiles;
use trawl_core::primitives::{Address, U256};

/// Where a call comes from, as far as the chain charges for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Origin {
    /// It is no transaction: only its gas is paid.
    #[default]
    Call,
    /// A signed transaction.
    Signed(DataSize),
    /// A deposit: L1 paid for all of it.
    Deposit {
        /// Wei that its sender gets first, whatever its outcome.
        mint: U256,
    },
}

type ChainEvm<D, I> = Evm<
    MainnetContext<D>,
    I,
    EthInstructions<EthInterpreter, MainnetContext<D>>,
    ChainPrecompiles,
    EthFrame<EthInterpreter>,
>;

/// Runs a transaction.
pub(crate) fn run<D: Database<Error = ProbeError>>(
    context: MainnetContext<D>,
    transaction: TxEnv,
    rules: &Rules,
    origin: Origin,
) -> Result<ResultAndState, EVMError<ProbeError>> {
    let mut evm = context.with_tx(transaction).build_mainnet().with_precompiles(ChainPrecompiles::of(rules));
    adapt(&mut evm.instruction, rules);
    let result = ChainHandler::new(rules, origin).run(&mut evm);
    let state = evm.ctx.journal_mut().finalize();
    Ok(ResultAndState::new(result?, state))
}

/// Runs a transaction while an inspector watches.
pub(crate) fn inspect<D: Database<Error = ProbeError>, I: Inspector<MainnetContext<D>>>(
    context: MainnetContext<D>,
    transaction: TxEnv,
    rules: &Rules,
    origin: Origin,
    inspector: I,
) -> Result<ResultAndState, EVMError<ProbeError>> {
    let evm = context.with_tx(transaction).build_mainnet_with_inspector(inspector);
    let mut evm = evm.with_precompiles(ChainPrecompiles::of(rules));
    adapt(&mut evm.instruction, rules);
    let result = ChainHandler::new(rules, origin).inspect_run(&mut evm);
    let state = evm.ctx.journal_mut().finalize();
    Ok(ResultAndState::new(result?, state))
}

/// A run. What is charged beside the gas is known once the sender has paid.
struct ChainHandler<D, I> {
    rollup: Option<&'static RollupRules>,
    refunds: Refunds,
    origin: Origin,
    charge: Cell<Charge>,
    evm: PhantomData<fn() -> (D, I)>,
}

/// Fees of a transaction besides its gas, in wei.
#[derive(Debug, Clone, Copy, Default)]
struct Charge {
    l1_fee: U256,
    /// That of all its gas; what it does not use is paid back.
    operator_fee: U256,
}

impl<D: Database<Error = ProbeError>, I> ChainHandler<D, I> {
    fn new(rules: &Rules, origin: Origin) -> Self {
        let refunds = rules.chain.map_or(Refunds::Ethereums, |chain| chain.refunds);
        Self { rollup: rules.rollup(), refunds, origin, charge: Cell::default(), evm: PhantomData }
    }

    /// Fees of the transaction besides its gas; none on Ethereum.
    fn charge(&self, context: &mut MainnetContext<D>) -> Result<Charge, ProbeError> {
        let (Some(rollup), Origin::Signed(data)) = (self.rollup, self.origin) else { return Ok(Charge::default()) };
        let gas = context.tx().gas_limit();
        let l1_fee = rollup.l1_fee.fee(data, |slot| context.db_mut().storage(FEE_PARAMETERS, slot))?;
        let operator_fee = rollup.operator_fee.map(|formula| operator_fee(context, formula, gas)).transpose()?;
        Ok(Charge { l1_fee, operator_fee: operator_fee.unwrap_or_default() })
    }

    /// What the operator gets once it is known how much gas was used.
    fn operator_share(&self, context: &mut MainnetContext<D>, gas: u64) -> Result<U256, ProbeError> {
        match (self.rollup.and_then(|rollup| rollup.operator_fee), self.origin) {
            (Some(formula), Origin::Signed(_)) => operator_fee(context, formula, gas),
            _ => Ok(U256::ZERO),
        }
    }

    /// A deposit that could not begin: its sender keeps what was minted, its nonce counts, and all its gas is used.
    fn failed_deposit(&self, evm: &mut ChainEvm<D, I>, mint: U256) -> Result<ExecutionResult, EVMError<ProbeError>> {
        let (sender, gas) = (evm.ctx.tx().caller(), evm.ctx.tx().gas_limit());
        let journal = evm.ctx.journal_mut();
        let mut account = journal.load_account_mut(sender)?;
        account.incr_balance(mint);
        account.bump_nonce();
        journal.commit_tx();
        let gas = ResultGas::default().with_total_gas_spent(gas);
        Ok(ExecutionResult::Halt { reason: HaltReason::OutOfFunds, gas, logs: Vec::new() })
    }
}

fn lacks_funds(amount: U256, balance: U256) -> EVMError<ProbeError> {
    let (fee, balance) = (Box::new(amount), Box::new(balance));
    InvalidTransaction::LackOfFundForMaxFee { fee, balance }.into()
}

fn operator_fee<D: Database<Error = ProbeError>>(
    context: &mut MainnetContext<D>,
    formula: OperatorFeeFormula,
    gas: u64,
) -> Result<U256, ProbeError> {
    formula.fee(gas, |slot| context.db_mut().storage(FEE_PARAMETERS, slot))
}

fn credit<D: Database<Error = ProbeError>>(
    context: &mut MainnetContext<D>,
    account: Address,
    amount: U256,
) -> Result<(), ProbeError> {
    if !amount.is_zero() {
        context.journal_mut().load_account_mut(account)?.incr_balance(amount);
    }
    Ok(())
}

impl<D: Database<Error = ProbeError>, I> Handler for ChainHandler<D, I> {
    type Evm = ChainEvm<D, I>;
    type Error = EVMError<ProbeError>;
    type HaltReason = HaltReason;

    fn validate_against_state_and_deduct_caller(
        &self,
        evm: &mut Self::Evm,
        _: &mut InitialAndFloorGas,
    ) -> Result<(), Self::Error> {
        let context = evm.ctx();
        if let Origin::Deposit { mint } = self.origin {
            let (sender, is_call, value) = (context.tx().caller(), context.tx().kind().is_call(), context.tx().value());
            let mut account = context.journal_mut().load_account_mut(sender)?;
            account.incr_balance(mint);
            let balance = *account.balance();
            if balance < value {
                return Err(lacks_funds(value, balance));
            }
            if is_call {
                account.bump_nonce();
            }
            return Ok(());
        }
        let charge = self.charge(context)?;
        let amount = charge.l1_fee.saturating_add(charge.operator_fee);
        if !amount.is_zero() {
            let sender = context.tx().caller();
            let mut account = context.journal_mut().load_account_mut(sender)?;
            let balance = *account.balance();
            let Some(left) = balance.checked_sub(amount) else {
                return Err(lacks_funds(amount, balance));
            };
            account.set_balance(left);
        }
        self.charge.set(charge);
        pre_execution::validate_against_state_and_deduct_caller(context)
    }

    fn refund(&self, evm: &mut Self::Evm, result: &mut FrameResult, delegations: i64) -> Result<(), Self::Error> {
        match self.refunds {
            Refunds::Ethereums => post_execution::refund(&evm.ctx().cfg.gas_params, result.gas_mut(), delegations),
            Refunds::Nothing => result.gas_mut().set_refund(0),
        }
        Ok(())
    }

    fn reimburse_caller(&self, evm: &mut Self::Evm, result: &mut FrameResult) -> Result<(), Self::Error> {
        let context = evm.ctx();
        let share = self.operator_share(context, result.gas().used())?;
        let back = self.charge.get().operator_fee.saturating_sub(share);
        Ok(post_execution::reimburse_caller(context, result.gas(), back)?)
    }

    fn reward_beneficiary(&self, evm: &mut Self::Evm, result: &mut FrameResult) -> Result<(), Self::Error> {
        let context = evm.ctx();
        if let Origin::Deposit { .. } = self.origin {
            return Ok(());
        }
        post_execution::reward_beneficiary(context, result.gas())?;
        if self.rollup.is_none() {
            return Ok(());
        }
        let used = result.gas().used();
        let base_fee = U256::from(context::Block::basefee(context.block())) * U256::from(used);
        let operator_fee = self.operator_share(context, used)?;
        credit(context, BASE_FEE_VAULT, base_fee)?;
        credit(context, L1_FEE_VAULT, self.charge.get().l1_fee)?;
        Ok(credit(context, OPERATOR_FEE_VAULT, operator_fee)?)
    }

    fn catch_error(&self, evm: &mut Self::Evm, error: Self::Error) -> Result<ExecutionResult, Self::Error> {
        evm.ctx.local_mut().clear();
        evm.ctx.journal_mut().discard_tx();
        evm.frame_stack.clear();
        match (self.origin, error) {
            (Origin::Deposit { mint }, EVMError::Transaction(_)) => self.failed_deposit(evm, mint),
            (_, error) => Err(error),
        }
    }
}

impl<D: Database<Error = ProbeError>, I: Inspector<MainnetContext<D>>> InspectorHandler for ChainHandler<D, I> {
    type IT = EthInterpreter;
}
