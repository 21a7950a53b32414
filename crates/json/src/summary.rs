//! A transaction in sentences (specification 2.9): rules over what it did, each saying only what is certain.
//!
//! Templates and variables follow the grammar of the behaviour reference, section 3.7. `{native}` is the chain's own
//! coin and needs no variable. A rule asks for proof in logs, transfers and call frames, and says nothing without.

use std::collections::BTreeMap;

use super::token_transfers::Tokens;
use trawl_core::primitives::{Address, B256, U256};

mod assets;
mod calls;
mod collectibles;
mod sentence;
mod swaps;
mod transfers;
mod vaults;

pub use sentence::{Summary, write_summaries};

/// What a transaction did, as far as the rules look at it. It succeeded.
#[derive(Debug, Clone, Default)]
pub struct Deed {
    /// Its sender.
    pub from: Address,
    /// Its recipient; none for a creation.
    pub to: Option<Address>,
    /// The contract it made.
    pub created: Option<Address>,
    /// Wei it carried.
    pub value: U256,
    /// Its input.
    pub input: Vec<u8>,
    /// What it calls: a name, or the first four bytes of its input in hexadecimal.
    pub method: Option<String>,
    /// All token transfers in it, in order.
    pub transfers: Vec<Transfer>,
    /// All its logs, in order.
    pub logs: Vec<Log>,
    /// Coins that its call frames moved, in order, without its own value; none if that is not known.
    pub coins: Option<Vec<CoinMove>>,
}

/// A token transfer of the transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// `ERC-20`, `ERC-721` or `ERC-1155`.
    pub token_type: String,
    /// The token.
    pub token: Address,
    /// Who gave; zero for a mint.
    pub from: Address,
    /// Who received; zero for a burn.
    pub to: Address,
    /// Which token, where each is one of its own.
    pub token_id: Option<U256>,
    /// How much.
    pub value: U256,
}

/// A log of the transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// Who emitted it.
    pub emitter: Address,
    /// Its topics.
    pub topics: Vec<B256>,
    /// Its data.
    pub data: Vec<u8>,
}

/// Coins that a call frame moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoinMove {
    /// Who gave.
    pub from: Address,
    /// Who received.
    pub to: Address,
    /// Wei.
    pub value: U256,
}

/// Sentences of a transaction that no rule covers as a whole, at most.
const STEPS: usize = 5;

/// The sentences for a deed, the most telling first; none if no rule fits.
#[must_use]
pub fn summaries(deed: &Deed, tokens: &Tokens) -> Vec<Summary> {
    let Some(to) = deed.to else { return deed.created.map(calls::creation).into_iter().collect() };
    let whole = collectibles::sale(deed, tokens)
        .or_else(|| collectibles::mint(deed))
        .or_else(|| swaps::swap(deed, tokens))
        .or_else(|| vaults::passage(deed, to, tokens));
    match (whole, deed.transfers.as_slice()) {
        (Some(sentence), _) => vec![sentence],
        (None, [transfer]) => transfers::single(transfer, deed, tokens).into_iter().collect(),
        (None, []) if deed.input.is_empty() => transfers::coins(deed, to).into_iter().collect(),
        (None, []) => {
            let sentence = calls::approval(deed, to, tokens).or_else(|| calls::wrap(deed, to));
            sentence.or_else(|| calls::call(deed, to)).into_iter().collect()
        }
        (None, several) => {
            let steps = several.iter().filter_map(|transfer| transfers::single(transfer, deed, tokens));
            let steps = steps.take(if several.len() <= STEPS { STEPS } else { 0 });
            calls::call(deed, to).into_iter().chain(steps).collect()
        }
    }
}

/// Every address a deed's sentences may show.
#[must_use]
pub fn shown(deed: &Deed) -> Vec<Address> {
    let of_transfers = deed.transfers.iter().flat_map(|transfer| [transfer.token, transfer.from, transfer.to]);
    let spender = deed.input.get(16..36).map(Address::from_slice);
    let ends = [deed.to, deed.created, spender].into_iter().flatten();
    of_transfers.chain(ends).collect()
}

#[cfg(test)]
mod tests;
