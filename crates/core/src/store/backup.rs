//! BACKUP and RESTORE of a database, part by part: what order they have is the caller's.
//!
//! <https://clickhouse.com/docs/operations/backup>

mod location;

pub use location::BackupLocation;

use super::client::connection::bind;
use super::{StoreError, Writer};
use crate::schema::STATISTICS_TABLES;
use crate::statement::Parameter;

/// The table whose rows say that a database has a schema.
const SCHEMA: &str = "schema_migrations";
/// The table that a database has while it is restored.
const MARKER: &str = "restore_in_progress";
/// What the name of the database of cloned statistics ends with.
const CLONES: &str = "_backup";
/// How often the statistics of tokens are cloned before they are left out because they never stood still meanwhile.
const CLONE_ATTEMPTS: u32 = 10;

/// What is copied by a statement of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackupPart {
    /// Holders and supplies of tokens: clones, which were made while no step of theirs was written.
    Statistics,
    /// What runs announced.
    Intents,
    /// What is readable of the newest blocks.
    Heads,
    /// Which blocks are readable.
    Commits,
    /// All tables and views but those of the other parts.
    Rows,
    /// The names of addresses in the order of their words.
    Terms,
}

/// Whether a backup has statistics of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatisticsCopy {
    /// They are those of one moment.
    Whole,
    /// They are empty, and are worked out again.
    Empty,
}

/// Leases of runs that take something back of what is committed: of a repair, and of parts that are filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepairLeases {
    /// How many were claimed in the last week.
    pub claimed: u64,
    /// How many of them were not given back.
    pub live: u64,
}

/// What a database is, for those who want to restore one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreTarget {
    /// It is not there, or has no tables.
    Empty,
    /// A restore ended before its end.
    HalfRestored,
    /// A restore ended right before it said so: everything is there.
    Restored,
    /// It has tables.
    Used,
}

impl BackupPart {
    /// The parts in an order in which what says that rows count is copied before the rows.
    pub const ALL: [Self; 6] = [Self::Statistics, Self::Intents, Self::Heads, Self::Commits, Self::Rows, Self::Terms];

    /// Its folder in a backup.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            Self::Statistics => "statistics",
            Self::Intents => "intents",
            Self::Heads => "heads",
            Self::Commits => "commits",
            Self::Rows => "rows",
            Self::Terms => "terms",
        }
    }

    /// Its table; `None` of a part of many.
    fn table(self) -> Option<&'static str> {
        match self {
            Self::Intents => Some("ingest_intents"),
            Self::Heads => Some("ingest_heads"),
            Self::Commits => Some("ingest_commits"),
            Self::Terms => Some("search_terms"),
            Self::Statistics | Self::Rows => None,
        }
    }
}

/// `database`.`table`
fn full_name(database: &str, table: &str) -> String {
    format!("{}.{}", quoted(database), quoted(table))
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`"))
}

/// The tables of other parts than [`BackupPart::Rows`].
fn of_other_parts() -> impl Iterator<Item = &'static str> {
    BackupPart::ALL.into_iter().filter_map(BackupPart::table).chain(STATISTICS_TABLES)
}

impl Writer {
    /// How many BACKUP and RESTORE statements run on the server.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn running_backups(&self) -> Result<u64, StoreError> {
        let query = self.address.server().query_raw(include_str!("../../../../sql/queries/running_backups.sql"));
        Ok(query.fetch_one().await?)
    }

    /// Leases of runs that take something back of what is committed.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn repair_leases(&self) -> Result<RepairLeases, StoreError> {
        let query = self.address.client().query_raw(include_str!("../../../../sql/queries/repair_leases.sql"));
        let (claimed, live) =
            query.param("repair", super::REPAIR_RUNS).param("fill", super::FILL_RUNS).fetch_one().await?;
        Ok(RepairLeases { claimed, live })
    }

    /// What the database is, for those who want to restore one.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn restore_target(&self) -> Result<RestoreTarget, StoreError> {
        let query = self.address.server().query_raw(include_str!("../../../../sql/queries/tables_of_database.sql"));
        let tables: Vec<String> = query.param("database", self.address.database.as_str()).fetch_all().await?;
        let has = |name: &str| tables.iter().any(|table| table == name);
        Ok(match (tables.is_empty(), has(MARKER), has(SCHEMA)) {
            (true, ..) => RestoreTarget::Empty,
            (false, true, false) => RestoreTarget::HalfRestored,
            (false, true, true) => RestoreTarget::Restored,
            (false, false, _) => RestoreTarget::Used,
        })
    }

    /// Copies a part to `to`; what the same part in `base` has is left out. Of the statistics their clones are copied.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn back_up(
        &self,
        part: BackupPart,
        to: &BackupLocation,
        base: Option<&BackupLocation>,
    ) -> Result<(), StoreError> {
        let database = &self.address.database;
        let what = match (part, part.table()) {
            (_, Some(table)) => format!("TABLE {}", full_name(database, table)),
            (BackupPart::Statistics, None) => format!("DATABASE {}", quoted(&clones_of(database))),
            (_, None) => {
                let others: Vec<String> = of_other_parts().map(|table| full_name(database, table)).collect();
                format!("DATABASE {} EXCEPT TABLES {}", quoted(database), others.join(", "))
            }
        };
        let settings = base.map(|base| format!(" SETTINGS base_backup = {}", base.call("base"))).unwrap_or_default();
        let parameters: Vec<(&str, Parameter)> = [("to", Some(to)), ("base", base)]
            .into_iter()
            .filter_map(|(name, path)| Some((name, path?.path().into())))
            .collect();
        self.execute_at_server(&format!("BACKUP {what} TO {}{settings}", to.call("to")), &parameters).await
    }

    /// Clones the statistics of tokens (hard links, no bytes) into a database of their own, as they are between two
    /// steps.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses a statement.
    pub async fn clone_statistics(&self) -> Result<StatisticsCopy, StoreError> {
        for _ in 0..CLONE_ATTEMPTS {
            let before = self.newest_token_step().await?;
            self.copy_statistics("CLONE AS").await?;
            if self.newest_token_step().await? == before {
                return Ok(StatisticsCopy::Whole);
            }
        }
        self.copy_statistics("AS").await?;
        Ok(StatisticsCopy::Empty)
    }

    /// Removes the clones.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn drop_clones(&self) -> Result<(), StoreError> {
        let clones = quoted(&clones_of(&self.address.database));
        self.execute_at_server(&format!("DROP DATABASE IF EXISTS {clones} SYNC"), &[]).await
    }

    async fn newest_token_step(&self) -> Result<(u64, u64), StoreError> {
        let query = self.address.client().query_raw(include_str!("../../../../sql/queries/newest_token_step.sql"));
        Ok(query.fetch_one().await?)
    }

    async fn copy_statistics(&self, how: &str) -> Result<(), StoreError> {
        let (database, clones) = (&self.address.database, clones_of(&self.address.database));
        self.drop_clones().await?;
        self.execute_at_server(&format!("CREATE DATABASE {}", quoted(&clones)), &[]).await?;
        let left_out = self.left_out().await?;
        for table in STATISTICS_TABLES.into_iter().filter(|table| !left_out.iter().any(|out| out.name() == *table)) {
            let (clone, original) = (full_name(&clones, table), full_name(database, table));
            self.execute_at_server(&format!("CREATE TABLE {clone} {how} {original}"), &[]).await?;
        }
        Ok(())
    }

    /// Makes the database, as one that is being restored.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses a statement.
    pub async fn begin_restore(&self) -> Result<(), StoreError> {
        let database = &self.address.database;
        self.execute_at_server(&format!("CREATE DATABASE IF NOT EXISTS {}", quoted(database)), &[]).await?;
        let marker = full_name(database, MARKER);
        let create = format!("CREATE TABLE IF NOT EXISTS {marker} (nothing UInt8) ENGINE = Null");
        self.execute_at_server(&create, &[]).await
    }

    /// Removes what a restore left that did not come to its end.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn drop_half_restored(&self) -> Result<(), StoreError> {
        self.execute_at_server(&format!("DROP DATABASE {} SYNC", quoted(&self.address.database)), &[]).await
    }

    /// Restores a part of database `saved` from `from`, but for what says that the database has a schema.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn restore(&self, part: BackupPart, saved: &str, from: &BackupLocation) -> Result<(), StoreError> {
        let database = &self.address.database;
        let what = match (part, part.table()) {
            (_, Some(table)) => format!("TABLE {} AS {}", full_name(saved, table), full_name(database, table)),
            (BackupPart::Statistics, None) => format!("DATABASE {} AS {}", quoted(&clones_of(saved)), quoted(database)),
            (_, None) => {
                format!("DATABASE {} AS {} EXCEPT TABLES {}", quoted(saved), quoted(database), full_name(saved, SCHEMA))
            }
        };
        let restore = format!("RESTORE {what} FROM {}", from.call("from"));
        self.execute_at_server(&restore, &[("from", from.path().into())]).await
    }

    /// Restores what says that the database has a schema, from the location of [`BackupPart::Rows`]: programs use it
    /// from then on.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn restore_schema(&self, saved: &str, from: &BackupLocation) -> Result<(), StoreError> {
        let (saved, restored) = (full_name(saved, SCHEMA), full_name(&self.address.database, SCHEMA));
        let restore = format!("RESTORE TABLE {saved} AS {restored} FROM {}", from.call("from"));
        self.execute_at_server(&restore, &[("from", from.path().into())]).await
    }

    /// Says that the restore came to its end.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn end_restore(&self) -> Result<(), StoreError> {
        let marker = full_name(&self.address.database, MARKER);
        self.execute_at_server(&format!("DROP TABLE IF EXISTS {marker} SYNC"), &[]).await
    }

    /// Runs a statement that names its databases: that of this writer may not be there.
    async fn execute_at_server(&self, sql: &str, parameters: &[(&str, Parameter)]) -> Result<(), StoreError> {
        let mut query = self.address.server().query_raw(sql);
        for (name, value) in parameters {
            query = bind(query, name, value);
        }
        Ok(query.execute().await?)
    }
}

/// The database of clones of the statistics of a database.
fn clones_of(database: &str) -> String {
    format!("{database}{CLONES}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted() {
        assert_eq!(full_name("a`b", "c\\d"), "`a\\`b`.`c\\\\d`");
    }

    #[test]
    fn every_table_is_of_one_part() {
        let tables: Vec<&str> = of_other_parts().collect();
        let distinct: std::collections::BTreeSet<&str> = tables.iter().copied().collect();
        assert_eq!(tables.len(), distinct.len());
    }
}
