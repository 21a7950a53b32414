//! `tokenbalance`, `tokenbalancehistory`: what an account has of a token.

use axum::response::Response;

use crate::error::{Problem, Uncounted};
use crate::etherscan::answer::{Refusal, result};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::etherscan::state;
use crate::etherscan::token::contract::{balance_of, number};
use crate::rest::held_tokens::{Wanted, held_tokens};
use trawl_core::primitives::{Address, U256};
use trawl_query::token_balances::HoldingPosition;

/// Kinds of transfers that one contract can have.
const KINDS: u64 = 3;

/// What an account has after the block of a `tag`: now as its transfers tell, earlier as the contract says.
pub(crate) async fn balance(request: Request) -> Result<Response, Refusal> {
    let height = state::tagged(&request.head, &request.params)?;
    match request.head.number() == Some(height) {
        true => now(&request).await,
        false => at(&request, height).await,
    }
}

/// What an account had after the block `blockno`, as the contract says.
pub(crate) async fn history(request: Request) -> Result<Response, Refusal> {
    let height = state::numbered(&request.head, &request.params)?;
    at(&request, height).await
}

async fn at(request: &Request, height: u64) -> Result<Response, Refusal> {
    let (account, token) = holding(&request.params)?;
    let balance = number(request, height, (token, balance_of(account))).await?;
    Ok(result(|writer| writer.decimal_256(balance)))
}

fn holding(params: &Params) -> Result<(Address, Address), Refusal> {
    Ok((params.require("address", Params::address)?, params.require("contractaddress", Params::address)?))
}

async fn now(request: &Request) -> Result<Response, Refusal> {
    let (account, token) = holding(&request.params)?;
    if account.is_zero() {
        // Transfers tell the supply there, and not what was sent to it.
        return Err(Problem::NotCounted(Uncounted::Untold).into());
    }
    // The place before all kinds of the token.
    let beyond = Some(HoldingPosition { token, standard: "" });
    let wanted = Wanted { beyond, limit: KINDS, ..Wanted::default() };
    let held = held_tokens(&request.app, &request.head, &account, &wanted).await?;
    let of_token: Vec<_> = held.into_iter().filter(|balance| balance.token == token).collect();
    let sum = of_token.iter().map(|balance| balance.value).try_fold(U256::ZERO, |sum, value| sum.checked_add(value?));
    let sum = sum.ok_or(Problem::NotCounted(Uncounted::Untold))?;
    Ok(result(|writer| writer.decimal_256(sum)))
}
