//! Writes batches: intent first, tables next, commit last. Readers see a batch from its commit on.

use std::time::Instant;

use futures_util::future::try_join_all;
use trawl_core::store::{StoreError, Writer};

use crate::write::batch::{Batch, CommittedBatch, TableBatch, commits, intents, verdicts};
use crate::write::clock::now;
use crate::write::figures::count_batch;
use crate::write::lease::LeaseGuard;
use crate::write::retry::retry_transient;

/// A batch could not be written; nothing of it is visible.
#[derive(Debug, thiserror::Error)]
#[error("{step} of blocks {blocks} could not be written")]
pub struct SinkError {
    /// Table, or `intent` or `commit`.
    pub step: String,
    /// Ranges of the batch.
    pub blocks: String,
    /// The error of the last attempt.
    pub source: StoreError,
}

/// Writes the batches of one run, one after another.
#[derive(Clone)]
pub struct Sink {
    writer: Writer,
    guard: LeaseGuard,
    source: &'static str,
    sequence: u64,
}

impl Sink {
    /// A sink for the blocks of a `source` of this kind; writes only while the lease is held by `guard`.
    #[must_use]
    pub fn new(writer: Writer, guard: LeaseGuard, source: &'static str) -> Self {
        Self { writer, guard, source, sequence: 0 }
    }

    /// Writes a batch; when this returns it is visible. Dropping the future leaves an intent without a commit, which
    /// the next run removes.
    pub async fn write(&mut self, mut batch: Batch, chain_id: Option<u64>) -> Result<CommittedBatch, SinkError> {
        let started = Instant::now();
        let written = CommittedBatch {
            blocks: batch.blocks as u64,
            transactions: batch.transactions as u64,
            logs: batch.logs as u64,
            quarantined: batch.quarantined.len() as u64,
            verified: batch.verified as u64,
            partial: batch.partial as u64,
        };
        let runs = batch.runs.clone();
        let blocks = runs.iter().map(|run| run.range.to_string()).collect::<Vec<_>>().join(", ");
        self.sequence += 1;
        let failed = |step: &str| {
            let (step, blocks) = (step.to_owned(), blocks.clone());
            move |source| SinkError { step, blocks, source }
        };
        let run = self.writer.run().to_owned();
        if !runs.is_empty() {
            self.insert(&intents(&runs, &run, now())).await.map_err(failed("intent"))?;
        }
        let quarantined = std::mem::take(&mut batch.quarantined);
        let tables = batch.into_tables();
        try_join_all(tables.iter().map(|table| self.insert(table))).await.map_err(failed("rows"))?;
        if !runs.is_empty() {
            self.insert(&commits(&runs, &run, self.source, chain_id, now())).await.map_err(failed("commit"))?;
        }
        // They are of no range that was announced, so nothing would remove them: they come when nothing can be undone.
        if !quarantined.is_empty() {
            self.insert_as("quarantine", &verdicts(quarantined)).await.map_err(failed("verdicts"))?;
        }
        count_batch("settled", written.blocks, started);
        Ok(written)
    }

    /// Writes the rows to each of their tables. A repetition carries the same token and changes nothing.
    async fn insert(&self, batch: &TableBatch) -> Result<(), StoreError> {
        self.insert_as("rows", batch).await
    }

    /// The same for batches of which a table gets several in one sequence, each under a `kind` of its own.
    async fn insert_as(&self, kind: &str, batch: &TableBatch) -> Result<(), StoreError> {
        let inserts = batch.tables.iter().map(|table| {
            let token = format!("{}/{}/{kind}/{table}", self.writer.run(), self.sequence);
            async move { retry_transient(|| self.guard.write(self.writer.insert(table, &batch.rows, &token))).await }
        });
        try_join_all(inserts).await.map(drop)
    }
}
