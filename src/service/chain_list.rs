//! `/v2/chainlist`: the chains of a server, as clients of Etherscan's version 2 request them
//! (docs/reference/etherscan.md#chains).

use axum::Json;
use axum::extract::{Request, State};
use serde_json::{Value, json};

use crate::app::App;
use crate::http::scheme;

/// The chain of a server that has one, or the one below its name.
pub(crate) async fn of_one(State(app): State<App>, request: Request) -> Json<Value> {
    list(&request, [&app])
}

/// Those of `chains` whose ids are known, in their order.
pub(crate) fn list<'apps>(request: &Request, chains: impl IntoIterator<Item = &'apps App>) -> Json<Value> {
    let origin = scheme::origin(request).unwrap_or_default();
    let items: Vec<Value> = chains.into_iter().filter_map(|app| item(&origin, app)).collect();
    Json(json!({"comments": "The chains of this server", "totalcount": items.len(), "result": items}))
}

/// A chain with the addresses of its page and of its endpoint. Status 1 means that it can be answered for, 0 that it
/// cannot.
fn item(origin: &str, app: &App) -> Option<Value> {
    let id = app.known_chain_id()?;
    let prefix = &app.options().path_prefix;
    let name = trawl_chains::chain(id).map_or_else(|| format!("Chain {id}"), |chain| chain.name.to_owned());
    Some(json!({
        "chainname": name,
        "chainid": id.to_string(),
        "blockexplorer": format!("{origin}{prefix}/"),
        "apiurl": format!("{origin}{prefix}/v2/api?chainid={id}"),
        "status": u8::from(app.head().is_ok()),
        "comment": "",
    }))
}
