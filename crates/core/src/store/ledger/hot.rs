//! The newest blocks: how their packed rows are read, and how rows are removed from the hot tables.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::primitives::{B256, BlockNumber, BlockRange, HotRange};
use crate::schema::BLOCK_TABLES;
use crate::schema::columns::columns;
use crate::schema::hot::{HOT_TABLES, PARTITION_BLOCKS, hot_name};
use crate::schema::packed::HotRowsRow;
use crate::statement::{Parameter, Statement};
use crate::store::{Reader, StoreError, Writer};

columns! {
    /// The range of heights of a generation that a head ever named.
    pub struct GenerationRange / GenerationRangeView {
        /// Which writing of its heights the rows belong to.
        generation: u64,
        /// Lowest height, inclusive.
        first_block: u64,
        /// Highest height, inclusive.
        last_block: u64,
    }
}

columns! {
    /// A partition of a hot table.
    pub struct HotPartition / HotPartitionView {
        /// Name of the table: a hot one, or `ingest_heads`.
        name: String,
        /// Its heights, divided by [`PARTITION_BLOCKS`].
        partition: String,
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

/// Statements that remove rows at once: fewer than the engine has slots for ingest.
const CONCURRENT_DELETES: usize = 8;
/// Settings for a count over whole tables.
const COUNT_SETTINGS: &[(&str, &str)] = &[("max_threads", "2")];

impl Reader {
    /// The packed rows of the blocks of `range` that are stored, ascending. Memory: those rows.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn packed_range(&self, range: HotRange) -> Result<Vec<HotRowsRow>, StoreError> {
        let mut statement = Statement::page(include_str!("../../../../../sql/queries/packed_range.sql"));
        statement.parameters = bounds(range).map(|(name, value)| (name.into(), value)).into();
        self.rows(&statement).await
    }

    /// The hashes of reorged blocks at the heights of `range`.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn reorged_hashes(&self, range: BlockRange) -> Result<Vec<B256>, StoreError> {
        columns! {
            pub struct ReorgedHash / ReorgedHashView { hash: B256, }
        }
        let statement = Statement::<ReorgedHash>::page(include_str!("../../../../../sql/queries/reorged_hashes.sql"))
            .with("first", range.first())
            .with("last", range.last());
        Ok(self.rows(&statement).await?.into_iter().map(|row| row.hash).collect())
    }

    /// All generations that heads named, in no order.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn named_generations(&self) -> Result<Vec<GenerationRange>, StoreError> {
        self.rows(&Statement::page(include_str!("../../../../../sql/queries/named_generations.sql"))).await
    }

    /// How fast the head advanced in the last hour; `None` if no `follow` ran.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn follow_rate(&self) -> Result<Option<FollowRate>, StoreError> {
        Ok(self.rows(&Statement::page(include_str!("../../../../../sql/queries/follow_rate.sql"))).await?.pop())
    }

    /// Hot tables with rows that nothing says to be there.
    async fn stray(&self, stray: &OrphanedHotRows) -> Result<Vec<String>, StoreError> {
        columns! {
            pub struct TableRows / TableRowsView { name: String, rows: u64, }
        }
        let count =
            |(table, condition)| format!("SELECT '{table}' AS name, count() AS rows FROM {table} WHERE {condition}");
        let counts: Vec<String> = stray_conditions().map(count).collect();
        let mut statement = Statement::<TableRows>::page(counts.join("\nUNION ALL\n"));
        statement.settings = COUNT_SETTINGS;
        statement.parameters = stray.parameters().map(|(name, value)| (name.into(), value)).into();
        let rows = self.rows(&statement).await?;
        Ok(rows.into_iter().filter(|row| row.rows > 0).map(|row| row.name).collect())
    }

    /// Partitions of hot tables all of whose heights lie below `end`.
    async fn partitions_below(&self, end: BlockNumber) -> Result<Vec<HotPartition>, StoreError> {
        let statement = Statement::page(include_str!("../../../../../sql/queries/hot_partitions.sql"));
        let is_below = |found: &HotPartition| {
            let next = found.partition.parse::<u64>().ok().and_then(|number| number.checked_add(1));
            next.and_then(|next| next.checked_mul(PARTITION_BLOCKS)).is_some_and(|first| first <= end)
        };
        Ok(self.rows(&statement).await?.into_iter().filter(is_below).collect())
    }
}

/// Rows of hot tables that killed runs left: those that no head ever named, and in the typed tables those of heights
/// that no head says to be there, which are written again.
#[derive(Debug, Clone)]
pub struct OrphanedHotRows {
    /// What heads named.
    pub named: Vec<GenerationRange>,
    /// The lowest height that the typed tables do not have according to the newest head.
    pub from: BlockNumber,
}

impl OrphanedHotRows {
    fn parameters(&self) -> [(&'static str, Parameter); 2] {
        let triple = |named: &GenerationRange| (named.first_block, named.last_block, named.generation);
        [("named", Parameter::Generations(self.named.iter().map(triple).collect())), ("from", self.from.into())]
    }
}

/// Each hot table, and which of its rows are stray.
fn stray_conditions() -> impl Iterator<Item = (String, String)> {
    let typed = |(table, column)| (hot_name(table), format!("{column} >= {{from:UInt64}} OR {}", unnamed(column)));
    hot_tables().into_iter().map(typed).chain([("hot_rows".into(), unnamed("block_number"))])
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
    /// Removes blocks from the reorged ones: they are part of the settled chain.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn reinstate(&self, range: BlockRange, hashes: &[B256]) -> Result<(), StoreError> {
        let parameters = [("first", range.first().into()), ("last", range.last().into()), ("hashes", hashes.into())];
        self.execute_on_shards(
            "reorged_blocks",
            include_str!("../../../../../sql/queries/reinstate_blocks.sql"),
            &parameters,
        )
        .await
    }

    /// Removes stray rows. No insert of another run may be in progress.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn forget_stray(&self, reader: &Reader, stray: &OrphanedHotRows) -> Result<(), StoreError> {
        let dirty = reader.stray(stray).await?;
        let of_dirty = stray_conditions().filter(|(table, _)| dirty.contains(table));
        // At once: each waits for the table's own background task, which may rest for seconds.
        let remove = async |(table, condition): (String, String)| {
            self.execute(&format!("DELETE FROM {table} WHERE {condition}"), &stray.parameters()).await
        };
        stream::iter(of_dirty).map(remove).buffer_unordered(CONCURRENT_DELETES).try_collect().await
    }

    /// Removes hot rows of heights up to `last`, on every branch, and the heads that named them, in whole partitions:
    /// some below `last` stay. The newest head must be above `last`.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn forget_hot(&self, reader: &Reader, last: BlockNumber) -> Result<(), StoreError> {
        for HotPartition { name, partition } in reader.partitions_below(last.saturating_add(1)).await? {
            let parameters = [("table", name.as_str().into()), ("partition", partition.as_str().into())];
            self.execute("ALTER TABLE {table:Identifier} DROP PARTITION {partition:String}", &parameters).await?;
        }
        Ok(())
    }
}

fn bounds(range: HotRange) -> [(&'static str, Parameter); 3] {
    [
        ("first", range.blocks.first().into()),
        ("last", range.blocks.last().into()),
        ("generation", range.generation.into()),
    ]
}
