//! `getTokenHolders`, `tokenholderlist`, `topholders`, `tokenholdercount`: who holds a token.

use axum::response::Response;

use super::facts::token;
use crate::error::{Problem, UncountedReason};
use crate::etherscan::answer::{NO_RECORDS, Refusal, empty_list, result};
use crate::etherscan::request::Request;
use crate::etherscan::window::PageBounds;
use crate::read::tokens::holders::holders;
use trawl_core::primitives::{Address, U256};
use trawl_json::Object;
use trawl_json::etherscan::{decimals, write_holder, write_token_holder, write_top_holder};
use trawl_json::tokens::transfers::Tokens;
use trawl_query::tokens::holders::{Asset, HolderPosition};

/// Pages of holders.
const PAGES: PageBounds = PageBounds { usual: 10, most: 10_000, reach: 10_000, further: "" };

/// Answers `getTokenHolders`, with the amounts in the smallest unit.
pub(crate) async fn list(request: Request) -> Result<Response, Refusal> {
    page_of(&request, write_holder).await
}

/// Answers `tokenholderlist`, with the amounts in the smallest unit.
pub(crate) async fn token_holder_list(request: Request) -> Result<Response, Refusal> {
    page_of(&request, write_token_holder).await
}

/// Of `topholders`: with the kind of account, and quantities in whole tokens.
pub(crate) async fn top(request: Request) -> Result<Response, Refusal> {
    let (address, tokens, standard) = token(&request).await?;
    let decimals = decimals(&tokens, &address, &standard);
    let decimals = decimals.ok_or_else(|| Refusal::Sentence("The decimals of this token are not known".into()))?;
    let page = page(&request, &address, &tokens, &standard).await?;
    let addresses = request.app.addresses(page.iter().map(|position| position.holder), &request.head).await?;
    list_of(&page, |item, holder, held| {
        write_top_holder(item, holder, held, decimals, addresses.is_contract(holder));
    })
}

/// A page of those who hold a token, as an action writes them.
async fn page_of(request: &Request, write: fn(&mut Object<'_>, &Address, U256)) -> Result<Response, Refusal> {
    let (address, tokens, standard) = token(request).await?;
    list_of(&page(request, &address, &tokens, &standard).await?, write)
}

/// A page of those who hold a token, the largest balance first.
async fn page(
    request: &Request,
    address: &Address,
    tokens: &Tokens,
    standard: &str,
) -> Result<Vec<HolderPosition>, Refusal> {
    let (skip, take) = PAGES.read(&request.params)?;
    if tokens.is_undetermined(address, standard) {
        return Err(Problem::NotCounted(UncountedReason::Undetermined).into());
    }
    let found = holders(&request.app, &request.head, &Asset::Token(address, standard), None, skip + take).await?;
    Ok(found.into_iter().skip(usize::try_from(skip).unwrap_or(usize::MAX)).collect())
}

fn list_of(page: &[HolderPosition], write: impl Fn(&mut Object<'_>, &Address, U256)) -> Result<Response, Refusal> {
    if page.is_empty() {
        return Ok(empty_list(NO_RECORDS));
    }
    Ok(result(|writer| {
        writer.array(|list| {
            page.iter().for_each(|position| list.item().object(|item| write(item, &position.holder, position.held)));
        });
    }))
}

/// How many hold a token.
pub(crate) async fn count(request: Request) -> Result<Response, Refusal> {
    let (address, tokens, standard) = token(&request).await?;
    let count = tokens.holders_count(&address, &standard);
    let count = count.ok_or_else(|| Refusal::Sentence("The number of holders of this token is not known".into()))?;
    Ok(result(|writer| writer.decimal(count)))
}
