//! The statements that make a database, and the nodes that they run on: `migrate` runs them, `migrate --print` shows
//! them.

use super::nodes::first_shard;
use super::{ClusterLayout, local_database};
use crate::schema::OptionalTable;
use crate::schema::analysts::{FUNCTIONS, reads_left_out, stages};
use crate::schema::hot::HOT_TABLES;
use crate::schema::migrations::{CREATE_SCHEMA_MIGRATIONS, MIGRATIONS};
use crate::schema::sharding::sharding;

/// Which nodes of a cluster a statement runs on, and in which database there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementNodes {
    /// Each node, in the database; on one server that server.
    Each,
    /// Each node, in the database with the rows of its shard.
    EachInLocalDatabase,
    /// The node of the first shard, and its replicas.
    First,
    /// The nodes of the further shards.
    Others,
}

/// A statement, and where it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeStatement {
    /// Where it runs.
    pub nodes: StatementNodes,
    /// Its text in SQL.
    pub sql: String,
}

impl NodeStatement {
    fn new(nodes: StatementNodes, sql: impl Into<String>) -> Self {
        Self { nodes, sql: sql.into() }
    }
}

/// What makes a table or a view, whose statement on one server is `sql`.
pub(super) fn create_table(
    layout: Option<&ClusterLayout>,
    database: &str,
    name: &str,
    sql: &str,
) -> Vec<NodeStatement> {
    let (Some(layout), Some(sharding)) = (layout, sharding(name)) else {
        return vec![NodeStatement::new(StatementNodes::Each, sql)];
    };
    match sharding.expression(layout.shard_blocks) {
        None => {
            let first = first_shard(&layout.cluster);
            let sql = layout.replication.of_table(sql, &layout.cluster);
            // It has no rows, so it is made anew.
            let over_first =
                format!("CREATE OR REPLACE TABLE {name} ENGINE = Distributed('{first}', '{database}', '{name}')");
            vec![NodeStatement::new(StatementNodes::First, sql), NodeStatement::new(StatementNodes::Others, over_first)]
        }
        Some(key) => {
            let (cluster, local) = (&layout.cluster, local_database(database));
            let sql = layout.replication.of_table(sql, cluster);
            let distributed = format!(
                "CREATE TABLE IF NOT EXISTS {name} AS `{local}`.{name} \
                 ENGINE = Distributed('{cluster}', '{local}', '{name}', {key})"
            );
            vec![
                NodeStatement::new(StatementNodes::EachInLocalDatabase, sql),
                NodeStatement::new(StatementNodes::Each, distributed),
            ]
        }
    }
}

/// The statements that `migrate` runs for a new database without the tables `without` and those of
/// [`OptionalTable::LEFT_OUT_AT_FIRST`]. Those of views as text are not among them: they are made from the columns of
/// the other views.
#[must_use]
pub fn statements_of_new_database(
    database: &str,
    without: &[OptionalTable],
    layout: Option<&ClusterLayout>,
) -> Vec<NodeStatement> {
    let left_out: Vec<OptionalTable> = without.iter().copied().chain(OptionalTable::LEFT_OUT_AT_FIRST).collect();
    let databases = [Some(database.to_owned()), layout.map(|_| local_database(database))];
    let create_database =
        |name: String| NodeStatement::new(StatementNodes::Each, format!("CREATE DATABASE IF NOT EXISTS `{name}`"));
    let steps = MIGRATIONS.iter().flat_map(|migration| migration.stages.iter().copied().flatten());
    let steps = steps.filter(|step| !left_out.iter().any(|table| step.is_of(table.name())));
    let hot = HOT_TABLES.iter().map(|table| (table.name(), table.create_statement()));
    let tables = [("schema_migrations".to_owned(), CREATE_SCHEMA_MIGRATIONS.to_owned())]
        .into_iter()
        .chain(steps.map(|step| (step.name.to_owned(), step.sql.to_owned())))
        .chain(hot)
        .flat_map(|(name, sql)| create_table(layout, database, &name, &sql));
    let remembered = left_out.iter().map(|table| {
        NodeStatement::new(StatementNodes::First, format!("INSERT INTO left_out_tables (name) VALUES ('{table}')"))
    });
    let views = FUNCTIONS.iter().chain(stages().flatten()).filter(|view| !reads_left_out(view.name, &left_out));
    let views = views.map(|view| NodeStatement::new(StatementNodes::Each, view.sql));
    databases.into_iter().flatten().map(create_database).chain(tables).chain(remembered).chain(views).collect()
}
