//! Brings a database to the schema that this program needs.

use futures_util::{StreamExt, TryStreamExt, stream};

use super::version::{MigrateError, applied, require_schema};
use crate::schema::OptionalTable;
use crate::schema::hot::HOT_TABLES;
use crate::schema::migrations::{CREATE_SCHEMA_MIGRATIONS, MIGRATIONS, Migration};
use crate::store::{Choice, ClusterLayout, StoreError, Writer};

/// Maximum number of concurrent statements. More gain nothing on four cores, and a server may have other work.
const CONCURRENCY: usize = 8;

impl Writer {
    /// Creates the database if it is missing and applies pending migrations; returns the names of the applied ones.
    /// Safe to run again, and to run twice at once: every step can be repeated. Steps of tables that are left out do
    /// not run. A new database is created on one server, or with the `requested` layout.
    ///
    /// # Errors
    ///
    /// If the database is of another release or laid out in another way, or ClickHouse refuses a statement.
    pub async fn migrate(
        &self,
        choice: &Choice,
        requested: Option<&ClusterLayout>,
    ) -> Result<Vec<&'static str>, MigrateError> {
        let layout = self.layout(requested).await?;
        let layout = layout.as_ref();
        self.create_databases().await?;
        let client = self.address.client();
        self.create(layout, "schema_migrations", CREATE_SCHEMA_MIGRATIONS).await?;
        let applied = applied(&client, &self.address.database).await?;
        let mut left_out = [self.left_out().await?, choice.without.clone()].concat();
        if applied == 0 {
            left_out.extend(OptionalTable::LEFT_OUT_AT_FIRST);
        }
        let mut done = Vec::new();
        for (position, migration) in MIGRATIONS.iter().enumerate().skip(applied as usize) {
            let failed = |source| MigrateError::Step { name: migration.name, source };
            for stage in migration.stages {
                let steps = stage.iter().filter(|step| !left_out.iter().any(|table| step.is_of(table.name())));
                self.create_all(layout, steps.map(|step| (step.name.into(), step.sql.into()))).await.map_err(failed)?;
            }
            if position == 0 {
                for table in OptionalTable::LEFT_OUT_AT_FIRST {
                    self.remember_left_out(table).await.map_err(failed)?;
                }
            }
            self.record(position, migration).await.map_err(failed)?;
            done.push(migration.name);
        }
        self.create_hot_tables(layout).await?;
        done.extend(self.choose(choice, layout).await?);
        self.correct_comments().await?;
        self.correct_settings().await?;
        for node in self.on_each_replica() {
            node.make_views().await?;
        }
        Ok(done)
    }

    /// Runs independent statements, some at the same time.
    pub(crate) async fn execute_all(&self, statements: impl Iterator<Item = String>) -> Result<(), StoreError> {
        let run = |sql: String| async move { self.execute_step(&sql).await };
        stream::iter(statements).map(run).buffer_unordered(CONCURRENCY).try_collect().await
    }

    /// Records an applied migration.
    async fn record(&self, position: usize, migration: &Migration) -> Result<(), StoreError> {
        let insert = self.address.client().query_raw(include_str!("../../../../../sql/queries/record_migration.sql"));
        let insert = insert.param("version", position as u64 + 1).param("name", migration.name);
        Ok(insert.param("checksum", migration.checksum()).execute().await?)
    }

    /// Creates the hot tables. A hot table with other columns is dropped first; `follow` fetches its rows again.
    async fn create_hot_tables(&self, layout: Option<&ClusterLayout>) -> Result<(), StoreError> {
        let stale = self.stale_hot_tables().await?;
        if !stale.is_empty() {
            self.execute("TRUNCATE TABLE ingest_heads", &[]).await?;
        }
        for table in stale {
            for node in self.replicas_of(&table) {
                let parameters = [("table", table.as_str().into())];
                node.execute("DROP TABLE IF EXISTS {table:Identifier} SYNC", &parameters).await?;
            }
        }
        let tables = HOT_TABLES.iter().map(|table| (table.name(), table.create_statement()));
        self.create_all(layout, tables).await
    }

    /// Hot tables with other columns than this release writes.
    pub(crate) async fn stale_hot_tables(&self) -> Result<Vec<String>, StoreError> {
        let stale = self.address.client().query_raw(include_str!("../../../../../sql/queries/stale_hot_tables.sql"));
        Ok(stale.fetch_all().await?)
    }

    /// Creates tables and views that do not need each other, some at the same time.
    async fn create_all(
        &self,
        layout: Option<&ClusterLayout>,
        steps: impl Iterator<Item = (String, String)>,
    ) -> Result<(), StoreError> {
        let create = |(name, sql): (String, String)| async move { self.create(layout, &name, &sql).await };
        stream::iter(steps).map(create).buffer_unordered(CONCURRENCY).try_collect().await
    }

    /// Checks that the database has exactly the schema that this program needs.
    ///
    /// # Errors
    ///
    /// If the schema has another version, the tables are on a cluster whose nodes were not named, or ClickHouse cannot
    /// be read.
    pub async fn require_schema(&self) -> Result<(), MigrateError> {
        require_schema(&self.address.client(), &self.address.database).await?;
        Ok(self.require_nodes().await?)
    }
}
