//! Overrides of accounts and of the block for one call.

use std::collections::BTreeMap;

use trawl_core::primitives::{Address, B256, Bytes, U256};

/// Overrides of an account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountOverride {
    /// Balance in wei; `None` leaves it.
    pub balance: Option<U256>,
    /// Transactions sent or contracts created; `None` leaves it.
    pub nonce: Option<u64>,
    /// Code that runs instead; `None` leaves it.
    pub code: Option<Bytes>,
    /// Slots that have other values.
    pub storage: Storage,
}

/// Overrides of the storage of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Storage {
    /// Only these slots have other values.
    Changed(BTreeMap<B256, U256>),
    /// All slots: those that are not listed are zero.
    Replaced(BTreeMap<B256, U256>),
}

impl Default for Storage {
    fn default() -> Self {
        Self::Changed(BTreeMap::new())
    }
}

impl Storage {
    /// The value of a slot; `None` if it is not overridden.
    pub(super) fn slot(&self, slot: &B256) -> Option<U256> {
        match self {
            Self::Changed(slots) => slots.get(slot).copied(),
            Self::Replaced(slots) => Some(slots.get(slot).copied().unwrap_or_default()),
        }
    }
}

/// Overrides of the block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockOverrides {
    /// Height of the block.
    pub number: Option<U256>,
    /// Seconds since 1970.
    pub time: Option<U256>,
    /// Gas the block may use.
    pub gas_limit: Option<u64>,
    /// Recipient of the fees.
    pub fee_recipient: Option<Address>,
    /// The randomness beacon.
    pub random: Option<B256>,
    /// Wei per gas (EIP-1559).
    pub base_fee_per_gas: Option<u64>,
    /// Wei for a unit of blob gas.
    pub blob_base_fee: Option<u128>,
    /// Proof-of-work difficulty, which `DIFFICULTY` returns before the merge.
    pub difficulty: Option<U256>,
}
