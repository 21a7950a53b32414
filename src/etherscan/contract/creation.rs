//! `getcontractcreation`: who created contracts, and with what code.

use axum::response::Response;
use futures_util::future::try_join_all;

use crate::app::App;
use crate::error::Problem;
use crate::etherscan::answer::{Dialect, Refusal, result};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::etherscan::window::missing_to_head;
use trawl_core::primitives::{Address, Bytes};
use trawl_core::schema::Column;
use trawl_core::store::Head;
use trawl_json::etherscan::{ContractCreation, write_creation, write_genesis_contract};
use trawl_query::addresses::page::creation_code;

/// How a contract came to be.
enum Origin {
    /// A transaction created it.
    Transaction(ContractCreation),
    /// It is of the genesis.
    Genesis,
}

/// The creations of some contracts: of each the account that signed the transaction. Contracts of the genesis are known
/// to clients of Etherscan alone.
pub(crate) async fn get(request: Request) -> Result<Response, Refusal> {
    let Request { app, head, params, .. } = &request;
    let contracts = params.require("contractaddresses", Params::addresses)?;
    let found = try_join_all(contracts.iter().map(|contract| origin(app, head, contract))).await?;
    let is_told = |origin: &Origin| matches!(origin, Origin::Transaction(_)) || params.dialect() == Dialect::Etherscan;
    let known: Vec<(&Address, Origin)> = contracts
        .iter()
        .zip(found)
        .filter_map(|(contract, origin)| Some((contract, origin.filter(is_told)?)))
        .collect();
    if known.is_empty() {
        let missing = missing_to_head(app, head, &head.traces);
        return Err(match missing.is_empty() {
            true => Refusal::Nothing("No data found"),
            false => Problem::TracesMissing(missing).into(),
        });
    }
    Ok(result(|writer| {
        writer.array(|list| {
            for (contract, origin) in &known {
                match origin {
                    Origin::Transaction(creation) => write_creation(list.item(), contract, creation),
                    Origin::Genesis => write_genesis_contract(list.item(), contract),
                }
            }
        });
    }))
}

/// The newest creation of a contract.
async fn origin(app: &App, head: &Head, contract: &Address) -> Result<Option<Origin>, Problem> {
    let statement = trawl_query::addresses::page::creation(contract, &head.blocks.span());
    let Some(creation) = app.reader().rows(&statement).await?.into_iter().next() else { return Ok(None) };
    if creation.creation_type == "genesis" {
        return Ok(Some(Origin::Genesis));
    }
    let Some((batch, row)) = app.transaction(&creation.transaction_hash, head).await? else { return Ok(None) };
    let view = batch.view();
    let is_direct = creation.creation_type == "transaction";
    let code = match is_direct {
        true => Some(Bytes::copy_from_slice(view.input.value(row))),
        false => {
            let block = head.traces.at(creation.block_number);
            let frames = creation_code(contract, &block, creation.transaction_index);
            app.reader().rows(&frames).await?.into_iter().next().map(|frame| frame.input)
        }
    };
    Ok(Some(Origin::Transaction(ContractCreation {
        sender: Address::get(&view.from_address, row),
        factory: (!is_direct).then_some(creation.creator),
        transaction: creation.transaction_hash,
        block_number: creation.block_number,
        block_timestamp: view.block_timestamp[row],
        code,
    })))
}
