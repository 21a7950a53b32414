//! The order of the rules, the most specific first.

use super::effects::TransactionEffects;
use super::sentence::Summary;
use super::{calls, collectibles, swaps, transfers, vaults};
use crate::token_transfers::Tokens;
use trawl_core::primitives::Address;

/// Most sentences of a transaction that no rule covers as a whole.
const MAX_STEPS: usize = 5;

/// The sentences for a transaction, the most specific first; none if no rule fits.
#[must_use]
pub fn summaries(effects: &TransactionEffects, tokens: &Tokens) -> Vec<Summary> {
    let Some(to) = effects.to else { return effects.created.map(calls::creation).into_iter().collect() };
    let whole = collectibles::sale(effects, tokens)
        .or_else(|| collectibles::mint(effects))
        .or_else(|| swaps::swap(effects, tokens))
        .or_else(|| vaults::passage(effects, to, tokens));
    match (whole, effects.transfers.as_slice()) {
        (Some(sentence), _) => vec![sentence],
        (None, [transfer]) => transfers::single(transfer, effects, tokens).into_iter().collect(),
        (None, []) if effects.input.is_empty() => transfers::coins(effects, to).into_iter().collect(),
        (None, []) => {
            let sentence = calls::approval(effects, to, tokens).or_else(|| calls::wrap(effects, to));
            sentence.or_else(|| calls::call(effects, to)).into_iter().collect()
        }
        (None, several) => {
            let steps = several.iter().filter_map(|transfer| transfers::single(transfer, effects, tokens));
            let steps = steps.take(if several.len() <= MAX_STEPS { MAX_STEPS } else { 0 });
            calls::call(effects, to).into_iter().chain(steps).collect()
        }
    }
}

/// Every address a transaction's sentences may show.
#[must_use]
pub fn shown(effects: &TransactionEffects) -> Vec<Address> {
    let of_transfers = effects.transfers.iter().flat_map(|transfer| [transfer.token, transfer.from, transfer.to]);
    let spender = effects.input.get(16..36).map(Address::from_slice);
    let ends = [effects.to, effects.created, spender].into_iter().flatten();
    of_transfers.chain(ends).collect()
}
