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
    /// Which writing of its height it is: height and generation name a block.
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
        let kept = Self::keep(tables)?;
        let size_bytes = size_of::<Self>() + size(&kept);
        let hash = |name: &str| {
            let hash = kept.get("blocks").and_then(|blocks: &TableRows| blocks.column(name)?.bytes(0));
            let hash = hash.and_then(|hash| B256::try_from(hash).ok());
            hash.ok_or_else(|| ArrowError::InvalidArgumentError(format!("block {number} has no {name}")))
        };
        Ok(Self {
            number,
            generation,
            hash: hash("hash")?,
            parent_hash: hash("parent_hash")?,
            tables: kept,
            size_bytes,
        })
    }

    fn keep(tables: Vec<(String, RecordBatch)>) -> Result<HashMap<&'static str, TableRows>, ArrowError> {
        let mut kept = HashMap::new();
        for (table, rows) in tables {
            if let Some(table) = MemoryTable::of(&table) {
                kept.insert(table.name(), TableRows::of(table.name(), &rows)?);
            }
        }
        Ok(kept)
    }

    #[cfg(test)]
    pub(super) fn size_of_tables(tables: Vec<(String, RecordBatch)>) -> Result<usize, ArrowError> {
        Ok(size(&Self::keep(tables)?))
    }

    /// Bytes in memory, with as many as an index of blocks can have for it.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    pub(super) fn table(&self, name: &str) -> Option<&TableRows> {
        self.tables.get(name)
    }

    /// Whether contracts were created in it, or proxies pointed somewhere.
    #[must_use]
    pub fn has_contracts(&self) -> bool {
        self.tables.contains_key("contracts") || self.tables.contains_key("proxy_implementations")
    }

    /// What an index of blocks has for this one.
    pub(super) fn keys(&self) -> Vec<u32> {
        keys(&self.tables)
    }

    /// The last row of a table that has these bytes in these columns.
    #[must_use]
    pub fn find(&self, table: &str, wanted: &[(&str, &[u8])]) -> Option<NewestRow<'_>> {
        self.find_all(table, wanted).pop()
    }

    /// The rows of a table that have these bytes in these columns.
    #[must_use]
    pub fn find_all(&self, table: &str, wanted: &[(&str, &[u8])]) -> Vec<NewestRow<'_>> {
        let Some(table) = self.table(table) else { return Vec::new() };
        table.find(wanted).into_iter().map(|row| NewestRow { table, row }).collect()
    }
}

/// Bytes of tables and of what an index has for them.
fn size(tables: &HashMap<&'static str, TableRows>) -> usize {
    tables.values().map(TableRows::size).sum::<usize>() + keys(tables).len() * INDEX_ENTRY_BYTES
}

/// What an index has for the rows of tables, each key once.
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
