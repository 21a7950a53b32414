//! Tokens and their holders of the Etherscan-compatible interface.

use super::super::{JsonWriter, Object};
use super::write_known;
use crate::tokens::balances::TokenBalance;
use crate::tokens::prices::{Decimal, TokenPrice};
use crate::tokens::transfers::Tokens;
use trawl_core::primitives::{Address, U256};

/// Writes a token; `cataloged` says whether its contract was queried for its name.
pub fn write_token(writer: &mut JsonWriter, token: &Address, standard: &str, tokens: &Tokens) {
    writer.object(|item| {
        item.key("cataloged").bool(tokens.metadata.contains_key(token));
        item.key("contractAddress").hex(token.as_slice());
        write_metadata(item, token, standard, tokens);
        write_known(item.key("totalSupply"), tokens.total_supply(token, standard), JsonWriter::decimal_256);
        item.key("type").string(standard);
    });
}

/// Writes the balance of an account in a token.
pub fn write_held_token(writer: &mut JsonWriter, held: &TokenBalance, tokens: &Tokens) {
    writer.object(|item| {
        write_known(item.key("balance"), held.value, JsonWriter::decimal_256);
        item.key("contractAddress").hex(held.token.as_slice());
        write_metadata(item, &held.token, &held.token_type, tokens);
        item.key("type").string(&held.token_type);
    });
}

/// The decimals of a token: 0 of one whose standard has none, or whose contract was queried and has none; `None` of a
/// contract that was never queried, since 0 would make its amounts larger than they are.
#[must_use]
pub fn decimals(tokens: &Tokens, token: &Address, standard: &str) -> Option<u64> {
    let is_queried = tokens.metadata.get(token).is_some_and(|metadata| !metadata.token_type.is_empty());
    let none = (is_queried || standard != "ERC-20").then_some(0);
    tokens.decimals(token).or(none).map(u64::from)
}

fn write_metadata(item: &mut Object<'_>, token: &Address, standard: &str, tokens: &Tokens) {
    let metadata = tokens.metadata.get(token);
    write_known(item.key("decimals"), decimals(tokens, token, standard), JsonWriter::decimal);
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

/// Writes a holder of `topholders`: the quantity in whole tokens, and whether a contract or somebody else holds them.
pub fn write_top_holder(item: &mut Object<'_>, holder: &Address, held: U256, decimals: u64, is_contract: bool) {
    let whole = u8::try_from(decimals).ok().zip(Decimal::parse("1"));
    let quantity = whole.map(|(decimals, one)| one.of_amount(held, decimals));
    item.key("TokenHolderAddress").hex(holder.as_slice());
    item.key("TokenHolderQuantity").string(&quantity.unwrap_or_default());
    item.key("TokenHolderAddressType").string(if is_contract { "C" } else { "E" });
}

/// The balance of an account in a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenHolding {
    /// The token contract.
    pub token: Address,
    /// `ERC-20`, `ERC-721` or `ERC-1155`.
    pub standard: &'static str,
    /// In the smallest unit, or ids; `None` where transfers do not determine it.
    pub quantity: Option<U256>,
}

/// Writes the balance of an account in a token, of ERC-20 with its decimals and price.
pub fn write_holding(writer: &mut JsonWriter, holding: &TokenHolding, tokens: &Tokens) {
    let TokenHolding { token, standard, quantity } = holding;
    let metadata = tokens.metadata.get(token);
    writer.object(|item| {
        item.key("TokenAddress").hex(token.as_slice());
        item.key("TokenName").string(metadata.and_then(|token| token.name.as_deref()).unwrap_or_default());
        item.key("TokenSymbol").string(metadata.and_then(|token| token.symbol.as_deref()).unwrap_or_default());
        write_known(item.key("TokenQuantity"), *quantity, JsonWriter::decimal_256);
        if *standard == "ERC-20" {
            write_known(item.key("TokenDivisor"), decimals(tokens, token, standard), JsonWriter::decimal);
            item.key("TokenPriceUSD").string(price(tokens.prices.get(token)));
        }
    });
}

fn price(price: Option<&TokenPrice>) -> &str {
    price.and_then(|price| price.exchange_rate.as_ref()).map_or("", Decimal::text)
}

/// Writes an id of a token that an account has.
pub fn write_held_id(writer: &mut JsonWriter, token: &Address, id: U256) {
    writer.object(|item| {
        item.key("TokenAddress").hex(token.as_slice());
        item.key("TokenId").decimal_256(id);
    });
}

/// Members that projects publish and contracts do not have.
const OF_PROJECT: [&str; 15] = [
    "description",
    "website",
    "email",
    "blog",
    "reddit",
    "slack",
    "facebook",
    "twitter",
    "bitcointalk",
    "github",
    "telegram",
    "wechat",
    "linkedin",
    "discord",
    "whitepaper",
];

/// Writes the facts of a token in the shape of `tokeninfo`.
pub fn write_token_info(writer: &mut JsonWriter, token: &Address, standard: &str, tokens: &Tokens) {
    let metadata = tokens.metadata.get(token);
    writer.object(|item| {
        item.key("contractAddress").hex(token.as_slice());
        item.key("tokenName").string(metadata.and_then(|token| token.name.as_deref()).unwrap_or_default());
        item.key("symbol").string(metadata.and_then(|token| token.symbol.as_deref()).unwrap_or_default());
        write_known(item.key("divisor"), decimals(tokens, token, standard), JsonWriter::decimal);
        item.key("tokenType").string(&standard.replace('-', ""));
        write_known(item.key("totalSupply"), tokens.total_supply(token, standard), JsonWriter::decimal_256);
        item.key("blueCheckmark").string("false");
        OF_PROJECT.iter().for_each(|name| item.key(name).string(""));
        let known = tokens.prices.get(token);
        item.key("tokenPriceUSD").string(price(known));
        item.key("image").string(known.and_then(|price| price.icon_url.as_deref()).unwrap_or_default());
    });
}
