//! From module and action to a handler.

use axum::extract::{RawQuery, Request, State};
use axum::response::{IntoResponse, Response};

use super::answer::Refused;
use super::params::Params;
use super::rows::Asker;
use super::{
    account, block_reward, block_time, contract, frames, logs as log_list, mined_blocks, proxy, stats, tokens,
    transaction, transaction_info, transactions, transfers,
};
use crate::app::App;
use crate::http::client::Requester;
use crate::http::request_body;
use crate::http::request_head::RequestHead;
use trawl_serve::Client;

/// An action whose parameters are in the query.
pub(crate) async fn get(
    State(app): State<App>,
    head: RequestHead,
    Requester(client): Requester,
    RawQuery(query): RawQuery,
) -> Response {
    let mut params = Params::default();
    params.add(query.unwrap_or_default().as_bytes());
    answer(&app, head, client, &params).await.unwrap_or_else(|refused| refused.respond(params.reason_place()))
}

/// `getLogs` by a path of its own.
pub(crate) async fn logs(app: State<App>, head: RequestHead, client: Requester, query: RawQuery) -> Response {
    action("module=logs&action=getLogs", app, (head, client, query)).await
}

/// `getblocknobytime` by a path of its own.
pub(crate) async fn block_by_time(app: State<App>, head: RequestHead, client: Requester, query: RawQuery) -> Response {
    action("module=block&action=getblocknobytime", app, (head, client, query)).await
}

async fn action(
    name: &str,
    State(app): State<App>,
    (head, Requester(client), RawQuery(query)): (RequestHead, Requester, RawQuery),
) -> Response {
    let mut params = Params::default();
    params.add(query.unwrap_or_default().as_bytes());
    params.add(name.as_bytes());
    answer(&app, head, client, &params).await.unwrap_or_else(|refused| refused.respond(params.reason_place()))
}

/// An action whose parameters are in a form, in the query or in both.
pub(crate) async fn post(
    State(app): State<App>,
    head: RequestHead,
    Requester(client): Requester,
    RawQuery(query): RawQuery,
    request: Request,
) -> Response {
    let (parts, unread) = request.into_parts();
    let bodies = (&app.limits().bodies, client);
    let received = match request_body::read(bodies, &parts.headers, unread, app.options().max_body).await {
        Ok(received) => received,
        Err(problem) => return problem.into_response(),
    };
    let mut params = Params::default();
    params.add(query.unwrap_or_default().as_bytes());
    params.add(received.text.as_ref());
    answer(&app, head, client, &params).await.unwrap_or_else(|refused| refused.respond(params.reason_place()))
}

async fn answer(app: &App, head: RequestHead, client: Client, params: &Params) -> Result<Response, Refused> {
    let (module, action) = (params.choice("module"), params.choice("action"));
    match (&*module, &*action) {
        // A call takes its place itself.
        ("proxy", action) => return proxy::call(app, action, params, client).await,
        ("block", "eth_block_number") => return proxy::block_number(app, params, client).await,
        _ => {}
    }
    // After the body has arrived: a slow client has no place.
    let asker = Asker { client, place: app.limits().reads.enter().await? };
    match (&*module, &*action) {
        ("account", "balance") => account::balance(app, &head.get()?, params).await,
        ("account", "balancemulti") => account::balances(app, &head.get()?, params).await,
        ("account", "txlist") => transactions::list(app, &head.get()?, params, asker).await,
        ("account", "txlistinternal") => frames::list(app, &head.get()?, params, asker).await,
        ("account", "tokentx") => transfers::list(app, &head.get()?, (params, "ERC-20"), asker).await,
        ("account", "tokennfttx") => transfers::list(app, &head.get()?, (params, "ERC-721"), asker).await,
        ("account", "token1155tx") => transfers::list(app, &head.get()?, (params, "ERC-1155"), asker).await,
        ("account", "getminedblocks") => mined_blocks::list(app, &head.get()?, params, asker).await,
        ("account", "tokenbalance") => tokens::balance(app, &head.get()?, params).await,
        ("account", "tokenlist") => tokens::list(app, &head.get()?, params).await,
        ("account", "listaccounts") => Err(stats::not_known("The list of all accounts")),
        ("token", "gettoken") => tokens::get(app, &*head.get()?, params).await,
        ("token", "gettokenholders") => tokens::holder_list(app, &*head.get()?, params, tokens::HOLDER).await,
        ("token", "tokenholderlist") => tokens::holder_list(app, &*head.get()?, params, tokens::TOKEN_HOLDER).await,
        ("token", "tokenholdercount") => tokens::holder_count(app, &*head.get()?, params).await,
        ("contract", "getabi") => contract::get_abi(app, &*head.get()?, params).await,
        ("contract", "getsourcecode") => contract::get_source_code(app, &*head.get()?, params).await,
        ("contract", "getcontractcreation") => contract::get_creation(app, &*head.get()?, params).await,
        ("contract", action) if action.contains("verif") => Err(not_verified_here()),
        ("logs", "getlogs") => log_list::list(app, &head.get()?, params, asker).await,
        ("block", "getblocknobytime") => block_time::closest(app, &*head.get()?, params).await,
        ("transaction", "gettxreceiptstatus") => transaction::receipt_status(app, &*head.get()?, params).await,
        ("transaction", "gettxinfo") => transaction_info::info(app, &head.get()?, params).await,
        ("transaction", "getstatus") => transaction::execution_status(app, &*head.get()?, params).await,
        ("block", "getblockreward") => block_reward::reward(app, &*head.get()?, params).await,
        ("stats", "tokensupply") => stats::token_supply(app, &*head.get()?, params).await,
        ("stats", "totalfees") => stats::total_fees(app, &*head.get()?, params).await,
        ("stats", "ethsupply" | "ethsupplyexchange" | "coinsupply") => Err(stats::not_known("The supply of the coin")),
        ("stats", "ethprice" | "coinprice") => Err(stats::not_known("The price of the coin")),
        ("gastracker", "gasoracle") => stats::gas_oracle(app, &*head.get()?).await,
        ("account" | "block" | "contract" | "gastracker" | "logs" | "stats" | "token" | "transaction", _) => {
            Err(Refused::Sentence("Unknown action".into()))
        }
        _ => Err(Refused::Sentence("Unknown module".into())),
    }
}

/// Verification compiles sources, which only a service with compilers can do.
fn not_verified_here() -> Refused {
    Refused::Sentence("Contracts are not verified here: the operator loads ABIs (trawl-ingest labels)".into())
}
