//! Reads of the newest blocks: the rows that satisfy conditions, in an order, up to a limit.

use std::cmp::Ordering;

use arrow::array::RecordBatch;
use arrow::error::ArrowError;

use super::column::StoredColumn;
use super::lookup::Lookup;
use super::predicate::Predicate;
use super::span::NewestSpan;
use super::table::TableRows;
use crate::primitives::{BlockNumber, BlockRange};

/// A column by which rows are ordered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderColumn {
    /// Name of a column that hot and settled rows have.
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
    /// Which blocks are in memory, by branch.
    pub blocks: NewestSpan,
    /// The table, by the name that settled rows have.
    pub table: &'static str,
    /// What a row must satisfy.
    pub tests: Vec<Predicate>,
    /// Columns by which rows are sorted, the most significant first.
    pub order: Vec<OrderColumn>,
    /// How the rows follow those of the tables.
    pub merge: Merge,
    /// Highest number of rows over all batches.
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
    lookup: Lookup,
    /// The heights that are not done, and the rows of the next block that are left.
    heights: Option<BlockRange>,
    left: Vec<u32>,
    remaining: u64,
}

impl NewestRead {
    /// Begins the read of some columns.
    #[must_use]
    pub fn rows(self, names: &'static [&'static str]) -> NewestRows {
        let lookup = Lookup::of(self.table, &self.tests);
        let heights = BlockRange::new(0, BlockNumber::MAX);
        NewestRows { remaining: self.limit, read: self, names, lookup, heights, left: Vec::new() }
    }

    /// The heights from a block on, in the order of the read.
    fn from(&self, number: BlockNumber) -> Option<BlockRange> {
        match self.merge {
            Merge::Before => BlockRange::new(0, number),
            Merge::After | Merge::Sorted => BlockRange::new(number, BlockNumber::MAX),
        }
    }

    /// Those that come after a block.
    fn after(&self, number: BlockNumber) -> Option<BlockRange> {
        let next = match self.merge {
            Merge::Before => number.checked_sub(1),
            Merge::After | Merge::Sorted => number.checked_add(1),
        };
        self.from(next?)
    }

    /// The rows of a table that satisfy all conditions, in order.
    pub(super) fn select(&self, table: &TableRows) -> Vec<u32> {
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
        let Some(heights) = self.heights else { return Ok(None) };
        let span = self.read.blocks.within(heights);
        let mut blocks = span.having(&self.lookup);
        let mut batches: Vec<RecordBatch> = Vec::new();
        let mut rows = 0;
        while self.remaining > 0 && rows < MAX_BATCH_ROWS {
            let is_descending = self.read.merge == Merge::Before;
            let Some(block) = (if is_descending { blocks.next_back() } else { blocks.next() }) else {
                self.heights = None;
                break;
            };
            let Some(table) = block.table(self.read.table) else { continue };
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
            self.heights =
                if self.left.is_empty() { self.read.after(block.number) } else { self.read.from(block.number) };
        }
        match batches.as_slice() {
            [] => Ok(None),
            [_] => Ok(batches.pop()),
            [first, ..] => arrow::compute::concat_batches(&first.schema(), &batches).map(Some),
        }
    }
}
