//! `module=token`, and the tokens of `module=account`.

use std::sync::Arc;

use axum::response::Response;

use super::answer::{Refused, envelope, result};
use super::params::Params;
use crate::app::App;
use crate::error::{Problem, Uncounted};
use crate::rest::held_tokens::{Wanted, held_tokens, shown_tokens};
use crate::rest::holders::holders;
use crate::rest::tokens::known;
use trawl_core::primitives::{Address, U256};
use trawl_core::store::Head;
use trawl_json::etherscan::{write_held_token, write_holder, write_token, write_token_holder};
use trawl_json::token_transfers::Tokens;
use trawl_json::{JsonWriter, Object};
use trawl_query::token_balances::HoldingPosition;
use trawl_query::token_holders::{Asset, HolderPosition};

/// Most tokens of an account in an answer; with more it is refused.
const MOST_TOKENS: u64 = 5_000;
/// Most holders from the first of the list to the last of the page.
const MOST_HOLDERS: u64 = 10_000;
/// Kinds of transfers that one contract can have.
const KINDS: u64 = 3;

/// A token contract and its standard.
async fn token(app: &App, head: &Head, params: &Params) -> Result<(Address, Tokens, String), Refused> {
    let address = params.address("contractaddress")?;
    match known(app, head, &address).await {
        Ok((tokens, standard)) => Ok((address, tokens, standard)),
        Err(Problem::NotFound) => Err(Refused::Sentence("Token not found".into())),
        Err(problem) => Err(problem.into()),
    }
}

/// What is known of a token.
pub(super) async fn get(app: &App, head: &Head, params: &Params) -> Result<Response, Refused> {
    let (address, tokens, standard) = token(app, head, params).await?;
    Ok(result(|writer| write_token(writer, &address, &standard, &tokens)))
}

/// How an action names the members of a holder.
pub(super) type WriteHolder = fn(&mut Object<'_>, &Address, U256);

/// Of `getTokenHolders`.
pub(super) const HOLDER: WriteHolder = write_holder;
/// Of `tokenholderlist`.
pub(super) const TOKEN_HOLDER: WriteHolder = write_token_holder;

/// Who holds a token, the largest balance first.
pub(super) async fn holder_list(
    app: &App,
    head: &Head,
    params: &Params,
    write: WriteHolder,
) -> Result<Response, Refused> {
    let page = params.number("page")?.unwrap_or(1).max(1);
    let take = params.number("offset")?.filter(|rows| *rows > 0).unwrap_or(10);
    let limit = page.saturating_mul(take);
    if limit > MOST_HOLDERS {
        let text = format!("Result window is too large: page x offset must be at most {MOST_HOLDERS}");
        return Err(Refused::Sentence(text));
    }
    let (address, tokens, standard) = token(app, head, params).await?;
    if tokens.is_untold(&address, &standard) {
        return Err(Problem::NotCounted(Uncounted::Untold).into());
    }
    let found = holders(app, head, &Asset::Token(&address, &standard), (None, limit)).await?;
    let skip = usize::try_from(limit - take).unwrap_or(usize::MAX);
    let page: Vec<HolderPosition> = found.into_iter().skip(skip).collect();
    let (status, message) = if page.is_empty() { ("0", "No token holders found") } else { ("1", "OK") };
    Ok(envelope(status, message, |writer| {
        writer.array(|list| {
            page.iter().for_each(|place| list.item().object(|item| write(item, &place.holder, place.held)));
        });
    }))
}

/// How many hold a token.
pub(super) async fn holder_count(app: &App, head: &Head, params: &Params) -> Result<Response, Refused> {
    let (address, tokens, standard) = token(app, head, params).await?;
    let count = tokens.holders_count(&address, &standard);
    let count = count.ok_or_else(|| Refused::Sentence("The number of holders of this token is not known".into()))?;
    Ok(result(|writer| writer.decimal(count)))
}

/// What an account has of a token.
pub(super) async fn balance(app: &App, head: &Arc<Head>, params: &Params) -> Result<Response, Refused> {
    if !["", "latest"].contains(&&*params.choice("tag")) {
        return Err(Refused::Sentence("Only the tag 'latest' is served; call balanceOf for others".into()));
    }
    let account = params.address("address")?;
    let token = params.address("contractaddress")?;
    if account.is_zero() {
        // Transfers tell the supply there, and not what was sent to it.
        return Err(Problem::NotCounted(Uncounted::Untold).into());
    }
    // The place before all kinds of the token.
    let beyond = Some(HoldingPosition { token, standard: "" });
    let wanted = Wanted { beyond, limit: KINDS, ..Wanted::default() };
    let held = held_tokens(app, head, &account, &wanted).await?;
    let of_token: Vec<_> = held.into_iter().filter(|balance| balance.token == token).collect();
    let sum = of_token.iter().map(|balance| balance.value).try_fold(U256::ZERO, |sum, value| sum.checked_add(value?));
    let sum = sum.ok_or(Problem::NotCounted(Uncounted::Untold))?;
    Ok(result(|writer| writer.decimal_256(sum)))
}

/// All tokens that an account has.
pub(super) async fn list(app: &App, head: &Arc<Head>, params: &Params) -> Result<Response, Refused> {
    let account = params.address("address")?;
    let held = held_tokens(app, head, &account, &Wanted::first(MOST_TOKENS + 1)).await?;
    if held.len() as u64 > MOST_TOKENS {
        return Err(Refused::Sentence(format!("This account has more than {MOST_TOKENS} tokens")));
    }
    if held.is_empty() {
        return Ok(envelope("0", "No tokens found", |writer| writer.array(|_| {})));
    }
    let tokens = shown_tokens(app, head, held.iter().map(|balance| balance.token)).await?;
    Ok(result(|writer: &mut JsonWriter| {
        writer.array(|list| held.iter().for_each(|balance| write_held_token(list.item(), balance, &tokens)));
    }))
}
