//! Rows and bytes that statements rewrite, and the space for them.

use std::collections::HashMap;

use crate::schema::OptionalTable;
use crate::store::{DiskRoom, StoreError, Writer};

/// A table whose rows a statement rewrites, or copies into another table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableWork {
    /// The table that is read.
    pub table: String,
    /// Its rows, on all shards; those that were deleted and not merged away yet count.
    pub rows: u64,
    /// Its bytes on disk, on all shards.
    pub bytes: u64,
    /// The most space that is needed, on all shards.
    pub room_bytes: u64,
}

/// Free space of a server, and the space that statements need there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanRoom {
    /// The HTTP endpoint of the server.
    pub url: String,
    /// Its disk with the least room.
    pub disk: DiskRoom,
    /// Bytes that the statements need at most.
    pub needed_bytes: u64,
}

impl PlanRoom {
    /// Whether it is enough.
    #[must_use]
    pub fn is_enough(&self) -> bool {
        self.needed_bytes <= self.disk.free_bytes
    }
}

/// The tables of all servers.
pub(super) struct Sizes {
    servers: Vec<ServerSizes>,
    /// How many of the first servers have different rows; the others are their replicas.
    shards: usize,
}

/// The tables of a server.
struct ServerSizes {
    url: String,
    /// `None` if the account may not see it.
    disk: Option<DiskRoom>,
    /// Rows and bytes on disk.
    tables: HashMap<String, (u64, u64)>,
}

/// What a statement reads.
struct Source<'a> {
    table: &'a str,
    /// How many times its bytes what is written takes at most.
    times: u64,
}

impl Writer {
    /// Sizes of the tables on every server.
    pub(super) async fn sizes(&self) -> Result<Sizes, StoreError> {
        let mut servers = Vec::new();
        for node in self.on_each_replica() {
            let query = node.address.server().query_raw(include_str!("../../../../../../sql/queries/table_sizes.sql"));
            let database = node.address.database.clone();
            let query = query.param("local", format!("{database}_local")).param("database", database);
            let rows: Vec<(String, u64, u64)> = query.fetch_all().await?;
            let tables = rows.into_iter().map(|(table, rows, bytes)| (table, (rows, bytes))).collect();
            let disk = match node.least_room().await {
                Err(StoreError::NotAllowed { .. }) => None,
                other => Some(other?),
            };
            servers.push(ServerSizes { url: node.address.url, disk, tables });
        }
        Ok(Sizes { servers, shards: self.on_each_node().len() })
    }
}

impl Sizes {
    /// The rows that a statement rewrites, if any.
    pub fn work(&self, sql: &str) -> Option<TableWork> {
        let Source { table, times } = source(sql)?;
        let sizes = self.servers.iter().take(self.shards).filter_map(|server| server.tables.get(table));
        let (rows, bytes) = sizes.fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1));
        Some(TableWork { table: table.into(), rows, bytes, room_bytes: bytes.saturating_mul(times) })
    }

    /// The server with the least to spare for these statements.
    pub fn least<'a>(&self, statements: impl Iterator<Item = &'a str>) -> Option<PlanRoom> {
        let sources: Vec<Source> = statements.filter_map(source).collect();
        let rooms = self.servers.iter().filter_map(|server| {
            let needed = |source: &Source| server.tables.get(source.table).map_or(0, |(_, bytes)| bytes * source.times);
            let needed_bytes = sources.iter().map(needed).sum();
            Some(PlanRoom { url: server.url.clone(), disk: server.disk.clone()?, needed_bytes })
        });
        rooms.min_by_key(|room| i128::from(room.disk.free_bytes) - i128::from(room.needed_bytes))
    }
}

/// What in an `ALTER` makes ClickHouse write parts of a table again
/// (<https://clickhouse.com/docs/sql-reference/statements/alter>).
const REWRITES: [&str; 5] = [" MATERIALIZE ", " UPDATE ", " DELETE ", " MODIFY COLUMN ", " MODIFY ORDER BY "];

/// Whether a statement rewrites existing rows.
pub(super) fn writes_rows_again(sql: &str) -> bool {
    source(sql).is_some()
}

/// The table that a statement rewrites; those of `sql/` read one.
fn source(sql: &str) -> Option<Source<'_>> {
    let words = |text: &'static str| sql.split_once(text).and_then(|(_, rest)| rest.split_whitespace().next());
    let statement = sql.lines().find(|line| !line.starts_with("--")).unwrap_or_default();
    if let Some(target) = statement.strip_prefix("INSERT INTO ").filter(|_| sql.contains("\nSELECT\n")) {
        let times = OptionalTable::from_name(target.trim()).map_or(1, OptionalTable::times_of_source);
        return Some(Source { table: words("\nFROM ")?.trim_end_matches(';'), times });
    }
    let rewrites = statement.starts_with("ALTER TABLE ") && REWRITES.iter().any(|word| sql.contains(word));
    rewrites.then(|| words("ALTER TABLE ")).flatten().map(|table| Source { table, times: 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::migrations::{MIGRATIONS, Migration, Step};

    fn read(sql: &str) -> Option<(&str, u64)> {
        source(sql).map(|source| (source.table, source.times))
    }

    #[test]
    fn statements_that_rewrite_rows_differ_from_metadata_changes() {
        for (sql, expected) in [
            ("ALTER TABLE logs MATERIALIZE INDEX topics", Some(("logs", 1))),
            ("-- logs: smaller\nALTER TABLE logs MODIFY COLUMN data CODEC(ZSTD(1))", Some(("logs", 1))),
            ("ALTER TABLE logs ADD COLUMN IF NOT EXISTS size UInt32 DEFAULT 0", None),
            ("ALTER TABLE logs COMMENT COLUMN data 'data', MODIFY COMMENT 'logs'", None),
            ("ALTER TABLE logs MODIFY SETTING old_parts_lifetime = 10", None),
            ("INSERT INTO left_out_tables (name) VALUES ('log_topics')", None),
            ("DELETE FROM left_out_tables WHERE name = 'log_topics'", None),
        ] {
            assert_eq!(read(sql), expected, "{sql}");
        }
    }

    #[test]
    fn every_optional_table_is_filled_from_another() {
        let steps = MIGRATIONS.iter().flat_map(Migration::steps);
        let fills: Vec<String> = steps.filter_map(Step::fill_statement).collect();
        assert_eq!(fills.len(), OptionalTable::ALL.len(), "{fills:?}");
        for fill in fills {
            let (table, _) = read(&fill).expect("a table");
            assert!(MIGRATIONS[0].steps().any(|step| step.name == table), "{table}");
        }
    }
}
