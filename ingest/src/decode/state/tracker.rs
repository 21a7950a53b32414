//! Tracks accounts through the steps of a block and collects the differences at its end. Knows no source.

use std::collections::BTreeMap;

use trawl_core::primitives::{Address, B256, Bytes, U256};

use crate::block::state_diff::AccountDiff;

/// Accounts as the steps so far left them.
#[derive(Debug, Default)]
pub struct Tracker {
    accounts: BTreeMap<Address, AccountState>,
}

/// The fields of an account other than its storage. `None` is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    /// Balance in wei.
    pub balance: Option<U256>,
    /// Transactions sent or contracts created.
    pub nonce: Option<u64>,
    /// Bytes of its code; empty without code.
    pub code: Option<Bytes>,
}

impl Fields {
    /// Those of an account that does not exist.
    #[must_use]
    pub fn empty() -> Self {
        Self { balance: Some(U256::ZERO), nonce: Some(0), code: Some(Bytes::new()) }
    }
}

#[derive(Debug, Default)]
struct AccountState {
    balance: Option<Change<U256>>,
    nonce: Option<Change<u64>>,
    code: Option<Change<Bytes>>,
    storage: BTreeMap<B256, Change<B256>>,
    destroyed: bool,
}

/// A value that a step set. `before` is what it was at the beginning of the block, where that is known.
#[derive(Debug)]
struct Change<T> {
    before: Option<T>,
    after: T,
}

impl<T: PartialEq> Change<T> {
    fn follow(known: &mut Option<Self>, before: Option<T>, after: T) {
        match known {
            Some(change) => change.after = after,
            None => *known = Some(Self { before, after }),
        }
    }

    /// The value after the block, unless it is the one before it.
    fn difference(self) -> Option<T> {
        (self.before.as_ref() != Some(&self.after)).then_some(self.after)
    }

    fn was(&self, value: &T) -> bool {
        self.before.as_ref() == Some(value)
    }
}

impl Tracker {
    /// A step that left `after` in an account that had `before`. Fields that are `None` in `after` are untouched.
    pub fn set(&mut self, address: Address, before: Fields, after: Fields) {
        let account = self.accounts.entry(address).or_default();
        if let Some(balance) = after.balance {
            Change::follow(&mut account.balance, before.balance, balance);
        }
        if let Some(nonce) = after.nonce {
            Change::follow(&mut account.nonce, before.nonce, nonce);
        }
        if let Some(code) = after.code {
            Change::follow(&mut account.code, before.code, code);
        }
    }

    /// A step that left `after` in a slot that held `before`.
    pub fn set_slot(&mut self, address: Address, slot: B256, before: Option<B256>, after: B256) {
        let storage = &mut self.accounts.entry(address).or_default().storage;
        storage.entry(slot).and_modify(|change| change.after = after).or_insert(Change { before, after });
    }

    /// A step after which an account that had `before` does not exist.
    pub fn destroy(&mut self, address: Address, before: Fields) {
        self.set(address, before, Fields::empty());
        let account = self.accounts.entry(address).or_default();
        account.storage.clear();
        account.destroyed = true;
    }

    /// The differences between the beginning and the end.
    #[must_use]
    pub fn finish(self) -> BTreeMap<Address, AccountDiff> {
        let accounts = self.accounts.into_iter().map(|(address, account)| (address, account.finish()));
        accounts.filter(|(_, diff)| *diff != AccountDiff::default()).collect()
    }
}

impl AccountState {
    fn finish(self) -> AccountDiff {
        let was_there = !(self.balance.as_ref().is_some_and(|change| change.was(&U256::ZERO))
            && self.nonce.as_ref().is_some_and(|change| change.was(&0))
            && self.code.as_ref().is_some_and(|change| change.was(&Bytes::new())));
        let code_before =
            self.code.as_ref().filter(|change| !change.was(&change.after)).and_then(|it| it.before.clone());
        AccountDiff {
            code_before,
            // An account that came in the same block leaves nothing.
            destroyed: self.destroyed && was_there,
            balance: self.balance.and_then(Change::difference),
            nonce: self.nonce.and_then(Change::difference),
            code: self.code.and_then(Change::difference),
            storage: self.storage.into_iter().filter_map(|(slot, change)| Some((slot, change.difference()?))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Address = Address::repeat_byte(1);

    fn slot(byte: u8) -> B256 {
        B256::with_last_byte(byte)
    }

    fn balance(wei: u64) -> Fields {
        Fields { balance: Some(U256::from(wei)), ..Fields::default() }
    }

    #[test]
    fn what_returns_to_what_it_was_is_no_difference() {
        let mut tracker = Tracker::default();
        tracker.set(ONE, balance(5), balance(6));
        tracker.set(ONE, balance(6), balance(5));
        tracker.set_slot(ONE, slot(1), Some(slot(0)), slot(9));
        tracker.set_slot(ONE, slot(1), Some(slot(9)), slot(0));
        assert!(tracker.finish().is_empty());
    }

    #[test]
    fn an_account_destroyed_and_made_again_keeps_only_what_it_was_made_with() {
        let mut tracker = Tracker::default();
        let code = |byte| Fields { code: Some(vec![byte].into()), ..balance(1) };
        tracker.set_slot(ONE, slot(1), Some(slot(5)), slot(6));
        tracker.destroy(ONE, Fields { nonce: Some(1), ..code(1) });
        tracker.set(ONE, Fields::empty(), code(1));
        tracker.set_slot(ONE, slot(2), Some(slot(0)), slot(7));
        let expected = AccountDiff {
            destroyed: true,
            nonce: Some(0),
            storage: [(slot(2), slot(7))].into(),
            ..AccountDiff::default()
        };
        assert_eq!(tracker.finish(), [(ONE, expected)].into());
    }

    #[test]
    fn an_account_that_comes_and_goes_leaves_nothing() {
        let mut tracker = Tracker::default();
        tracker.set(ONE, Fields::empty(), Fields { nonce: Some(1), code: Some(vec![1].into()), ..balance(7) });
        tracker.set_slot(ONE, slot(1), Some(slot(0)), slot(5));
        tracker.destroy(ONE, Fields::default());
        assert!(tracker.finish().is_empty());
    }
}
