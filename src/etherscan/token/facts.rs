//! `getToken`, `tokeninfo`: what is known of a token.

use axum::response::Response;

use crate::error::Problem;
use crate::etherscan::answer::{Refusal, result};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::read::tokens::token::{count_at_head, known};
use trawl_core::primitives::Address;
use trawl_json::etherscan::{write_token, write_token_info};
use trawl_json::tokens::transfers::Tokens;

/// The token of a `contractaddress`, and its standard.
///
/// # Errors
///
/// [`Refusal::Sentence`] for a contract that is none.
pub(crate) async fn token(Request { app, head, params, .. }: &Request) -> Result<(Address, Tokens, String), Refusal> {
    let address = params.require("contractaddress", Params::address)?;
    match known(app, head, &address).await {
        Ok((mut tokens, standard)) => {
            count_at_head(app, head, &address, &standard, &mut tokens).await?;
            Ok((address, tokens, standard))
        }
        Err(Problem::NotFound) => Err(Refusal::Sentence("Token not found".into())),
        Err(problem) => Err(problem.into()),
    }
}

/// What is known of a token.
pub(crate) async fn get(request: Request) -> Result<Response, Refusal> {
    let (address, tokens, standard) = token(&request).await?;
    Ok(result(|writer| write_token(writer, &address, &standard, &tokens)))
}

/// The same as Etherscan has it: a list of one.
pub(crate) async fn info(request: Request) -> Result<Response, Refusal> {
    let (address, tokens, standard) = token(&request).await?;
    Ok(result(|writer| writer.array(|list| write_token_info(list.item(), &address, &standard, &tokens))))
}
