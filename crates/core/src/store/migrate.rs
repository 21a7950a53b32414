//! Brings a database to the schema this program is written for, and tells when it has another.

use clickhouse::Client;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::{Choice, StoreError, Writer};
use crate::schema::hot::HOT_TABLES;
use crate::schema::migrations::{CREATE_SCHEMA_MIGRATIONS, MIGRATIONS, Migration, UNRELEASED, current_version};

/// Statements that make tables, at the same time. More gain nothing on four cores, and a server may have other work.
const CONCURRENCY: usize = 8;

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// Made by a later release.
    #[error(
        "database `{database}` has schema version {found}, which is newer than this program's {ours}: use a newer Trawl"
    )]
    Newer {
        /// The database.
        database: String,
        /// Its version.
        found: u32,
        /// Ours.
        ours: u32,
    },
    /// Made by an earlier release, or empty.
    #[error(
        "database `{database}` has schema version {found} and this program needs {ours}: run `trawl-ingest migrate`"
    )]
    Older {
        /// The database.
        database: String,
        /// Its version; 0 if it has no tables of ours.
        found: u32,
        /// Ours.
        ours: u32,
    },
    /// Made before there was a release.
    #[error(
        "database `{database}` was made by a Trawl from before its first release, whose migrations this program does not \
         have: drop the database (`DROP DATABASE {database}`) and load it again, or use another --clickhouse-database"
    )]
    Unreleased {
        /// The database.
        database: String,
    },
    /// A migration was applied with another text.
    #[error(
        "migration {name} was applied to database `{database}` with another text: was it edited after its release?"
    )]
    Edited {
        /// The database.
        database: String,
        /// The migration.
        name: String,
    },
    /// A migration failed.
    #[error("migration {name} failed")]
    Step {
        /// The migration, or its step where one of many is repeated.
        name: &'static str,
        /// Why.
        source: StoreError,
    },
    /// ClickHouse did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Writer {
    /// Creates the database if need be and applies what is pending; returns the names of what was applied.
    /// Safe to run again, and to run twice at once: every step can be repeated. Steps of tables that are left out do
    /// not run.
    ///
    /// # Errors
    ///
    /// If the database is of another release, or ClickHouse refuses a statement.
    pub async fn migrate(&self, choice: &Choice) -> Result<Vec<&'static str>, MigrateError> {
        let server = self.address.server();
        let create = server.query_raw("CREATE DATABASE IF NOT EXISTS {database:Identifier}");
        create.param("database", &self.address.database).execute().await.map_err(StoreError::from)?;
        let client = self.address.client();
        client.query_raw(CREATE_SCHEMA_MIGRATIONS).execute().await.map_err(StoreError::from)?;
        let applied = applied(&client, &self.address.database).await?;
        let left_out = [self.left_out().await?, choice.without.clone()].concat();
        let mut done = Vec::new();
        for (position, migration) in MIGRATIONS.iter().enumerate().skip(applied as usize) {
            let failed = |source| MigrateError::Step { name: migration.name, source };
            for stage in migration.stages {
                let steps = stage.iter().filter(|step| !left_out.iter().any(|table| step.is_of(table)));
                self.execute_all(steps.map(|step| step.sql.to_owned())).await.map_err(failed)?;
            }
            self.record(position, migration).await.map_err(failed)?;
            done.push(migration.name);
        }
        self.create_hot_tables(&client).await?;
        done.extend(self.choose(choice).await?);
        Ok(done)
    }

    /// Runs statements that do not need each other, some at the same time.
    async fn execute_all(&self, statements: impl Iterator<Item = String>) -> Result<(), StoreError> {
        let run = |sql: String| async move { self.execute_step(&sql).await };
        stream::iter(statements).map(run).buffer_unordered(CONCURRENCY).try_collect().await
    }

    /// Remembers that a migration was applied.
    async fn record(&self, position: usize, migration: &Migration) -> Result<(), StoreError> {
        let insert = self.address.client().query_raw(include_str!("../../../../sql/queries/record_migration.sql"));
        let insert = insert.param("version", position as u64 + 1).param("name", migration.name);
        Ok(insert.param("checksum", migration.checksum()).execute().await?)
    }

    /// Makes the hot tables fit the others. What they hold of another shape is dropped; `follow` fetches it again.
    async fn create_hot_tables(&self, client: &Client) -> Result<(), StoreError> {
        let stale = client.query_raw(include_str!("../../../../sql/queries/stale_hot_tables.sql"));
        let stale: Vec<String> = stale.fetch_all().await?;
        if !stale.is_empty() {
            self.execute("TRUNCATE TABLE ingest_heads", &[]).await?;
        }
        for table in stale {
            self.execute("DROP TABLE IF EXISTS {table:Identifier} SYNC", &[("table", table.as_str().into())]).await?;
        }
        self.execute_all(HOT_TABLES.iter().map(|table| table.create_statement())).await
    }

    /// Checks that the database has exactly the schema this program is written for.
    pub async fn require_schema(&self) -> Result<(), MigrateError> {
        require_schema(&self.address.client(), &self.address.database).await
    }
}

/// The check both programs make before they trust the tables.
pub(super) async fn require_schema(client: &Client, database: &str) -> Result<(), MigrateError> {
    let found = match applied(client, database).await {
        // UNKNOWN_TABLE, UNKNOWN_DATABASE
        Err(MigrateError::Store(StoreError::Refused { code: 60 | 81, .. })) => 0,
        other => other?,
    };
    let ours = current_version();
    if found < ours {
        return Err(MigrateError::Older { database: database.into(), found, ours });
    }
    Ok(())
}

/// The version of the database, after a look at the checksums of its migrations.
async fn applied(client: &Client, database: &str) -> Result<u32, MigrateError> {
    let query = client.query_raw(include_str!("../../../../sql/queries/applied_migrations.sql"));
    let rows: Vec<(u32, String, String)> = query.fetch_all().await.map_err(StoreError::from)?;
    if rows.iter().any(|(_, name, _)| name == UNRELEASED) {
        return Err(MigrateError::Unreleased { database: database.into() });
    }
    let found = rows.iter().map(|(version, _, _)| *version).max().unwrap_or(0);
    let ours = current_version();
    if found > ours {
        return Err(MigrateError::Newer { database: database.into(), found, ours });
    }
    for (version, name, applied) in rows {
        let known = MIGRATIONS.get((version as usize).wrapping_sub(1));
        if known.is_none_or(|migration| migration.checksum() != applied) {
            return Err(MigrateError::Edited { database: database.into(), name });
        }
    }
    Ok(found)
}
