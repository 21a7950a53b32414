//! What an account gave and received in a transaction, all in all.

use std::collections::BTreeMap;

use super::TransactionEffects;
use trawl_core::primitives::{Address, U256};

/// What can be given: a token of the ERC-20 kind, or the chain's own coin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Asset {
    Coin,
    Token(Address),
}

/// What an account gave and received, each asset on one side only: what went both ways is set off.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Balance {
    pub given: Vec<(Asset, U256)>,
    pub received: Vec<(Asset, U256)>,
}

/// The balance of `account`; none where coins went and nobody knows how many came back.
pub(super) fn balance(effects: &TransactionEffects, account: Address) -> Option<Balance> {
    let mut sums: BTreeMap<Asset, (U256, U256)> = BTreeMap::new();
    let mut add = |asset, from: Address, to: Address, value: U256| -> Option<()> {
        let (given, received) = sums.entry(asset).or_default();
        if from == account {
            *given = given.checked_add(value)?;
        }
        if to == account {
            *received = received.checked_add(value)?;
        }
        Some(())
    };
    for transfer in effects.transfers.iter().filter(|transfer| transfer.token_type == "ERC-20") {
        add(Asset::Token(transfer.token), transfer.from, transfer.to, transfer.value)?;
    }
    add(Asset::Coin, effects.from, effects.to?, effects.value)?;
    for coins in coins(effects)? {
        add(Asset::Coin, coins.from, coins.to, coins.value)?;
    }
    let mut balance = Balance::default();
    for (asset, (given, received)) in sums {
        if given > received {
            balance.given.push((asset, given - received));
        } else if received > given {
            balance.received.push((asset, received - given));
        }
    }
    Some(balance)
}

/// What call frames moved. Where that is not known and the transaction carried nothing, tokens are all that is told of.
fn coins(effects: &TransactionEffects) -> Option<&[super::CoinMove]> {
    match &effects.coins {
        Some(coins) => Some(coins),
        None => effects.value.is_zero().then_some(&[]),
    }
}

impl TransactionEffects {
    /// Whether `account` gave or received a token of which each is one of its own.
    pub(super) fn moves_collectibles_of(&self, account: Address) -> bool {
        let mut others = self.transfers.iter().filter(|transfer| transfer.token_type != "ERC-20");
        others.any(|transfer| transfer.from == account || transfer.to == account)
    }

    /// Transfers of an ERC-20 token, with what they moved.
    pub(super) fn transfers_of(&self, token: Address) -> impl Iterator<Item = (Address, Address, U256)> {
        let of_token =
            self.transfers.iter().filter(move |transfer| transfer.token == token && transfer.token_type == "ERC-20");
        of_token.map(|transfer| (transfer.from, transfer.to, transfer.value))
    }
}
