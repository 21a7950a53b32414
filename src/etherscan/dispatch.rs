//! From module and action to a handler.

use axum::extract::{RawQuery, Request, State};
use axum::response::{IntoResponse, Response};

use super::answer::Refused;
use super::params::Params;
use super::rows::Asker;
use super::{account, block, frames, transactions, transfers};
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
    answer(&app, head, client, &params).await.into_response()
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
    answer(&app, head, client, &params).await.into_response()
}

async fn answer(app: &App, head: RequestHead, client: Client, params: &Params) -> Result<Response, Refused> {
    // After the body has arrived: a slow client has no place.
    let asker = Asker { client, place: app.limits().reads.enter().await? };
    let (module, action) = (params.choice("module"), params.choice("action"));
    match (&*module, &*action) {
        ("account", "balance") => account::balance(app, &head.get()?, params).await,
        ("account", "balancemulti") => account::balances(app, &head.get()?, params).await,
        ("account", "txlist") => transactions::list(app, &head.get()?, params, asker).await,
        ("account", "txlistinternal") => frames::list(app, &head.get()?, params, asker).await,
        ("account", "tokentx") => transfers::list(app, &head.get()?, (params, "ERC-20"), asker).await,
        ("account", "tokennfttx") => transfers::list(app, &head.get()?, (params, "ERC-721"), asker).await,
        ("account", "token1155tx") => transfers::list(app, &head.get()?, (params, "ERC-1155"), asker).await,
        ("block", "eth_block_number") => block::newest(&*head.get()?),
        ("account" | "block", _) => Err(Refused::Sentence("Unknown action".into())),
        _ => Err(Refused::Sentence("Unknown module".into())),
    }
}
