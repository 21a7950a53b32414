//! Writes the newest blocks and publishes which of them count; every step can be repeated.

use arrow::error::ArrowError;
use futures_util::future::try_join_all;
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_core::schema::hot::hot_name;
use trawl_core::schema::packed::{HotRowsRow, pack};
use trawl_core::schema::{BLOCK_TABLES, CommitRow, HeadRow, IntentRow, Table};
use trawl_core::store::{GenerationRange, Reader, StoreError, Writer};

use super::branch::BranchSegment;
use crate::load::prepare::Prepared;
use crate::write::batch::{Batch, with_generation};
use crate::write::clock::now;
use crate::write::lease::LeaseGuard;
use crate::write::retry::retry_transient;

/// Writes on behalf of one run.
pub struct HotSink {
    reader: Reader,
    writer: Writer,
    guard: LeaseGuard,
    source: &'static str,
    chain_id: Option<u64>,
    /// Numbers the writes of this run.
    steps: u64,
    sequence: u64,
}

impl HotSink {
    /// A sink whose heads go on after `sequence`.
    #[must_use]
    pub fn new(
        (reader, writer): (Reader, Writer),
        guard: LeaseGuard,
        source: &'static str,
        chain_id: Option<u64>,
        sequence: u64,
    ) -> Self {
        Self { reader, writer, guard, source, chain_id, steps: 0, sequence }
    }

    /// Number of the newest head.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    fn token(&mut self, what: &str) -> String {
        self.steps += 1;
        format!("{}/{}/{what}", self.writer.run(), self.steps)
    }

    /// Removes what killed runs wrote and no head ever `named`. No insert of another run may be going on.
    pub async fn clean(&self, named: &[GenerationRange]) -> Result<(), StoreError> {
        self.guarded(|| self.writer.forget_unnamed(&self.reader, named)).await
    }

    /// Writes the rows of blocks as a generation; invisible until a head names them.
    pub async fn write(&mut self, batch: Batch, generation: u64) -> Result<(), StoreError> {
        let token = self.token("hot");
        let writes = batch.into_tables().into_iter().map(|batch| {
            let (table, rows) = (hot_name(batch.tables[0]), with_generation(&batch.rows, generation));
            let token = format!("{token}/{table}");
            let this = &*self;
            async move { this.guarded(|| this.writer.insert(&table, &rows, &token)).await }
        });
        try_join_all(writes).await.map(drop)
    }

    /// Writes the packed rows of blocks; invisible until a head names their generations.
    pub async fn write_packed(&mut self, blocks: Vec<HotRowsRow>) -> Result<(), StoreError> {
        let token = self.token("packed");
        let rows = batch(blocks);
        self.guarded(|| self.writer.insert("hot_rows", &rows, &token)).await
    }

    /// Makes a head visible to every read that starts later.
    pub async fn publish(&mut self, head: HeadRow) -> Result<(), StoreError> {
        let sequence = self.sequence + 1;
        let row =
            HeadRow { sequence, chain_id: self.chain_id, run: self.writer.run().into(), written_at: now(), ..head };
        let rows = one(row);
        let token = self.token("head");
        self.guarded(|| self.writer.insert("ingest_heads", &rows, &token)).await?;
        self.sequence = sequence;
        Ok(())
    }

    /// Remembers blocks that are about to lose their place.
    pub async fn retire(&mut self, lost: &[BranchSegment]) -> Result<(), StoreError> {
        for segment in lost {
            let token = self.token("retire");
            self.guarded(|| self.writer.retire(segment.range, &token)).await?;
        }
        Ok(())
    }

    /// Moves blocks that can change no more to the settled tables: announced, copied, committed, like any batch.
    pub async fn settle(&mut self, segments: &[BranchSegment]) -> Result<(), StoreError> {
        for segment in segments {
            self.guarded(|| self.writer.reinstate(segment.range)).await?;
            let token = self.token("settle");
            let intent = one(self.intent(segment.range.blocks));
            let announced = format!("{token}/intent");
            self.guarded(|| self.writer.insert("ingest_intents", &intent, &announced)).await?;
            let (this, token) = (&*self, &token);
            let copies = BLOCK_TABLES.map(|(table, column)| async move {
                let token = format!("{token}/{table}");
                this.guarded(|| this.writer.settle(table, column, segment.range, &token)).await
            });
            try_join_all(copies).await?;
            let commit = one(self.commit(segment));
            let committed = format!("{token}/commit");
            self.guarded(|| self.writer.insert("ingest_commits", &commit, &committed)).await?;
        }
        Ok(())
    }

    /// Removes hot rows of all heights up to `last` and heads before `sequence`, which no reader uses any more.
    pub async fn forget(&self, last: BlockNumber, sequence: u64) -> Result<(), StoreError> {
        self.guarded(|| self.writer.forget_hot(last, sequence)).await
    }

    fn intent(&self, range: BlockRange) -> IntentRow {
        IntentRow {
            run: self.writer.run().into(),
            first_block: range.first(),
            last_block: range.last(),
            started_at: now(),
        }
    }

    fn commit(&self, segment: &BranchSegment) -> CommitRow {
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
            rows: segment.counts.rows(),
            source: self.source.into(),
            run: self.writer.run().into(),
            committed_at: now(),
        }
    }

    /// Tries again while ClickHouse is away, and only while the lease is held.
    async fn guarded<F: Future<Output = Result<(), StoreError>>>(
        &self,
        attempt: impl Fn() -> F,
    ) -> Result<(), StoreError> {
        retry_transient(|| self.guard.write(attempt())).await
    }
}

/// The rows of a block as one value.
pub(super) fn packed(block: &Prepared, generation: u64) -> Result<HotRowsRow, ArrowError> {
    let tables = block.rows.clone().into_tables();
    let rows = pack(tables.iter().map(|batch| (batch.tables[0], &batch.rows)))?;
    Ok(HotRowsRow { generation, block_number: block.link.number, rows: rows.into() })
}

fn one<T: Table>(row: T) -> arrow::array::RecordBatch {
    batch(vec![row])
}

fn batch<T: Table>(rows: Vec<T>) -> arrow::array::RecordBatch {
    let mut builder = T::Builder::default();
    rows.into_iter().for_each(|row| T::push(&mut builder, row));
    T::finish(builder)
}
