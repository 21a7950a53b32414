//! `tokenlist`, `addresstokenbalance`, `addresstokennftbalance`, `addresstokennftinventory`: the tokens that an account
//! has.

use axum::response::Response;

use crate::error::{Problem, UncountedReason};
use crate::etherscan::answer::{NO_TRANSACTIONS, Refusal, empty_list, result};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::etherscan::window::PageBounds;
use crate::read::tokens::held_tokens::{HeldTokensQuery, held_tokens, shown_tokens};
use crate::read::tokens::instances_of_holder;
use crate::read::tokens::instances_of_holder::{collections, ids_of_holder};
use trawl_core::primitives::U256;
use trawl_json::JsonWriter;
use trawl_json::etherscan::{TokenHolding, write_held_id, write_held_token, write_holding};

/// Most tokens in an answer; what would have more is refused.
const MAX_TOKENS: u64 = 5_000;

/// The bounds of pages of tokens or ids.
const PAGES: PageBounds = PageBounds { usual: 100, most: 1_000, reach: 10_000, further: "" };

/// The bounds of pages of all tokens. Clients ask for the most rows that pages of other lists have.
const ALL_TOKENS: PageBounds = PageBounds { usual: MAX_TOKENS, most: 10_000, reach: 10_000, further: "" };

/// All tokens that an account has, or a page of them.
pub(crate) async fn list(request: Request) -> Result<Response, Refusal> {
    let Request { app, head, params, .. } = &request;
    let account = params.require("address", Params::address)?;
    let (skip, take) = ALL_TOKENS.read(params)?;
    let is_paged = params.has("page") || params.has("offset");
    // One more than an answer has tells whether it would be cut.
    let rows = if is_paged { take.min(MAX_TOKENS + 1) } else { MAX_TOKENS + 1 };
    let held = held_tokens(app, head, &account, &HeldTokensQuery::first(skip + rows)).await?;
    let Some(page) = page_of(held, skip) else { return Ok(empty_list(NO_TRANSACTIONS)) };
    if page.len() as u64 > MAX_TOKENS {
        let text = format!("This account has more than {MAX_TOKENS} tokens: request pages with 'page' and 'offset'");
        return Err(Refusal::NotServed(text));
    }
    let tokens = shown_tokens(app, head, page.iter().map(|balance| balance.token)).await?;
    Ok(result(|writer: &mut JsonWriter| {
        writer.array(|list| page.iter().for_each(|balance| write_held_token(list.item(), balance, &tokens)));
    }))
}

/// The rows after the first `skip`; `None` if there are none.
fn page_of<T>(found: Vec<T>, skip: u64) -> Option<Vec<T>> {
    let page: Vec<T> = found.into_iter().skip(usize::try_from(skip).unwrap_or(usize::MAX)).collect();
    (!page.is_empty()).then_some(page)
}

/// The ERC-20 tokens of an account.
pub(crate) async fn of_erc20(request: Request) -> Result<Response, Refusal> {
    let Request { app, head, params, .. } = &request;
    let account = params.require("address", Params::address)?;
    let (skip, take) = PAGES.read(params)?;
    let tokens_query = HeldTokensQuery { types: vec!["ERC-20"], ..HeldTokensQuery::first(skip + take) };
    let held = held_tokens(app, head, &account, &tokens_query).await?;
    let Some(page) = page_of(held, skip) else { return Ok(empty_list(NO_TRANSACTIONS)) };
    let tokens = shown_tokens(app, head, page.iter().map(|balance| balance.token)).await?;
    Ok(result(|writer| {
        writer.array(|list| {
            for balance in &page {
                let holding = TokenHolding { token: balance.token, standard: "ERC-20", quantity: balance.value };
                write_holding(list.item(), &holding, &tokens);
            }
        });
    }))
}

/// The ERC-721 tokens of which an account has ids.
pub(crate) async fn of_erc721(request: Request) -> Result<Response, Refusal> {
    let Request { app, head, params, .. } = &request;
    let account = params.require("address", Params::address)?;
    let (skip, take) = PAGES.read(params)?;
    let held = collections(app, head, &account, &["ERC-721"], None, skip + take).await?;
    let Some(page) = page_of(held, skip) else { return Ok(empty_list(NO_TRANSACTIONS)) };
    let tokens = shown_tokens(app, head, page.iter().map(|collection| collection.token.0)).await?;
    Ok(result(|writer| {
        writer.array(|list| {
            for collection in &page {
                let token = collection.token.0;
                let ids = collection.ids.filter(|_| !tokens.is_undetermined(&token, "ERC-721")).map(U256::from);
                write_holding(list.item(), &TokenHolding { token, standard: "ERC-721", quantity: ids }, &tokens);
            }
        });
    }))
}

/// The ids of one ERC-721 token that an account has, the highest first.
pub(crate) async fn inventory(request: Request) -> Result<Response, Refusal> {
    let Request { app, head, params, .. } = &request;
    let account = params.require("address", Params::address)?;
    let token = params.require("contractaddress", Params::address)?;
    let (skip, take) = PAGES.read(params)?;
    let selection = instances_of_holder::IdSelection::OfToken(token, "ERC-721", None);
    let held = ids_of_holder(app, head, &account, &selection, skip + take).await?;
    let tokens = shown_tokens(app, head, [token].into_iter()).await?;
    if tokens.is_undetermined(&token, "ERC-721") {
        return Err(Problem::NotCounted(UncountedReason::Undetermined).into());
    }
    let Some(page) = page_of(held, skip) else { return Ok(empty_list(NO_TRANSACTIONS)) };
    Ok(result(|writer| {
        writer.array(|list| page.iter().for_each(|(key, _)| write_held_id(list.item(), &token, key.id)));
    }))
}
