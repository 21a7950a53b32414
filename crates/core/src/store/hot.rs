//! The newest blocks: how their rows move to the settled tables and are removed from the hot ones.

use super::{Reader, StoreError, Writer};
use crate::primitives::{B256, BlockNumber, HotRange, U256};
use crate::schema::BLOCK_TABLES;
use crate::schema::columns::columns;
use crate::schema::hot::{HOT_TABLES, hot_name};
use crate::statement::{Parameter, Statement};

columns! {
    /// The fields of a hot block that `follow` needs to continue from it.
    pub struct HotBlock / HotBlockView {
        /// Height.
        block_number: u64,
        /// Hash.
        hash: B256,
        /// Hash of the parent block.
        parent_hash: B256,
        /// Its generation.
        generation: u64,
        /// Sum of difficulties up to this block, if the source gave it.
        total_difficulty: Option<U256>,
        /// Transactions in the block.
        transactions_count: u32,
        /// Logs in the block, if the source had receipts.
        logs_count: Option<u32>,
    }
}

columns! {
    /// The range of heights of a generation that a head ever named.
    pub struct GenerationRange / GenerationRangeView {
        /// The generation.
        generation: u64,
        /// Lowest height.
        first_block: u64,
        /// Highest height.
        last_block: u64,
    }
}

columns! {
    /// How fast blocks became readable in the last hour.
    pub struct FollowRate / FollowRateView {
        /// Blocks that became readable.
        blocks: u64,
        /// The time they took, in milliseconds.
        millis: u64,
        /// Milliseconds since the last head.
        silent_ms: u64,
    }
}

/// Settings for a count over whole tables.
const COUNT_SETTINGS: &[(&str, &str)] = &[("max_threads", "2")];

impl Reader {
    /// The blocks of `ranges`, ascending.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn hot_blocks(&self, ranges: &[HotRange]) -> Result<Vec<HotBlock>, StoreError> {
        let sql = include_str!("../../../../sql/queries/hot_blocks.sql");
        self.rows(&Statement::page(sql).with("generations", ranges)).await
    }

    /// All generations that heads named, in no order.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn named_generations(&self) -> Result<Vec<GenerationRange>, StoreError> {
        self.rows(&Statement::page(include_str!("../../../../sql/queries/named_generations.sql"))).await
    }

    /// How fast the head advanced in the last hour; `None` if no `follow` ran.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn follow_rate(&self) -> Result<Option<FollowRate>, StoreError> {
        Ok(self.rows(&Statement::page(include_str!("../../../../sql/queries/follow_rate.sql"))).await?.pop())
    }

    /// Hot tables with rows that no head ever named: left by a run that was killed.
    async fn unnamed(&self, named: &[(u64, u64, u64)]) -> Result<Vec<&'static str>, StoreError> {
        columns! {
            pub struct TableRows / TableRowsView { name: String, rows: u64, }
        }
        let count = |(table, column): &(&'static str, &'static str)| {
            format!("SELECT '{table}' AS name, count() AS rows FROM {} WHERE {}", hot_name(table), unnamed(column))
        };
        let counts: Vec<String> = hot_tables().iter().map(count).collect();
        let mut statement = Statement::<TableRows>::page(counts.join("\nUNION ALL\n"));
        statement.settings = COUNT_SETTINGS;
        let statement = statement.with("named", Parameter::Generations(named.to_vec()));
        let dirty = self.rows(&statement).await?;
        let is_dirty = |table: &str| dirty.iter().any(|row| row.rows > 0 && row.name == table);
        Ok(hot_tables().into_iter().map(|(table, _)| table).filter(|table| is_dirty(table)).collect())
    }
}

/// Every table that has a hot table, with its column of the block number.
fn hot_tables() -> Vec<(&'static str, &'static str)> {
    let has_one = |(table, _): &(&str, &str)| HOT_TABLES.iter().any(|hot| hot.settled == *table);
    BLOCK_TABLES.into_iter().filter(has_one).collect()
}

fn unnamed(column: &str) -> String {
    format!(
        "NOT arrayExists(name -> {column} BETWEEN name.1 AND name.2 AND generation = name.3, {{named:Array(Tuple(UInt64, UInt64, UInt64))}})"
    )
}

impl Writer {
    /// Copies the rows of `range` from the hot table of `table` to it. A repetition with the same `token` changes
    /// nothing, since the rows never change.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn settle(&self, table: &str, column: &str, range: HotRange, token: &str) -> Result<(), StoreError> {
        let sql = format!(
            "INSERT INTO {table}\nSELECT * EXCEPT (generation)\nFROM {}\nWHERE {column} BETWEEN {{first:UInt64}} AND {{last:UInt64}}\n  AND generation = {{generation:UInt64}}\nORDER BY ALL",
            hot_name(table)
        );
        self.insert_select(&sql, range, token).await
    }

    /// Stores the blocks of `range` as reorged.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn retire(&self, range: HotRange, token: &str) -> Result<(), StoreError> {
        let blocks = include_str!("../../../../sql/queries/retire_blocks.sql");
        self.insert_select(blocks, range, &format!("{token}/blocks")).await?;
        let withdrawals = include_str!("../../../../sql/queries/retire_withdrawals.sql");
        self.insert_select(withdrawals, range, &format!("{token}/withdrawals")).await
    }

    /// Removes the blocks of `range` from the reorged ones: they are part of the settled chain.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn reinstate(&self, range: HotRange) -> Result<(), StoreError> {
        self.execute(include_str!("../../../../sql/queries/reinstate_blocks.sql"), &bounds(range)).await
    }

    async fn insert_select(&self, sql: &str, range: HotRange, token: &str) -> Result<(), StoreError> {
        self.execute_once(sql, &bounds(range), token).await
    }

    /// Removes rows that no head ever named. No insert of another run may be in progress.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn forget_unnamed(&self, reader: &Reader, named: &[GenerationRange]) -> Result<(), StoreError> {
        let named: Vec<(u64, u64, u64)> =
            named.iter().map(|named| (named.first_block, named.last_block, named.generation)).collect();
        let dirty = reader.unnamed(&named).await?;
        for (table, column) in hot_tables().into_iter().filter(|(table, _)| dirty.contains(table)) {
            let sql = format!("DELETE FROM {} WHERE {}", hot_name(table), unnamed(column));
            self.execute(&sql, &[("named", Parameter::Generations(named.clone()))]).await?;
        }
        let sql = format!("DELETE FROM hot_rows WHERE {}", unnamed("block_number"));
        self.execute(&sql, &[("named", Parameter::Generations(named))]).await
    }

    /// Removes the hot rows of all heights up to `last`, on every branch, and the older heads.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn forget_hot(&self, last: BlockNumber, before_sequence: u64) -> Result<(), StoreError> {
        for (table, column) in hot_tables() {
            let sql = format!("DELETE FROM {} WHERE {column} <= {{last:UInt64}}", hot_name(table));
            self.execute(&sql, &[("last", last.into())]).await?;
        }
        self.execute("DELETE FROM hot_rows WHERE block_number <= {last:UInt64}", &[("last", last.into())]).await?;
        self.execute("DELETE FROM ingest_heads WHERE sequence < {before:UInt64}", &[("before", before_sequence.into())])
            .await
    }
}

fn bounds(range: HotRange) -> [(&'static str, Parameter); 3] {
    [
        ("first", range.blocks.first().into()),
        ("last", range.blocks.last().into()),
        ("generation", range.generation.into()),
    ]
}
