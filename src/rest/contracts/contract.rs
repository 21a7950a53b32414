//! `/api/v2/smart-contracts/{address}`.

use axum::extract::State;
use axum::response::Response;
use revm::primitives::KECCAK_EMPTY;

use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::http::parameters::{AddressPath, NoParameters, Parameters};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::sources::source;
use crate::rest::addresses::page::{account, creation, is_contract, status};
use trawl_core::primitives::{Address, B256, Bytes};
use trawl_core::store::Head;
use trawl_json::JsonWriter;
use trawl_json::addresses::address::Addresses;
use trawl_json::contracts::contract::SmartContract;
use trawl_query::addresses::page::Creation;

/// The contract at an address, verified or not (docs/reference/http-contract.md#contracts).
pub(in crate::rest) async fn smart_contract(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let mut label_query = LabelQuery::default();
    label_query.proxies.insert(address);
    let (account, creation, info) = tokio::try_join!(
        account(&app, &head, &address),
        creation(&app, &head, &address),
        app.address_info([address], label_query, &head)
    )?;
    let addresses = info.0;
    let code = account.map(|account| account.code_hash);
    let has_code = code.map(|hash| hash != KECCAK_EMPTY);
    if is_contract(has_code, addresses.has_code(&address)) == Some(false) {
        return Err(Problem::NotFound);
    }
    let created = creation.as_ref().and_then(|creation| creation.code_hash);
    let hash = code.filter(|hash| *hash != KECCAK_EMPTY).or(created);
    let (code, (creation_bytecode, returned), creation_status, abi, source) = tokio::try_join!(
        bytes_of(&app, &head, hash),
        creation_code(&app, &head, &address, creation.as_ref()),
        status(&app, &head, &address, creation.as_ref(), has_code),
        abi(&app, &addresses, &address),
        source(&app, &addresses, &address)
    )?;
    let contract = SmartContract {
        creation_bytecode,
        // Without state there are call frames alone.
        deployed_bytecode: code.or(returned),
        creation_status,
        abi,
        source: source.as_ref().map(|held| &held.source),
        balance: account.map(|account| account.balance),
    };
    let mut writer = JsonWriter::new();
    contract.write(&mut writer, &address, &addresses);
    Ok(json(writer.into_bytes()))
}

/// The bytes of a code, if they are loaded.
async fn bytes_of(app: &App, head: &Head, hash: Option<B256>) -> Result<Option<Bytes>, Problem> {
    let Some(hash) = hash else { return Ok(None) };
    if hash == KECCAK_EMPTY {
        return Ok(Some(Bytes::new()));
    }
    let blocks = head.blocks.span();
    let newest = app.reader().rows(&trawl_query::state::newest_codes(&[hash], &blocks)).await?;
    if let Some(row) = newest.into_iter().next() {
        return Ok(Some(row.code));
    }
    let found = app.reader().rows(&trawl_query::state::codes(&[hash], &blocks)).await?;
    Ok(found.into_iter().next().map(|row| row.code))
}

/// The creation code of the contract, and the code it returned: of the call frame, or else of the transaction.
async fn creation_code(
    app: &App,
    head: &Head,
    address: &Address,
    creation: Option<&Creation>,
) -> Result<(Option<Bytes>, Option<Bytes>), Problem> {
    let Some(creation) = creation else { return Ok((None, None)) };
    let block = head.traces.at(creation.block_number);
    if !block.is_empty() {
        let statement = trawl_query::addresses::page::creation_code(address, &block, creation.transaction_index);
        if let Some(frame) = app.reader().rows(&statement).await?.into_iter().next() {
            return Ok((Some(frame.input), Some(frame.output)));
        }
    }
    if creation.creation_type != "transaction" {
        return Ok((None, None));
    }
    let found = app.transaction(&creation.transaction_hash, head).await?;
    Ok((found.map(|(batch, row)| Bytes::copy_from_slice(batch.view().input.value(row))), None))
}

/// The entries of the verified ABI.
async fn abi(app: &App, addresses: &Addresses, address: &Address) -> Result<Option<Vec<String>>, Problem> {
    let Some((source, generation)) = addresses.source(address) else { return Ok(None) };
    let entries = app.reader().rows(&trawl_query::labels::abi(&source, generation)).await?;
    Ok(Some(entries.into_iter().map(|entry| entry.entry).collect()))
}
