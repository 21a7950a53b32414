//! The rows of a read: those of tables as the engine sends them, those of the newest blocks from memory.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::{SortColumn, SortOptions, concat_batches, lexsort_to_indices, take_record_batch};
use arrow::error::ArrowError;

use super::coalescer::PageCoalescer;
use super::connection::{Batch, EngineRows};
use super::failover::Failover;
use crate::newest::{Merge, NewestRead, NewestRows};
use crate::schema::Columns;
use crate::statement::Statement;
use crate::store::StoreError;

/// Batches of rows, in the order of their read. Holds one batch at a time; of a read that sorts rows of both kinds
/// together, all rows up to its limit.
pub struct Rows<R> {
    ready: VecDeque<Batch<R>>,
    engine: Option<EngineRows<R>>,
    newest: Option<NewestRows>,
    /// Rows that may still come from memory.
    remaining: u64,
}

/// Where the rows of tables come from.
pub(crate) struct Tables<'a> {
    pub failover: &'a Failover,
    pub coalescer: &'a Arc<PageCoalescer>,
}

impl Tables<'_> {
    async fn send<R: Columns>(
        &self,
        statement: &Statement<R>,
        limit: Option<u64>,
    ) -> Result<EngineRows<R>, StoreError> {
        self.coalescer.send(self.failover, statement, limit).await
    }
}

/// Begins a read.
pub(crate) async fn open<R: Columns>(tables: Tables<'_>, statement: &Statement<R>) -> Result<Rows<R>, StoreError> {
    let mut rows = Rows { ready: VecDeque::new(), engine: None, newest: None, remaining: u64::MAX };
    let newest = statement.newest.clone().filter(|newest| !newest.blocks.is_empty());
    match newest {
        None if statement.is_in_tables => rows.engine = Some(tables.send(statement, None).await?),
        None => {}
        Some(newest) => {
            rows.remaining = newest.limit;
            match newest.merge {
                Merge::After => {
                    if statement.is_in_tables {
                        rows.engine = Some(tables.send(statement, None).await?);
                    }
                    rows.newest = Some(newest.rows(R::names()));
                }
                Merge::Before => {
                    rows.read_newest(newest)?;
                    if statement.is_in_tables && rows.remaining > 0 {
                        rows.engine = Some(tables.send(statement, Some(rows.remaining)).await?);
                    }
                }
                Merge::Sorted => {
                    let mut batches = Vec::new();
                    if statement.is_in_tables {
                        let mut engine = tables.send(statement, None).await?;
                        while let Some(batch) = engine.next().await? {
                            batches.push(batch.record_batch().clone());
                        }
                    }
                    rows.ready.extend(sorted(newest, batches, R::names())?.map(Batch::of).transpose()?);
                }
            }
        }
    }
    Ok(rows)
}

impl<R: Columns> Rows<R> {
    /// The next batch that has rows; `None` at the end. After a cancelled call the rows must not be used again.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn next(&mut self) -> Result<Option<Batch<R>>, StoreError> {
        if let Some(batch) = self.ready.pop_front() {
            return Ok(Some(batch));
        }
        if let Some(engine) = &mut self.engine {
            if let Some(batch) = engine.next().await? {
                self.remaining = self.remaining.saturating_sub(batch.len() as u64);
                return Ok(Some(batch));
            }
            self.engine = None;
        }
        let Some(newest) = &mut self.newest else { return Ok(None) };
        newest.limit(self.remaining);
        match newest.next_batch().map_err(StoreError::Newest)? {
            Some(batch) => {
                self.remaining = self.remaining.saturating_sub(batch.num_rows() as u64);
                Batch::of(batch).map(Some)
            }
            None => Ok(None),
        }
    }

    /// Reads all rows of the newest blocks: they come before those of the tables.
    fn read_newest(&mut self, newest: NewestRead) -> Result<(), StoreError> {
        let mut rows = newest.rows(R::names());
        while let Some(batch) = rows.next_batch().map_err(StoreError::Newest)? {
            self.remaining = self.remaining.saturating_sub(batch.num_rows() as u64);
            self.ready.push_back(Batch::of(batch)?);
        }
        Ok(())
    }
}

/// The rows of the newest blocks and others in the order of the read, up to its limit.
fn sorted(
    newest: NewestRead,
    mut batches: Vec<RecordBatch>,
    names: &'static [&'static str],
) -> Result<Option<RecordBatch>, StoreError> {
    let (order, limit) = (newest.order.clone(), usize::try_from(newest.limit).unwrap_or(usize::MAX));
    // The limit holds for the rows of all blocks together, and each block's are sorted only among themselves.
    let mut rows = NewestRead { limit: u64::MAX, ..newest }.rows(names);
    while let Some(batch) = rows.next_batch().map_err(StoreError::Newest)? {
        batches.push(batch);
    }
    let Some(first) = batches.first() else { return Ok(None) };
    let schema = first.schema();
    // Nullability and metadata may be stated differently; types are checked by the view.
    let same = |batch: &RecordBatch| RecordBatch::try_new(schema.clone(), batch.columns().to_vec());
    let all: Vec<RecordBatch> =
        batches.iter().map(same).collect::<Result<_, ArrowError>>().map_err(StoreError::Newest)?;
    let sort = || {
        let all = concat_batches(&schema, &all)?;
        let column = |order: &crate::newest::OrderColumn| {
            let values = all.column_by_name(&order.name).cloned()?;
            let options = SortOptions { descending: order.is_descending, nulls_first: false };
            Some(SortColumn { values, options: Some(options) })
        };
        let columns: Vec<SortColumn> = order.iter().filter_map(column).collect();
        let indices = lexsort_to_indices(&columns, Some(limit))?;
        take_record_batch(&all, &indices)
    };
    sort().map(Some).map_err(StoreError::Newest)
}
