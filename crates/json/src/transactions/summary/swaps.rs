//! One asset for another at an exchange, proven by the event of the exchange.
//!
//! Two assets that an account gave and received in one transaction need not be a trade: deposits pay rewards. So a pool
//! must have emitted the event of a trade; the given asset must have come from the sender to a pool, and the received
//! one from a pool to the sender, straight or through others.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use alloy_primitives::keccak256;

use super::amounts::Names;
use super::assets::{Asset, Balance, balance, tokens as tokens_of};
use super::sentence::Summary;
use super::{TransactionEffects, amounts, coins};
use crate::tokens::transfers::Tokens;
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

/// One side of a trade.
#[derive(Debug, Clone, Copy)]
enum Side {
    Exactly(Asset, U256),
    /// Coins, of which a part was refunded or retained on the way.
    AtMost(U256),
}

const OUTGOING: Names = ("outgoing_amount", "outgoing_token");
const INCOMING: Names = ("incoming_amount", "incoming_token");

/// The sender gave one asset and received another, without other transfers to or from it.
pub(crate) fn swap(effects: &TransactionEffects, tokens: &Tokens) -> Option<Summary> {
    let pools: BTreeSet<Address> =
        effects.logs.iter().filter(|log| is_trade(&log.topics)).map(|log| log.emitter).collect();
    if pools.is_empty() || effects.moves_collectibles_of(effects.from) {
        return None;
    }
    let (out, back) = exact(effects, &pools).or_else(|| bounded(effects, &pools))?;
    let mut sentence = Summary::new("Swapped");
    let outgoing = side(&mut sentence, OUTGOING, out, tokens);
    let incoming = side(&mut sentence, INCOMING, back, tokens);
    Some(sentence.template(format!("{{action_type}} {outgoing} for {incoming}")))
}

fn is_trade(topics: &[B256]) -> bool {
    topics.first().is_some_and(|topic| TRADES.contains(topic))
}

/// Both sides, where moves of coins are known.
fn exact(effects: &TransactionEffects, pools: &BTreeSet<Address>) -> Option<(Side, Side)> {
    let Balance { given, received } = balance(effects, effects.from)?;
    let ([(given, out)], [(received, back)]) = (given.as_slice(), received.as_slice()) else { return None };
    let is_given = match given {
        Asset::Token(token) => was_given(effects, pools, *token),
        Asset::Coin => coins_were_given(effects, pools),
    };
    let is_received = match received {
        Asset::Token(token) => was_received(effects, pools, *token),
        Asset::Coin => coins_were_received(effects, pools),
    };
    (is_given && is_received).then_some((Side::Exactly(*given, *out), Side::Exactly(*received, *back)))
}

/// Both sides, where it is not known whom the called contract paid coins. Of the value the sender gave no more than
/// all, and of what that contract unwrapped it received no more than all.
fn bounded(effects: &TransactionEffects, pools: &BTreeSet<Address>) -> Option<(Side, Side)> {
    if coins::known(effects).is_some() {
        return None;
    }
    let Balance { given, received } = tokens_of(effects, effects.from)?;
    match (given.as_slice(), received.as_slice()) {
        ([], [(Asset::Token(token), back)]) => {
            // A small part of the value may have been a trade beside something else.
            let traded = coins::sum(coins::wrapped(effects))?;
            let is_most = traded.checked_mul(U256::from(10))? >= effects.value.checked_mul(U256::from(9))?;
            let is_bought = is_most && coins_were_given(effects, pools) && was_received(effects, pools, *token);
            let sides = (Side::AtMost(effects.value), Side::Exactly(Asset::Token(*token), *back));
            (is_bought && !effects.value.is_zero()).then_some(sides)
        }
        ([(Asset::Token(token), out)], []) if effects.value.is_zero() => {
            let is_called = |passage: coins::Passage| Some(passage.account) == effects.to;
            let is_sold = coins::unwrapped(effects).any(is_called)
                && was_given(effects, pools, *token)
                && coins_were_received(effects, pools);
            let most = coins::sum(coins::unwrapped(effects))?;
            is_sold.then_some((Side::Exactly(Asset::Token(*token), *out), Side::AtMost(most)))
        }
        _ => None,
    }
}

/// Whether the token went from the sender to a pool.
fn was_given(effects: &TransactionEffects, pools: &BTreeSet<Address>, token: Address) -> bool {
    let ways: Vec<_> = effects.transfers_of(token).map(|(from, to, _)| (from, to)).collect();
    reaches(&ways, effects.from, token, pools)
}

/// Whether the token came from a pool to the sender.
fn was_received(effects: &TransactionEffects, pools: &BTreeSet<Address>, token: Address) -> bool {
    let ways: Vec<_> = effects.transfers_of(token).map(|(from, to, _)| (to, from)).collect();
    reaches(&ways, effects.from, token, pools)
}

/// Whether transfers lead from an account to one of the pools. Not through the token itself, which may sell taxes at
/// the pool.
fn reaches(ways: &[(Address, Address)], start: Address, token: Address, pools: &BTreeSet<Address>) -> bool {
    let mut reached = BTreeSet::from([start]);
    let mut next = vec![start];
    while let Some(at) = next.pop() {
        for (_, to) in ways.iter().filter(|(from, _)| *from == at) {
            if pools.contains(to) {
                return true;
            }
            if *to != token && !to.is_zero() && reached.insert(*to) {
                next.push(*to);
            }
        }
    }
    false
}

/// Whether a pool received coins, straight or wrapped.
fn coins_were_given(effects: &TransactionEffects, pools: &BTreeSet<Address>) -> bool {
    let mut wrapped = coins::wrapped(effects);
    effects.to.is_some_and(|to| pools.contains(&to))
        || effects.coins.iter().flatten().any(|coins| pools.contains(&coins.to))
        || wrapped.any(|one| effects.transfers_of(one.token).any(|(_, to, _)| pools.contains(&to)))
}

/// Whether a pool gave coins, straight or wrapped.
fn coins_were_received(effects: &TransactionEffects, pools: &BTreeSet<Address>) -> bool {
    let mut unwrapped = coins::unwrapped(effects);
    effects.coins.iter().flatten().any(|coins| pools.contains(&coins.from))
        || unwrapped.any(|one| effects.transfers_of(one.token).any(|(from, _, _)| pools.contains(&from)))
}

/// The template of one side of a trade.
fn side(sentence: &mut Summary, names: Names, side: Side, tokens: &Tokens) -> String {
    match side {
        Side::Exactly(Asset::Coin, amount) => amounts::coins(sentence, names.0, amount),
        Side::Exactly(Asset::Token(token), amount) => amounts::tokens(sentence, names, token, amount, tokens),
        Side::AtMost(amount) => format!("at most {}", amounts::coins(sentence, names.0, amount)),
    }
}
