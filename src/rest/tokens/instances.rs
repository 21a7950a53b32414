//! Single ids of tokens: `/api/v2/tokens/{token}/instances…`, `/api/v2/addresses/{address}/nft…`.

use axum::extract::State;
use axum::response::Response;

use crate::app::App;
use crate::error::{Problem, UncountedReason};
use crate::http::parameters::{AddressPath, InstancePath, NoParameters, Parameters, query_parameters};
use crate::http::query::{Kind, PAGE_SIZE, Query};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::tokens::held_tokens::shown_tokens;
use crate::read::tokens::id_metadata::metadata;
use crate::read::tokens::instances_of_holder::{
    HeldCollection, IdAmount, IdSelection, STANDARDS, collections, ids_of_holder,
};
use crate::read::tokens::instances_of_token::{ExistingId, id_of_token, ids_of_token};
use crate::read::tokens::token::known;
use crate::read::tokens::uncounted_transfers;
use crate::rest::cursor::{Cursor, HoldingCursor, IdCursor, InstanceCursor};
use crate::rest::page::empty_page;
use trawl_core::primitives::{Address, U256};
use trawl_core::store::Head;
use trawl_json::JsonWriter;
use trawl_json::list::write_page;
use trawl_json::tokens::instances::{Collection, TokenInstance};
use trawl_json::tokens::transfers::Tokens;
use trawl_query::tokens::balances::HoldingPosition;

query_parameters! {
    pub(crate) InstancesParameters: [&[("holder_address_hash", Kind::Address)], InstanceCursor::PARAMETERS, PAGE_SIZE];
}

/// The ids of a token, or those that one address has (docs/reference/http-contract.md#ids-of-tokens).
pub(in crate::rest) async fn instances(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(token): AddressPath,
    query: Parameters<InstancesParameters>,
) -> Result<Response, Problem> {
    let below = InstanceCursor::read(&query)?.map(|cursor| cursor.0);
    let (head, size) = (head.get()?, query.page_size());
    let (tokens, standard) = known(&app, &head, &token).await?;
    let Some(standard) = with_ids(&app, &head, &token, &tokens, &standard).await? else { return Ok(empty_page()) };
    let mut found: Vec<TokenInstance> = match query.address("holder_address_hash") {
        None => {
            let ids = ids_of_token(&app, &head, &token, standard, below, size + 1).await?;
            ids.into_iter().map(|id| existing(&token, standard, id)).collect()
        }
        Some(holder) => {
            let selection = IdSelection::OfToken(token, standard, below);
            let ids = ids_of_holder(&app, &head, &holder, &selection, size + 1).await?;
            ids.into_iter().map(|id| instance_of(&holder, id, &tokens)).collect()
        }
    };
    let next = cut(&mut found, size).map(|last| InstanceCursor(last.id).writer(size));
    let addresses = app.addresses(found.iter().filter_map(|id| id.owner), &head).await?;
    Ok(json(write_page(|list| found.iter().for_each(|id| id.write(list.item(), Some(&tokens), &addresses)), next)))
}

/// One id of a token (docs/reference/http-contract.md#ids-of-tokens).
pub(in crate::rest) async fn instance(
    State(app): State<App>,
    head: RequestHead,
    InstancePath { token, id }: InstancePath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let (tokens, standard) = known(&app, &head, &token).await?;
    let standard = with_ids(&app, &head, &token, &tokens, &standard).await?.ok_or(Problem::NotFound)?;
    let id = id_of_token(&app, &head, &token, standard, id).await?.ok_or(Problem::NotFound)?;
    let mut id = existing(&token, standard, id);
    let (addresses, metadata) =
        tokio::try_join!(app.addresses(id.owner, &head), metadata(&app, &head, token, standard, id.id))?;
    id.metadata = metadata;
    let mut writer = JsonWriter::new();
    id.write(&mut writer, Some(&tokens), &addresses);
    Ok(json(writer.into_bytes()))
}

query_parameters! {
    pub(crate) NftParameters: [&[("type", Kind::Standards)], IdCursor::PARAMETERS, PAGE_SIZE];
}

/// The ids of tokens that an address has (docs/reference/http-contract.md#ids-of-tokens).
pub(in crate::rest) async fn nft(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(holder): AddressPath,
    query: Parameters<NftParameters>,
) -> Result<Response, Problem> {
    let beyond = IdCursor::read(&query)?.map(|cursor| cursor.0);
    let (head, size) = (head.get()?, query.page_size());
    let selection = IdSelection::OfStandards(standards(&query), beyond);
    let mut found = ids_of_holder(&app, &head, &holder, &selection, size + 1).await?;
    let next = cut(&mut found, size).map(|(last, _)| IdCursor(last).writer(size));
    let tokens = shown_tokens(&app, &head, found.iter().map(|(key, _)| key.token)).await?;
    let addresses = app.addresses([holder], &head).await?;
    let found: Vec<TokenInstance> = found.into_iter().map(|id| instance_of(&holder, id, &tokens)).collect();
    Ok(json(write_page(|list| found.iter().for_each(|id| id.write(list.item(), Some(&tokens), &addresses)), next)))
}

query_parameters! {
    pub(crate) CollectionsParameters: [&[("type", Kind::Standards)], HoldingCursor::PARAMETERS, PAGE_SIZE];
}

/// The tokens of which an address has ids (docs/reference/http-contract.md#ids-of-tokens).
pub(in crate::rest) async fn nft_collections(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(holder): AddressPath,
    query: Parameters<CollectionsParameters>,
) -> Result<Response, Problem> {
    let beyond = HoldingCursor::read(&query)?.map(|cursor| cursor.0);
    let (head, size) = (head.get()?, query.page_size());
    let mut found = collections(&app, &head, &holder, &standards(&query), beyond, size + 1).await?;
    let last = cut(&mut found, size).and_then(|last| position(&last));
    let tokens = shown_tokens(&app, &head, found.iter().map(|collection| collection.token.0)).await?;
    let addresses = app.addresses([holder], &head).await?;
    let collection = |found: HeldCollection| Collection {
        token: found.token.0,
        ids: found.ids.filter(|_| !tokens.is_undetermined(&found.token.0, &found.token.1)),
        token_type: found.token.1,
        first: found.first.into_iter().map(|id| instance_of(&holder, id, &tokens)).collect(),
    };
    let found: Vec<Collection> = found.into_iter().map(collection).collect();
    let next = last.map(|position| HoldingCursor(position).writer(size));
    Ok(json(write_page(|list| found.iter().for_each(|one| one.write(list.item(), &tokens, &addresses)), next)))
}

/// The requested standards with ids.
fn standards(query: &Query) -> Vec<&'static str> {
    Some(query.standards("type")).filter(|types| !types.is_empty()).unwrap_or(STANDARDS.to_vec())
}

fn with_id(standard: &str) -> Option<&'static str> {
    STANDARDS.into_iter().find(|name| *name == standard)
}

/// The standard by which a token has ids, even if it has another standard too; `None` for a token without ids.
///
/// # Errors
///
/// [`Problem::NotCounted`] where transfers do not determine balances; when the store fails.
pub(in crate::rest) async fn with_ids(
    app: &App,
    head: &Head,
    token: &Address,
    tokens: &Tokens,
    standard: &str,
) -> Result<Option<&'static str>, Problem> {
    let standard = match with_id(standard).or_else(|| tokens.kinds(token).find_map(with_id)) {
        Some(standard) => standard,
        None => match uncounted_with_ids(app, head, token).await? {
            Some(standard) => standard,
            None => return Ok(None),
        },
    };
    if tokens.is_undetermined(token, standard) {
        return Err(Problem::NotCounted(UncountedReason::Undetermined));
    }
    Ok(Some(standard))
}

/// The standard of transfers with ids that are not counted yet.
async fn uncounted_with_ids(app: &App, head: &Head, token: &Address) -> Result<Option<&'static str>, Problem> {
    let transfers =
        async { uncounted_transfers::of_token(app, head, token, uncounted_transfers::reach(app).await?).await };
    match transfers.await {
        Ok(transfers) => Ok(transfers.iter().find_map(|transfer| with_id(&transfer.token_type))),
        Err(Problem::NotCounted(_)) => Ok(None),
        Err(problem) => Err(problem),
    }
}

fn position(collection: &HeldCollection) -> Option<HoldingPosition> {
    Some(HoldingPosition { token: collection.token.0, standard: with_id(&collection.token.1)? })
}

/// Cuts the rows to a page. Returns its last item if there are more.
fn cut<T: Clone>(found: &mut Vec<T>, size: u64) -> Option<T> {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let has_more = found.len() > size;
    found.truncate(size);
    found.last().filter(|_| has_more).cloned()
}

/// An id of a token, for lists of the token.
fn existing(token: &Address, standard: &str, id: ExistingId) -> TokenInstance {
    let is_one = id.supply == U256::ONE;
    TokenInstance {
        token: *token,
        token_type: standard.into(),
        id: id.id,
        is_unique: Some(standard == "ERC-721" || is_one),
        owner: id.owner,
        value: None,
        metadata: None,
    }
}

/// An id of a token, for lists of its holder.
fn instance_of(holder: &Address, (key, value): IdAmount, tokens: &Tokens) -> TokenInstance {
    let is_erc721 = key.standard == "ERC-721";
    let value = value.filter(|_| !tokens.is_undetermined(&key.token, &key.standard));
    TokenInstance {
        token: key.token,
        id: key.id,
        is_unique: is_erc721.then_some(true),
        owner: value.filter(|_| is_erc721).map(|_| *holder),
        token_type: key.standard,
        value,
        metadata: None,
    }
}
