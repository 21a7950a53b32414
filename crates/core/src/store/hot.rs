//! The newest blocks: rows of the hot tables on their way in, over to the settled tables, and out.

use super::{Reader, StoreError, Writer};
use crate::primitives::{B256, BlockNumber, HotRange, U256};
use crate::schema::BLOCK_TABLES;
use crate::schema::columns::columns;
use crate::schema::hot::{HOT_TABLES, hot_name};
use crate::statement::{Parameter, Statement};

columns! {
    /// What has to be known of a hot block to go on from it.
    pub struct HotBlock / HotBlockView {
        /// Height.
        block_number: u64,
        /// Hash.
        hash: B256,
        /// Hash of the block below.
        parent_hash: B256,
        /// Which writing of the height.
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
    /// The rows of a generation that a head ever named.
    pub struct Named / NamedView {
        /// The generation.
        generation: u64,
        /// Lowest height.
        first_block: u64,
        /// Highest height.
        last_block: u64,
    }
}

columns! {
    /// How fast blocks became readable of late.
    pub struct Pace / PaceView {
        /// Blocks that became readable.
        blocks: u64,
        /// In so many milliseconds.
        millis: u64,
        /// Milliseconds since the last sign of life.
        silent_ms: u64,
    }
}

/// What a read of many rows may have and a page may not.
const WHOLE: &[(&str, &str)] = &[("max_threads", "2")];

impl Reader {
    /// The blocks of `ranges`, ascending.
    pub async fn hot_blocks(&self, ranges: &[HotRange]) -> Result<Vec<HotBlock>, StoreError> {
        let sql = include_str!("../../../../sql/queries/hot_blocks.sql");
        self.rows(&Statement::page(sql).with("generations", ranges)).await
    }

    /// All generations that heads named, in no order.
    pub async fn named_generations(&self) -> Result<Vec<Named>, StoreError> {
        self.rows(&Statement::page(include_str!("../../../../sql/queries/named_generations.sql"))).await
    }

    /// How fast the head went over the last hour; `None` if nobody followed it.
    pub async fn follow_pace(&self) -> Result<Option<Pace>, StoreError> {
        Ok(self.rows(&Statement::page(include_str!("../../../../sql/queries/follow_pace.sql"))).await?.pop())
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
        statement.settings = WHOLE;
        let statement = statement.with("named", Parameter::Generations(named.to_vec()));
        let dirty = self.rows(&statement).await?;
        let is_dirty = |table: &str| dirty.iter().any(|row| row.rows > 0 && row.name == table);
        Ok(hot_tables().into_iter().map(|(table, _)| table).filter(|table| is_dirty(table)).collect())
    }
}

/// Every table that has a hot one, with the column that says of which block a row is.
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
    pub async fn settle(&self, table: &str, column: &str, range: HotRange, token: &str) -> Result<(), StoreError> {
        let sql = format!(
            "INSERT INTO {table}\nSELECT * EXCEPT (generation)\nFROM {}\nWHERE {column} BETWEEN {{first:UInt64}} AND {{last:UInt64}}\n  AND generation = {{generation:UInt64}}\nORDER BY ALL",
            hot_name(table)
        );
        self.insert_select(&sql, range, token).await
    }

    /// Remembers the blocks of `range` as ones that lose their place.
    pub async fn retire(&self, range: HotRange, token: &str) -> Result<(), StoreError> {
        let blocks = include_str!("../../../../sql/queries/retire_blocks.sql");
        self.insert_select(blocks, range, &format!("{token}/blocks")).await?;
        let withdrawals = include_str!("../../../../sql/queries/retire_withdrawals.sql");
        self.insert_select(withdrawals, range, &format!("{token}/withdrawals")).await
    }

    /// Forgets that blocks of `range` lost their place once: they have won it back for good.
    pub async fn reinstate(&self, range: HotRange) -> Result<(), StoreError> {
        self.execute(include_str!("../../../../sql/queries/reinstate_blocks.sql"), &bounds(range)).await
    }

    async fn insert_select(&self, sql: &str, range: HotRange, token: &str) -> Result<(), StoreError> {
        self.execute_once(sql, &bounds(range), token).await
    }

    /// Removes rows that no head ever named. No insert of another run may be going on.
    pub async fn forget_unnamed(&self, reader: &Reader, named: &[Named]) -> Result<(), StoreError> {
        let named: Vec<(u64, u64, u64)> =
            named.iter().map(|named| (named.first_block, named.last_block, named.generation)).collect();
        let dirty = reader.unnamed(&named).await?;
        for (table, column) in hot_tables().into_iter().filter(|(table, _)| dirty.contains(table)) {
            let sql = format!("DELETE FROM {} WHERE {}", hot_name(table), unnamed(column));
            self.execute(&sql, &[("named", Parameter::Generations(named.clone()))]).await?;
        }
        Ok(())
    }

    /// Removes the hot rows of all heights up to `last`, on every branch, and what older heads said.
    pub async fn forget_hot(&self, last: BlockNumber, before_sequence: u64) -> Result<(), StoreError> {
        for (table, column) in hot_tables() {
            let sql = format!("DELETE FROM {} WHERE {column} <= {{last:UInt64}}", hot_name(table));
            self.execute(&sql, &[("last", last.into())]).await?;
        }
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
