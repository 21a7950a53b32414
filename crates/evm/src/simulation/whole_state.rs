//! All accounts with all of their storage, for the root of the state.

use std::collections::BTreeMap;

use alloy_primitives::keccak256;
use alloy_primitives::map::HashMap;
use alloy_trie::root::{state_root_unsorted, storage_root_unhashed};
use alloy_trie::{EMPTY_ROOT_HASH, TrieAccount};
use revm::database::{AccountState, Cache, DbAccount};

use crate::Account;
use trawl_core::primitives::{Address, B256, U256};

/// The state after a block, all of it.
#[derive(Debug, Clone, Default)]
pub struct WholeState {
    pub(super) accounts: HashMap<Address, StoredAccount>,
}

/// An account as the trie has it, and its storage.
#[derive(Debug, Clone)]
pub(super) struct StoredAccount {
    pub key: B256,
    pub account: TrieAccount,
    pub slots: BTreeMap<B256, U256>,
}

impl WholeState {
    /// The accounts that exist, and their slots; zeros among these do not count.
    #[must_use]
    pub fn new(accounts: impl IntoIterator<Item = (Address, Account, BTreeMap<B256, U256>)>) -> Self {
        let stored = |(address, account, slots): (Address, Account, BTreeMap<B256, U256>)| {
            let Account { nonce, balance, code_hash } = account;
            let account = TrieAccount { nonce, balance, storage_root: storage_root(&slots), code_hash };
            (address, StoredAccount { key: keccak256(address), account, slots })
        };
        Self { accounts: accounts.into_iter().map(stored).collect() }
    }

    /// The root of the state.
    #[must_use]
    pub fn root(&self) -> B256 {
        state_root_unsorted(self.accounts.values().map(|stored| (stored.key, stored.account)))
    }

    /// The root of the state after what changed since.
    pub(super) fn root_after(&self, changes: &Cache) -> B256 {
        let unchanged = self.accounts.iter().filter(|(address, _)| !changes.accounts.contains_key(*address));
        let unchanged = unchanged.map(|(_, stored)| (stored.key, stored.account));
        let changed = changes.accounts.iter().filter_map(|(address, account)| self.changed(*address, account));
        state_root_unsorted(unchanged.chain(changed))
    }

    fn changed(&self, address: Address, account: &DbAccount) -> Option<(B256, TrieAccount)> {
        if account.account_state == AccountState::NotExisting {
            return None;
        }
        let before = self.accounts.get(&address).filter(|_| account.account_state != AccountState::StorageCleared);
        let storage_root = match before {
            Some(stored) if account.storage.is_empty() => stored.account.storage_root,
            _ => {
                let mut slots = before.map(|stored| stored.slots.clone()).unwrap_or_default();
                slots.extend(account.storage.iter().map(|(slot, value)| (B256::from(*slot), *value)));
                storage_root(&slots)
            }
        };
        let info = &account.info;
        let account = TrieAccount { nonce: info.nonce, balance: info.balance, storage_root, code_hash: info.code_hash };
        Some((keccak256(address), account))
    }
}

fn storage_root(slots: &BTreeMap<B256, U256>) -> B256 {
    let set = slots.iter().filter(|(_, value)| !value.is_zero());
    if slots.is_empty() { EMPTY_ROOT_HASH } else { storage_root_unhashed(set.map(|(slot, value)| (*slot, *value))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_has_the_root_of_nothing() {
        assert_eq!(WholeState::default().root(), EMPTY_ROOT_HASH);
        let zero = [(B256::ZERO, U256::ZERO)].into();
        assert_eq!(storage_root(&zero), EMPTY_ROOT_HASH);
    }
}
