//! The net assets that an account gave and received in a transaction.

use std::collections::BTreeMap;

use super::{CoinMove, TransactionEffects, coins};
use trawl_core::primitives::{Address, U256};

/// An ERC-20 token, or the chain's own coin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Asset {
    Coin,
    Token(Address),
}

/// The net assets that an account gave and received: each asset is on one side only.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Balance {
    pub given: Vec<(Asset, U256)>,
    pub received: Vec<(Asset, U256)>,
}

/// The balance of `account`; none if coins were sent and the amount that came back is unknown.
pub(crate) fn balance(effects: &TransactionEffects, account: Address) -> Option<Balance> {
    balance_with(effects, account, &coins::known(effects)?)
}

/// The balance of `account` in tokens alone.
pub(crate) fn tokens(effects: &TransactionEffects, account: Address) -> Option<Balance> {
    let tokens = TransactionEffects { value: U256::ZERO, ..effects.clone() };
    balance_with(&tokens, account, &[])
}

fn balance_with(effects: &TransactionEffects, account: Address, coins: &[CoinMove]) -> Option<Balance> {
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
    for coins in coins {
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

impl TransactionEffects {
    /// Whether `account` gave or received a non-fungible token.
    pub(crate) fn moves_collectibles_of(&self, account: Address) -> bool {
        let mut others = self.transfers.iter().filter(|transfer| transfer.token_type != "ERC-20");
        others.any(|transfer| transfer.from == account || transfer.to == account)
    }

    /// Transfers of an ERC-20 token: sender, recipient and amount.
    pub(crate) fn transfers_of(&self, token: Address) -> impl Iterator<Item = (Address, Address, U256)> {
        let of_token =
            self.transfers.iter().filter(move |transfer| transfer.token == token && transfer.token_type == "ERC-20");
        of_token.map(|transfer| (transfer.from, transfer.to, transfer.value))
    }
}
