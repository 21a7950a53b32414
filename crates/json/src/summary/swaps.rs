//! One asset for another at an exchange, proven by the event of the exchange.
//!
//! Two assets that an account gave and received in one transaction need not be a trade: deposits pay rewards. So a pool
//! must have emitted the event of a trade, have received the given asset, and have sent the received one.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use alloy_primitives::keccak256;

use super::assets::{Asset, Balance, balance};
use super::sentence::{Summary, Variable};
use std::collections::BTreeMap;

use super::TransactionEffects;
use crate::token_transfers::Tokens;
use trawl_core::primitives::{Address, B256, U256};

/// Events of a trade: Uniswap v2, v3 and v4 and their forks, PancakeSwap v3, Balancer v2, Curve.
static TRADES: LazyLock<BTreeSet<B256>> = LazyLock::new(|| {
    let events = [
        "Swap(address,uint256,uint256,uint256,uint256,address)",
        "Swap(address,address,int256,int256,uint160,uint128,int24)",
        "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)",
        "Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)",
        "Swap(bytes32,address,address,uint256,uint256)",
        "TokenExchange(address,int128,uint256,int128,uint256)",
        "TokenExchange(address,uint256,uint256,uint256,uint256)",
    ];
    events.into_iter().map(keccak256).collect()
});

/// The sender gave one asset and received another, without other transfers to or from it.
pub(super) fn swap(effects: &TransactionEffects, tokens: &Tokens) -> Option<Summary> {
    let pools: BTreeSet<Address> =
        effects.logs.iter().filter(|log| is_trade(&log.topics)).map(|log| log.emitter).collect();
    if pools.is_empty() || effects.moves_collectibles_of(effects.from) {
        return None;
    }
    let Balance { given, received } = balance(effects, effects.from)?;
    let ([(given, out)], [(received, back)]) = (given.as_slice(), received.as_slice()) else { return None };
    if !was_given(effects, &pools, *given, *out) || !was_received(effects, &pools, *received, *back) {
        return None;
    }
    let mut sentence = Summary::new("Swapped");
    let outgoing = side(&mut sentence, ("outgoing_amount", "outgoing_token"), (*given, *out), tokens);
    let incoming = side(&mut sentence, ("incoming_amount", "incoming_token"), (*received, *back), tokens);
    Some(sentence.template(format!("{{action_type}} {outgoing} for {incoming}")))
}

fn is_trade(topics: &[B256]) -> bool {
    topics.first().is_some_and(|topic| TRADES.contains(topic))
}

/// Whether a pool received the asset, or as much of one other token: the wrapped form of the coin.
fn was_given(effects: &TransactionEffects, pools: &BTreeSet<Address>, asset: Asset, amount: U256) -> bool {
    match asset {
        Asset::Token(token) => effects.transfers_of(token).any(|(_, to, _)| pools.contains(&to)),
        Asset::Coin => {
            let mut coins = effects.coins.iter().flatten();
            let is_direct = effects.to.is_some_and(|to| pools.contains(&to));
            is_direct
                || coins.any(|coins| pools.contains(&coins.to))
                || sums(effects, |_, to| pools.contains(&to)).contains(&amount)
        }
    }
}

/// Whether a pool gave the asset, or as much of one other token.
fn was_received(effects: &TransactionEffects, pools: &BTreeSet<Address>, asset: Asset, amount: U256) -> bool {
    match asset {
        Asset::Token(token) => effects.transfers_of(token).any(|(from, _, _)| pools.contains(&from)),
        Asset::Coin => {
            let mut coins = effects.coins.iter().flatten();
            coins.any(|coins| pools.contains(&coins.from))
                || sums(effects, |from, _| pools.contains(&from)).contains(&amount)
        }
    }
}

/// Sums of the transfers that count, token by token.
fn sums(effects: &TransactionEffects, counts: impl Fn(Address, Address) -> bool) -> Vec<U256> {
    let mut sums: BTreeMap<Address, U256> = BTreeMap::new();
    let fungible = effects.transfers.iter().filter(|transfer| transfer.token_type == "ERC-20");
    for transfer in fungible.filter(|transfer| counts(transfer.from, transfer.to)) {
        let sum = sums.entry(transfer.token).or_default();
        *sum = sum.saturating_add(transfer.value);
    }
    sums.into_values().collect()
}

/// The template of one side of a trade. Without decimals an amount would be a guess.
fn side(
    sentence: &mut Summary,
    (amount_name, token_name): (&'static str, &'static str),
    (asset, amount): (Asset, U256),
    tokens: &Tokens,
) -> String {
    match asset {
        Asset::Coin => {
            sentence.push(amount_name, Variable::coins(amount));
            format!("{{{amount_name}}} {{native}}")
        }
        Asset::Token(token) => {
            let decimals = tokens.decimals(&token);
            if let Some(decimals) = decimals {
                sentence.push(amount_name, Variable::Amount(amount, decimals));
            }
            sentence.push(token_name, Variable::Token(token, "ERC-20".into()));
            if decimals.is_some() { format!("{{{amount_name}}} {{{token_name}}}") } else { format!("{{{token_name}}}") }
        }
    }
}
