//! `/sourcify/v2/contract/{chain_id}/{address}`: contracts as version 2 of Sourcify's API has them
//! (docs/reference/rest.md#sourcify).

mod refusal;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::error::Problem;
use crate::http::headers::RequestId;
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::middleware::requester::Requester;
use crate::read::sources;
use refusal::Refusal;
use trawl_core::primitives::{Address, B256};
use trawl_core::schema::Column;
use trawl_core::store::Head;
use trawl_json::contracts::sourcify::{Deployment, FieldPath, Selection, SourcifyContract, paths_of, write_unverified};
use trawl_serve::Client;

/// Most digits of a chain id.
const MAX_CHAIN_ID: usize = 20;
/// Fields that need the texts of a source, or their hashes.
const OF_TEXTS: [&str; 3] = ["sources", "stdJsonInput", "metadata"];

/// What was loaded of a contract: 404 in Sourcify's form if that is nothing.
pub(crate) async fn contract(
    State(app): State<App>,
    head: RequestHead,
    Requester(client): Requester,
    Path((chain, address)): Path<(String, String)>,
    request: Request,
) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let answer = answer(&app, head, Target { client, chain: &chain, address: &address, query }).await;
    answer.unwrap_or_else(|refusal| {
        let id = request.extensions().get().map_or("", RequestId::text);
        refusal.respond(id)
    })
}

/// What a request names, and who sent it.
struct Target<'r> {
    client: Client,
    chain: &'r str,
    address: &'r str,
    query: &'r str,
}

async fn answer(app: &App, head: RequestHead, target: Target<'_>) -> Result<Response, Refusal> {
    let Target { client, chain, address, query } = target;
    let is_id = (1..=MAX_CHAIN_ID).contains(&chain.len()) && chain.bytes().all(|digit| digit.is_ascii_digit());
    if !is_id {
        return Err(Refusal::parameter("Invalid chainId: write it in decimal digits"));
    }
    let contract: Option<Address> = address.strip_prefix("0x").and_then(|digits| digits.parse().ok());
    let contract = contract.ok_or_else(|| Refusal::parameter("Invalid address: write 0x and 40 hexadecimal digits"))?;
    let selection = selection(query)?;
    let head = head.get()?;
    let chain_id = chain.parse().ok().filter(|id| app.chain_id(&head) == Some(*id));
    let chain_id = chain_id.ok_or_else(|| Refusal::Chain(chain.to_owned()))?;
    let _slot = app.limits().reads.enter().await?;
    let addresses = app.addresses([contract], &head).await?;
    let Some((source, generation)) = addresses.source(&contract) else {
        return Ok((StatusCode::NOT_FOUND, json(write_unverified(chain_id, &contract))).into_response());
    };
    let needs_texts = OF_TEXTS.iter().any(|field| selection.has(field));
    let whole = if needs_texts { sources::source(app, &addresses, &contract).await? } else { None };
    let source_alone = if needs_texts { None } else { sources::without_texts(app, &addresses, &contract).await? };
    let abi = if selection.has("abi") || selection.has("signatures") || selection.has("metadata") {
        app.reader().rows(&trawl_query::labels::abi(&source, generation)).await.map_err(Problem::from)?
    } else {
        Vec::new()
    };
    let abi: Vec<String> = abi.into_iter().map(|entry| entry.entry).collect();
    let deployment = if selection.has("deployment") { deployment(app, &head, &contract).await? } else { None };
    let contract = SourcifyContract {
        chain_id,
        address: contract,
        abi: &abi,
        source: whole.as_ref().map(|held| &held.source).or(source_alone.as_ref()),
        deployment: deployment.as_ref(),
    };
    let text = contract.write(&selection);
    // A source may have megabytes, and a client may read it slowly.
    let held = app.limits().answers.hold(client, text.len())?;
    Ok(json(held.with(text.into())))
}

/// The fields that a query names: the shortest answer without one.
///
/// # Errors
///
/// [`Refusal::Parameter`] for other parameters, one that is given twice, and names of no field.
fn selection(query: &str) -> Result<Selection, Refusal> {
    let (mut fields, mut omit) = (None, None);
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let slot = match &*name {
            "fields" => &mut fields,
            "omit" => &mut omit,
            "apikey" | "key" => continue,
            other => return Err(Refusal::about("Unknown query parameter", other)),
        };
        if slot.replace(value.into_owned()).is_some() {
            return Err(Refusal::about("A query parameter is given twice", &name));
        }
    }
    match (fields.as_deref(), omit) {
        (Some(_), Some(_)) => Err(Refusal::parameter("Cannot specify both fields and omit")),
        (Some("all"), None) => Ok(Selection::without([])),
        (Some(fields), None) => paths(fields).map(Selection::with),
        (None, Some(omitted)) => paths(&omitted).map(Selection::without),
        (None, None) => Ok(Selection::with([])),
    }
}

/// What names with commas between them mean.
fn paths(names: &str) -> Result<Vec<FieldPath>, Refusal> {
    let of_name = |name: &str| match paths_of(name) {
        Some(paths) => Ok(paths),
        None if name == "all" => Err(Refusal::parameter("Cannot specify 'all' with other fields, or in omit")),
        None => Err(Refusal::about("Not a valid field", name)),
    };
    Ok(names.split(',').map(of_name).collect::<Result<Vec<_>, _>>()?.concat())
}

/// The transaction that created a contract; `None` if that is not loaded, or if the contract is of the genesis.
async fn deployment(app: &App, head: &Head, contract: &Address) -> Result<Option<Deployment>, Problem> {
    let statement = trawl_query::addresses::page::creation(contract, &head.blocks.span());
    let creation = app.reader().rows(&statement).await?.into_iter().next();
    let Some(creation) = creation.filter(|creation| creation.creation_type != "genesis") else { return Ok(None) };
    Ok(Some(Deployment {
        transaction_hash: creation.transaction_hash,
        block_number: creation.block_number,
        transaction_index: creation.transaction_index,
        deployer: sender(app, head, &creation.transaction_hash).await?,
    }))
}

/// The account that signed a transaction.
async fn sender(app: &App, head: &Head, hash: &B256) -> Result<Option<Address>, Problem> {
    let found = app.transaction(hash, head).await?;
    Ok(found.map(|(batch, row)| Address::get(&batch.view().from_address, row)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(query: &str) -> String {
        match selection(query) {
            Err(Refusal::Parameter(sentence)) => sentence,
            other => panic!("{query}: {other:?}"),
        }
    }

    #[test]
    fn no_parameter_or_field_is_passed_over() {
        assert_eq!(selection("").ok(), Some(Selection::with([])));
        assert_eq!(selection("fields=all&apikey=x").ok(), Some(Selection::without([])));
        assert_eq!(sentence("fields=abi&omit=sources"), "Cannot specify both fields and omit");
        assert_eq!(sentence("fields=abi,all"), "Cannot specify 'all' with other fields, or in omit");
        assert_eq!(sentence("fields=abi&fields=sources"), "A query parameter is given twice: fields");
        assert_eq!(sentence("field=abi"), "Unknown query parameter: field");
        for name in ["", "abi.x", "compilation.sources", "deployment.blockNumber.x", "match"] {
            assert_eq!(sentence(&format!("omit={name}")), format!("Not a valid field: {name}"));
        }
        assert!(sentence(&format!("fields={}", "x".repeat(999))).len() < 100);
    }
}
