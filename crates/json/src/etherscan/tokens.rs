//! Tokens and their holders of the Etherscan-compatible interface.

use super::super::token_balances::TokenBalance;
use super::super::token_transfers::Tokens;
use super::super::{JsonWriter, Object};
use super::write_known;
use trawl_core::primitives::{Address, U256};

/// Writes a token; `cataloged` says whether its contract was asked what it is called.
pub fn write_token(writer: &mut JsonWriter, token: &Address, standard: &str, tokens: &Tokens) {
    writer.object(|item| {
        item.key("cataloged").bool(tokens.metadata.contains_key(token));
        item.key("contractAddress").hex(token.as_slice());
        write_metadata(item, token, tokens);
        write_known(item.key("totalSupply"), tokens.total_supply(token, standard), JsonWriter::decimal_256);
        item.key("type").string(standard);
    });
}

/// Writes what an account has of a token.
pub fn write_held_token(writer: &mut JsonWriter, held: &TokenBalance, tokens: &Tokens) {
    writer.object(|item| {
        write_known(item.key("balance"), held.value, JsonWriter::decimal_256);
        item.key("contractAddress").hex(held.token.as_slice());
        write_metadata(item, &held.token, tokens);
        item.key("type").string(&held.token_type);
    });
}

fn write_metadata(item: &mut Object<'_>, token: &Address, tokens: &Tokens) {
    let metadata = tokens.metadata.get(token);
    write_known(item.key("decimals"), tokens.decimals(token).map(u64::from), JsonWriter::decimal);
    item.key("name").string(metadata.and_then(|token| token.name.as_deref()).unwrap_or_default());
    item.key("symbol").string(metadata.and_then(|token| token.symbol.as_deref()).unwrap_or_default());
}

/// Writes a holder of `getTokenHolders`.
pub fn write_holder(item: &mut Object<'_>, holder: &Address, held: U256) {
    item.key("address").hex(holder.as_slice());
    item.key("value").decimal_256(held);
}

/// Writes a holder of `tokenholderlist`.
pub fn write_token_holder(item: &mut Object<'_>, holder: &Address, held: U256) {
    item.key("TokenHolderAddress").hex(holder.as_slice());
    item.key("TokenHolderQuantity").decimal_256(held);
}
