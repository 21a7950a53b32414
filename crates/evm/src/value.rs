//! Pieces of state: what identifies one, and its value.

use std::sync::Arc;

use revm::primitives::KECCAK_EMPTY;
use revm::state::Bytecode;

use super::BlockContext;
use trawl_core::primitives::{Address, B256, BlockNumber, Bytes, U256};

/// A piece of state, or another input of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// Balance, nonce and code hash of an account.
    Account(Address),
    /// The code with a hash.
    Code(B256),
    /// A slot of an account.
    Slot(Address, B256),
    /// The hash of the block at a height.
    BlockHash(BlockNumber),
    /// The fields of the block at a height that code can read.
    Block(BlockNumber),
}

/// The value of a [`Key`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateValue {
    /// Balance, nonce and code hash, of [`Key::Account`].
    Account(Account),
    /// Bytes with their jump destinations, of [`Key::Code`].
    Code(Bytecode),
    /// A word of 256 bits, of [`Key::Slot`].
    Slot(U256),
    /// Keccak-256 of a header, of [`Key::BlockHash`].
    BlockHash(B256),
    /// Fields of a header, of [`Key::Block`].
    Block(Arc<BlockContext>),
}

/// Code as the EVM runs it. Bytes that begin like a delegation (EIP-7702) but are none are ordinary code, as in geth:
/// they may be older than EIP-3541, or come from an override.
#[must_use]
pub fn bytecode(code: Bytes) -> Bytecode {
    Bytecode::new_raw_checked(code.clone()).unwrap_or_else(|_| Bytecode::new_legacy(code))
}

/// An account without its storage. An account that does not exist is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    /// Balance in wei.
    pub balance: U256,
    /// Transactions sent or contracts created.
    pub nonce: u64,
    /// Keccak-256 of its code.
    pub code_hash: B256,
}

impl Default for Account {
    fn default() -> Self {
        Self { balance: U256::ZERO, nonce: 0, code_hash: KECCAK_EMPTY }
    }
}

impl Account {
    /// Whether it is empty (EIP-161).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
