//! A block as the model keeps it: what answers are held against, and the texts a node gives while it is young.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use alloy_primitives::{B256, Bytes, U256};

use super::world::{SYNC, TOKENS, TRANSFER, World};

/// What an account holds: of a token, or of the coin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Asset {
    /// The chain's coin, in wei.
    Coin,
    /// A token by its number.
    Token(u8),
}

/// Accounts are known by their number.
pub type Account = u32;

/// A log of a token contract.
#[derive(Debug, Clone)]
pub struct Log {
    /// Number of the contract among the tokens.
    pub token: u8,
    /// Its transaction's position.
    pub transaction: u32,
    /// What it says.
    pub event: Event,
}

/// What a log says.
#[derive(Debug, Clone, Copy)]
pub enum Event {
    /// `Transfer` of ERC-20.
    Transfer { from: Account, to: Account, amount: u128 },
    /// As pools of traders emit.
    Sync { amount: u128 },
}

impl Log {
    /// The event, then its indexed arguments.
    pub fn topics(&self, world: &World) -> Vec<B256> {
        let word = |account: Account| world.accounts[account as usize].into_word();
        match self.event {
            Event::Transfer { from, to, .. } => vec![TRANSFER, word(from), word(to)],
            Event::Sync { .. } => vec![SYNC],
        }
    }

    /// The other arguments, encoded by the ABI.
    pub fn data(&self) -> Bytes {
        match self.event {
            Event::Transfer { amount, .. } => B256::from(U256::from(amount)).into(),
            Event::Sync { amount } => [U256::from(amount).to_be_bytes::<32>(); 2].concat().into(),
        }
    }
}

/// An inner call with value.
#[derive(Debug, Clone, Copy)]
pub struct Inner {
    /// Its transaction's position.
    pub transaction: u32,
    /// Who is called, by a token contract.
    pub to: Account,
    /// Wei that it moves.
    pub value: u128,
}

/// What a node answers about a block, as JSON.
#[derive(Debug)]
pub struct Texts {
    /// The header and whole transactions.
    pub full: String,
    /// Result of `eth_getBlockReceipts`.
    pub receipts: String,
    /// Result of `callTracer` for the block.
    pub calls: String,
    /// prestateTracer with diffMode.
    pub differences: String,
}

/// A block of any branch.
pub struct Block {
    /// Height of the block.
    pub number: u64,
    /// Keccak-256 of the header.
    pub hash: B256,
    /// Where its parent is among all blocks.
    pub parent: Option<usize>,
    /// Hashes of its transactions.
    pub transactions: Vec<B256>,
    /// Logs of all transactions, in order.
    pub logs: Vec<Log>,
    /// Positions of the logs of each token.
    pub logs_of: [Vec<u32>; TOKENS],
    /// Its inner calls.
    pub inner: Vec<Inner>,
    /// What accounts hold after it, where that changed.
    pub holdings: HashMap<(Asset, Account), u128>,
    /// The header and the hashes of its transactions.
    pub short: String,
    /// What a node says of it; gone once it is old.
    pub texts: Option<Arc<Texts>>,
    /// When the node first had it.
    pub shown: Instant,
    /// When the node's chain first ended in another block after it ended in this one.
    pub left: Option<Instant>,
}
