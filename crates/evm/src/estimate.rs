//! The least gas with which a call succeeds.

use revm::context::result::{ExecutionResult, HaltReason, ResultAndState};

use super::call::{CallContext, CallEnvironment};
use super::{Call, Failure, PartialState, RulesError, Step};
use trawl_core::primitives::U256;

/// Gas of a transaction that only carries a value.
const TRANSFER: u64 = 21_000;
/// Gas of a transaction that creates, before its code (EIP-2).
const CREATION: u64 = 53_000;

/// The least gas with which a call succeeds: exact if more gas never makes the call fail.
pub type Estimate = u64;

/// Finds the least gas with which `call` succeeds after the block of `context`, as if in that block.
#[must_use]
pub fn estimate(call: &Call, context: CallContext<'_>) -> Step<Estimate> {
    let CallContext { rules, state, limits, .. } = context;
    if let Some(reason) = rules.chain.and_then(|chain| chain.no_estimates) {
        let unknown = RulesError::EstimatesUnknown { chain: rules.chain_id, reason };
        return Step::Done(Err(Failure::NotAvailable(unknown)));
    }
    let environment = context.environment();
    let stated = call.gas.filter(|gas| *gas >= TRANSFER).unwrap_or(environment.block.gas_limit);
    let most = match affordable(call, state) {
        Ok(affordable) => stated.min(limits.gas).min(affordable),
        Err(failure) => return Step::Done(Err(failure)),
    };
    let used = match environment.try_with(call, most) {
        Step::Missing(keys) => return Step::Missing(keys),
        Step::Done(Err(failure)) => return Step::Done(Err(failure)),
        Step::Done(Ok(Attempt::TooLittle)) => return Step::Done(Err(Failure::NotEnoughGas(most))),
        Step::Done(Ok(Attempt::Enough { used })) => used,
    };
    environment.narrow(call, used, most)
}

/// How much gas the sender can pay for; unlimited without a price.
fn affordable(call: &Call, state: &PartialState) -> Result<u64, Failure> {
    let price = call.fees.at_most();
    if price == 0 {
        return Ok(u64::MAX);
    }
    // The first run reports an unknown balance as missing.
    let Some(balance) = state.balance(&call.from) else { return Ok(u64::MAX) };
    let Some(left) = balance.checked_sub(call.value) else {
        return Err(Failure::Invalid("insufficient funds for transfer".into()));
    };
    Ok(u64::try_from(left / U256::from(price)).unwrap_or(u64::MAX))
}

/// Whether an amount of gas was enough.
enum Attempt {
    Enough {
        /// Gas of the run after refunds.
        used: u64,
    },
    TooLittle,
}

impl CallEnvironment<'_> {
    /// Binary search. It begins at the cost of any transaction and not at the gas that this one used: if an inner call
    /// burns all its gas and the outer one ignores the failure, less is enough.
    fn narrow(&self, call: &Call, used: u64, most: u64) -> Step<Estimate> {
        let base = if call.to.is_some() { TRANSFER } else { CREATION };
        let (mut too_little, mut enough) = (base, most);
        if used <= base {
            match self.try_with(call, base) {
                Step::Done(Ok(Attempt::Enough { .. })) => return Step::Done(Ok(base)),
                Step::Missing(keys) => return Step::Missing(keys),
                Step::Done(_) => {}
            }
        }
        // Most calls need little more than they use.
        let mut next = used.saturating_mul(3).min(too_little + enough.saturating_sub(too_little) / 2);
        while too_little + 1 < enough {
            match self.try_with(call, next) {
                Step::Missing(keys) => return Step::Missing(keys),
                Step::Done(Ok(Attempt::Enough { .. })) => enough = next,
                // A revert may be caused by an inner call without enough gas.
                Step::Done(Ok(Attempt::TooLittle) | Err(Failure::Reverted(_) | Failure::Halted(_))) => {
                    too_little = next;
                }
                Step::Done(Err(failure)) => return Step::Done(Err(failure)),
            }
            next = too_little + (enough - too_little) / 2;
        }
        Step::Done(Ok(enough))
    }

    fn try_with(&self, call: &Call, gas: u64) -> Step<Attempt> {
        match self.run(call, gas, call.access_list.as_ref()) {
            Step::Missing(keys) => Step::Missing(keys),
            Step::Done(Err(Failure::Invalid(text))) if is_too_little(&text) => Step::Done(Ok(Attempt::TooLittle)),
            Step::Done(Err(failure)) => Step::Done(Err(failure)),
            Step::Done(Ok(ResultAndState { result, .. })) => Step::Done(match result {
                ExecutionResult::Success { gas, .. } => Ok(Attempt::Enough { used: gas.tx_gas_used() }),
                ExecutionResult::Revert { output, .. } => Err(Failure::Reverted(output)),
                ExecutionResult::Halt { reason: HaltReason::OutOfGas(_), .. } => Ok(Attempt::TooLittle),
                ExecutionResult::Halt { reason, .. } => Err(reason.into()),
            }),
        }
    }
}

/// Whether a call was rejected because its gas limit is below the intrinsic cost.
fn is_too_little(text: &str) -> bool {
    text.starts_with("intrinsic gas too low") || text.starts_with("insufficient gas for floor data")
}
