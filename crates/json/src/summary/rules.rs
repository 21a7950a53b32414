//! The order of the rules, the most specific first.

use super::effects::TransactionEffects;
use super::sentence::Summary;
use super::{calls, collectibles, swaps, transfers, vaults};
use crate::token_transfers::Tokens;
use trawl_core::primitives::Address;

/// Most sentences of a transaction that no rule covers as a whole.
const MAX_STEPS: usize = 5;

/// The sentences for a transaction that succeeded, the most specific first; none if no rule fits.
#[must_use]
pub fn summaries(effects: &TransactionEffects, tokens: &Tokens) -> Vec<Summary> {
    told(effects, tokens).into_iter().map(|sentence| calls::by_sender(sentence, effects)).collect()
}

/// The call alone, for a transaction whose transfers are too many to examine.
#[must_use]
pub fn call_alone(effects: &TransactionEffects) -> Vec<Summary> {
    let call = effects.to.and_then(|to| calls::call(effects, to));
    call.map(|sentence| calls::by_sender(sentence, effects)).into_iter().collect()
}

fn told(effects: &TransactionEffects, tokens: &Tokens) -> Vec<Summary> {
    let Some(to) = effects.to else { return effects.created.map(calls::creation).into_iter().collect() };
    let whole = collectibles::sale(effects, tokens)
        .or_else(|| collectibles::mint(effects))
        .or_else(|| swaps::swap(effects, tokens))
        .or_else(|| vaults::passage(effects, to, tokens))
        .or_else(|| calls::wrap(effects, to));
    match (whole, effects.transfers.as_slice()) {
        (Some(sentence), _) => vec![sentence],
        (None, [transfer]) => {
            let sentence = transfers::single(transfer, effects, tokens);
            sentence.map(|sentence| calls::with_coins(sentence, effects)).into_iter().collect()
        }
        (None, []) if effects.input.is_empty() => transfers::coins(effects, to).into_iter().collect(),
        (None, []) => {
            let sentence = calls::approval(effects, to, tokens);
            sentence.or_else(|| calls::call(effects, to)).into_iter().collect()
        }
        (None, several) => {
            let steps = if several.len() <= MAX_STEPS {
                several.iter().filter_map(|transfer| transfers::single(transfer, effects, tokens)).collect()
            } else {
                transfers::net(effects, tokens, MAX_STEPS)
            };
            calls::call(effects, to).into_iter().chain(steps).collect()
        }
    }
}

/// Every address a transaction's sentences may show.
#[must_use]
pub fn shown(effects: &TransactionEffects) -> Vec<Address> {
    let of_transfers = effects.transfers.iter().flat_map(|transfer| [transfer.token, transfer.from, transfer.to]);
    let spender = effects.input.get(16..36).map(Address::from_slice);
    let ends = [Some(effects.from), effects.to, effects.created, spender].into_iter().flatten();
    of_transfers.chain(ends).collect()
}
