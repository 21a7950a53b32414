//! What token contracts answer, as a row. Pure.

use trawl_core::primitives::Address;
use trawl_core::primitives::returned::{decimals, number, text};
use trawl_core::schema::TokenRow;

use crate::source::rpc::TokenAnswers;

/// The row of a contract that was called after a block.
pub(super) fn token_row(address: Address, block_number: u64, token_type: String, fetched: TokenAnswers) -> TokenRow {
    TokenRow {
        address,
        block_number,
        token_type,
        name: fetched.name.and_then(|answer| text(&answer)),
        symbol: fetched.symbol.and_then(|answer| text(&answer)),
        decimals: fetched.decimals.and_then(|answer| decimals(&answer)),
        total_supply: fetched.total_supply.and_then(|answer| number(&answer)),
    }
}
