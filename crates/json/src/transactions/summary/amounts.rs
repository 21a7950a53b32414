//! Amounts in sentences: of the chain's coin, of tokens with their decimals, and of tokens whose decimals are unknown.

use super::sentence::{Summary, Variable};
use crate::tokens::transfers::Tokens;
use trawl_core::primitives::{Address, U256};

/// The names of an amount and of its token in a template.
pub(crate) type Names = (&'static str, &'static str);

/// The names where a sentence has one amount.
pub(crate) const ONE: Names = ("amount", "token");

/// An amount of the chain's own coin, in wei.
pub(crate) fn coins(sentence: &mut Summary, name: &'static str, wei: U256) -> String {
    sentence.push(name, Variable::coins(wei));
    format!("{{{name}}} {{native}}")
}

/// An amount of an ERC-20 token: without its decimals the smallest units, with the address of the token, because a
/// symbol would make them look like whole tokens.
pub(crate) fn tokens(
    sentence: &mut Summary,
    (amount_name, token_name): Names,
    token: Address,
    amount: U256,
    known: &Tokens,
) -> String {
    if let Some(decimals) = known.decimals(&token) {
        sentence.push(amount_name, Variable::Amount(amount, decimals));
        sentence.push(token_name, Variable::Token(token, "ERC-20".into()));
        return format!("{{{amount_name}}} {{{token_name}}}");
    }
    sentence.push(amount_name, Variable::Text(amount.to_string()));
    sentence.push(token_name, Variable::Address(token));
    format!("{{{amount_name}}} units of {{{token_name}}}")
}
