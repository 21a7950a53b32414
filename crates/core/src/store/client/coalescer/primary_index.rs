//! The primary keys of tables, a mark for each granule, as ClickHouse has them in memory:
//! <https://clickhouse.com/docs/sql-reference/table-functions/mergeTreeIndex>.
//!
//! They say up to which block a page of an address probably reaches. They are read again each minute while pages wait;
//! one that is old makes pages short, which are read again alone, and never wrong. A mark takes 32 bytes, a table with
//! more than a million of them (some eight billion rows) is read page by page.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::super::failover::Failover;
use crate::primitives::{Address, BlockNumber};
use crate::schema::columns::columns;
use crate::served_chain::for_same_chain;
use crate::statement::{Statement, Workload};
use crate::store::StoreError;

/// Most marks of a table.
const MAX_MARKS: usize = 1_000_000;
/// How old an index may become.
const MAX_AGE: Duration = Duration::from_secs(60);
/// How long a table is left alone whose index cannot be read: one on shards, or one of an account that may not.
const PAUSE: Duration = Duration::from_secs(600);

columns! {
    /// The first row of a granule.
    pub struct MarkRow / MarkView {
        address: Address,
        block_number: u64,
    }
}

/// The marks of a table, in the order of its key.
pub(super) struct PrimaryIndex(Vec<(Address, BlockNumber)>);

impl PrimaryIndex {
    /// The block of the second mark of an address above a block.
    pub fn above(&self, address: Address, block: BlockNumber) -> Option<BlockNumber> {
        let position = self.0.partition_point(|mark| *mark <= (address, block));
        self.block(address, position + 1)
    }

    /// The block of the second mark of an address at or below a block.
    pub fn below(&self, address: Address, block: BlockNumber) -> Option<BlockNumber> {
        let position = self.0.partition_point(|mark| *mark <= (address, block));
        self.block(address, position.checked_sub(2)?)
    }

    fn block(&self, address: Address, position: usize) -> Option<BlockNumber> {
        self.0.get(position).filter(|(of, _)| *of == address).map(|(_, block)| *block)
    }
}

/// The indexes that were read, by table.
#[derive(Default)]
pub(super) struct PrimaryIndexes(Arc<Mutex<HashMap<&'static str, IndexEntry>>>);

#[derive(Clone)]
struct IndexEntry {
    index: Option<Arc<PrimaryIndex>>,
    /// Whether it could not be read.
    is_refused: bool,
    /// When it is read again.
    due: Instant,
}

impl IndexEntry {
    fn refused() -> Self {
        Self { index: None, is_refused: true, due: Instant::now() + PAUSE }
    }

    fn good(index: Option<Arc<PrimaryIndex>>) -> Self {
        Self { index, is_refused: false, due: Instant::now() + MAX_AGE }
    }
}

impl PrimaryIndexes {
    /// Whether it is known that there is no index of a table to be had for now.
    pub fn is_missing(&self, table: &str) -> bool {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_missing = |entry: &IndexEntry| entry.is_refused && entry.due > Instant::now();
        entries.get(table).is_some_and(is_missing)
    }

    /// The index of a table, if it was read; begins to read it where that is due.
    pub fn of_table(&self, failover: &Failover, table: &'static str) -> Option<Arc<PrimaryIndex>> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = entries.get(table).cloned();
        let index = known.as_ref().and_then(|entry| entry.index.clone());
        if known.is_none_or(|entry| entry.due <= Instant::now()) {
            // Nobody else reads it meanwhile.
            entries.insert(table, IndexEntry::good(index.clone()));
            let (entries, failover) = (Arc::clone(&self.0), failover.clone());
            tokio::spawn(for_same_chain(async move {
                let entry = match read(&failover, table).await {
                    Ok(Some(index)) => IndexEntry::good(Some(Arc::new(index))),
                    Ok(None) => {
                        tracing::debug!(table, "the table has too many marks: its pages are read one by one");
                        IndexEntry::refused()
                    }
                    Err(error) => {
                        let cause = crate::error_chain(&error);
                        tracing::debug!(
                            table,
                            cause,
                            "the marks of the table cannot be read: its pages are read one by one"
                        );
                        IndexEntry::refused()
                    }
                };
                entries.lock().unwrap_or_else(PoisonError::into_inner).insert(table, entry);
            }));
        }
        index
    }
}

/// Reads the index of a table; `None` if it has too many marks.
async fn read(failover: &Failover, table: &'static str) -> Result<Option<PrimaryIndex>, StoreError> {
    let sql = format!(
        "SELECT address, block_number FROM mergeTreeIndex(currentDatabase(), '{table}') LIMIT {}",
        MAX_MARKS + 1
    );
    let statement = Statement::<MarkRow>::page(sql).on_behalf_of(Workload::Scan);
    let mut batches = failover.send(&statement, None).await?;
    let mut marks = Vec::new();
    while let Some(batch) = batches.next().await? {
        marks.extend(batch.rows().map(|row| (row.address, row.block_number)));
    }
    if marks.len() > MAX_MARKS {
        return Ok(None);
    }
    marks.sort_unstable();
    Ok(Some(PrimaryIndex(marks)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_at_the_second_mark_of_its_address() {
        let [one, two] = [1, 2].map(Address::repeat_byte);
        let index = PrimaryIndex(vec![(one, 0), (one, 10), (one, 20), (one, 30), (two, 5)]);
        assert_eq!(index.above(one, 3), Some(20));
        assert_eq!(index.above(one, 10), Some(30), "a mark at the block itself is not behind it");
        assert_eq!(index.above(one, 20), None, "the next mark is that of another address");
        assert_eq!(index.below(one, 25), Some(10));
        assert_eq!(index.below(one, 20), Some(10));
        assert_eq!(index.below(one, 5), None);
        assert_eq!(index.below(two, 9), None);
    }
}
