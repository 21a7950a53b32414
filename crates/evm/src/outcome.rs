//! Failures of calls, with the messages of nodes.

use alloy_sol_types::{Panic, PanicKind, Revert, SolError};
use revm::context::result::{HaltReason, InvalidTransaction, OutOfGasError};

use crate::RulesError;
use trawl_core::primitives::Bytes;

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Code ended with `REVERT`, which returned these bytes.
    #[error("execution reverted{}", reason(.0))]
    Reverted(Bytes),
    /// Code halted, for example without gas.
    #[error("{0}")]
    Halted(String),
    /// The call is invalid.
    #[error("{0}")]
    Invalid(String),
    /// No amount of gas up to this is enough.
    #[error("gas required exceeds allowance ({0})")]
    NotEnoughGas(u64),
    /// It reached what cannot run here: another server may run it.
    #[error(transparent)]
    NotAvailable(RulesError),
    /// The call exceeded its time limit.
    #[error("execution aborted (timeout)")]
    TooLong,
}

/// The message of a revert, after a colon; empty if the output has no readable one.
fn reason(output: &[u8]) -> String {
    revert_reason(output).map_or_else(String::new, |reason| format!(": {reason}"))
}

/// The message of a revert: of `Error(string)` the string, of `Panic(uint256)` what the number means; none of other
/// outputs (<https://docs.soliditylang.org/en/latest/control-structures.html#panic-via-assert-and-error-via-require>).
#[must_use]
pub fn revert_reason(output: &[u8]) -> Option<String> {
    if let Ok(revert) = Revert::abi_decode(output) {
        return Some(revert.reason);
    }
    let panic = Panic::abi_decode(output).ok()?;
    Some(match PanicKind::from_number(u8::try_from(panic.code).map_or(u32::MAX, u32::from)) {
        Some(kind) => kind.as_geth_str().to_owned(),
        None => format!("unknown panic code: {:#x}", panic.code),
    })
}

impl From<HaltReason> for Failure {
    fn from(reason: HaltReason) -> Self {
        let text = match reason {
            HaltReason::OutOfGas(OutOfGasError::Precompile) | HaltReason::PrecompileError => "precompile failed",
            HaltReason::OutOfGas(_) => "out of gas",
            // geth names the undefined ones by number too, which is not known here.
            HaltReason::OpcodeNotFound | HaltReason::NotActivated => "invalid opcode",
            HaltReason::InvalidFEOpcode => "invalid opcode: INVALID",
            HaltReason::InvalidJump => "invalid jump destination",
            // geth has both numbers here; clients that tell failures of code from others look for the parenthesis.
            HaltReason::StackUnderflow => "stack underflow (fewer values than the instruction takes)",
            HaltReason::StackOverflow => "stack limit reached 1024 (1023)",
            HaltReason::OutOfOffset => "return data out of bounds",
            HaltReason::CreateCollision => "contract address collision",
            HaltReason::CreateContractSizeLimit => "max code size exceeded",
            HaltReason::CreateContractStartingWithEF => "invalid code: must not begin with 0xef",
            HaltReason::CreateInitCodeSizeLimit => "max initcode size exceeded",
            HaltReason::NonceOverflow => "nonce uint64 overflow",
            HaltReason::StateChangeDuringStaticCall | HaltReason::CallNotAllowedInsideStatic => "write protection",
            HaltReason::OutOfFunds => "insufficient balance for transfer",
            HaltReason::CallTooDeep => "max call depth exceeded",
            other => return Self::Halted(other.to_string()),
        };
        Self::Halted(text.into())
    }
}

impl From<InvalidTransaction> for Failure {
    fn from(reason: InvalidTransaction) -> Self {
        Self::Invalid(match reason {
            InvalidTransaction::LackOfFundForMaxFee { fee, balance } => {
                format!("insufficient funds for gas * price + value: have {balance} want {fee}")
            }
            InvalidTransaction::CallGasCostMoreThanGasLimit { initial_gas, gas_limit } => {
                format!("intrinsic gas too low: have {gas_limit}, want {initial_gas}")
            }
            InvalidTransaction::GasFloorMoreThanGasLimit { gas_floor, gas_limit } => {
                format!("insufficient gas for floor data gas cost: have {gas_limit}, want {gas_floor}")
            }
            InvalidTransaction::GasPriceLessThanBasefee => "max fee per gas less than block base fee".into(),
            InvalidTransaction::PriorityFeeGreaterThanMaxFee => {
                "max priority fee per gas higher than max fee per gas".into()
            }
            InvalidTransaction::CreateInitCodeSizeLimit => "max initcode size exceeded".into(),
            other => other.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::hex;

    #[test]
    fn reverts_have_readable_messages() {
        // From the specification's test files (eth_call/call-revert-abi-*.io).
        let error = hex!(
            "08c379a00000000000000000000000000000000000000000000000000000000000000020000000000000000000000000000000000000000000000000000000000000000a75736572206572726f72"
        );
        let panic = hex!("4e487b710000000000000000000000000000000000000000000000000000000000000001");
        let text = |output: &[u8]| Failure::Reverted(output.to_vec().into()).to_string();
        assert_eq!(text(&panic), "execution reverted: assert(false)");
        assert_eq!(text(&[]), "execution reverted");
        assert_eq!(text(&hex!("deadbeef")), "execution reverted");
        assert_eq!(
            text(&hex!("4e487b7100000000000000000000000000000000000000000000000000000000000000ff")),
            "execution reverted: unknown panic code: 0xff"
        );
        // That file's text is not padded to a whole word.
        assert_eq!(text(&error), "execution reverted: user error");
    }
}
