//! Reads of the newest blocks: the rows that satisfy conditions, in an order, up to a limit.

use std::cmp::Ordering;

use arrow::array::RecordBatch;
use arrow::error::ArrowError;

use super::column::StoredColumn;
use super::span::NewestSpan;
use super::table::TableRows;
use super::test::Test;

/// A column by which rows are ordered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderColumn {
    /// Its name.
    pub name: String,
    /// From the highest value down.
    pub is_descending: bool,
}

/// How the rows of the newest blocks and those of the tables follow one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// Those of the newest blocks come last.
    After,
    /// Those of the newest blocks come first.
    Before,
    /// They have to be sorted together.
    Sorted,
}

/// A read of the newest blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewestRead {
    /// The blocks.
    pub blocks: NewestSpan,
    /// The table, by the name that settled rows have.
    pub table: &'static str,
    /// What a row must satisfy.
    pub tests: Vec<Test>,
    /// The order.
    pub order: Vec<OrderColumn>,
    /// How the rows follow those of the tables.
    pub merge: Merge,
    /// Most rows.
    pub limit: u64,
    /// A column that takes the values of another one where that has one.
    pub instead: Option<(&'static str, &'static str)>,
}

/// Most rows of a batch.
const MAX_BATCH_ROWS: usize = 8_192;

/// Rows of a read, batch by batch.
#[derive(Debug)]
pub struct NewestRows {
    read: NewestRead,
    names: &'static [&'static str],
    /// How many blocks are done, and the rows of the next one that are left.
    done: usize,
    left: Vec<u32>,
    remaining: u64,
}

impl NewestRead {
    /// Begins the read of some columns.
    #[must_use]
    pub fn rows(self, names: &'static [&'static str]) -> NewestRows {
        NewestRows { remaining: self.limit, read: self, names, done: 0, left: Vec::new() }
    }

    /// The rows of a table that satisfy all conditions, in order.
    fn select(&self, table: &TableRows) -> Vec<u32> {
        let Some(tests) = self.tests.iter().map(|test| test.bind(table)).collect::<Option<Vec<_>>>() else {
            return Vec::new();
        };
        let mut rows: Vec<u32> = (0..table.len()).filter(|row| tests.iter().all(|test| test(*row as usize))).collect();
        if rows.len() > 1 {
            let columns: Vec<(&StoredColumn, bool)> =
                self.order.iter().filter_map(|order| Some((table.column(&order.name)?, order.is_descending))).collect();
            rows.sort_by(|one, other| compare(&columns, *one as usize, *other as usize));
        }
        rows
    }
}

fn compare(columns: &[(&StoredColumn, bool)], one: usize, other: usize) -> Ordering {
    let order = |(column, is_descending): &(&StoredColumn, bool)| {
        let order = column.number(one).cmp(&column.number(other));
        let order = order.then_with(|| column.bytes(one).cmp(&column.bytes(other)));
        if *is_descending { order.reverse() } else { order }
    };
    columns.iter().map(order).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

impl NewestRows {
    /// Lowers how many rows may come.
    pub fn limit(&mut self, rows: u64) {
        self.remaining = self.remaining.min(rows);
    }

    /// The next rows, of one block or several; none at the end. Blocks come from the highest down if the read says
    /// [`Merge::Before`], else ascending.
    ///
    /// # Errors
    ///
    /// If the blocks lack a column, which a plan over another table would cause.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let mut batches: Vec<RecordBatch> = Vec::new();
        let mut rows = 0;
        while self.remaining > 0 && rows < MAX_BATCH_ROWS {
            let Some(block) = self.read.blocks.block(self.done, self.read.merge == Merge::Before) else { break };
            let Some(table) = block.table(self.read.table) else {
                self.done += 1;
                continue;
            };
            if self.left.is_empty() {
                self.left = self.read.select(table);
                self.left.reverse();
            }
            let room = (MAX_BATCH_ROWS - rows).min(usize::try_from(self.remaining).unwrap_or(usize::MAX));
            let taken = self.left.len().min(room);
            let mut some = self.left.split_off(self.left.len() - taken);
            some.reverse();
            if !some.is_empty() {
                batches.push(table.project(self.names, self.read.instead, &some)?);
                rows += taken;
                self.remaining -= taken as u64;
            }
            if self.left.is_empty() {
                self.done += 1;
            }
        }
        match batches.as_slice() {
            [] => Ok(None),
            [_] => Ok(batches.pop()),
            [first, ..] => arrow::compute::concat_batches(&first.schema(), &batches).map(Some),
        }
    }
}
