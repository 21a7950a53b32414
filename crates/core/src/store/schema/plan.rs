//! The plan of `migrate` for a database. The database is only read.

mod objects;
mod room;

use super::version::{MigrateError, found_version};
use crate::schema::OptionalTable;
use crate::schema::hot::HOT_TABLES;
use crate::schema::migrations::{MIGRATIONS, Migration, Step, VIEWS};
use crate::schema::sharding::{Sharding, sharding};
use crate::store::{
    Choice, ClusterLayout, NodeStatement, StatementNodes, StoreError, Writer, statements_of_new_database,
};

pub use room::{PlanRoom, TableWork};

/// What is pending, in the order in which `migrate` does it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MigrationPlan {
    /// Each statement by itself; none if the database is up to date.
    pub statements: Vec<PlannedStatement>,
    /// The space of the server that has least to spare; `None` if no statement needs any, or the account may not see
    /// the disks.
    pub room: Option<PlanRoom>,
}

/// A statement that `migrate` would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedStatement {
    /// What it is for.
    pub reason: PlanReason,
    /// The servers that it runs on.
    pub target: PlanTarget,
    /// Its text in SQL.
    pub sql: String,
    /// The table whose rows it rewrites; `None` if it changes only metadata.
    pub work: Option<TableWork>,
}

/// What a statement is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanReason {
    /// Creates a missing database.
    NewDatabase,
    /// A migration, by its name.
    Migration(&'static str),
    /// Tables of the newest blocks that are missing, or have other columns.
    HotTables,
    /// An optional table that is dropped.
    Without(OptionalTable),
    /// An optional table that is made and filled.
    With(OptionalTable),
    /// Comments of tables and columns that differ.
    Comments,
    /// Settings of tables that differ.
    Settings,
    /// Views, functions and the dictionary that are missing or differ.
    Views,
}

/// Where a statement runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanTarget {
    /// Nodes of a cluster, or the one server.
    Nodes(StatementNodes),
    /// A server, by its URL, in a database.
    Server {
        /// Its HTTP endpoint.
        url: String,
        /// The database there.
        database: String,
    },
}

impl PlannedStatement {
    fn new(reason: PlanReason, statement: NodeStatement) -> Self {
        let NodeStatement { nodes, sql } = statement;
        Self { reason, target: PlanTarget::Nodes(nodes), sql, work: None }
    }

    fn at(reason: PlanReason, node: &Writer, sql: String) -> Self {
        let (url, database) = (node.address.url.clone(), node.address.database.clone());
        Self { reason, target: PlanTarget::Server { url, database }, sql, work: None }
    }

    fn first(reason: PlanReason, sql: String) -> Self {
        Self { reason, target: PlanTarget::Nodes(StatementNodes::First), sql, work: None }
    }
}

impl Writer {
    /// What [`Writer::migrate`] would do with the same arguments. Sizes are those of the parts that are there.
    ///
    /// # Errors
    ///
    /// Those of [`Writer::migrate`] before it writes.
    pub async fn plan(
        &self,
        choice: &Choice,
        requested: Option<&ClusterLayout>,
    ) -> Result<MigrationPlan, MigrateError> {
        let layout = self.layout(requested).await?;
        let layout = layout.as_ref();
        let version = found_version(&self.address.client(), &self.address.database).await?;
        let mut statements = match version {
            0 => self.new_database(choice, layout),
            _ => self.changes(version, choice, layout).await?,
        };
        if !statements.iter().any(|statement| room::writes_rows_again(&statement.sql)) {
            return Ok(MigrationPlan { statements, room: None });
        }
        let sizes = self.sizes().await?;
        for statement in &mut statements {
            statement.work = sizes.work(&statement.sql);
        }
        let room = sizes.least(statements.iter().map(|statement| statement.sql.as_str()));
        Ok(MigrationPlan { statements, room })
    }

    fn new_database(&self, choice: &Choice, layout: Option<&ClusterLayout>) -> Vec<PlannedStatement> {
        let all = statements_of_new_database(&self.address.database, &choice.without, layout);
        let made = all.into_iter().map(|statement| PlannedStatement::new(PlanReason::NewDatabase, statement));
        let with = choice.with.iter().filter(|table| OptionalTable::LEFT_OUT_AT_FIRST.contains(table));
        made.chain(with.flat_map(|table| self.planned_with(*table, layout))).collect()
    }

    async fn changes(
        &self,
        version: u32,
        choice: &Choice,
        layout: Option<&ClusterLayout>,
    ) -> Result<Vec<PlannedStatement>, MigrateError> {
        let left_out = self.left_out().await?;
        let mut planned = self.pending_migrations(version, &[&left_out[..], &choice.without].concat(), layout);
        planned.extend(self.planned_hot_tables(layout).await?);
        planned.extend(self.planned_choice(choice, &left_out, layout).await?);
        for (reason, corrections) in [
            (PlanReason::Comments, self.comment_corrections().await?),
            (PlanReason::Settings, self.setting_corrections().await?),
        ] {
            planned.extend(corrections.into_iter().map(|(node, sql)| PlannedStatement::at(reason, &node, sql)));
        }
        let left_out: Vec<OptionalTable> =
            left_out.into_iter().filter(|table| !choice.with.contains(table)).chain(choice.without.clone()).collect();
        for node in self.on_each_replica() {
            let pending = node.planned_views(&left_out).await?.into_iter();
            planned.extend(pending.map(|sql| PlannedStatement::at(PlanReason::Views, &node, sql)));
        }
        Ok(planned)
    }

    fn pending_migrations(
        &self,
        version: u32,
        left_out: &[OptionalTable],
        layout: Option<&ClusterLayout>,
    ) -> Vec<PlannedStatement> {
        let is_made = |step: &&Step| !left_out.iter().any(|table| step.is_of(table.name()));
        let planned = |migration: &'static Migration| {
            let statements = migration.steps().filter(is_made);
            let statements = statements.flat_map(|step| self.creation(layout, step.name, step.sql));
            statements.map(|statement| PlannedStatement::new(PlanReason::Migration(migration.name), statement))
        };
        MIGRATIONS.iter().skip(version as usize).flat_map(planned).collect()
    }

    async fn planned_hot_tables(&self, layout: Option<&ClusterLayout>) -> Result<Vec<PlannedStatement>, StoreError> {
        let (stale, there) = (self.stale_hot_tables().await?, self.tables_and_views().await?);
        let truncate = (!stale.is_empty()).then(|| "TRUNCATE TABLE ingest_heads".to_owned());
        let drops = truncate.into_iter().chain(stale.iter().map(|table| format!("DROP TABLE {table} SYNC")));
        let drops = drops.map(|sql| PlannedStatement::first(PlanReason::HotTables, sql));
        let made = HOT_TABLES.iter().map(|table| (table.name(), table.create_statement()));
        let made = made.filter(|(name, _)| stale.contains(name) || !there.contains(name));
        let made = made.flat_map(|(name, sql)| self.creation(layout, &name, &sql));
        Ok(drops.chain(made.map(|statement| PlannedStatement::new(PlanReason::HotTables, statement))).collect())
    }

    async fn planned_choice(
        &self,
        choice: &Choice,
        left_out: &[OptionalTable],
        layout: Option<&ClusterLayout>,
    ) -> Result<Vec<PlannedStatement>, StoreError> {
        let there = self.tables_and_views().await?;
        let mut planned = Vec::new();
        for &table in &choice.without {
            let reason = PlanReason::Without(table);
            let remember = format!("INSERT INTO left_out_tables (name) VALUES ('{table}')");
            let remember = (!left_out.contains(&table)).then_some(remember);
            let names = VIEWS.iter().map(|view| format!("{table}{view}")).chain([table.name().to_owned()]);
            let drops = names.filter(|name| there.contains(name)).flat_map(|name| self.planned_drop(&name, layout));
            let drops = drops.map(|statement| PlannedStatement::new(reason, statement));
            planned.extend(remember.map(|sql| PlannedStatement::first(reason, sql)).into_iter().chain(drops));
        }
        let with = choice.with.iter().filter(|table| left_out.contains(table));
        planned.extend(with.flat_map(|table| self.planned_with(*table, layout)));
        Ok(planned)
    }

    fn planned_with(&self, table: OptionalTable, layout: Option<&ClusterLayout>) -> Vec<PlannedStatement> {
        let reason = PlanReason::With(table);
        let steps = MIGRATIONS.iter().flat_map(Migration::steps).filter(|step| step.is_of(table.name()));
        let statements = steps.flat_map(|step| {
            let made = self.creation(layout, step.name, step.sql).into_iter();
            let fill = step.fill_statement().map(|sql| PlannedStatement::first(reason, sql));
            made.map(|statement| PlannedStatement::new(reason, statement)).chain(fill).collect::<Vec<_>>()
        });
        let forget = format!("DELETE FROM left_out_tables WHERE name = '{table}'");
        statements.chain([PlannedStatement::first(reason, forget)]).collect()
    }

    async fn tables_and_views(&self) -> Result<Vec<String>, StoreError> {
        let query = self.address.server().query_raw(include_str!("../../../../../sql/queries/tables_of_database.sql"));
        Ok(query.param("database", self.address.database.as_str()).fetch_all().await?)
    }

    /// The statements that drop a table or a view: on a cluster it is on each node, and its rows in a second database.
    fn planned_drop(&self, name: &str, layout: Option<&ClusterLayout>) -> Vec<NodeStatement> {
        let on = |nodes| NodeStatement { nodes, sql: format!("DROP TABLE {name} SYNC") };
        let is_sharded = layout.is_some() && sharding(name).is_some_and(|of| of != Sharding::FirstShard);
        [on(StatementNodes::Each)]
            .into_iter()
            .chain(is_sharded.then(|| on(StatementNodes::EachInLocalDatabase)))
            .collect()
    }
}
