//! Writes what is filled in of a group: announced, rows, and the commits that replace the old ones.

use std::collections::HashSet;

use futures_util::future::try_join_all;
use trawl_core::primitives::{B256, BlockRange, U256};
use trawl_core::schema::{BLOCK_TABLES, CommitRow, OPTIONAL_TABLES, ReplacedCommit, Table, TableRows};
use trawl_core::store::StoreError;

use super::context::FillContext;
use super::group::Group;
use super::part::{FillPart, FillParts};
use super::piece::{ContractKey, Piece, key};
use crate::block::Parts;
use crate::load::prepare::PreparedBlock;
use crate::write::batch::{RowCounts, announcement};
use crate::write::clock::now;
use crate::write::retry::retry_transient;

/// Rows are written once they were read from so much text, or are of so many blocks.
const MAX_BYTES: usize = 64 << 20;
const MAX_BLOCKS: u64 = 1_000;

/// Consecutive blocks that got the same parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FillRun {
    /// Heights, both ends inclusive.
    pub range: BlockRange,
    /// What they got.
    pub parts: Parts,
    counts: RowCounts,
    first_parent_hash: B256,
    last_hash: B256,
    last_total_difficulty: Option<U256>,
    transactions: u64,
    logs: u64,
}

/// A group that is being filled in.
pub(super) struct GroupWriter<'a> {
    context: &'a FillContext,
    group: &'a Group,
    /// Contracts that are there with their code.
    known: HashSet<ContractKey>,
    runs: Vec<FillRun>,
    piece: Piece,
    waiting: u64,
    pieces: u64,
}

impl<'a> GroupWriter<'a> {
    /// Announces the group.
    pub async fn begin(context: &'a FillContext, group: &'a Group) -> Result<Self, StoreError> {
        let intents = announcement(&[group.range], context.writer.run(), now());
        let token = format!("{}/{}/intent", context.writer.run(), group.range);
        retry_transient(|| context.guard.write(context.writer.insert("ingest_intents", &intents.rows, &token))).await?;
        let known = match group.missing.contains(FillPart::Traces) {
            true => retry_transient(|| context.reader.traced_contracts(group.range)).await?.iter().map(key).collect(),
            false => HashSet::new(),
        };
        Ok(Self { context, group, known, runs: Vec::new(), piece: Piece::default(), waiting: 0, pieces: 0 })
    }

    /// How many blocks came.
    pub fn blocks(&self) -> u64 {
        self.runs.iter().map(|run| run.range.count()).sum()
    }

    /// Takes the next block.
    pub async fn push(&mut self, prepared: PreparedBlock) -> Result<(), StoreError> {
        let mut run = FillRun {
            range: BlockRange::single(prepared.link.number),
            parts: Parts::default(),
            counts: RowCounts::default(),
            first_parent_hash: prepared.link.parent_hash.unwrap_or_default(),
            last_hash: prepared.link.hash,
            last_total_difficulty: prepared.link.total_difficulty,
            transactions: prepared.rows.transactions.len() as u64,
            logs: prepared.rows.logs.len() as u64,
        };
        let (mut piece, parts) = brought(prepared, self.group.missing);
        piece.without_contracts(&self.known);
        (run.parts, run.counts) = (parts, piece.counts());
        self.extend(run);
        self.piece.append(piece);
        self.waiting += 1;
        if self.piece.bytes >= MAX_BYTES || self.waiting >= MAX_BLOCKS {
            self.write().await?;
        }
        Ok(())
    }

    fn extend(&mut self, next: FillRun) {
        let goes_on = |run: &&mut FillRun| run.parts == next.parts && run.range.last() + 1 == next.range.first();
        match self.runs.last_mut().filter(goes_on) {
            Some(run) => {
                run.range = BlockRange::new(run.range.first(), next.range.last()).unwrap_or(run.range);
                run.counts += &next.counts;
                run.last_hash = next.last_hash;
                run.last_total_difficulty = next.last_total_difficulty;
                run.transactions += next.transactions;
                run.logs += next.logs;
            }
            None => self.runs.push(next),
        }
    }

    /// Writes the rows that wait.
    async fn write(&mut self) -> Result<(), StoreError> {
        let (context, range) = (self.context, self.group.range);
        self.pieces += 1;
        let token = format!("{}/{range}/{}", context.writer.run(), self.pieces);
        let tables = std::mem::take(&mut self.piece).into_tables();
        self.waiting = 0;
        let writes = tables.iter().flat_map(|batch| batch.tables.iter().map(move |table| (table, &batch.rows)));
        let writes = writes.map(|(table, rows)| {
            let token = format!("{token}/{table}");
            async move { retry_transient(|| context.guard.write(context.writer.insert(table, rows, &token))).await }
        });
        try_join_all(writes).await.map(drop)
    }

    /// Writes the rest, and commits.
    pub async fn finish(mut self) -> Result<Vec<FillRun>, StoreError> {
        self.write().await?;
        let FillContext { reader, writer, guard, .. } = self.context;
        for run in self.runs.iter().filter(|run| run.parts.traces) {
            retry_transient(|| guard.write(writer.forget_bare_contracts(reader, run.range))).await?;
        }
        if self.runs.iter().any(|run| self.group.missing.are_any_in(run.parts)) {
            let mut builder = <CommitRow as Table>::Builder::default();
            for run in &self.runs {
                CommitRow::push(&mut builder, self.commit(run).await?);
            }
            let rows = CommitRow::finish(builder);
            let token = format!("{}/{}/commit", writer.run(), self.group.range);
            retry_transient(|| guard.write(writer.insert("ingest_commits", &rows, &token))).await?;
        }
        Ok(self.runs)
    }

    /// The commit of a run.
    async fn commit(&self, run: &FillRun) -> Result<CommitRow, StoreError> {
        let (first, last) = (&self.group.commits[0], &self.group.commits[self.group.commits.len() - 1]);
        let is_whole = run.range == self.group.range;
        let sum = |of: fn(&CommitRow) -> u64| self.group.commits.iter().map(of).sum();
        let replaced = self.group.commits.iter().map(|commit| ReplacedCommit {
            first_block: commit.first_block,
            last_block: commit.last_block,
            run: commit.run.clone(),
        });
        let own = |name: &String| !matches!(name.as_str(), "blocks" | "transactions");
        Ok(CommitRow {
            first_block: run.range.first(),
            last_block: run.range.last(),
            parts: first.parts.iter().cloned().chain(run.parts.names().into_iter().filter(own)).collect(),
            chain_id: first.chain_id,
            first_parent_hash: if is_whole { first.first_parent_hash } else { run.first_parent_hash },
            last_hash: if is_whole { last.last_hash } else { run.last_hash },
            last_total_difficulty: if is_whole { last.last_total_difficulty } else { run.last_total_difficulty },
            transactions: if is_whole { sum(|commit| commit.transactions) } else { run.transactions },
            logs: if is_whole { sum(|commit| commit.logs) } else { run.logs },
            rows: if is_whole { self.counts_of_all(run) } else { self.counts_of_some(run).await? },
            source: first.source.clone(),
            run: self.context.writer.run().into(),
            committed_at: now(),
            replaced: replaced.collect(),
        })
    }

    /// The rows of the whole group: those that were committed, and what was added.
    fn counts_of_all(&self, run: &FillRun) -> Vec<TableRows> {
        let mut counts = run.counts.clone();
        let old = self.group.commits.iter().flat_map(|commit| &commit.rows);
        for TableRows { name, rows } in old.filter(|of| !(run.parts.traces && of.name == "contracts")) {
            counts.add(name, *rows);
        }
        // Creations that receipts showed are gone, those of traces are there.
        if run.parts.traces {
            counts.add("contracts", self.known.len() as u64);
        }
        counts.rows()
    }

    /// The rows of some blocks of the group: no commit says how many those were.
    async fn counts_of_some(&self, run: &FillRun) -> Result<Vec<TableRows>, StoreError> {
        let mut counts = run.counts.clone();
        let old: HashSet<&str> =
            self.group.commits.iter().flat_map(|commit| &commit.rows).map(|of| of.name.as_str()).collect();
        let mut measured = RowCounts::default();
        for (table, column) in BLOCK_TABLES.into_iter().chain(OPTIONAL_TABLES).filter(|(table, _)| old.contains(table))
        {
            let rows = retry_transient(|| self.context.reader.rows_of_range(table, column, run.range)).await?;
            measured.add(table, rows);
            counts.forget(table);
        }
        counts += &measured;
        Ok(counts.rows())
    }
}

/// What a prepared block brings of the parts that are missing.
fn brought(prepared: PreparedBlock, missing: FillParts) -> (Piece, Parts) {
    let parts = missing.of(prepared.parts);
    (Piece::of(prepared.rows, parts, prepared.bytes), parts)
}
