//! `balance`, `balancemulti`, `balancehistory`: the coins of accounts, in wei.

use axum::response::Response;
use futures_util::future::try_join_all;

use crate::etherscan::answer::{Refusal, result};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::etherscan::state;
use trawl_json::etherscan::write_balance;

/// The balance of an account after the block of a `tag`.
pub(crate) async fn balance(request: Request) -> Result<Response, Refusal> {
    let address = request.params.require("address", Params::address)?;
    let state = state::after(&request, state::tagged(&request.head, &request.params)?).await?;
    let account = state.account(address).await?;
    Ok(result(|writer| writer.decimal_256(account.balance)))
}

/// The balances of some accounts after the block of a `tag`, in the order of the request.
pub(crate) async fn balances(request: Request) -> Result<Response, Refusal> {
    let addresses = request.params.require("address", Params::addresses)?;
    let state = state::after(&request, state::tagged(&request.head, &request.params)?).await?;
    let accounts = try_join_all(addresses.iter().map(|address| state.account(*address))).await?;
    let balances: Vec<_> = addresses.into_iter().zip(accounts.iter().map(|account| account.balance)).collect();
    Ok(result(|writer| {
        writer.array(|list| {
            for (address, balance) in &balances {
                list.item().object(|item| write_balance(item, address, *balance));
            }
        });
    }))
}

/// The balance that an account had after the block `blockno`.
pub(crate) async fn history(request: Request) -> Result<Response, Refusal> {
    let address = request.params.require("address", Params::address)?;
    let state = state::after(&request, state::numbered(&request.head, &request.params)?).await?;
    let account = state.account(address).await?;
    Ok(result(|writer| writer.decimal_256(account.balance)))
}
