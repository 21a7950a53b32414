//! Reads the pages of several requests by one statement, and gives each its rows.

use std::collections::HashMap;

use arrow::array::{Array as _, FixedSizeBinaryArray, RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;

use super::super::failover::Failover;
use super::pages::pages_together;
use super::primary_index::{PrimaryIndex, PrimaryIndexes};
use super::waiting::{PageReply, WaitingPage};
use crate::primitives::{Address, BlockRange};
use crate::schema::{ColumnMismatch, Columns};
use crate::statement::{AddressPage, Statement};
use crate::store::StoreError;

/// Most bytes of the rows of a group, which are in memory together; pages that are larger stream one by one.
const MAX_GROUP_BYTES: usize = 16 << 20;

/// Rows whose columns are those that each request checks for itself.
struct UncheckedRow;

impl Columns for UncheckedRow {
    type View<'a> = ();

    fn names() -> &'static [&'static str] {
        &[]
    }

    fn clickhouse_types() -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn view(_: &RecordBatch) -> Result<(), ColumnMismatch> {
        Ok(())
    }

    fn row((): &(), _: usize) -> Self {
        Self
    }
}

/// Reads the pages; those that do not get their rows read alone.
pub(super) async fn read<T>(failover: &Failover, indexes: &PrimaryIndexes, mut pages: Vec<WaitingPage<T>>) {
    let Some(index) = indexes.of_table(failover, pages[0].member.page.table) else {
        // Until the index is there each page is read alone, all of them at once.
        return;
    };
    for page in &mut pages {
        page.member.blocks = index.bound(&page.member.page);
    }
    let limit = pages[0].limit;
    let members: Vec<_> = pages.iter().map(|page| page.member.clone()).collect();
    let statement = pages_together::<UncheckedRow>(&members, limit).on_behalf_of(pages[0].workload);
    match rows_by_address(failover, &statement).await {
        Ok(None) => tracing::debug!(sql = %statement.sql, "pages are too large to read together"),
        Ok(Some(mut rows)) => {
            for page in pages {
                let own = rows.remove(&page.member.page.address).unwrap_or_default();
                let count: usize = own.iter().map(RecordBatch::num_rows).sum();
                // Fewer rows than a page are all rows only if all blocks were read.
                if count as u64 >= limit || page.member.blocks == page.member.page.blocks {
                    drop(page.reply.send(PageReply::Rows(own)));
                }
            }
        }
        Err(error) => tracing::debug!(cause = crate::error_chain(&error), "reading pages one by one"),
    }
}

/// The rows of each address, in their order; `None` if they are too large together, or do not name their address.
async fn rows_by_address(
    failover: &Failover,
    statement: &Statement<UncheckedRow>,
) -> Result<Option<HashMap<Address, Vec<RecordBatch>>>, StoreError> {
    let mut rows: HashMap<Address, Vec<RecordBatch>> = HashMap::new();
    let mut bytes = 0;
    let mut batches = failover.send(statement, None).await?;
    while let Some(batch) = batches.next().await? {
        bytes += batch.size_bytes();
        if bytes > MAX_GROUP_BYTES {
            return Ok(None);
        }
        let batch = batch.record_batch();
        let column = batch.column_by_name("address").and_then(|column| column.as_any().downcast_ref());
        let Some(addresses): Option<&FixedSizeBinaryArray> = column else { return Ok(None) };
        let mut first = 0;
        while first < addresses.len() {
            let address = addresses.value(first);
            let count = (first..addresses.len()).take_while(|row| addresses.value(*row) == address).count();
            let Ok(key) = Address::try_from(address) else { return Ok(None) };
            // A copy: a slice would keep the rows of all others in memory.
            let positions: UInt32Array = (first..first + count).map(|row| u32::try_from(row).unwrap_or(0)).collect();
            let own = take_record_batch(batch, &positions).map_err(StoreError::Newest)?;
            rows.entry(key).or_default().push(own);
            first += count;
        }
    }
    Ok(Some(rows))
}

impl PrimaryIndex {
    /// The blocks of a page in which its rows are probably found: up to the second mark behind its beginning.
    fn bound(&self, page: &AddressPage) -> BlockRange {
        let (first, last) = (page.blocks.first(), page.blocks.last());
        let nearer = if page.is_descending() {
            self.below(page.address, last).and_then(|mark| BlockRange::new(first.max(mark), last))
        } else {
            self.above(page.address, first).and_then(|mark| BlockRange::new(first, last.min(mark)))
        };
        nearer.unwrap_or(page.blocks)
    }
}
