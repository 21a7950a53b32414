//! `module=contract`: ABIs that operators loaded, and who created contracts.

use axum::response::Response;
use futures_util::future::try_join_all;

use super::answer::{Refused, result};
use super::params::Params;
use super::window::missing_to_head;
use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::Address;
use trawl_core::schema::Column;
use trawl_core::store::Head;
use trawl_json::address::Addresses;
use trawl_json::etherscan::{ContractCreation, abi_text, write_creation, write_source};

/// Most contracts of one request for creations.
const MOST_CONTRACTS: usize = 10;

fn not_verified() -> Refused {
    Refused::Sentence("Contract source code not verified".into())
}

/// The ABI of a contract, as JSON text.
async fn abi(app: &App, addresses: &Addresses, contract: &Address) -> Result<String, Refused> {
    let (source, load) = addresses.source(contract).ok_or_else(not_verified)?;
    let entries = app.reader().rows(&trawl_query::labels::abi(&source, load)).await.map_err(Problem::from)?;
    Ok(abi_text(entries.iter().map(|entry| entry.entry.as_str())))
}

/// The verified ABI alone.
pub(super) async fn get_abi(app: &App, head: &Head, params: &Params) -> Result<Response, Refused> {
    let contract = params.address("address")?;
    let addresses = app.addresses([contract], head).await?;
    let abi = abi(app, &addresses, &contract).await?;
    Ok(result(|writer| writer.string(&abi)))
}

/// What is known of a verified contract: its ABI and name. Loaded ABIs come without sources.
pub(super) async fn get_source_code(app: &App, head: &Head, params: &Params) -> Result<Response, Refused> {
    let contract = params.address("address")?;
    let addresses = app.addresses([contract], head).await?;
    let abi = abi(app, &addresses, &contract).await?;
    Ok(result(|writer| writer.array(|list| write_source(list.item(), &contract, (&addresses, &abi)))))
}

/// Who created contracts: the account that signed the transaction.
pub(super) async fn get_creation(app: &App, head: &Head, params: &Params) -> Result<Response, Refused> {
    let contracts = params.addresses("contractaddresses", MOST_CONTRACTS)?;
    let found = try_join_all(contracts.iter().map(|contract| creation(app, head, contract))).await?;
    let known: Vec<(&Address, ContractCreation)> =
        contracts.iter().zip(found).filter_map(|(contract, creation)| Some((contract, creation?))).collect();
    if known.is_empty() {
        let missing = missing_to_head(app, head, &head.traces);
        return Err(if missing.is_empty() {
            Refused::Sentence("No data found".into())
        } else {
            Problem::TracesMissing(missing).into()
        });
    }
    Ok(result(|writer| {
        writer.array(|list| known.iter().for_each(|(contract, one)| write_creation(list.item(), contract, one)));
    }))
}

/// The newest creation of a contract; none for contracts of the genesis, which no transaction made.
async fn creation(app: &App, head: &Head, contract: &Address) -> Result<Option<ContractCreation>, Problem> {
    let statement = trawl_query::address_page::creation(contract, &head.blocks.span());
    let Some(creation) = app.reader().rows(&statement).await?.into_iter().next() else { return Ok(None) };
    let Some((batch, row)) = app.transaction(&creation.transaction_hash, head).await? else { return Ok(None) };
    let view = batch.view();
    let is_direct = creation.creation_type == "transaction";
    Ok(Some(ContractCreation {
        sender: Address::get(&view.from_address, row),
        factory: (!is_direct).then_some(creation.creator),
        transaction: creation.transaction_hash,
        block_number: creation.block_number,
        block_timestamp: view.block_timestamp[row],
    }))
}
