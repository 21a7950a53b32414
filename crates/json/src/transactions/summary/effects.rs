//! Effects of a transaction, the input of the rules of summaries.

use trawl_chains::Family;
use trawl_core::primitives::{Address, B256, U256};

/// The effects of a transaction that the rules use; one that failed has no transfers, logs and moves of coins.
#[derive(Debug, Clone, Default)]
pub struct TransactionEffects {
    /// The rules of the chain, if it is known.
    pub family: Option<&'static Family>,
    /// The name of its type, where Ethereum does not have it.
    pub type_name: Option<&'static str>,
    /// The chain, if it is known.
    pub chain_id: Option<u64>,
    /// Sender, `from` of JSON-RPC.
    pub from: Address,
    /// Its recipient; none for a creation.
    pub to: Option<Address>,
    /// The contract it made.
    pub created: Option<Address>,
    /// Wei it carried.
    pub value: U256,
    /// Call data, or init code of a creation.
    pub input: Vec<u8>,
    /// Its method: a name, or the selector in hexadecimal.
    pub method: Option<String>,
    /// All token transfers in it, in order.
    pub transfers: Vec<Transfer>,
    /// All its logs, in order.
    pub logs: Vec<Log>,
    /// Coins that its call frames moved, in order, without its own value; none if unknown.
    pub coins: Option<Vec<CoinMove>>,
}

/// A token transfer of the transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// `ERC-20`, `ERC-721` or `ERC-1155`.
    pub token_type: String,
    /// The token contract.
    pub token: Address,
    /// Sender; zero for a mint.
    pub from: Address,
    /// Recipient; zero for a burn.
    pub to: Address,
    /// Token id, of a non-fungible token.
    pub token_id: Option<U256>,
    /// Amount in the smallest unit; 1 for ERC-721.
    pub value: U256,
}

/// A log of the transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// Contract that emitted the log.
    pub emitter: Address,
    /// None to four topics; the first is the hash of the event unless it is anonymous.
    pub topics: Vec<B256>,
    /// Unindexed arguments, encoded by the ABI.
    pub data: Vec<u8>,
}

/// Coins that a call frame moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoinMove {
    /// Caller, creator or the contract that destroyed itself.
    pub from: Address,
    /// Callee, created contract or beneficiary.
    pub to: Address,
    /// Wei that moved.
    pub value: U256,
}
