//! A transaction in the making, and what all of them pay.

use alloy_consensus::TxEnvelope;
use alloy_primitives::Bytes;

use super::block::{Account, Asset};

/// Wei; the same in every block.
pub const BASE_FEE: u128 = 7_000_000_000;
/// Wei for the coinbase.
pub const TIP: u128 = 1_000_000_000;
/// Of every transaction.
pub const GAS: u64 = 50_000;
/// The limit of every transaction.
pub const GAS_LIMIT: u64 = 90_000;

/// A transaction with what it does.
pub struct Draft {
    /// Number of the account that signs.
    pub sender: Account,
    /// The transaction with its signature.
    pub envelope: TxEnvelope,
    /// Its call data.
    pub input: Bytes,
    /// Who is called.
    pub to: alloy_primitives::Address,
    /// Wei sent to the called account.
    pub value: u128,
    /// Its inner call.
    pub inner: Option<(Account, u128)>,
    /// The first of its logs, and the one after the last.
    pub logs: (usize, usize),
    /// What it changed: before and after.
    pub changes: Vec<(Asset, Account, u128, u128)>,
    /// The sender's nonce.
    pub nonce: u64,
    /// The nonce of who gets coins, if that is another.
    pub recipient_nonce: u64,
    /// What the coinbase had before it.
    pub coinbase: u128,
}
