//! `/api/v2/addresses/{address}/token-balances` and `…/tokens`.

use axum::extract::State;
use axum::response::Response;

use crate::app::App;
use crate::error::Problem;
use crate::http::parameters::{AddressPath, NoParameters, Parameters, query_parameters};
use crate::http::query::{Kind, PAGE_SIZE};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::tokens::held_tokens::{HeldTokensQuery, held_tokens, shown_tokens};
use crate::rest::cursor::{Cursor, HoldingCursor};
use trawl_json::list::write_page;
use trawl_json::tokens::balances::TokenBalance;
use trawl_json::tokens::transfers::Tokens;
use trawl_json::{Array, JsonWriter};

/// Most items of the list without pages.
const MAX_TOKENS: u64 = 5000;

/// All tokens that an address holds, without pages (docs/reference/http-contract.md#token-balances).
pub(in crate::rest) async fn token_balances(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let held = held_tokens(&app, &head, &address, &HeldTokensQuery::first(MAX_TOKENS + 1)).await?;
    if held.len() as u64 > MAX_TOKENS {
        return Err(Problem::TooExpensive);
    }
    let tokens = shown_tokens(&app, &head, held.iter().map(|balance| balance.token)).await?;
    let mut writer = JsonWriter::new();
    writer.array(|items| write(&held, &tokens, items));
    Ok(json(writer.into_bytes()))
}

query_parameters! {
    pub(crate) TokensParameters: [&[("type", Kind::Standards)], HoldingCursor::PARAMETERS, PAGE_SIZE];
}

/// The tokens that an address holds, in the order of their contracts (docs/reference/http-contract.md#token-balances).
pub(in crate::rest) async fn tokens(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    query: Parameters<TokensParameters>,
) -> Result<Response, Problem> {
    let beyond = HoldingCursor::read(&query)?.map(|cursor| cursor.0);
    let (head, size) = (head.get()?, query.page_size());
    let tokens_query = HeldTokensQuery { types: query.standards("type"), beyond, limit: size + 1 };
    let mut held = held_tokens(&app, &head, &address, &tokens_query).await?;
    let has_more = held.len() as u64 > size;
    held.truncate(usize::try_from(size).unwrap_or(usize::MAX));
    let last = held.last().filter(|_| has_more).and_then(HoldingCursor::of);
    let tokens = shown_tokens(&app, &head, held.iter().map(|balance| balance.token)).await?;
    let next = last.map(|cursor| cursor.writer(size));
    Ok(json(write_page(|items| write(&held, &tokens, items), next)))
}

fn write(held: &[TokenBalance], tokens: &Tokens, items: &mut Array<'_>) {
    held.iter().for_each(|balance| balance.write(items.item(), tokens));
}
