//! Transactions without the signature of an account.

use alloy_primitives::{Address, B256, keccak256};

/// What transactions without the signature of an account are on the chains of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsignedRule {
    /// The family has no rule for such transactions.
    Unknown,
    /// Hashed like any other, with zeros for a signature; always from these addresses.
    Hashed {
        /// The senders that are allowed.
        senders: &'static [Address],
        /// What they are called.
        name: &'static str,
    },
    /// The sync of Polygon's state from Ethereum: last of its block, outside of roots and bloom, with a hash that
    /// follows from the block's (Bor, `DeriveBorTxHash`).
    StateSync,
    /// What HyperCore does on HyperEVM: legacy transactions at the price 0, which no account can sign in a block with a
    /// base fee, outside of roots, bloom and gas. Nodes make up their signatures (hl-archive-node/nanoreth, README).
    System,
}

impl UnsignedRule {
    /// What such a transaction is called; `None` where there are none, or where nothing but the price shows it.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Unknown | Self::System => None,
            Self::Hashed { name, .. } => Some(name),
            Self::StateSync => Some("state sync"),
        }
    }

    /// What a transaction is called that stands outside of the tries; `None` where all are in them.
    #[must_use]
    pub fn outside(self) -> Option<&'static str> {
        match self {
            Self::Unknown | Self::Hashed { .. } => None,
            Self::StateSync => Some("state sync"),
            Self::System => Some("system transaction"),
        }
    }
}

/// What the lengths of all sprints are multiples of: 64 blocks on Polygon at first, 16 since Delhi.
const SPRINT: u64 = 16;

/// Whether a block of Polygon may have a state sync: the first one of a sprint has it (maticnetwork/bor,
/// `IsSprintStart`).
#[must_use]
pub fn may_have_state_sync(block_number: u64) -> bool {
    block_number.is_multiple_of(SPRINT)
}

/// The hash of the state sync transaction of a block of Polygon.
#[must_use]
pub fn state_sync_hash(block_number: u64, block_hash: &B256) -> B256 {
    let mut key = b"matic-bor-receipt-".to_vec();
    key.extend_from_slice(&block_number.to_be_bytes());
    key.extend_from_slice(block_hash.as_slice());
    keccak256(key)
}
