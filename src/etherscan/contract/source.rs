//! `getabi`, `getsourcecode`: what is known of a contract whose ABI was loaded.

use axum::response::Response;

use crate::app::App;
use crate::error::Problem;
use crate::etherscan::answer::{Refusal, result};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::http::whole_body::json;
use trawl_core::primitives::Address;
use trawl_json::addresses::address::Addresses;
use trawl_json::etherscan::{abi_text, write_source};

fn not_verified() -> Refusal {
    Refusal::Sentence("Contract source code not verified".into())
}

/// The ABI of a contract, as JSON text.
pub(super) async fn abi(app: &App, addresses: &Addresses, contract: &Address) -> Result<String, Refusal> {
    let (source, load) = addresses.source(contract).ok_or_else(not_verified)?;
    let entries = app.reader().rows(&trawl_query::labels::abi(&source, load)).await.map_err(Problem::from)?;
    Ok(abi_text(entries.iter().map(|entry| entry.entry.as_str())))
}

/// The ABI alone; with `format=raw` without the envelope.
pub(crate) async fn get_abi(request: Request) -> Result<Response, Refusal> {
    let contract = request.params.require("address", Params::address)?;
    let addresses = request.app.addresses([contract], &request.head).await?;
    let abi = abi(&request.app, &addresses, &contract).await?;
    Ok(if request.params.has("format") { json(abi.into_bytes()) } else { result(|writer| writer.string(&abi)) })
}

/// ABI and name. Loaded ABIs come without sources.
pub(crate) async fn get_source_code(request: Request) -> Result<Response, Refusal> {
    let contract = request.params.require("address", Params::address)?;
    let addresses = request.app.addresses([contract], &request.head).await?;
    let abi = abi(&request.app, &addresses, &contract).await?;
    Ok(result(|writer| writer.array(|list| write_source(list.item(), &contract, &addresses, &abi))))
}
