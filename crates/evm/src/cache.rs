//! A bounded cache of the state of blocks. Entries are facts: a value, and the blocks after which it held.

use std::sync::Arc;

use moka::sync::Cache;

use super::{Key, RecentBlocks, StateValue};
use trawl_core::primitives::BlockNumber;

/// A block of one branch; state is read after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Point {
    /// Height of the block.
    pub block: BlockNumber,
    /// 0 for a settled block; else the sequence of the head that named the branch.
    pub branch: u64,
}

/// A value and the blocks after which it held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The first of them.
    pub since: BlockNumber,
    /// The last known one, inclusive.
    pub until: BlockNumber,
    /// Its branch: see [`Point::branch`].
    pub branch: u64,
    /// The value after each of these blocks.
    pub value: StateValue,
}

impl Fact {
    fn holds_at(&self, point: Point) -> bool {
        (self.since..=self.until).contains(&point.block) && (self.branch == 0 || self.branch == point.branch)
    }
}

/// The result of a lookup in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lookup {
    /// The value after the block.
    Known(StateValue),
    /// The value after another block.
    Guess(StateValue),
    /// The cache has no value of the key.
    Nothing,
}

/// A bounded cache with one fact for each piece of state. A fact never changes; a lookup for a block that the fact does
/// not cover is a miss.
#[derive(Debug, Clone)]
pub struct StateCache(Cache<Key, Arc<Fact>>);

/// Bytes of an entry apart from code: key, fact and overhead of the cache.
const ENTRY_BYTES: u32 = 320;

impl StateCache {
    /// A cache of at most about `bytes`.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        let weigh = |_: &Key, fact: &Arc<Fact>| match &fact.value {
            StateValue::Code(code) => ENTRY_BYTES.saturating_add(u32::try_from(2 * code.len()).unwrap_or(u32::MAX)),
            _ => ENTRY_BYTES,
        };
        Self(Cache::builder().max_capacity(bytes).weigher(weigh).build())
    }

    /// Inserts a fact in place of an older one.
    pub fn remember(&self, key: Key, fact: Fact) {
        self.0.insert(key, Arc::new(fact));
    }

    pub(super) fn get(&self, key: &Key, point: Point, newer: &dyn RecentBlocks) -> Lookup {
        match self.0.get(key) {
            Some(fact) if fact.holds_at(point) => Lookup::Known(fact.value.clone()),
            Some(fact)
                if fact.branch == 0 && fact.until < point.block && newer.leaves(key, fact.until + 1, point.block) =>
            {
                self.remember(*key, Fact { until: point.block, ..Fact::clone(&fact) });
                Lookup::Known(fact.value.clone())
            }
            Some(fact) => Lookup::Guess(fact.value.clone()),
            None => Lookup::Nothing,
        }
    }

    /// About how many bytes it holds.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.weighted_size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trawl_core::primitives::{Address, B256, U256};

    #[test]
    fn a_fact_covers_only_its_blocks_and_its_branch() {
        let cache = StateCache::new(1 << 20);
        let key = Key::Slot(Address::ZERO, B256::ZERO);
        let value = || StateValue::Slot(U256::from(5));
        let at = |block, branch| cache.get(&key, Point { block, branch }, &crate::NothingNewer);
        assert_eq!(at(3, 0), Lookup::Nothing);
        cache.remember(key, Fact { since: 3, until: 9, branch: 0, value: value() });
        assert_eq!(at(2, 0), Lookup::Guess(value()));
        assert_eq!((at(3, 0), at(9, 4)), (Lookup::Known(value()), Lookup::Known(value())));
        assert_eq!(at(10, 0), Lookup::Guess(value()));
        cache.remember(key, Fact { since: 3, until: 12, branch: 4, value: value() });
        assert_eq!((at(12, 4), at(12, 5)), (Lookup::Known(value()), Lookup::Guess(value())));
    }
}
