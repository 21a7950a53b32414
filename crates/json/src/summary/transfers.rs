//! Coins or a token from one account to another.

use super::sentence::{Summary, Variable};
use super::{TransactionEffects, Transfer};
use crate::token_transfers::Tokens;
use trawl_core::primitives::Address;

/// Coins to an account, and nothing else.
pub(super) fn coins(effects: &TransactionEffects, to: Address) -> Option<Summary> {
    let sentence = Summary::new("Transferred")
        .with("amount", Variable::coins(effects.value))
        .with("to_address", Variable::Address(to))
        .template("{action_type} {amount} {native} to {to_address}");
    (!effects.value.is_zero()).then_some(sentence)
}

/// One transfer by itself.
pub(super) fn single(transfer: &Transfer, effects: &TransactionEffects, tokens: &Tokens) -> Option<Summary> {
    let (action, ends): (&str, &[(&'static str, Address)]) = match (transfer.from.is_zero(), transfer.to.is_zero()) {
        (true, true) => return None,
        (true, false) => ("Minted", &[("to_address", transfer.to)]),
        (false, true) => ("Burned", &[]),
        (false, false) if transfer.from == effects.from => ("Transferred", &[("to_address", transfer.to)]),
        (false, false) => ("Transferred", &[("from_address", transfer.from), ("to_address", transfer.to)]),
    };
    let mut sentence = Summary::new(action);
    let what = match (transfer.token_id, tokens.decimals(&transfer.token)) {
        (Some(id), _) => {
            sentence.push("token_id", Variable::Text(id.to_string()));
            "{token_id} of {token}"
        }
        (None, Some(decimals)) => {
            sentence.push("amount", Variable::Amount(transfer.value, decimals));
            "{amount} {token}"
        }
        // Without decimals an amount would be a guess.
        (None, None) => "{token}",
    };
    sentence.push("token", Variable::Token(transfer.token, transfer.token_type.clone()));
    for (name, address) in ends {
        sentence.push(name, Variable::Address(*address));
    }
    let ways = ["", " to {to_address}", " from {from_address} to {to_address}"];
    Some(sentence.template(format!("{{action_type}} {what}{}", ways[ends.len()])))
}
