//! Slots of accounts after the blocks of a window.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::State;
use super::steps::{above, facts, last_up_to};
use crate::cache::state_loads::{History, LOOKBACKS, StateWindow};
use crate::error::Problem;
use trawl_core::primitives::{Address, B256, BlockNumber, U256};
use trawl_core::store::StoreError;
use trawl_evm::{Fact, Key, StateValue};
use trawl_query::state::slots::{SlotChange, slots};

/// A slot of an account.
type Slot = (Address, B256);

impl State {
    /// The facts of slots after the blocks of the window.
    pub(super) async fn slots(&self, slots: &[Slot]) -> Result<Vec<(Key, Arc<[Fact]>)>, Problem> {
        let loader = &self.app.state_loads().slots;
        let facts = loader.load(self.window, slots, async |all| self.read_slots(all).await).await?;
        Ok(slots.iter().map(|slot| (Key::Slot(slot.0, slot.1), Arc::clone(&facts[slot]))).collect())
    }

    /// The facts of slots in ascending order: slots of one account lie together, and are read faster together.
    async fn read_slots(&self, slots: Vec<Slot>) -> Result<HashMap<Slot, Arc<[Fact]>>, StoreError> {
        let mut found = SlotChanges::default();
        if self.base.is_in_tables() {
            let histories = &self.app.state_loads().long_histories;
            let is_long = |slot: &Slot| histories.contains(History::Slot(slot.0, slot.1));
            let (long, short): (Vec<Slot>, Vec<Slot>) = slots.iter().copied().partition(is_long);
            let (short, long) = tokio::try_join!(self.slot_changes(&short, 0), self.long_slot_changes(long))?;
            found.add(short);
            found.add(long);
            for slot in &slots {
                histories.learn(History::Slot(slot.0, slot.1), found.rows_read.get(slot).copied().unwrap_or(0));
            }
        }
        Ok(slots.into_iter().map(|slot| (slot, found.facts(slot, self.window))).collect())
    }

    /// Changes of slots with long histories: from shortly before the window on, and where there was none, from further
    /// back.
    async fn long_slot_changes(&self, mut slots: Vec<Slot>) -> Result<Vec<SlotChange>, StoreError> {
        let (mut all, first) = (Vec::new(), self.window.first);
        for lookback in LOOKBACKS {
            let rows = self.slot_changes(&slots, first.saturating_sub(lookback)).await?;
            let at_first = |row: &SlotChange| row.slot.filter(|_| row.since <= first).map(|slot| (row.address, slot));
            let known: BTreeSet<Slot> = rows.iter().filter_map(at_first).collect();
            slots.retain(|slot| !known.contains(slot));
            all.extend(rows);
        }
        Ok(all)
    }

    async fn slot_changes(&self, some: &[Slot], since: BlockNumber) -> Result<Vec<SlotChange>, StoreError> {
        if some.is_empty() {
            return Ok(Vec::new());
        }
        self.app.reader().rows(&slots(some, &self.state_blocks(), since)).await
    }
}

/// Changes by block: the last one up to the first block of a window, and those above.
#[derive(Debug, Default)]
struct SlotChanges {
    values: HashMap<Slot, BTreeMap<BlockNumber, U256>>,
    /// When accounts were destroyed: their storage was gone.
    ends: HashMap<Address, BTreeMap<BlockNumber, ()>>,
    rows_read: HashMap<Slot, u64>,
}

impl SlotChanges {
    fn add(&mut self, rows: Vec<SlotChange>) {
        for row in rows {
            let Some(slot) = row.slot else {
                self.ends.entry(row.address).or_default().insert(row.since, ());
                continue;
            };
            self.values.entry((row.address, slot)).or_default().insert(row.since, U256::from_be_bytes(row.value.0));
            *self.rows_read.entry((row.address, slot)).or_default() += row.rows_read;
        }
    }

    fn facts(&self, slot: Slot, window: StateWindow) -> Arc<[Fact]> {
        let (no_values, no_ends) = (BTreeMap::new(), BTreeMap::new());
        let (values, ends) = (self.values.get(&slot).unwrap_or(&no_values), self.ends.get(&slot.0).unwrap_or(&no_ends));
        let end = last_up_to(ends, window.first).map_or(0, |(block, ())| block);
        // Storage that an account had before its end is gone; what the same block writes after that stays.
        let value = last_up_to(values, window.first).filter(|(since, _)| *since >= end);
        let (since, first) = value.unwrap_or((end, U256::ZERO));
        let blocks = above(values, window.first).chain(above(ends, window.first));
        let value_at = |block| (block, StateValue::Slot(values.get(&block).copied().unwrap_or(U256::ZERO)));
        facts(window, since, StateValue::Slot(first), blocks.map(value_at).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_empties_a_slot_until_it_is_written_again() {
        let slot = (Address::ZERO, B256::ZERO);
        let row = |slot, since, value| SlotChange {
            address: Address::ZERO,
            slot,
            since,
            value: B256::with_last_byte(value),
            rows_read: 1,
        };
        let (written, end) = (|since, value| row(Some(B256::ZERO), since, value), |since| row(None, since, 0));
        let shown = |rows: Vec<SlotChange>| {
            let mut changes = SlotChanges::default();
            changes.add(rows);
            let facts = changes.facts(slot, StateWindow { first: 100, last: 110, branch: 0 });
            let number = |fact: &Fact| match &fact.value {
                StateValue::Slot(value) => (fact.since, fact.until, value.saturating_to::<u64>()),
                other => panic!("{other:?}"),
            };
            facts.iter().map(number).collect::<Vec<_>>()
        };
        assert_eq!(shown(vec![]), [(0, 110, 0)]);
        assert_eq!(shown(vec![written(90, 1), end(91)]), [(91, 110, 0)]);
        assert_eq!(shown(vec![end(90), written(90, 1)]), [(90, 110, 1)]);
        let both = vec![written(40, 1), end(102), written(105, 2), written(107, 3), end(107), end(108)];
        assert_eq!(shown(both), [(40, 101, 1), (102, 104, 0), (105, 106, 2), (107, 107, 3), (108, 110, 0)]);
    }
}
