//! What a repair needs: which heights have rows, commits taken back, and broken parts forgotten.

use crate::primitives::{BlockRange, Coverage};
use crate::schema::columns::columns;
use crate::schema::hot::HOT_TABLES;
use crate::statement::Statement;
use crate::store::error::UNKNOWN_TABLE;
use crate::store::ledger::runs::CountRow;
use crate::store::{Reader, StoreError, Writer};

columns! {
    pub struct Island / IslandView {
        first_block: u64,
        last_block: u64,
    }
}

columns! {
    /// A broken part that ClickHouse set aside.
    pub struct BrokenPart / BrokenPartView {
        /// The shard that it is on, from 1; 1 where there is no cluster.
        shard: u32,
        /// Name of its table without the database.
        table: String,
        /// Its name, with the prefix that it got.
        name: String,
    }
}

impl Reader {
    /// The heights that have a row in `blocks`, committed or not.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn stored_heights(&self) -> Result<Coverage, StoreError> {
        let statement = Statement::<Island>::scan(include_str!("../../../../../sql/queries/stored_islands.sql"));
        let islands = self.rows(&statement).await?;
        Ok(islands.into_iter().filter_map(|island| BlockRange::new(island.first_block, island.last_block)).collect())
    }

    /// How many rows a table of blocks has of blocks that are not `committed`, but for verdicts of blocks that were
    /// refused; none of a table that is left out. Reads a column of the whole table.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    async fn uncommitted_rows(&self, table: &str, column: &str, committed: &Coverage) -> Result<u64, StoreError> {
        let sql = format!("SELECT count() AS count FROM {table} WHERE {}", uncommitted(table, column));
        let statement = Statement::<CountRow>::scan(sql).with("committed", committed.ranges());
        match self.rows(&statement).await {
            Err(StoreError::Refused { code: UNKNOWN_TABLE, .. }) => Ok(0),
            rows => Ok(rows?.first().map_or(0, |row| row.count)),
        }
    }

    /// The broken parts that ClickHouse set aside.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn broken_parts(&self) -> Result<Vec<BrokenPart>, StoreError> {
        self.rows_of_every_shard(Statement::page(include_str!("../../../../../sql/queries/broken_part_names.sql")))
            .await
    }
}

/// The rows of a table of blocks that no commit is of. A refused block has its verdict without one.
fn uncommitted(table: &str, column: &str) -> String {
    let unless_refused = if table == "block_verdicts" { " AND verdict != 'refused'" } else { "" };
    format!(
        "NOT arrayExists(range -> {column} BETWEEN range.1 AND range.2, {{committed:Array(Tuple(UInt64, UInt64))}})\
         {unless_refused}"
    )
}

impl Writer {
    /// Removes the rows of blocks that are not `committed` from a table of blocks, which may be left out, but for
    /// verdicts of blocks that were refused. Returns how many there were.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses a statement.
    pub async fn delete_uncommitted(
        &self,
        reader: &Reader,
        table: &str,
        column: &str,
        committed: &Coverage,
    ) -> Result<u64, StoreError> {
        let count = reader.uncommitted_rows(table, column, committed).await?;
        if count > 0 {
            let sql = format!("DELETE FROM {table} WHERE {}", uncommitted(table, column));
            self.execute_on_shards(table, &sql, &[("committed", committed.ranges().into())]).await?;
        }
        Ok(count)
    }

    /// Takes back the commits that begin in `ranges`: their blocks are as if they were never loaded.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn withdraw_commits(&self, ranges: &[BlockRange]) -> Result<(), StoreError> {
        let sql = include_str!("../../../../../sql/queries/withdraw_commits.sql");
        self.execute(sql, &[("ranges", ranges.into())]).await
    }

    /// Removes all rows of a table.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn empty(&self, table: &str) -> Result<(), StoreError> {
        self.execute_on_shards(table, "TRUNCATE TABLE {table:Identifier}", &[("table", table.into())]).await
    }

    /// [`Writer::empty`] for a table that may have been left out.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn empty_if_there(&self, table: &str) -> Result<(), StoreError> {
        match self.empty(table).await {
            Err(StoreError::Refused { code: UNKNOWN_TABLE, .. }) => Ok(()),
            other => other,
        }
    }

    /// Removes the newest blocks; a node gives them again.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn empty_hot(&self) -> Result<(), StoreError> {
        self.empty("ingest_heads").await?;
        self.empty("hot_rows").await?;
        for table in HOT_TABLES {
            self.empty(&table.name()).await?;
        }
        Ok(())
    }

    /// Deletes a broken part for good.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn drop_broken(&self, part: &BrokenPart) -> Result<(), StoreError> {
        let sql = "ALTER TABLE {table:Identifier} DROP DETACHED PART {part:String} SETTINGS allow_drop_detached = 1";
        let parameters = [("table", part.table.as_str().into()), ("part", part.name.as_str().into())];
        match self.writers_of(&part.table).get((part.shard as usize).saturating_sub(1)) {
            Some(writer) => writer.execute(sql, &parameters).await,
            None => Ok(()),
        }
    }
}
