//! A block in memory.

use std::collections::HashMap;

use arrow::array::RecordBatch;
use arrow::error::ArrowError;

use super::memory_table::MemoryTable;
use super::table::TableRows;
use crate::primitives::{B256, BlockNumber};

/// A block with the rows of its tables.
#[derive(Debug)]
pub struct NewestBlock {
    /// Height of the block; genesis is 0.
    pub number: BlockNumber,
    /// Number of the write of its height: height and generation identify a block.
    pub generation: u64,
    /// Keccak-256 of the header.
    pub hash: B256,
    /// The hash of the block below.
    pub parent_hash: B256,
    tables: HashMap<&'static str, TableRows>,
    size_bytes: usize,
}

/// Bytes of an entry in the index of blocks.
const INDEX_ENTRY_BYTES: usize = size_of::<u32>() + size_of::<u8>();

impl NewestBlock {
    /// Stores the rows of a block by table.
    ///
    /// # Errors
    ///
    /// If there is no row of the block itself, or Arrow cannot copy a column.
    pub fn new(number: BlockNumber, generation: u64, tables: Vec<(String, RecordBatch)>) -> Result<Self, ArrowError> {
        let tables = Self::rows_by_table(tables)?;
        let size_bytes = size_of::<Self>() + size(&tables);
        let hash = |name: &str| {
            let hash = tables.get("blocks").and_then(|blocks: &TableRows| blocks.column(name)?.bytes(0));
            let hash = hash.and_then(|hash| B256::try_from(hash).ok());
            hash.ok_or_else(|| ArrowError::InvalidArgumentError(format!("block {number} has no {name}")))
        };
        Ok(Self { number, generation, hash: hash("hash")?, parent_hash: hash("parent_hash")?, tables, size_bytes })
    }

    fn rows_by_table(tables: Vec<(String, RecordBatch)>) -> Result<HashMap<&'static str, TableRows>, ArrowError> {
        let mut by_table = HashMap::new();
        for (table, rows) in tables {
            if let Some(table) = MemoryTable::of(&table) {
                by_table.insert(table.name(), TableRows::of(table.name(), &rows)?);
            }
        }
        Ok(by_table)
    }

    #[cfg(test)]
    pub(super) fn size_of_tables(tables: Vec<(String, RecordBatch)>) -> Result<usize, ArrowError> {
        Ok(size(&Self::rows_by_table(tables)?))
    }

    /// Bytes in memory, including the most that an index of blocks can have for it.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    pub(super) fn table(&self, name: &str) -> Option<&TableRows> {
        self.tables.get(name)
    }

    /// Whether contracts were created in it, or implementations of proxies were set.
    #[must_use]
    pub fn has_contracts(&self) -> bool {
        self.tables.contains_key("contracts") || self.tables.contains_key("proxy_implementations")
    }

    /// The keys of this block in an index of blocks.
    pub(super) fn keys(&self) -> Vec<u32> {
        keys(&self.tables)
    }

    /// The last row of a table that has these bytes in these columns.
    #[must_use]
    pub fn find(&self, table: &str, values: &[(&str, &[u8])]) -> Option<NewestRow<'_>> {
        self.find_all(table, values).pop()
    }

    /// The rows of a table that have these bytes in these columns.
    #[must_use]
    pub fn find_all(&self, table: &str, values: &[(&str, &[u8])]) -> Vec<NewestRow<'_>> {
        let Some(table) = self.table(table) else { return Vec::new() };
        table.find(values).into_iter().map(|row| NewestRow { table, row }).collect()
    }
}

/// Bytes of tables and of their keys in an index.
fn size(tables: &HashMap<&'static str, TableRows>) -> usize {
    tables.values().map(TableRows::size).sum::<usize>() + keys(tables).len() * INDEX_ENTRY_BYTES
}

/// The keys of an index for the rows of tables, without duplicates.
fn keys(tables: &HashMap<&'static str, TableRows>) -> Vec<u32> {
    let mut keys = Vec::new();
    for (name, rows) in tables {
        let Some(table) = MemoryTable::of(name) else { continue };
        keys.push(table.key_of_rows());
        for column in table.indexed().iter().filter_map(|column| rows.column(column)) {
            keys.extend(column.distinct().map(|value| table.key(value)));
        }
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// A row of a block in memory.
#[derive(Debug, Clone, Copy)]
pub struct NewestRow<'b> {
    table: &'b TableRows,
    row: usize,
}

impl<'b> NewestRow<'b> {
    /// The bytes in a column; none for NULL, for columns of numbers, and where there is no such column.
    #[must_use]
    pub fn bytes(&self, column: &str) -> Option<&'b [u8]> {
        self.table.column(column)?.bytes(self.row)
    }

    /// The number in a column; none for NULL, for columns of bytes, and where there is no such column.
    #[must_use]
    pub fn number(&self, column: &str) -> Option<u64> {
        self.table.column(column)?.number(self.row)
    }
}
