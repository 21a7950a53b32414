//! Requests over HTTP: which action they name, and its answer.

use axum::extract::{RawQuery, State};
use axum::http::Uri;
use axum::response::{IntoResponse, Response};

use super::action::{Action, Work};
use super::actions::{find, is_module};
use super::answer::{Dialect, Refusal};
use super::params::RawParams;
use super::proxy;
use super::request::Request;
use super::rows::ListRequester;
use crate::error::Problem;
use crate::http::request_body;
use crate::limits::Allowance;
use crate::middleware::request_head::RequestHead;
use crate::middleware::requester::Requester;
use crate::rpc::Rpc;
use trawl_serve::Client;

/// The path of Etherscan's version 1, and of Blockscout.
const API: &str = "/api";
/// The path of Etherscan's version 2.
const V2: &str = "/v2/api";

/// An action whose parameters are in the query.
pub(crate) async fn get(
    State(rpc): State<Rpc>,
    head: RequestHead,
    Requester(client): Requester,
    uri: Uri,
    RawQuery(query): RawQuery,
) -> Response {
    answer((rpc, head, client), of_query(&uri, query)).await
}

/// An action whose parameters are in a form, in the query or in both.
pub(crate) async fn post(
    State(rpc): State<Rpc>,
    head: RequestHead,
    Requester(client): Requester,
    uri: Uri,
    allowance: Allowance,
    request: axum::extract::Request,
) -> Response {
    let query = uri.query().map(str::to_owned);
    let (parts, unread) = request.into_parts();
    let (bodies, max_body) = (&rpc.app().limits().bodies, rpc.app().options().max_body);
    let received = match request_body::read(bodies, client, &parts.headers, unread, max_body).await {
        Ok(received) => received,
        Err(problem) => return problem.into_response(),
    };
    let mut params = of_query(&uri, query);
    params.add(received.text.as_ref());
    let of_header = || parts.headers.get("x-api-key").and_then(|key| key.to_str().ok());
    if let Err(problem) = allowance.charge(params.key().or_else(of_header)) {
        return problem.into_response();
    }
    answer((rpc, head, client), params).await
}

/// An action that has a path of its own.
pub(crate) async fn legacy(
    State(rpc): State<Rpc>,
    head: RequestHead,
    Requester(client): Requester,
    uri: Uri,
    RawQuery(query): RawQuery,
) -> Response {
    let params = of_query(&uri, query);
    let dialect = params.dialect();
    let action = LEGACY.iter().find(|(path, ..)| *path == uri.path()).and_then(|(_, module, name)| find(module, name));
    match action {
        Some(action) => {
            run((rpc, head, client), action, params).await.unwrap_or_else(|refusal| refusal.respond(dialect))
        }
        None => Problem::NotFound.into_response(),
    }
}

/// The paths of actions of their own.
const LEGACY: [(&str, &str, &str); 3] = [
    ("/api/legacy/logs/get-logs", "logs", "getLogs"),
    ("/api/legacy/block/get-block-number-by-time", "block", "getblocknobytime"),
    ("/api/legacy/block/eth-block-number", "block", "eth_block_number"),
];

/// The chain that parameters name by its id, in a query or a form.
pub(crate) fn chain_id(text: &[u8]) -> Option<String> {
    let mut params = RawParams::new(Dialect::Etherscan);
    params.add(text);
    params.take("chainid")
}

/// The answer to a request that names no chain that is served, as Etherscan's version 2 has it.
pub(crate) fn refuse(sentence: String) -> Response {
    Refusal::Sentence(sentence).respond(Dialect::Etherscan)
}

/// The client of a request, and the data that is readable for it.
type Caller = (Rpc, RequestHead, Client);

/// Whether actions are served at a path.
pub(super) fn is_served_at(path: &str) -> bool {
    path == API || path == V2 || LEGACY.iter().any(|(legacy, ..)| *legacy == path)
}

/// What the client of a request speaks, as far as its query says.
pub(super) fn dialect_of_query(uri: &Uri) -> Dialect {
    of_query(uri, uri.query().map(str::to_owned)).dialect()
}

/// What is spoken at a path by clients that do not name the chain.
fn dialect(uri: &Uri) -> Dialect {
    if uri.path() == V2 { Dialect::Etherscan } else { Dialect::Blockscout }
}

/// The parameters in the query of a request.
fn of_query(uri: &Uri, query: Option<String>) -> RawParams {
    let mut params = RawParams::new(dialect(uri));
    params.add(query.unwrap_or_default().as_bytes());
    params
}

async fn answer(caller: Caller, mut params: RawParams) -> Response {
    let dialect = params.dialect();
    let answered = match action(&mut params) {
        Ok(action) => run(caller, action, params).await,
        Err(refusal) => Err(refusal),
    };
    answered.unwrap_or_else(|refusal| refusal.respond(dialect))
}

/// The action that a request names.
fn action(params: &mut RawParams) -> Result<&'static Action, Refusal> {
    let [module, name] = ["module", "action"].map(|name| params.take(name).unwrap_or_default());
    let unknown = || match is_module(&module) {
        true => Refusal::Sentence("Unknown action".into()),
        false => Refusal::Sentence("Unknown module".into()),
    };
    find(&module, &name).ok_or_else(unknown)
}

async fn run((rpc, head, client): Caller, action: &'static Action, params: RawParams) -> Result<Response, Refusal> {
    match &action.work {
        Work::Refuse(reason) => Err(Refusal::NotServed((*reason).into())),
        // A call takes its slot itself.
        Work::Call(call) => proxy::answer(&rpc, call, &params.of_action(action.parameters)?, client).await,
        Work::Read(read) => {
            let params = params.of_action(action.parameters)?;
            // After the body has arrived: a slow client has no slot.
            let requester = ListRequester { client, slot: rpc.app().limits().reads.enter().await? };
            read(Request { head: head.get()?, app: rpc.app().clone(), rpc, params, requester }).await
        }
    }
}
