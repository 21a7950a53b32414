//! `/api/v2/tokens/{token}/instances/{token_id}/transfers`, `…/transfers-count` and `…/holders`: one id of a token.

use axum::extract::State;
use axum::response::Response;

use super::instances::with_ids;
use super::lists::{HoldersParameters, TransfersParameters, holder_page, transfer_page};
use super::token::transfers_count;
use crate::app::App;
use crate::error::Problem;
use crate::http::parameters::{InstancePath, NoParameters, Parameters};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::completeness::is_complete;
use crate::read::tokens::instances_of_token::id_of_token;
use crate::read::tokens::token::known;
use crate::rest::cursor::{Cursor, HolderCursor, TransferCursor};
use trawl_core::primitives::{Address, U256};
use trawl_core::store::Head;
use trawl_json::JsonWriter;
use trawl_query::tokens::TokenPart;
use trawl_query::tokens::holders::{Asset, HolderPosition};

/// The transfers of an id, newest first (docs/reference/http-contract.md#ids-of-tokens).
pub(in crate::rest) async fn transfers(
    State(app): State<App>,
    head: RequestHead,
    InstancePath { token, id }: InstancePath,
    query: Parameters<TransfersParameters>,
) -> Result<Response, Problem> {
    let before = TransferCursor::read(&query)?.map(|cursor| cursor.position);
    let head = head.get()?;
    transfer_page(&app, &head, TokenPart::Id(&token, id), &query, before).await
}

/// The number of transfers of an id (docs/reference/http-contract.md#ids-of-tokens).
pub(in crate::rest) async fn total(
    State(app): State<App>,
    head: RequestHead,
    InstancePath { token, id }: InstancePath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let count = if is_complete(&head, &head.receipts) {
        transfers_count(&app, &head, TokenPart::Id(&token, id)).await?
    } else {
        None
    };
    if count.is_none_or(|count| count == 0) {
        known(&app, &head, &token).await?;
    }
    let mut writer = JsonWriter::new();
    writer.object(|object| object.key("transfers_count").option(count, JsonWriter::number));
    Ok(json(writer.into_bytes()))
}

/// Who holds an id, the largest balance first (docs/reference/http-contract.md#ids-of-tokens).
pub(in crate::rest) async fn holders(
    State(app): State<App>,
    head: RequestHead,
    InstancePath { token, id }: InstancePath,
    query: Parameters<HoldersParameters>,
) -> Result<Response, Problem> {
    let after = HolderCursor::read(&query)?.map(|cursor| cursor.0);
    let (head, size) = (head.get()?, query.page_size());
    let found = holders_of(&app, &head, &token, id, after, size + 1).await?;
    holder_page(&app, &head, found, size, Some(id)).await
}

/// The holders of an id; the one of ERC-721 is its owner.
async fn holders_of(
    app: &App,
    head: &Head,
    token: &Address,
    id: U256,
    after: Option<HolderPosition>,
    limit: u64,
) -> Result<Vec<HolderPosition>, Problem> {
    let (tokens, standard) = known(app, head, token).await?;
    let standard = with_ids(app, head, token, &tokens, &standard).await?.ok_or(Problem::NotFound)?;
    if standard == "ERC-1155" {
        let found = crate::read::tokens::holders::holders(app, head, &Asset::Id(token, id), after, limit).await?;
        if !found.is_empty() || after.is_some() {
            return Ok(found);
        }
    }
    let owner = id_of_token(app, head, token, standard, id).await?.ok_or(Problem::NotFound)?.owner;
    let owner = owner.map(|holder| HolderPosition { held: U256::ONE, holder });
    // The owner is the only holder.
    Ok(owner.filter(|_| after.is_none()).into_iter().collect())
}
