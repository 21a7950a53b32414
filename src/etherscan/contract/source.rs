//! `getabi`, `getsourcecode`: what is known of a contract whose ABI was loaded.

use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::error::Problem;
use crate::etherscan::answer::{Dialect, Refusal, result};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::http::whole_body::json;
use crate::read::sources::source;
use trawl_core::primitives::Address;
use trawl_json::addresses::address::Addresses;
use trawl_json::etherscan::{abi_text, write_envelope, write_source};

/// What clients compare with.
const NOT_VERIFIED: &str = "Contract source code not verified";

/// The ABI of a contract, as JSON text; `None` of one that is not verified.
pub(super) async fn abi(app: &App, addresses: &Addresses, contract: &Address) -> Result<Option<String>, Problem> {
    let Some((source, load)) = addresses.source(contract) else { return Ok(None) };
    let entries = app.reader().rows(&trawl_query::labels::abi(&source, load)).await?;
    Ok(Some(abi_text(entries.iter().map(|entry| entry.entry.as_str()))))
}

/// The ABI alone; with `format=raw` without the envelope, and so is what is said of a contract that is not verified.
pub(crate) async fn get_abi(request: Request) -> Result<Response, Refusal> {
    let contract = request.params.require("address", Params::address)?;
    let addresses = request.app.addresses([contract], &request.head).await?;
    let is_raw = request.params.has("format");
    match abi(&request.app, &addresses, &contract).await? {
        Some(abi) if is_raw => Ok(json(abi.into_bytes())),
        Some(abi) => Ok(result(|writer| writer.string(&abi))),
        None if is_raw => Ok(NOT_VERIFIED.into_response()),
        None => Err(Refusal::Sentence(NOT_VERIFIED.into())),
    }
}

/// ABI, name and source, as far as they were loaded. Of a contract that is not verified, Etherscan has a result with a
/// sentence for an ABI, which clients look for; Blockscout's answer is a refusal.
pub(crate) async fn get_source_code(request: Request) -> Result<Response, Refusal> {
    let contract = request.params.require("address", Params::address)?;
    let addresses = request.app.addresses([contract], &request.head).await?;
    let abi = match abi(&request.app, &addresses, &contract).await? {
        Some(abi) => abi,
        None if request.params.dialect() == Dialect::Etherscan => NOT_VERIFIED.to_owned(),
        None => return Err(Refusal::Sentence(NOT_VERIFIED.into())),
    };
    let source = source(&request.app, &addresses, &contract).await?;
    let body = write_envelope("1", "OK", |writer| {
        writer.array(|list| {
            write_source(list.item(), &contract, &addresses, &abi, source.as_ref().map(|held| &held.source));
        });
    });
    // A source may have megabytes, and a client may read it slowly.
    let held = request.app.limits().answers.hold(request.requester.client, body.len())?;
    Ok(json(held.with(body.into())))
}
