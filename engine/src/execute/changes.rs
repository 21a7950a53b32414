//! Counts changes of tables: a number for each table that a request watches. Every statement that changes rows of the
//! table increments it.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;

/// Most tables whose changes are counted. The one that was watched least recently is evicted.
pub const TABLES: usize = 1024;
/// Random bits of a first number; the others are milliseconds since 1970, and all fit an `f64`.
const CHANCE: u32 = 11;

/// A database and a table in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Table {
    /// Name of the database.
    pub database: String,
    /// Name without the database.
    pub table: String,
}

/// The numbers of all tables that were watched.
///
/// A number starts at one that depends on the time, whenever counting starts: with the process, and again after a table
/// had been evicted. So one that was read before never looks like the present one.
#[derive(Debug)]
pub struct Changes(Mutex<Option<HashMap<Table, ChangeCounter>>>);

impl Default for Changes {
    fn default() -> Self {
        Self(Mutex::new(Some(HashMap::new())))
    }
}

#[derive(Debug)]
struct ChangeCounter {
    number: watch::Sender<u64>,
    last_watched: Instant,
}

/// Why a table's changes cannot be counted.
#[derive(Debug, PartialEq, Eq)]
pub enum UnknownRowCount {
    /// Every entry is held by a table that is being watched.
    TooMany,
    /// Counting has ended.
    Closed,
}

impl Changes {
    /// The number of `table`, now and as it changes; counts from now on if it was not watched before.
    ///
    /// # Errors
    ///
    /// If so many tables are watched that this one cannot be counted, or counting has ended.
    pub fn watch(&self, table: Table) -> Result<watch::Receiver<u64>, UnknownRowCount> {
        let mut tables = self.tables();
        let tables = tables.as_mut().ok_or(UnknownRowCount::Closed)?;
        if !tables.contains_key(&table) && tables.len() >= TABLES {
            let unwatched = tables.iter().filter(|(_, counted)| counted.number.receiver_count() == 0);
            let oldest = unwatched.min_by_key(|(_, counted)| counted.last_watched).map(|(table, _)| table.clone());
            tables.remove(&oldest.ok_or(UnknownRowCount::TooMany)?);
        }
        let counted = tables.entry(table).or_insert_with(|| ChangeCounter {
            number: watch::Sender::new(first_number()),
            last_watched: Instant::now(),
        });
        counted.last_watched = Instant::now();
        Ok(counted.number.subscribe())
    }

    /// A statement that changed rows of `table` has finished.
    pub fn changed(&self, table: &Table) {
        if let Some(counted) = self.tables().as_ref().and_then(|tables| tables.get(table)) {
            counted.number.send_modify(|number| *number += 1);
        }
    }

    /// A statement that may have changed rows of every table of `database` has finished.
    pub fn changed_in(&self, database: &str) {
        for (table, counted) in self.tables().iter().flatten() {
            if table.database == database {
                counted.number.send_modify(|number| *number += 1);
            }
        }
    }

    /// A statement has finished whose text does not name the tables that it changed: all count as changed.
    pub fn changed_somewhere(&self) {
        for counted in self.tables().iter().flat_map(HashMap::values) {
            counted.number.send_modify(|number| *number += 1);
        }
    }

    /// Ends counting and wakes all watchers, whose wait fails.
    pub fn close(&self) {
        *self.tables() = None;
    }

    fn tables(&self) -> MutexGuard<'_, Option<HashMap<Table, ChangeCounter>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn first_number() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let milliseconds = u64::try_from(since_1970.as_millis()).unwrap_or(0);
    let chance = RandomState::new().hash_one(milliseconds) & ((1 << CHANCE) - 1);
    (milliseconds << CHANCE) | chance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(number: usize) -> Table {
        Table { database: "d".into(), table: format!("t{number}") }
    }

    #[test]
    fn tables_beyond_the_bound_evict_the_least_recently_watched() {
        let changes = Changes::default();
        let held = changes.watch(table(0)).expect("an entry");
        for number in 1..TABLES {
            drop(changes.watch(table(number)).expect("an entry"));
        }
        let before = *changes.watch(table(1)).expect("known").borrow();
        drop(changes.watch(table(TABLES)).expect("the entry of table 2"));
        assert_eq!(*changes.watch(table(1)).expect("known").borrow(), before);
        changes.changed(&table(0));
        assert!(held.has_changed().expect("counted"), "one that is waited for is not evicted");
        let all: Vec<_> = (0..TABLES).map(|number| changes.watch(table(number))).collect();
        assert!(all.iter().all(Result::is_ok));
        assert_eq!(changes.watch(table(TABLES)).err(), Some(UnknownRowCount::TooMany));
    }

    #[test]
    fn a_number_from_before_never_matches() {
        let changes = Changes::default();
        let before = *changes.watch(table(0)).expect("an entry").borrow();
        changes.changed(&table(0));
        changes.changed_somewhere();
        assert_eq!(*changes.watch(table(0)).expect("known").borrow(), before + 2);
        *changes.tables() = Some(HashMap::new());
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(*changes.watch(table(0)).expect("an entry").borrow() > before + 2);
        assert!(before < 1 << 53, "a JSON number");
        changes.close();
        assert_eq!(changes.watch(table(0)).err(), Some(UnknownRowCount::Closed));
    }
}
