//! The newest blocks of one branch.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::error::ArrowError;

use super::table::TableRows;
use super::touched::Touched;
use crate::primitives::{Address, B256, BlockNumber, BlockRange, Coverage, HotRange};

/// A block with the rows of its tables.
#[derive(Debug)]
pub struct NewestBlock {
    /// Its height.
    pub number: BlockNumber,
    /// Which writing of its height it is: height and generation name a block.
    pub generation: u64,
    /// Its hash.
    pub hash: B256,
    /// The hash of the block below.
    pub parent_hash: B256,
    tables: HashMap<&'static str, TableRows>,
    touched: Touched,
    size_bytes: usize,
}

/// The tables that are kept; the others are orders of the same rows, or not read.
const KEPT_TABLES: [&str; 18] = [
    "blocks",
    "transactions",
    "logs",
    "withdrawals",
    "uncles",
    "internal_transactions",
    "internal_transactions_by_direction",
    "token_transfers_by_direction",
    "balance_history",
    "nonce_history",
    "code_history",
    "codes",
    "storage_history",
    "account_destructions",
    "balance_credits",
    "contracts",
    "proxy_implementations",
    "block_verdicts",
];

impl NewestBlock {
    /// Stores the rows of a block by table.
    ///
    /// # Errors
    ///
    /// If there is no row of the block itself, or Arrow cannot copy a column.
    pub fn new(number: BlockNumber, generation: u64, tables: Vec<(String, RecordBatch)>) -> Result<Self, ArrowError> {
        let kept = Self::keep(tables)?;
        let touched = Touched::of(&kept);
        let size_bytes = size_of::<Self>() + kept.values().map(TableRows::size).sum::<usize>() + touched.size();
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
            touched,
            size_bytes,
        })
    }

    fn keep(tables: Vec<(String, RecordBatch)>) -> Result<HashMap<&'static str, TableRows>, ArrowError> {
        let mut kept = HashMap::new();
        for (table, rows) in tables {
            if let Some(name) = KEPT_TABLES.into_iter().find(|name| *name == table) {
                kept.insert(name, TableRows::of(name, &rows)?);
            }
        }
        Ok(kept)
    }

    #[cfg(test)]
    pub(super) fn size_of_tables(tables: Vec<(String, RecordBatch)>) -> Result<usize, ArrowError> {
        Ok(Self::keep(tables)?.values().map(TableRows::size).sum())
    }

    /// Bytes in memory.
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

    /// Whether the block may change the balance, nonce or code of an account: false only where it does not.
    #[must_use]
    pub fn may_change(&self, account: &Address) -> bool {
        self.touched.may_have(account)
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

/// Blocks by height.
#[derive(Debug, Default)]
pub struct NewestBlocks {
    blocks: BTreeMap<BlockNumber, Arc<NewestBlock>>,
    floor: BlockNumber,
}

impl NewestBlocks {
    /// Blocks of one branch. Blocks below `floor` were left out because they did not fit.
    pub fn new(blocks: impl Iterator<Item = Arc<NewestBlock>>, floor: BlockNumber) -> Self {
        Self { blocks: blocks.map(|block| (block.number, block)).collect(), floor }
    }

    /// Below this height blocks were left out because they did not fit.
    #[must_use]
    pub fn floor(&self) -> BlockNumber {
        self.floor
    }

    /// The blocks of `range` that can be read: those in memory, and those `stored` in the hot tables, which have all
    /// blocks up to that height.
    #[must_use]
    pub fn readable(&self, range: &HotRange, stored: Option<BlockNumber>) -> Vec<HotRange> {
        let generation = range.generation;
        let can_be_read =
            |number: &BlockNumber| stored.is_some_and(|stored| *number <= stored) || self.contains(*number, generation);
        let numbers = range.blocks.first()..=range.blocks.last();
        let readable: Coverage = numbers.filter(can_be_read).map(BlockRange::single).collect();
        readable.ranges().iter().map(|blocks| HotRange { blocks: *blocks, generation }).collect()
    }

    /// A block by its height.
    #[must_use]
    pub fn get(&self, number: BlockNumber) -> Option<&NewestBlock> {
        self.blocks.get(&number).map(Arc::as_ref)
    }

    /// A block to be shared with a later view.
    #[must_use]
    pub fn share(&self, number: BlockNumber, generation: u64) -> Option<Arc<NewestBlock>> {
        self.blocks.get(&number).filter(|block| block.generation == generation).cloned()
    }

    /// Whether a block is there.
    #[must_use]
    pub fn contains(&self, number: BlockNumber, generation: u64) -> bool {
        self.get(number).is_some_and(|block| block.generation == generation)
    }

    /// Blocks of a range, ascending.
    pub fn range(&self, range: BlockRange) -> impl DoubleEndedIterator<Item = &NewestBlock> {
        self.blocks.range(range.first()..=range.last()).map(|(_, block)| block.as_ref())
    }

    /// From the lowest height to the highest.
    #[must_use]
    pub fn run(&self) -> Option<BlockRange> {
        BlockRange::new(*self.blocks.first_key_value()?.0, *self.blocks.last_key_value()?.0)
    }

    /// The lowest block.
    #[must_use]
    pub fn lowest(&self) -> Option<&NewestBlock> {
        self.blocks.values().next().map(Arc::as_ref)
    }

    /// The blocks right below `block`, each the parent of the next, as far as they are here: at most so many bytes.
    #[must_use]
    pub fn below(&self, block: &NewestBlock, bytes: usize) -> Self {
        let (mut below, mut size, mut child) = (BTreeMap::new(), 0, block);
        while let Some(parent) = child.number.checked_sub(1).and_then(|number| self.blocks.get(&number)) {
            size += parent.size_bytes;
            if parent.hash != child.parent_hash || size > bytes {
                break;
            }
            below.insert(parent.number, Arc::clone(parent));
            child = parent;
        }
        Self { blocks: below, floor: 0 }
    }

    /// These blocks and others; of two at a height, the other.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let both = self.blocks.iter().chain(&other.blocks);
        Self { blocks: both.map(|(number, block)| (*number, Arc::clone(block))).collect(), floor: 0 }
    }

    /// Bytes in memory.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.blocks.values().map(|block| block.size_bytes).sum()
    }

    /// How many blocks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }
}
