//! How many rows of each table belong to some blocks: a commit records it, so that lost rows are missed.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use trawl_core::schema::TableRows;

/// Numbers of rows by table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowCounts(BTreeMap<String, u64>);

impl RowCounts {
    /// Counts `rows` more of `table`.
    pub fn add(&mut self, table: &str, rows: u64) {
        if rows > 0 {
            *self.0.entry(table.to_owned()).or_default() += rows;
        }
    }

    /// Counts no rows of `table`.
    pub fn forget(&mut self, table: &str) {
        self.0.remove(table);
    }

    /// The tables that have rows, by name.
    #[must_use]
    pub fn rows(&self) -> Vec<TableRows> {
        self.0.iter().map(|(table, rows)| TableRows { name: table.clone(), rows: *rows }).collect()
    }
}

impl AddAssign<&Self> for RowCounts {
    fn add_assign(&mut self, other: &Self) {
        other.0.iter().for_each(|(table, rows)| self.add(table, *rows));
    }
}
