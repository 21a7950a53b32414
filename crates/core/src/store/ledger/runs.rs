//! Committed and announced ranges of earlier runs of ingest.

use crate::primitives::{B256, BlockRange, U256};
use crate::schema::columns::columns;
use crate::statement::Statement;
use crate::store::writer::COMMENT;
use crate::store::{Reader, StoreError};

columns! {
    /// Both ends of a committed range, for links to further blocks.
    pub struct CommitEdges / CommitEdgesView {
        /// Its first block.
        first_block: u64,
        /// Hash of the parent of its first block.
        first_parent_hash: B256,
        /// Its last block.
        last_block: u64,
        /// Hash of its last block.
        last_hash: B256,
        /// Total difficulty of its last block.
        last_total_difficulty: Option<U256>,
    }
}

columns! {
    /// A range that another run announced.
    pub struct AnnouncedRange / AnnouncedRangeView {
        /// Name of the run that announced it.
        run: String,
        /// Its first block.
        first_block: u64,
        /// Its last block.
        last_block: u64,
        /// 1 if it was committed.
        is_committed: u8,
    }
}

columns! {
    /// The result of a statement that counts rows.
    pub struct CountRow / CountView {
        /// Rows; 0 if there are none.
        count: u64,
    }
}

impl AnnouncedRange {
    /// The blocks that were announced.
    #[must_use]
    pub fn range(&self) -> Option<BlockRange> {
        BlockRange::new(self.first_block, self.last_block)
    }

    /// Its blocks, if they were not committed.
    #[must_use]
    pub fn abandoned(&self) -> Option<BlockRange> {
        self.range().filter(|_| self.is_committed == 0)
    }
}

impl Reader {
    /// The hashes at both ends of every committed range.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn commit_edges(&self) -> Result<Vec<CommitEdges>, StoreError> {
        let statement = Statement::<CommitEdges>::page(include_str!("../../../../../sql/queries/commit_edges.sql"));
        self.rows(&statement).await
    }

    /// Ranges that runs other than `run` announced, ascending; they may overlap.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn abandoned_intents(&self, run: &str) -> Result<Vec<AnnouncedRange>, StoreError> {
        let sql = include_str!("../../../../../sql/queries/abandoned_intents.sql");
        let statement = Statement::<AnnouncedRange>::page(sql).with("run", run);
        self.rows(&statement).await
    }

    /// How many inserts of runs other than `spared` are still in progress, for example of a killed process.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn foreign_inserts(&self, spared: &[String]) -> Result<u64, StoreError> {
        let sql = include_str!("../../../../../sql/queries/foreign_inserts.sql");
        let spared: Vec<String> = spared.iter().map(|run| format!("{COMMENT}{run}")).collect();
        let statement = Statement::<CountRow>::page(sql).with("comment", COMMENT).with("spared", spared);
        Ok(self.rows_of_every_shard(statement).await?.iter().map(|row| row.count).sum())
    }
}
