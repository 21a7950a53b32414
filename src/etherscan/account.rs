//! `module=account`.

use std::sync::Arc;

use axum::response::Response;
use futures_util::future::try_join_all;

use super::answer::{Refused, result};
use super::params::Params;
use crate::app::App;
use crate::error::Problem;
use crate::read::state::State;
use trawl_core::store::Head;
use trawl_json::etherscan::write_balance;

/// Most addresses of one request.
const MOST_BALANCES: usize = 20;

/// The state after the newest block.
async fn newest_state(app: &App, head: &Arc<Head>, params: &Params) -> Result<State, Refused> {
    if !["", "latest"].contains(&&*params.choice("tag")) {
        return Err(Refused::Sentence("Only the tag 'latest' is served; use eth_getBalance for others".into()));
    }
    let number = head.number().ok_or(Problem::BlockNotFound)?;
    Ok(State::after(app, number, head).await?)
}

/// The balance of an account, in wei.
pub(super) async fn balance(app: &App, head: &Arc<Head>, params: &Params) -> Result<Response, Refused> {
    let addresses = params.addresses("address", 1)?;
    let state = newest_state(app, head, params).await?;
    let account = state.account(addresses[0]).await?;
    Ok(result(|writer| writer.decimal_256(account.balance)))
}

/// The balances of some accounts, in wei, in the order of the request.
pub(super) async fn balances(app: &App, head: &Arc<Head>, params: &Params) -> Result<Response, Refused> {
    let addresses = params.addresses("address", MOST_BALANCES)?;
    let state = newest_state(app, head, params).await?;
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
