//! `tokensupply`, `tokensupplyhistory`: how much there is of a token.

use axum::response::Response;

use crate::enrich::labels::LabelQuery;
use crate::etherscan::answer::{Refusal, result};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::etherscan::state;
use crate::etherscan::token::contract::{number, total_supply};

/// As its contract said, or as its transfers were counted.
pub(crate) async fn supply(request: Request) -> Result<Response, Refusal> {
    let token = request.params.require("contractaddress", Params::address)?;
    let mut label_query = LabelQuery::default();
    label_query.tokens.insert(token);
    let (_, tokens, _) = request.app.address_info([token], label_query, &request.head).await?;
    let supply = tokens.standard(&token).and_then(|standard| tokens.total_supply(&token, standard));
    let supply = supply.ok_or_else(|| Refusal::Sentence("The supply of this token is not known".into()))?;
    Ok(result(|writer| writer.decimal_256(supply)))
}

/// What the contract said of its supply after the block `blockno`.
pub(crate) async fn history(request: Request) -> Result<Response, Refusal> {
    let token = request.params.require("contractaddress", Params::address)?;
    let height = state::numbered(&request.head, &request.params)?;
    let supply = number(&request, height, token, total_supply()).await?;
    Ok(result(|writer| writer.decimal_256(supply)))
}
