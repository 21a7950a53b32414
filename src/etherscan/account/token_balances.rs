//! `tokenbalance`, `tokenbalancehistory`: what an account has of a token.

use axum::response::Response;

use crate::error::{Problem, UncountedReason};
use crate::etherscan::answer::{Refusal, result};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::etherscan::state;
use crate::etherscan::token::contract::{balance_of, number};
use crate::read::tokens::held_tokens::balance_by_transfers;
use trawl_core::primitives::Address;

/// What an account has after the block of a `tag`, as the contract says; of the newest block as transfers tell, where
/// it says nothing or its state is not loaded.
pub(crate) async fn balance(request: Request) -> Result<Response, Refusal> {
    let height = state::tagged(&request.head, &request.params)?;
    match request.head.number() == Some(height) {
        true => newest(&request).await,
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
    let balance = number(request, height, token, balance_of(account)).await?;
    Ok(result(|writer| writer.decimal_256(balance)))
}

fn holding(params: &Params) -> Result<(Address, Address), Refusal> {
    Ok((params.require("address", Params::address)?, params.require("contractaddress", Params::address)?))
}

async fn newest(request: &Request) -> Result<Response, Refusal> {
    let (account, token) = holding(&request.params)?;
    if account.is_zero() {
        // Transfers tell the supply there, and not what was sent to it.
        return Err(Problem::NotCounted(UncountedReason::Undetermined).into());
    }
    let height = request.head.number().ok_or(Problem::NothingLoaded)?;
    let balance = match number(request, height, token, balance_of(account)).await {
        Ok(balance) => balance,
        Err(_) => balance_by_transfers(&request.app, &request.head, &account, token).await?,
    };
    Ok(result(|writer| writer.decimal_256(balance)))
}
