//! What was lost: tables that have fewer rows than were committed, and the blocks that miss them.
//!
//! Every commit records how many rows it wrote to which table, and ClickHouse knows the rows of each part without
//! reading them, so the comparison is cheap. Commits are read first: rows are there before their commit and are never
//! removed after it, so a load that goes on can make the tables only longer. Where a table is too short, or ClickHouse
//! set a part of it aside, the rows of every committed range are counted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::primitives::{BlockRange, Coverage};
use crate::schema::columns::columns;
use crate::schema::{BLOCK_TABLES, BlockPart, OPTIONAL_TABLES, TableRows};
use crate::statement::Statement;
use crate::store::error::UNKNOWN_TABLE;
use crate::store::{Reader, StoreError};

/// A table of blocks that lost rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedTable {
    /// Name of the table without its database.
    pub table: String,
    /// The committed ranges of which it has fewer rows than were written.
    pub blocks: Coverage,
    /// How many rows are missing.
    pub rows: u64,
}

/// The damage; none by default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Damage {
    /// Tables of blocks, by name.
    pub tables: Vec<DamagedTable>,
    /// Other tables of which ClickHouse set a broken part aside, by name. How many rows they had is not known.
    pub others: Vec<String>,
    /// Blocks that a repair has taken back and not loaded yet.
    pub withdrawn: Coverage,
}

/// Prefix of the names of repair runs.
pub const REPAIR_RUNS: &str = "repair-";

/// Bookkeeping tables. Without a row of them no answer is certain.
const BOOKKEEPING: [&str; 4] = ["ingest_commits", "ingest_heads", "chain_configurations", "left_out_tables"];

/// Tables that only `trawl-ingest` reads.
const OF_INGEST: [&str; 4] = ["follow_reports", "ingest_leases", "ingest_intents", "schema_migrations"];

impl Damage {
    /// Whether nothing was lost.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.tables.is_empty() && self.others.is_empty() && self.withdrawn.is_empty()
    }

    /// The committed ranges that miss rows of any table.
    #[must_use]
    pub fn blocks(&self) -> Coverage {
        self.tables.iter().flat_map(|table| table.blocks.ranges()).copied().collect()
    }

    /// The blocks that miss rows which answers show: all but verdicts.
    #[must_use]
    pub fn shown(&self) -> Coverage {
        let shown = self.tables.iter().filter(|table| table.table != "block_verdicts");
        shown.flat_map(|table| table.blocks.ranges()).chain(self.withdrawn.ranges()).copied().collect()
    }

    /// The blocks whose `part` misses rows.
    #[must_use]
    pub fn of_part(&self, part: BlockPart) -> Coverage {
        let hit = self.tables.iter().filter(|table| concerns(&table.table, part));
        hit.flat_map(|table| table.blocks.ranges()).copied().collect()
    }

    /// Whether a bookkeeping table lost rows.
    #[must_use]
    pub fn hits_bookkeeping(&self) -> bool {
        self.others.iter().any(|table| BOOKKEEPING.contains(&table.as_str()) || table.starts_with("hot_"))
    }

    /// Whether a table of tokens, labels or signatures lost rows.
    #[must_use]
    pub fn hits_descriptions(&self) -> bool {
        self.others.iter().any(|table| !OF_INGEST.contains(&table.as_str()))
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_blocks = self.tables.iter().map(|DamagedTable { table, blocks, rows }| {
            let ranges: Vec<String> = blocks.ranges().iter().map(ToString::to_string).collect();
            format!("`{table}` lost {rows} rows of blocks {}", ranges.join(", "))
        });
        let others = self.others.iter().map(|table| format!("`{table}` lost rows"));
        let withdrawn = self.withdrawn.ranges().iter().map(|range| format!("blocks {range} are not repaired yet"));
        write!(formatter, "{}", of_blocks.chain(others).chain(withdrawn).collect::<Vec<_>>().join("; "))
    }
}

/// Whether answers from `part` read `table`.
fn concerns(table: &str, part: BlockPart) -> bool {
    match table {
        "logs" | "logs_by_block" | "logs_by_topic" | "log_topics" => part == BlockPart::Receipts,
        "token_transfers"
        | "token_transfers_by_direction"
        | "token_transfers_by_token"
        | "token_transfers_by_block" => part == BlockPart::Receipts,
        "withdrawals" | "withdrawals_by_block" => part == BlockPart::Withdrawals,
        "uncles" => part == BlockPart::Uncles,
        "internal_transactions"
        | "internal_transactions_by_address"
        | "internal_transactions_by_direction"
        | "listed_internal_transactions" => matches!(part, BlockPart::Traces | BlockPart::Rewards),
        "balance_history"
        | "nonce_history"
        | "code_history"
        | "codes"
        | "storage_history"
        | "account_destructions"
        | "balance_credits" => part.is_state(),
        "contracts" | "proxy_implementations" | "block_verdicts" => false,
        _ => true,
    }
}

/// The tables of a part of blocks, with their columns of the block number: all but those that other parts need too.
/// What is known of contracts is not among them.
pub fn tables_of_part(part: BlockPart) -> impl Iterator<Item = (&'static str, &'static str)> {
    let is_of_part = move |table: &str| concerns(table, part) && !concerns(table, BlockPart::Blocks);
    let with_proxies = move |table: &str| part.is_state() && table == "proxy_implementations";
    let all = BLOCK_TABLES.into_iter().chain(OPTIONAL_TABLES);
    all.filter(move |(table, _)| is_of_part(table) || with_proxies(table))
}

columns! {
    pub struct TableSize / TableSizeView {
        table: String,
        rows: u64,
    }
}

columns! {
    pub struct TableName / TableNameView {
        table: String,
    }
}

columns! {
    pub struct CommittedRange / CommittedRangeView {
        first_block: u64,
        last_block: u64,
        rows: Vec<TableRows>,
    }
}

columns! {
    pub struct BlockSpan / BlockSpanView {
        first_block: u64,
        last_block: u64,
    }
}

columns! {
    pub struct StoredRows / StoredRowsView {
        first_block: u64,
        rows: u64,
    }
}

impl Reader {
    /// Compares what is stored with what was committed. Cheap while nothing is missing; else the tables that miss rows
    /// are counted, without a time limit.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses a statement, or a result has unexpected columns.
    pub async fn damage(&self) -> Result<Damage, StoreError> {
        let committed = self.sizes(include_str!("../../../../../sql/queries/committed_rows.sql")).await?;
        let stored = self.sizes(include_str!("../../../../../sql/queries/part_rows.sql")).await?;
        let broken = Statement::<TableName>::page(include_str!("../../../../../sql/queries/broken_parts.sql"));
        let broken: BTreeSet<String> =
            self.rows_of_every_shard(broken).await?.into_iter().map(|row| row.table).collect();
        let of = |sizes: &BTreeMap<String, u64>, table: &str| sizes.get(table).copied().unwrap_or(0);
        let is_suspect =
            |(table, _): &(&str, &str)| broken.contains(*table) || of(&stored, table) < of(&committed, table);
        let suspects = BLOCK_TABLES.into_iter().chain(OPTIONAL_TABLES).filter(is_suspect).collect::<Vec<_>>();
        let is_of_blocks = |table: &String| BLOCK_TABLES.iter().chain(&OPTIONAL_TABLES).any(|(name, _)| name == table);
        Ok(Damage {
            tables: self.damaged_tables(&suspects).await?,
            others: broken.into_iter().filter(|table| !is_of_blocks(table)).collect(),
            withdrawn: self.withdrawn().await?,
        })
    }

    /// Blocks that repairs announced and that were not committed again.
    async fn withdrawn(&self) -> Result<Coverage, StoreError> {
        let sql = include_str!("../../../../../sql/queries/repair_intents.sql");
        let announced = self.rows(&Statement::<BlockSpan>::page(sql).with("prefix", REPAIR_RUNS)).await?;
        let announced: Coverage =
            announced.iter().filter_map(|range| BlockRange::new(range.first_block, range.last_block)).collect();
        if announced.is_empty() {
            return Ok(announced);
        }
        let sql = include_str!("../../../../../sql/queries/committed_ranges.sql");
        let commits = self.rows(&Statement::<CommittedRange>::page(sql)).await?;
        let committed = commits.iter().filter_map(|range| BlockRange::new(range.first_block, range.last_block));
        Ok(announced.without(&committed.collect()))
    }

    async fn sizes(&self, sql: &'static str) -> Result<BTreeMap<String, u64>, StoreError> {
        let rows = self.rows_of_every_shard(Statement::<TableSize>::page(sql)).await?;
        Ok(rows.into_iter().map(|row| (row.table, row.rows)).collect())
    }

    /// Which of `suspects` miss rows of committed ranges.
    async fn damaged_tables(&self, suspects: &[(&str, &str)]) -> Result<Vec<DamagedTable>, StoreError> {
        if suspects.is_empty() {
            return Ok(Vec::new());
        }
        let sql = include_str!("../../../../../sql/queries/committed_ranges.sql");
        let commits = self.rows(&Statement::<CommittedRange>::page(sql)).await?;
        // Before the rows are counted: a table that is filled again leaves this list when it is whole.
        let left_out = Statement::<TableName>::page("SELECT DISTINCT name AS table FROM left_out_tables");
        let left_out = self.rows(&left_out).await?;
        let mut damaged = Vec::new();
        for (table, column) in suspects {
            if left_out.iter().any(|row| row.table == *table) {
                continue;
            }
            let statement =
                Statement::<StoredRows>::scan(include_str!("../../../../../sql/queries/rows_of_commits.sql"));
            let stored = match self.rows(&statement.with("table", *table).with("column", *column)).await {
                Err(StoreError::Refused { code: UNKNOWN_TABLE, .. }) => Vec::new(),
                stored => stored?,
            };
            damaged.extend(missing(table, &commits, &stored));
        }
        Ok(damaged)
    }
}

/// The ranges of which `stored` has fewer rows than were committed.
fn missing(table: &str, commits: &[CommittedRange], stored: &[StoredRows]) -> Option<DamagedTable> {
    let mut expected: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for commit in commits {
        let rows = commit.rows.iter().filter(|of| of.name == table).map(|of| of.rows).sum();
        // A commit that was written twice is one.
        let of_range = expected.entry(commit.first_block).or_default();
        *of_range = (*of_range).max((commit.last_block, rows));
    }
    let stored: BTreeMap<u64, u64> = stored.iter().map(|row| (row.first_block, row.rows)).collect();
    let mut rows = 0;
    let short = expected.into_iter().filter_map(|(first, (last, committed))| {
        let lost = committed.saturating_sub(stored.get(&first).copied().unwrap_or(0));
        rows += lost;
        BlockRange::new(first, last).filter(|_| lost > 0)
    });
    let blocks: Coverage = short.collect();
    (!blocks.is_empty()).then(|| DamagedTable { table: table.into(), blocks, rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(first_block: u64, last_block: u64, rows: u64) -> CommittedRange {
        let rows = vec![TableRows { name: "logs".into(), rows }];
        CommittedRange { first_block, last_block, rows }
    }

    fn stored(rows: &[(u64, u64)]) -> Vec<StoredRows> {
        rows.iter().map(|(first_block, rows)| StoredRows { first_block: *first_block, rows: *rows }).collect()
    }

    #[test]
    fn fewer_rows_than_were_committed_are_missed_and_more_are_not() {
        let commits = [commit(0, 9, 5), commit(10, 19, 0), commit(20, 29, 7)];
        assert_eq!(missing("logs", &commits, &stored(&[(0, 5), (20, 8)])), None);
        let found = missing("logs", &commits, &stored(&[(0, 9), (20, 4)])).expect("three are gone");
        assert_eq!((found.rows, found.blocks.ranges()), (3, &[BlockRange::new(20, 29).expect("ordered")][..]));
        let all = missing("logs", &commits, &[]).expect("all are gone");
        assert_eq!((all.rows, all.blocks.ranges().len()), (12, 2));
        assert_eq!(missing("uncles", &commits, &[]), None);
    }

    #[test]
    fn a_part_loses_the_blocks_of_its_tables() {
        let table = |table: &str, first, last| DamagedTable {
            table: table.into(),
            blocks: BlockRange::new(first, last).into_iter().collect(),
            rows: 1,
        };
        let damage = Damage { tables: vec![table("logs", 5, 9), table("blocks", 20, 29)], ..Damage::default() };
        assert_eq!(damage.of_part(BlockPart::Receipts).ranges().len(), 2);
        assert_eq!(damage.of_part(BlockPart::State).ranges().len(), 1);
        assert_eq!(damage.to_string(), "`logs` lost 1 rows of blocks 5-9; `blocks` lost 1 rows of blocks 20-29");
        assert!(!damage.hits_bookkeeping() && !damage.is_none());
        let others = Damage { others: vec!["ingest_leases".into(), "tokens".into()], ..Damage::default() };
        assert!(others.hits_descriptions() && !others.hits_bookkeeping());
    }

    #[test]
    fn every_table_of_blocks_concerns_a_part_or_is_only_looked_up() {
        let looked_up = ["contracts", "proxy_implementations", "block_verdicts"];
        for (table, _) in BLOCK_TABLES.into_iter().chain(OPTIONAL_TABLES) {
            assert_ne!(
                BlockPart::ALL.into_iter().any(|part| concerns(table, part)),
                looked_up.contains(&table),
                "{table}"
            );
        }
    }
}
