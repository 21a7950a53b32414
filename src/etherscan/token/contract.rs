//! What a token's contract says of itself after a block, by calls on the state.

use alloy_primitives::hex;

use crate::error::Problem;
use crate::etherscan::answer::Refusal;
use crate::etherscan::request::Request;
use crate::read::calls;
use trawl_core::primitives::{Address, BlockNumber, Bytes, U256};

/// The selector of `totalSupply()`.
const TOTAL_SUPPLY: [u8; 4] = hex!("18160ddd");
/// The selector of `balanceOf(address)`.
const BALANCE_OF: [u8; 4] = hex!("70a08231");

/// The input of `totalSupply()`.
pub(crate) fn total_supply() -> Bytes {
    TOTAL_SUPPLY.to_vec().into()
}

/// The input of `balanceOf(account)`.
pub(crate) fn balance_of(account: Address) -> Bytes {
    [BALANCE_OF.as_slice(), account.into_word().as_slice()].concat().into()
}

/// The number that a contract returned to a call after a block.
///
/// # Errors
///
/// [`Refusal::Sentence`] if the call failed, or returned no number; when the state is not known.
pub(crate) async fn number(
    Request { app, head, .. }: &Request,
    height: BlockNumber,
    contract: Address,
    input: Bytes,
) -> Result<U256, Refusal> {
    let none = || Refusal::Sentence(format!("The contract did not answer this call after block {height}"));
    let returned = match calls::returned(app, head, height, contract, input).await {
        Ok(returned) => returned,
        Err(Problem::Call(_)) => return Err(none()),
        Err(problem) => return Err(problem.into()),
    };
    // A contract of one word and more of them answers another question.
    (returned.len() == 32).then(|| U256::from_be_slice(&returned)).ok_or_else(none)
}
