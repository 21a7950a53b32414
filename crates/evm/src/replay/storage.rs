//! What the transactions of a block wrote into the storage of an account.

use std::collections::BTreeMap;

use revm::database::{AccountState, Cache};
use trawl_core::primitives::{Address, B256, U256};

/// What transactions wrote into the storage of an account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StorageWrites {
    /// Whether nothing is left of what was there before them.
    pub is_cleared: bool,
    /// The values of slots that they touched, zero for those that are empty.
    pub slots: BTreeMap<B256, U256>,
}

impl StorageWrites {
    /// Those of an account among some changes.
    pub(super) fn of(account: Address, changes: &Cache) -> Self {
        let Some(account) = changes.accounts.get(&account) else { return Self::default() };
        let slots = account.storage.iter().map(|(slot, value)| (B256::from(*slot), *value));
        Self {
            is_cleared: matches!(account.account_state, AccountState::StorageCleared | AccountState::NotExisting),
            slots: slots.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use revm::database::DbAccount;

    use super::*;

    #[test]
    fn of_an_account_that_was_made_anew_nothing_older_is_left() {
        let mut changes = Cache::default();
        let account = Address::repeat_byte(1);
        let mut add = |account_state| {
            let storage = [(U256::from(1), U256::from(7))].into_iter().collect();
            changes.accounts.insert(account, DbAccount { account_state, storage, ..DbAccount::default() });
            StorageWrites::of(account, &changes)
        };
        let slots = BTreeMap::from([(B256::with_last_byte(1), U256::from(7))]);
        for (state, is_cleared) in
            [(AccountState::Touched, false), (AccountState::StorageCleared, true), (AccountState::NotExisting, true)]
        {
            assert_eq!(add(state), StorageWrites { is_cleared, slots: slots.clone() });
        }
        assert_eq!(StorageWrites::of(Address::ZERO, &changes), StorageWrites::default());
    }
}
