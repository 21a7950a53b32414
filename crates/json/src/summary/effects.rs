//! What a transaction did, as the rules of summaries see it.

use trawl_core::primitives::{Address, B256, U256};

/// What a transaction did, as far as the rules look at it. It succeeded.
#[derive(Debug, Clone, Default)]
pub struct TransactionEffects {
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
