//! Selects the blocks that a read has to search.

use super::index::IndexRun;
use super::memory_table::MemoryTable;
use super::predicate::Predicate;

/// What a block must have for some of its rows to match: the part of the conditions that an index of blocks covers.
#[derive(Debug)]
pub(super) enum Lookup {
    /// One of these keys.
    Keys(Vec<u32>),
    /// At least one of these matches.
    AnyOf(Vec<Lookup>),
    /// All of these match.
    AllOf(Vec<Lookup>),
}

impl Lookup {
    /// For the rows of a table that satisfy all tests.
    pub fn of(table: &str, tests: &[Predicate]) -> Self {
        let Some(table) = MemoryTable::of(table) else { return Self::Keys(Vec::new()) };
        all_of(table, tests).unwrap_or_else(|| Self::Keys(vec![table.key_of_rows()]))
    }

    /// For the rows of a table that have these bytes in these columns.
    pub fn of_values(table: &str, values: &[(&str, &[u8])]) -> Self {
        let Some(table) = MemoryTable::of(table) else { return Self::Keys(Vec::new()) };
        let indexed = values.iter().filter(|(column, _)| table.indexed().contains(column));
        let mut keys: Vec<Self> = indexed.map(|(_, value)| Self::Keys(vec![table.key(value)])).collect();
        if keys.is_empty() {
            keys.push(Self::Keys(vec![table.key_of_rows()]));
        }
        Self::AllOf(keys)
    }

    /// The blocks of a run to search: bit 0 is the lowest height.
    pub fn mask(&self, run: &IndexRun) -> u64 {
        match self {
            Self::Keys(keys) => keys.iter().fold(0, |mask, key| mask | run.having(*key)),
            Self::AnyOf(parts) => parts.iter().fold(0, |mask, part| mask | part.mask(run)),
            Self::AllOf(parts) => {
                let both = |mask, part: &Self| if mask == 0 { 0 } else { mask & part.mask(run) };
                parts.iter().fold(u64::MAX, both)
            }
        }
    }
}

/// The lookup of all tests together; none if the index covers none of them.
fn all_of(table: MemoryTable, tests: &[Predicate]) -> Option<Lookup> {
    let parts: Vec<Lookup> = tests.iter().filter_map(|test| part(table, test)).collect();
    (!parts.is_empty()).then_some(Lookup::AllOf(parts))
}

/// The lookup of a test; none if the index does not cover it.
fn part(table: MemoryTable, test: &Predicate) -> Option<Lookup> {
    let is_indexed = |column: &&str| table.indexed().contains(column);
    let having = |values: &[Vec<u8>]| Lookup::Keys(values.iter().map(|value| table.key(value)).collect());
    match test {
        Predicate::Among { columns, values } => columns.iter().all(is_indexed).then(|| having(values)),
        Predicate::LeastOf { among, .. } => is_indexed(&"address").then(|| having(among)),
        Predicate::AnyOf(tests) => tests.iter().map(|test| part(table, test)).collect::<Option<_>>().map(Lookup::AnyOf),
        Predicate::AllOf(tests) => all_of(table, tests),
        Predicate::IsNot { .. }
        | Predicate::Position { .. }
        | Predicate::AtLeast { .. }
        | Predicate::NotZero { .. }
        | Predicate::OncePerAddress => None,
    }
}
