//! What the contract of a token says of itself in the state after the head.
//!
//! Contracts are named late, and renamed: a row of `tokens` has what one said when ingest called it, and a chain that
//! was loaded without a node has no rows. Without state nothing more is known.

use alloy_primitives::hex;

use super::contract_calls::ContractCalls;
use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::Address;
use trawl_core::primitives::returned::{decimals, number, text};
use trawl_core::schema::TokenRow;
use trawl_core::store::Head;

/// Selector of `name()`.
const NAME: [u8; 4] = hex!("06fdde03");
/// Selector of `symbol()`.
const SYMBOL: [u8; 4] = hex!("95d89b41");
/// Selector of `decimals()`.
const DECIMALS: [u8; 4] = hex!("313ce567");
/// Selector of `totalSupply()`.
const TOTAL_SUPPLY: [u8; 4] = hex!("18160ddd");

/// The facts of a token of a standard as its contract says them after the head; those that it does not say are as
/// `known`. `None` where the state is not known.
///
/// # Errors
///
/// When the store fails.
pub(crate) async fn token_after(
    app: &App,
    head: &Head,
    address: Address,
    standard: &str,
    known: Option<&TokenRow>,
) -> Result<Option<TokenRow>, Problem> {
    let Some(calls) = ContractCalls::at_head(app, head) else { return Ok(None) };
    let answers = tokio::try_join!(
        calls.returned(address, NAME),
        calls.returned(address, SYMBOL),
        calls.returned(address, DECIMALS),
        calls.returned(address, TOTAL_SUPPLY)
    );
    let (name, symbol, precision, supply) = match answers {
        Err(Problem::StateMissing(_) | Problem::RulesUnknown(_) | Problem::CallTooLong) => return Ok(None),
        answers => answers?,
    };
    Ok(Some(TokenRow {
        address,
        block_number: calls.number,
        token_type: known.map_or(standard, |known| &known.token_type).to_owned(),
        name: name.and_then(|answer| text(&answer)).or_else(|| known?.name.clone()),
        symbol: symbol.and_then(|answer| text(&answer)).or_else(|| known?.symbol.clone()),
        decimals: precision.and_then(|answer| decimals(&answer)).or_else(|| known?.decimals),
        total_supply: supply.and_then(|answer| number(&answer)).or_else(|| known?.total_supply),
    }))
}
