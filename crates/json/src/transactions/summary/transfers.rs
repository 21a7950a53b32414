//! Coins or a token from one account to another.

use super::assets::{Asset, tokens as tokens_of};
use super::sentence::{Summary, Variable};
use super::{TransactionEffects, Transfer, amounts, collectibles};
use crate::tokens::transfers::Tokens;
use trawl_core::primitives::Address;

/// Coins to an account, and nothing else.
pub(crate) fn coins(effects: &TransactionEffects, to: Address) -> Option<Summary> {
    let sentence = Summary::new("Transferred")
        .with("amount", Variable::coins(effects.value))
        .with("to_address", Variable::Address(to))
        .template("{action_type} {amount} {native} to {to_address}");
    (!effects.value.is_zero()).then_some(sentence)
}

/// One transfer by itself.
pub(crate) fn single(transfer: &Transfer, effects: &TransactionEffects, tokens: &Tokens) -> Option<Summary> {
    let (action, ends): (&str, &[(&'static str, Address)]) = match (transfer.from.is_zero(), transfer.to.is_zero()) {
        (true, true) => return None,
        (true, false) => ("Minted", &[("to_address", transfer.to)]),
        (false, true) => ("Burned", &[]),
        (false, false) if transfer.from == effects.from => ("Transferred", &[("to_address", transfer.to)]),
        (false, false) => ("Transferred", &[("from_address", transfer.from), ("to_address", transfer.to)]),
    };
    let mut sentence = Summary::new(action);
    let what = match transfer.token_id {
        Some(id) => collectibles::pieces(&mut sentence, transfer, id),
        None => amounts::tokens(&mut sentence, amounts::ONE, transfer.token, transfer.value, tokens),
    };
    for (name, address) in ends {
        sentence.push(name, Variable::Address(*address));
    }
    let ways = ["", " to {to_address}", " from {from_address} to {to_address}"];
    Some(sentence.template(format!("{{action_type}} {what}{}", ways[ends.len()])))
}

/// What the sender gave and received of tokens on balance, an asset each; at most `most` of them, else none.
pub(crate) fn net(effects: &TransactionEffects, tokens: &Tokens, most: usize) -> Vec<Summary> {
    let Some(balance) = tokens_of(effects, effects.from) else { return Vec::new() };
    let given = balance.given.into_iter().map(|asset| ("Sent", asset));
    let all: Vec<_> = given.chain(balance.received.into_iter().map(|asset| ("Received", asset))).collect();
    if all.len() > most {
        return Vec::new();
    }
    let of_token = |(action, (asset, amount))| {
        let Asset::Token(token) = asset else { return None };
        let mut sentence = Summary::new(action);
        let what = amounts::tokens(&mut sentence, amounts::ONE, token, amount, tokens);
        Some(sentence.template(format!("{{action_type}} {what} on balance")))
    };
    all.into_iter().filter_map(of_token).collect()
}
