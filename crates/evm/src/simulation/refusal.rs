//! Why a simulation is refused, with the codes of the specification.

use std::cmp::Ordering;

use revm::context::result::InvalidTransaction;

use crate::{Failure, RulesError};
use trawl_core::primitives::{Address, BlockNumber, U256};

/// Why a simulation is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A block that is not above the one before it.
    #[error("block numbers must be in order: {number} <= {before}")]
    NumberOrder {
        /// Height of the refused block.
        number: u64,
        /// That of the one before.
        before: u64,
    },
    /// A block that is not later than the one before it.
    #[error("block timestamps must be in order: {time} <= {before}")]
    TimeOrder {
        /// Timestamp of the refused block in seconds of Unix time.
        time: u64,
        /// That of the one before.
        before: u64,
    },
    /// More than is simulated at once.
    #[error("{0}")]
    TooMuch(String),
    /// A call with more gas than its block has left.
    #[error("block gas limit reached: remaining: {remaining}, required: {required}")]
    BlockGas {
        /// What is left.
        remaining: u64,
        /// What the call wants.
        required: u64,
    },
    /// An override of a precompile that is none.
    #[error("account {0} is not a precompile")]
    NoPrecompile(Address),
    /// An override of an account to which a precompile is moved.
    #[error("account {0} is already overridden")]
    Overridden(Address),
    /// A call that is no valid transaction.
    #[error("{text}")]
    Transaction {
        /// JSON-RPC error code of `eth_simulateV1`.
        code: i32,
        /// What is wrong.
        text: String,
    },
    /// A simulated block whose hash is read, and not known.
    #[error(
        "the hash of the simulated block {0} is read, but unknown: the state after the base block is not complete here"
    )]
    UnknownHash(BlockNumber),
    /// Rules that are not simulated.
    #[error("blocks before {0} are not simulated")]
    OldRules(&'static str),
    /// The rules of a block are not known.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// A parameter that is not valid.
    #[error("{0}")]
    Parameter(String),
}

impl Refusal {
    /// The code of its JSON-RPC error.
    #[must_use]
    pub fn code(&self) -> i32 {
        match self {
            Self::NumberOrder { .. } => -38_020,
            Self::TimeOrder { .. } => -38_021,
            Self::TooMuch(_) => -38_026,
            Self::BlockGas { .. } => -38_015,
            Self::Transaction { code, .. } => *code,
            Self::UnknownHash(_) => -32_002,
            Self::Parameter(_) => -32_602,
            Self::NoPrecompile(_) | Self::Overridden(_) | Self::OldRules(_) | Self::Rules(_) => -32_000,
        }
    }
}

/// Checks the nonce of a call.
///
/// # Errors
///
/// When it is not that of its sender, or the last one.
pub(super) fn check_nonce(tx: u64, state: u64) -> Result<(), Refusal> {
    match tx.cmp(&state) {
        Ordering::Less => Err(invalid(InvalidTransaction::NonceTooLow { tx, state })),
        Ordering::Greater => Err(invalid(InvalidTransaction::NonceTooHigh { tx, state })),
        Ordering::Equal if tx == u64::MAX => Err(invalid(InvalidTransaction::NonceOverflowInTransaction)),
        Ordering::Equal => Ok(()),
    }
}

/// The refusal of a call, by the check of transactions that it fails. A balance below what the call may cost comes
/// first.
pub(super) fn of_transaction(reason: InvalidTransaction, balance: U256, most: U256) -> Refusal {
    let is_of_gas = matches!(
        reason,
        InvalidTransaction::CallGasCostMoreThanGasLimit { .. } | InvalidTransaction::GasFloorMoreThanGasLimit { .. }
    );
    invalid(match balance < most && is_of_gas {
        true => InvalidTransaction::LackOfFundForMaxFee { fee: Box::new(most), balance: Box::new(balance) },
        false => reason,
    })
}

fn invalid(reason: InvalidTransaction) -> Refusal {
    let code = match &reason {
        InvalidTransaction::NonceTooLow { .. } => -38_010,
        InvalidTransaction::NonceTooHigh { .. } => -38_011,
        InvalidTransaction::GasPriceLessThanBasefee => -38_012,
        InvalidTransaction::CallGasCostMoreThanGasLimit { .. }
        | InvalidTransaction::GasFloorMoreThanGasLimit { .. } => -38_013,
        InvalidTransaction::LackOfFundForMaxFee { .. } | InvalidTransaction::OverflowPaymentInTransaction => -38_014,
        InvalidTransaction::RejectCallerWithCode => -38_024,
        InvalidTransaction::CreateInitCodeSizeLimit => -38_025,
        InvalidTransaction::PriorityFeeGreaterThanMaxFee => -32_602,
        _ => -32_603,
    };
    let text = match reason {
        InvalidTransaction::NonceTooLow { tx, state } => format!("nonce too low: tx: {tx} state: {state}"),
        InvalidTransaction::NonceTooHigh { tx, state } => format!("nonce too high: tx: {tx} state: {state}"),
        InvalidTransaction::NonceOverflowInTransaction => "nonce has max value".into(),
        other => Failure::from(other).to_string(),
    };
    Refusal::Transaction { code, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_have_the_order_and_the_codes_of_geth() {
        let code = |tx, state| check_nonce(tx, state).map_err(|refusal| refusal.code());
        assert_eq!((code(1, 2), code(2, 1), code(2, 2)), (Err(-38_010), Err(-38_011), Ok(())));
        assert_eq!(code(u64::MAX, u64::MAX), Err(-32_603));
        let low = || InvalidTransaction::CallGasCostMoreThanGasLimit { initial_gas: 21_000, gas_limit: 0 };
        let code = |balance: u64| of_transaction(low(), U256::from(balance), U256::from(5)).code();
        assert_eq!((code(4), code(5)), (-38_014, -38_013));
    }
}
