//! Data that explorers fetch as files: signatures, the chain, ABIs. They come from what is loaded and what is bundled.

use std::str::FromStr;
use std::sync::Arc;

use alloy_chains::NamedChain;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::error::Problem;
use crate::read::sources;
use percent_encoding::percent_decode_str;
use trawl_core::primitives::{Address, B256};
use trawl_core::store::Head;
use trawl_json::tokens::known_tokens::known_tokens;
use trawl_json::vocabulary::signatures::well_known_signature;
use trawl_json::web_assets::{write_chain, write_known_tokens, write_metadata};

/// A coin whose symbol is not known.
const NAMELESS_COIN: &str = "coins";

/// The asset at a path; `None` if there is none.
///
/// # Errors
///
/// When the store fails, or is not there.
pub(super) async fn at(app: &App, path: &str) -> Result<Option<Response>, Problem> {
    let names: Vec<&str> = path.split('/').skip(1).collect();
    match names.as_slice() {
        ["assets", "signatures", digits] => functions(app, digits).await,
        ["assets", "topic0", digits] => events(app, digits).await,
        ["assets", "chains", file] => Ok(chain(app, file)),
        ["assets", "tokens", file] => Ok(tokens(app, file)),
        ["sourcify", "contracts", "full_match", id, address, "metadata.json"] => metadata(app, id, address).await,
        ["sourcify", "contracts", "full_match", id, address, "sources", file @ ..] => {
            source_file(app, id, address, &file.join("/")).await
        }
        _ => Ok(None),
    }
}

/// Bytes of so many hexadecimal digits, without `0x`.
fn hex<T: FromStr>(digits: &str) -> Option<T> {
    let is_whole = digits.len() == 2 * size_of::<T>() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_whole.then(|| digits.parse().ok()).flatten()
}

/// Signatures in plain text, one after another; `None` if there is none.
fn listed(signatures: Vec<String>) -> Option<Response> {
    let text = signatures.join(";");
    (!text.is_empty()).then(|| ([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

fn json(body: Vec<u8>) -> Response {
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}

/// The functions with a selector: those that were loaded, else the well-known one.
async fn functions(app: &App, digits: &str) -> Result<Option<Response>, Problem> {
    let Some(selector) = hex::<alloy_primitives::Selector>(digits) else { return Ok(None) };
    let mut signatures = Vec::new();
    if app.head()?.labels > 0 {
        let found = app.reader().rows(&trawl_query::labels::functions(&[selector])).await?;
        signatures.extend(found.into_iter().map(|function| function.signature));
    }
    if signatures.is_empty() {
        signatures.extend(well_known_signature(selector.0));
    }
    Ok(listed(signatures))
}

/// The events with a hash: those that were loaded, else the well-known ones.
async fn events(app: &App, digits: &str) -> Result<Option<Response>, Problem> {
    let Some(hash) = hex::<B256>(digits) else { return Ok(None) };
    let mut signatures = Vec::new();
    if app.head()?.labels > 0 {
        let found = app.reader().rows(&trawl_query::labels::events(&[hash])).await?;
        signatures.extend(found.into_iter().map(|event| event.signature));
    }
    if signatures.is_empty() {
        signatures.extend(trawl_json::vocabulary::decoded::well_known_events(&hash));
    }
    Ok(listed(signatures))
}

/// The identifier in the name of a file about the chain that is served; `None` for another chain.
fn served_chain(app: &App, file: &str) -> Option<(u64, Arc<Head>)> {
    let id = file.strip_prefix("eip155-")?.strip_suffix(".json")?.parse().ok()?;
    let head = app.head().ok()?;
    (app.chain_id(&head) == Some(id)).then_some((id, head))
}

/// The chain that is served: by its number where its name is not known, and its coin as coins.
fn chain(app: &App, file: &str) -> Option<Response> {
    let (id, head) = served_chain(app, file)?;
    Some(json(write_chain(&name_of(app, id), app.coin(&head).unwrap_or(NAMELESS_COIN))))
}

fn name_of(app: &App, id: u64) -> String {
    let listed = trawl_chains::chain(id).map(|chain| chain.name.to_owned());
    let known = listed.or_else(|| NamedChain::try_from(id).ok().map(|chain| chain.to_string()));
    app.options().chain_name.clone().or(known).unwrap_or_else(|| format!("Chain {id}"))
}

/// The name of the chain that is served; `None` if no chain is known yet.
pub(super) fn chain_name(app: &App) -> Option<String> {
    Some(name_of(app, app.known_chain_id()?))
}

/// Bundled tokens of the chain that is served. They change with the program alone, so clients cache them for an hour.
fn tokens(app: &App, file: &str) -> Option<Response> {
    let (id, _) = served_chain(app, file)?;
    let caching = [(CACHE_CONTROL, "public, max-age=3600")];
    Some((caching, json(write_known_tokens(&known_tokens(id)))).into_response())
}

/// The contract of a path, if it is of the chain that is served.
fn contract(app: &App, head: &Head, id: &str, address: &str) -> Option<Address> {
    let is_served = id.parse().is_ok_and(|id: u64| app.chain_id(head) == Some(id));
    address.strip_prefix("0x").and_then(hex::<Address>).filter(|_| is_served)
}

/// The ABI that was loaded for a contract, and what is known of its source.
async fn metadata(app: &App, id: &str, address: &str) -> Result<Option<Response>, Problem> {
    let head = app.head()?;
    let Some(address) = contract(app, &head, id, address) else { return Ok(None) };
    let addresses = app.addresses([address], &head).await?;
    let Some((source, generation)) = addresses.source(&address) else { return Ok(None) };
    let entries = app.reader().rows(&trawl_query::labels::abi(&source, generation)).await?;
    let entries: Vec<String> = entries.into_iter().map(|entry| entry.entry).collect();
    let source = sources::source(app, &addresses, &address).await?;
    Ok(Some(json(write_metadata(&entries, source.as_ref().map(|held| &held.source)))))
}

/// The text of a source file of a contract; `None` if there is none at this path.
async fn source_file(app: &App, id: &str, address: &str, path: &str) -> Result<Option<Response>, Problem> {
    let head = app.head()?;
    let Some(address) = contract(app, &head, id, address) else { return Ok(None) };
    let Ok(path) = percent_decode_str(path).decode_utf8() else { return Ok(None) };
    let addresses = app.addresses([address], &head).await?;
    let text = sources::file(app, &addresses, &address, &path).await?;
    Ok(text.map(|text| ([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()))
}
