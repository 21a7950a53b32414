//! The order of the rules, the most specific first.

use super::effects::TransactionEffects;
use super::sentence::Summary;
use super::{bridges, calls, collectibles, swaps, transfers, vaults};
use crate::tokens::transfers::Tokens;
use trawl_core::primitives::Address;

/// Most sentences of a transaction that no rule covers as a whole.
const MAX_STEPS: usize = 5;

/// The sentences for a transaction that succeeded, the most specific first; none if no rule fits.
#[must_use]
pub fn summaries(effects: &TransactionEffects, tokens: &Tokens) -> Vec<Summary> {
    sentences(effects, tokens).into_iter().map(|sentence| calls::by_sender(sentence, effects)).collect()
}

/// The call alone, for a transaction whose transfers are too many to examine.
#[must_use]
pub fn call_alone(effects: &TransactionEffects) -> Vec<Summary> {
    let call = effects.to.and_then(|to| calls::call(effects, to));
    call.map(|sentence| calls::by_sender(sentence, effects)).into_iter().collect()
}

fn sentences(effects: &TransactionEffects, tokens: &Tokens) -> Vec<Summary> {
    if let Some(sentence) = bridges::passage(effects, tokens) {
        return vec![sentence];
    }
    let Some(to) = effects.to else { return without_recipient(effects, tokens) };
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
        (None, _) => calls::call(effects, to).into_iter().chain(steps(effects, tokens)).collect(),
    }
}

/// Every transfer by itself, if they are few.
fn steps(effects: &TransactionEffects, tokens: &Tokens) -> Vec<Summary> {
    let all = effects.transfers.as_slice();
    if all.len() > MAX_STEPS {
        return transfers::net(effects, tokens, MAX_STEPS);
    }
    all.iter().filter_map(|transfer| transfers::single(transfer, effects, tokens)).collect()
}

/// A creation; of a chain's own type, which may be several calls, what it moved.
fn without_recipient(effects: &TransactionEffects, tokens: &Tokens) -> Vec<Summary> {
    match effects.created {
        Some(created) => vec![calls::creation(created)],
        None => steps(effects, tokens),
    }
}

/// Every address a transaction's sentences may show.
#[must_use]
pub fn shown(effects: &TransactionEffects) -> Vec<Address> {
    let of_transfers = effects.transfers.iter().flat_map(|transfer| [transfer.token, transfer.from, transfer.to]);
    let bridged = bridges::only_transfer(effects);
    let of_bridge =
        bridged.into_iter().flat_map(|bridged| [Some(bridged.from), Some(bridged.to), bridged.token]).flatten();
    let spender = effects.input.get(16..36).map(Address::from_slice);
    let ends = [Some(effects.from), effects.to, effects.created, spender].into_iter().flatten();
    of_transfers.chain(ends).chain(of_bridge).collect()
}
