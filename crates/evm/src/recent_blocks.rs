//! What blocks change that are newer than the cached state.

use super::{Account, Key, StateValue};
use trawl_core::primitives::{B256, BlockNumber, U256};

/// Blocks that are newer than those that cached facts are about.
pub trait RecentBlocks: std::fmt::Debug + Send + Sync {
    /// What the blocks above the point change of a key; none if they leave it as it is.
    fn change(&self, key: &Key) -> Option<Change>;

    /// Whether all blocks from `first` to `last`, which are not above the point, are known to leave a key as it is.
    fn leaves(&self, key: &Key, first: BlockNumber, last: BlockNumber) -> bool;
}

/// Knows of no blocks above the point.
#[derive(Debug, Clone, Copy)]
pub struct NoNewerBlocks;

impl RecentBlocks for NoNewerBlocks {
    fn change(&self, _: &Key) -> Option<Change> {
        None
    }

    fn leaves(&self, _: &Key, _: BlockNumber, _: BlockNumber) -> bool {
        false
    }
}

/// A change of the value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The value after the blocks, whatever it was before.
    Whole(StateValue),
    /// Parts of an account.
    Account(AccountChange),
}

/// A change of an account. What is not given stays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AccountChange {
    /// Another balance, in wei.
    pub balance: Option<U256>,
    /// Wei that are added to the balance.
    pub credits: U256,
    /// The nonce after the blocks.
    pub nonce: Option<u64>,
    /// Hash of another code.
    pub code_hash: Option<B256>,
}

impl Change {
    /// The value, if it does not depend on the one before.
    #[must_use]
    pub fn value(&self) -> Option<StateValue> {
        match self {
            Self::Whole(value) => Some(value.clone()),
            Self::Account(change) => {
                change.balance.and(change.nonce).and(change.code_hash)?;
                Some(StateValue::Account(change.apply(Account::default())))
            }
        }
    }

    /// The value after the change of another one.
    #[must_use]
    pub fn apply(&self, before: StateValue) -> StateValue {
        match (self, before) {
            (Self::Whole(value), _) => value.clone(),
            (Self::Account(change), StateValue::Account(account)) => StateValue::Account(change.apply(account)),
            (Self::Account(_), other) => other,
        }
    }
}

impl AccountChange {
    /// Whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn apply(self, before: Account) -> Account {
        Account {
            balance: self.balance.unwrap_or(before.balance).wrapping_add(self.credits),
            nonce: self.nonce.unwrap_or(before.nonce),
            code_hash: self.code_hash.unwrap_or(before.code_hash),
        }
    }
}
