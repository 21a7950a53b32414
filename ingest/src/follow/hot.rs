//! Writes the newest blocks and publishes which of them count; every step can be repeated.

use std::time::Instant;

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use futures_util::future::try_join_all;
use trawl_core::primitives::{B256, BlockNumber, BlockRange};
use trawl_core::schema::hot::hot_name;
use trawl_core::schema::packed::{HotRowsRow, pack};
use trawl_core::schema::{CommitRow, HeadRow, IntentRow, PackedBlock, Table};
use trawl_core::store::{OrphanedHotRows, StoreError};

use super::branch_segment::BranchSegment;
use super::error::FollowError;
use super::settling_group::SettlingGroup;
use super::unpacked::hot_rows;
use crate::load::prepare::PreparedBlock;
use crate::write::batch::{RowCounts, TableBatch, counts_of};
use crate::write::clock::now;
use crate::write::figures::count_batch;
use crate::write::leased_database::LeasedDatabase;
use crate::write::retry::retry_transient;

/// Most bytes of new blocks that a head carries. More are rows of their own, so that the parts of heads,
/// which every look reads, stay small.
const MAX_CARRIED_BYTES: usize = 128 << 10;

/// Writes on behalf of one run.
pub struct HotSink {
    database: LeasedDatabase,
    source: &'static str,
    chain_id: Option<u64>,
    /// Numbers the writes of this run.
    steps: u64,
    sequence: u64,
}

impl HotSink {
    /// A sink whose heads go on after `sequence`.
    #[must_use]
    pub fn new(database: LeasedDatabase, source: &'static str, chain_id: Option<u64>, sequence: u64) -> Self {
        Self { database, source, chain_id, steps: 0, sequence }
    }

    fn token(&mut self, what: &str) -> String {
        self.steps += 1;
        format!("{}/{}/{what}", self.database.writer.run(), self.steps)
    }

    /// Removes what killed runs wrote and nothing says to be there. No insert of another run may be going on.
    pub async fn clean(&self, stray: &OrphanedHotRows) -> Result<(), StoreError> {
        self.guarded(|| self.database.writer.forget_stray(&self.database.reader, stray)).await
    }

    /// Writes the rows of blocks to the typed hot tables, where no reader looks for them before a head says so.
    pub async fn write_tables(&mut self, blocks: &[HotRowsRow]) -> Result<(), FollowError> {
        let token = self.token("hot");
        let writes = hot_rows(blocks)?.into_iter().map(|(table, rows)| {
            let table = hot_name(&table);
            let token = format!("{token}/{table}");
            let this = &*self;
            async move { this.guarded(|| this.database.writer.insert(&table, &rows, &token)).await }
        });
        Ok(try_join_all(writes).await.map(drop)?)
    }

    /// Writes the packed rows of blocks; invisible until a head names their generations.
    async fn write_packed(&mut self, blocks: Vec<PackedBlock>) -> Result<(), StoreError> {
        let token = self.token("packed");
        let row = |PackedBlock { generation, block_number, rows }| HotRowsRow { generation, block_number, rows };
        let rows = batch(blocks.into_iter().map(row).collect());
        self.guarded(|| self.database.writer.insert("hot_rows", &rows, &token)).await
    }

    /// Makes a head visible to every read that starts later, with its new blocks: both are one row, unless those are
    /// large.
    pub async fn publish(&mut self, mut head: HeadRow) -> Result<(), StoreError> {
        if head.blocks.iter().map(|block| block.rows.len()).sum::<usize>() > MAX_CARRIED_BYTES {
            self.write_packed(std::mem::take(&mut head.blocks)).await?;
        }
        // A head may be there although its insert seemed to fail: its number is not used again.
        self.sequence += 1;
        let sequence = self.sequence;
        let row = HeadRow {
            sequence,
            chain_id: self.chain_id,
            run: self.database.writer.run().into(),
            written_at: now(),
            ..head
        };
        let rows = one(row);
        let token = self.token("head");
        self.guarded(|| self.database.writer.insert("ingest_heads", &rows, &token)).await
    }

    /// Writes what stays of blocks that are orphaned.
    pub async fn retire(&mut self, remains: Vec<(String, RecordBatch)>) -> Result<(), StoreError> {
        let token = self.token("retire");
        for (table, rows) in remains {
            let token = format!("{token}/{table}");
            self.guarded(|| self.database.writer.insert(&table, &rows, &token)).await?;
        }
        Ok(())
    }

    /// Writes blocks that can change no more to the settled tables: announced, written, committed, like any batch.
    pub async fn settle(
        &mut self,
        group: &SettlingGroup,
        hashes: &[B256],
        rows: Vec<TableBatch>,
    ) -> Result<(), StoreError> {
        let started = Instant::now();
        self.reinstate(group.heights(), hashes).await?;
        let token = self.token("settle");
        let intent = one(self.intent(group.heights()));
        let announced = format!("{token}/intent");
        self.guarded(|| self.database.writer.insert("ingest_intents", &intent, &announced)).await?;
        let (this, token) = (&*self, &token);
        let writes = rows.iter().flat_map(|batch| batch.tables.iter().map(move |table| (table, &batch.rows)));
        let writes = writes.map(|(table, rows)| async move {
            let token = format!("{token}/{table}");
            this.guarded(|| this.database.writer.insert(table, rows, &token)).await
        });
        try_join_all(writes).await?;
        let commit = one(self.commit(&group.blocks, &counts_of(&rows)));
        let committed = format!("{token}/commit");
        self.guarded(|| self.database.writer.insert("ingest_commits", &commit, &committed)).await?;
        count_batch("settled", group.heights().count(), started);
        Ok(())
    }

    /// Takes blocks off the reorged ones, where some are among them.
    async fn reinstate(&self, range: BlockRange, hashes: &[B256]) -> Result<(), StoreError> {
        let mut reorged = retry_transient(|| self.database.reader.reorged_hashes(range)).await?;
        reorged.retain(|hash| hashes.contains(hash));
        if reorged.is_empty() {
            return Ok(());
        }
        self.guarded(|| self.database.writer.reinstate(range, &reorged)).await
    }

    /// Removes hot rows of heights up to `last` and their heads, which no reader uses any more.
    pub async fn forget(&self, last: BlockNumber) -> Result<(), StoreError> {
        self.guarded(|| self.database.writer.forget_hot(&self.database.reader, last)).await
    }

    fn intent(&self, range: BlockRange) -> IntentRow {
        IntentRow {
            run: self.database.writer.run().into(),
            first_block: range.first(),
            last_block: range.last(),
            started_at: now(),
        }
    }

    fn commit(&self, segment: &BranchSegment, counts: &RowCounts) -> CommitRow {
        CommitRow {
            first_block: segment.range.blocks.first(),
            last_block: segment.range.blocks.last(),
            parts: segment.parts.clone(),
            chain_id: self.chain_id,
            first_parent_hash: segment.first_parent_hash,
            last_hash: segment.last_hash,
            last_total_difficulty: segment.last_total_difficulty,
            transactions: segment.transactions,
            logs: segment.logs,
            rows: counts.rows(),
            source: self.source.into(),
            run: self.database.writer.run().into(),
            committed_at: now(),
            replaced: Vec::new(),
        }
    }

    /// Tries again while ClickHouse is away, and only while the lease is held.
    async fn guarded<F: Future<Output = Result<(), StoreError>>>(
        &self,
        attempt: impl Fn() -> F,
    ) -> Result<(), StoreError> {
        retry_transient(|| self.database.guard.write(attempt())).await
    }
}

/// The rows of a block as one value.
pub(super) fn packed(block: PreparedBlock, generation: u64) -> Result<HotRowsRow, ArrowError> {
    let tables = block.rows.into_tables();
    let rows = pack(tables.iter().map(|batch| (batch.tables[0], &batch.rows)))?;
    Ok(HotRowsRow { generation, block_number: block.link.number, rows: rows.into() })
}

fn one<T: Table>(row: T) -> RecordBatch {
    batch(vec![row])
}

fn batch<T: Table>(rows: Vec<T>) -> RecordBatch {
    let mut builder = T::Builder::default();
    rows.into_iter().for_each(|row| T::push(&mut builder, row));
    T::finish(builder)
}
