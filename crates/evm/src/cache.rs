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

/// Blocks of a window. After blocks that are settled, state is read for all blocks of a window at once: requests that
/// walk along the chain find it in the cache.
pub const WINDOW: BlockNumber = 256;

/// A bounded cache. For each piece of state it has one fact, the newest that was read for a block alone, and those of
/// all blocks of some windows. A fact never changes; a lookup for a block that no fact covers is a miss.
#[derive(Debug, Clone)]
pub struct StateCache(Cache<EntryKey, Arc<[Fact]>>);

/// A piece of state, and the window that its facts are of: none for the newest fact.
type EntryKey = (Key, Option<BlockNumber>);

/// Bytes of an entry with one fact apart from code: key, fact and overhead of the cache.
const ENTRY_BYTES: usize = 320;

/// About how many bytes an entry takes.
fn weight(facts: &[Fact]) -> u32 {
    let further = facts.len().saturating_sub(1) * size_of::<Fact>();
    let codes = facts.iter().map(|fact| match &fact.value {
        StateValue::Code(code) => 2 * code.len(),
        _ => 0,
    });
    u32::try_from(ENTRY_BYTES + further + codes.sum::<usize>()).unwrap_or(u32::MAX)
}

impl StateCache {
    /// A cache of at most about `bytes`.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        let weigh = |_: &EntryKey, facts: &Arc<[Fact]>| weight(facts);
        Self(Cache::builder().max_capacity(bytes).weigher(weigh).build())
    }

    /// Inserts a fact in place of the newest one.
    pub fn remember(&self, key: Key, fact: Fact) {
        self.0.insert((key, None), Arc::new([fact]));
    }

    /// Inserts facts of settled blocks, ascending, which begin in or before a window and end in it. The last one is the
    /// newest fact too if no newer one is known: it may hold for many windows.
    pub fn remember_window(&self, key: Key, facts: Arc<[Fact]>) {
        let Some(last) = facts.last() else { return };
        let newest = self.0.get(&(key, None));
        if newest.is_none_or(|newest| newest[0].until < last.until) {
            self.remember(key, last.clone());
        }
        self.0.insert((key, Some(last.until / WINDOW)), facts);
    }

    pub(super) fn get(&self, key: &Key, point: Point, newer: &dyn RecentBlocks) -> Lookup {
        let newest = self.0.get(&(*key, None)).and_then(|facts| facts.first().cloned());
        match newest {
            Some(fact) if fact.holds_at(point) => Lookup::Known(fact.value),
            Some(fact)
                if fact.branch == 0 && fact.until < point.block && newer.leaves(key, fact.until + 1, point.block) =>
            {
                self.remember(*key, Fact { until: point.block, ..fact.clone() });
                Lookup::Known(fact.value)
            }
            other => match (self.in_window(key, point), other) {
                (Some(value), _) => Lookup::Known(value),
                (None, Some(fact)) => Lookup::Guess(fact.value),
                (None, None) => Lookup::Nothing,
            },
        }
    }

    /// The value after a settled block, if its window was read up to that block.
    fn in_window(&self, key: &Key, point: Point) -> Option<StateValue> {
        if point.branch != 0 {
            return None;
        }
        let facts = self.0.get(&(*key, Some(point.block / WINDOW)))?;
        let next = facts.partition_point(|fact| fact.since <= point.block);
        let fact = facts.get(next.checked_sub(1)?)?;
        fact.holds_at(point).then(|| fact.value.clone())
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
        let at = |block, branch| cache.get(&key, Point { block, branch }, &crate::NoNewerBlocks);
        assert_eq!(at(3, 0), Lookup::Nothing);
        cache.remember(key, Fact { since: 3, until: 9, branch: 0, value: value() });
        assert_eq!(at(2, 0), Lookup::Guess(value()));
        assert_eq!((at(3, 0), at(9, 4)), (Lookup::Known(value()), Lookup::Known(value())));
        assert_eq!(at(10, 0), Lookup::Guess(value()));
        cache.remember(key, Fact { since: 3, until: 12, branch: 4, value: value() });
        assert_eq!((at(12, 4), at(12, 5)), (Lookup::Known(value()), Lookup::Guess(value())));
    }

    #[test]
    fn windows_are_beside_the_newest_fact_and_cover_their_blocks() {
        let (cache, key) = (StateCache::new(1 << 20), Key::Slot(Address::ZERO, B256::ZERO));
        let value = |number: u64| StateValue::Slot(U256::from(number));
        let fact = |since, until| Fact { since, until, branch: 0, value: value(since) };
        let at = |block, branch| cache.get(&key, Point { block, branch }, &crate::NoNewerBlocks);
        cache.remember(key, fact(9_000, 9_001));
        cache.remember_window(key, Arc::new([fact(7, 2 * WINDOW + 4), fact(2 * WINDOW + 5, 2 * WINDOW + 9)]));
        cache.remember_window(key, Arc::new([fact(5 * WINDOW - 1, 6 * WINDOW - 1)]));
        assert_eq!(at(2 * WINDOW, 0), Lookup::Known(value(7)));
        assert_eq!(at(2 * WINDOW + 4, 0), Lookup::Known(value(7)));
        assert_eq!(at(2 * WINDOW + 5, 0), Lookup::Known(value(2 * WINDOW + 5)));
        assert_eq!(at(2 * WINDOW + 10, 0), Lookup::Guess(value(9_000)), "above what was read");
        assert_eq!(at(2 * WINDOW + 5, 3), Lookup::Guess(value(9_000)), "of a branch");
        assert_eq!(at(6 * WINDOW - 1, 0), Lookup::Known(value(5 * WINDOW - 1)));
        assert_eq!(at(4 * WINDOW, 0), Lookup::Guess(value(9_000)), "of no window");
        assert_eq!(at(9_001, 0), Lookup::Known(value(9_000)));
    }

    #[test]
    fn the_facts_of_a_window_count_for_the_bound() {
        let cache = StateCache::new(10_000);
        let facts: Arc<[Fact]> = (0..WINDOW)
            .map(|block| Fact { since: block, until: block, branch: 0, value: StateValue::Slot(U256::ZERO) })
            .collect();
        for number in 0..50 {
            cache.remember_window(Key::Slot(Address::repeat_byte(number), B256::ZERO), Arc::clone(&facts));
        }
        cache.0.run_pending_tasks();
        assert!(cache.bytes() <= 10_000, "{}", cache.bytes());
    }
}
