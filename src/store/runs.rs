//! What ingest asks about its own earlier runs.

use super::writer::COMMENT;
use super::{Reader, StoreError};
use crate::primitives::{B256, BlockRange};
use crate::schema::columns::columns;
use crate::statement::Statement;

columns! {
    /// Where further blocks can be linked to a committed range.
    pub struct CommitEdges / CommitEdgesView {
        /// Its first block.
        first_block: u64,
        /// Hash that the block before it must have.
        first_parent_hash: B256,
        /// Its last block.
        last_block: u64,
        /// Hash of its last block.
        last_hash: B256,
    }
}

columns! {
    /// A range that was announced.
    pub struct IntentRange / IntentRangeView {
        /// Its first block.
        first_block: u64,
        /// Its last block.
        last_block: u64,
    }
}

columns! {
    /// A count.
    pub struct CountRow / CountView {
        /// How many.
        count: u64,
    }
}

impl Reader {
    /// The hashes at both ends of every committed range.
    pub async fn commit_edges(&self) -> Result<Vec<CommitEdges>, StoreError> {
        let statement = Statement::<CommitEdges>::page(include_str!("../../sql/queries/commit_edges.sql"));
        let mut edges = Vec::new();
        for batch in self.all(&statement).await? {
            let view = batch.view();
            edges.extend((0..batch.len()).map(|row| CommitEdges {
                first_block: view.first_block[row],
                first_parent_hash: (*view.first_parent_hash.bytes(row)).into(),
                last_block: view.last_block[row],
                last_hash: (*view.last_hash.bytes(row)).into(),
            }));
        }
        Ok(edges)
    }

    /// Ranges that a run other than `run` announced and did not commit, ascending; they may overlap.
    pub async fn abandoned_intents(&self, run: &str) -> Result<Vec<BlockRange>, StoreError> {
        let sql = include_str!("../../sql/queries/abandoned_intents.sql");
        let statement = Statement::<IntentRange>::page(sql).with("run", run);
        let mut ranges = Vec::new();
        for batch in self.all(&statement).await? {
            let view = batch.view();
            ranges.extend(
                (0..batch.len()).filter_map(|row| BlockRange::new(view.first_block[row], view.last_block[row])),
            );
        }
        Ok(ranges)
    }

    /// How many inserts of runs other than `run` are still going on, for example of one whose process was killed.
    pub async fn foreign_inserts(&self, run: &str) -> Result<u64, StoreError> {
        let sql = include_str!("../../sql/queries/foreign_inserts.sql");
        let own = format!("{COMMENT}{run}");
        let statement = Statement::<CountRow>::page(sql).with("comment", COMMENT).with("own", own.as_str());
        let batches = self.all(&statement).await?;
        Ok(batches.first().map_or(0, |batch| batch.view().count[0]))
    }
}
