//! Brings a database to the schema this program is written for, and tells when it has another.

use alloy_primitives::hex;
use clickhouse::Client;

use super::{Choice, StoreError, Writer};
use crate::schema::hot::HOT_TABLES;
use crate::schema::migrations::{CREATE_SCHEMA_MIGRATIONS, MIGRATIONS, current_version};

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
    /// A step was applied with another text.
    #[error(
        "migration {name} was applied to database `{database}` with another text: was it edited after its release?"
    )]
    Edited {
        /// The database.
        database: String,
        /// The migration.
        name: String,
    },
    /// A step failed.
    #[error("migration {name} failed")]
    Step {
        /// The migration.
        name: &'static str,
        /// Why.
        source: StoreError,
    },
    /// ClickHouse did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Writer {
    /// Creates the database if need be and applies what is pending; returns the names of the applied steps.
    /// Safe to run again, and to run twice at once: every step can be repeated. Steps of tables that are left out are
    /// recorded and not run.
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
            let step = |source| MigrateError::Step { name: migration.name, source };
            if !left_out.iter().any(|table| migration.is_of(table)) {
                self.execute_step(migration.sql).await.map_err(step)?;
            }
            client
                .query_raw(include_str!("../../../../sql/queries/record_migration.sql"))
                .param("version", position as u64 + 1)
                .param("name", migration.name)
                .param("checksum", checksum(migration.sql))
                .execute()
                .await
                .map_err(|error| step(error.into()))?;
            done.push(migration.name);
        }
        self.create_hot_tables(&client).await?;
        done.extend(self.choose(choice).await?);
        Ok(done)
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
        for table in HOT_TABLES {
            self.execute(&table.create_statement(), &[]).await?;
        }
        Ok(())
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

/// The version of the database, after a look at the checksums of its steps.
async fn applied(client: &Client, database: &str) -> Result<u32, MigrateError> {
    let query = client.query_raw(include_str!("../../../../sql/queries/applied_migrations.sql"));
    let rows: Vec<(u32, String, String)> = query.fetch_all().await.map_err(StoreError::from)?;
    let found = rows.iter().map(|(version, _, _)| *version).max().unwrap_or(0);
    let ours = current_version();
    if found > ours {
        return Err(MigrateError::Newer { database: database.into(), found, ours });
    }
    for (version, name, applied) in rows {
        let known = MIGRATIONS.get((version as usize).wrapping_sub(1));
        if known.is_none_or(|migration| checksum(migration.sql) != applied) {
            return Err(MigrateError::Edited { database: database.into(), name });
        }
    }
    Ok(found)
}

/// Keccak-256 of a migration's text; any hash will do, and this one is at hand.
fn checksum(sql: &str) -> String {
    hex::encode(alloy_primitives::keccak256(sql))
}
