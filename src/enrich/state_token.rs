//! What the contract of a token says of itself in the state after the head.
//!
//! Contracts are named late, and renamed: a row of `tokens` has what one said when ingest called it, and a chain that was loaded
//! without a node has no rows. Without state nothing more is known.

use std::sync::Arc;

use alloy_primitives::hex;

use crate::app::App;
use crate::error::Problem;
use crate::rpc;
use trawl_core::primitives::returned::{decimals, number, text};
use trawl_core::primitives::{Address, BlockNumber, Bytes};
use trawl_core::schema::TokenRow;
use trawl_core::store::Head;

/// `name()`.
const NAME: [u8; 4] = hex!("06fdde03");
/// `symbol()`.
const SYMBOL: [u8; 4] = hex!("95d89b41");
/// `decimals()`.
const DECIMALS: [u8; 4] = hex!("313ce567");
/// `totalSupply()`.
const TOTAL_SUPPLY: [u8; 4] = hex!("18160ddd");

/// A token contract after a block.
struct Contract<'c> {
    app: &'c App,
    head: &'c Arc<Head>,
    number: BlockNumber,
    address: Address,
}

/// The facts of a token of a standard as its contract says them after the head; those that it does not say are as `known`.
/// `None` where the state is not known.
///
/// # Errors
///
/// When the store fails.
pub(crate) async fn token_after(
    app: &App,
    head: &Head,
    (address, standard): (Address, &str),
    known: Option<&TokenRow>,
) -> Result<Option<TokenRow>, Problem> {
    let head = Arc::new(head.clone());
    let Some(height) = head.number() else { return Ok(None) };
    let contract = Contract { app, head: &head, number: height, address };
    let answers = tokio::try_join!(
        contract.answer(NAME),
        contract.answer(SYMBOL),
        contract.answer(DECIMALS),
        contract.answer(TOTAL_SUPPLY)
    );
    let (name, symbol, places, supply) = match answers {
        Err(Problem::StateMissing(_) | Problem::RulesUnknown(_) | Problem::CallTooLong) => return Ok(None),
        answers => answers?,
    };
    Ok(Some(TokenRow {
        address,
        block_number: height,
        token_type: known.map_or(standard, |known| &known.token_type).to_owned(),
        name: name.and_then(|answer| text(&answer)).or_else(|| known?.name.clone()),
        symbol: symbol.and_then(|answer| text(&answer)).or_else(|| known?.symbol.clone()),
        decimals: places.and_then(|answer| decimals(&answer)).or_else(|| known?.decimals),
        total_supply: supply.and_then(|answer| number(&answer)).or_else(|| known?.total_supply),
    }))
}

impl Contract<'_> {
    /// What it returns to a call without arguments; `None` if that fails.
    async fn answer(&self, selector: [u8; 4]) -> Result<Option<Bytes>, Problem> {
        match rpc::returned(self.app, self.head, self.number, (self.address, selector.to_vec().into())).await {
            Ok(answer) => Ok(Some(answer)),
            Err(Problem::Call(_)) => Ok(None),
            Err(problem) => Err(problem),
        }
    }
}
