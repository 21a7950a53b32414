//! Statements about ClickHouse's system tables, which cover one server and one database: on a cluster a statement reads
//! every shard and both databases.

use super::super::{Reader, StoreError};
use super::{Tables, local_database};
use crate::schema::Columns;
use crate::statement::Statement;

impl Reader {
    /// All rows of a statement over `system.parts`, `system.detached_parts` or `system.processes` whose database is
    /// `currentDatabase()`: of all shards, if the tables are on a cluster.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn rows_of_every_shard<R: Columns>(&self, mut statement: Statement<R>) -> Result<Vec<R>, StoreError> {
        if let Some(cluster) = self.cluster().await? {
            statement.sql = on_cluster(&statement.sql, &cluster, &self.database).into();
        }
        self.rows(&statement).await
    }

    /// The cluster that the tables are `Distributed` over.
    pub(in super::super) async fn cluster(&self) -> Result<Option<String>, StoreError> {
        if let Some(cluster) = self.cluster.get() {
            return Ok(cluster.clone());
        }
        let cluster = match Tables::of(self.failover.address()).await? {
            Tables::None => return Ok(None),
            Tables::OneServer => None,
            Tables::Distributed(of) => Some(of.cluster),
        };
        Ok(self.cluster.get_or_init(|| cluster).clone())
    }
}

/// A statement about this server, run on each shard
/// (<https://clickhouse.com/docs/sql-reference/table-functions/cluster>) and of the databases with tables that are on
/// the first shard or on all.
fn on_cluster(sql: &str, cluster: &str, database: &str) -> String {
    let databases = format!("IN ('{database}', '{}')", local_database(database));
    let mut sql = sql.replace("toUInt32(1) AS shard", "_shard_num AS shard").replace("= currentDatabase()", &databases);
    // Parts of one replica of a shard are those of all; what runs, runs on one of them.
    for (table, function) in [("parts", "cluster"), ("detached_parts", "cluster"), ("processes", "clusterAllReplicas")]
    {
        let everywhere = format!("FROM {function}('{cluster}', system.{table})\n");
        sql = sql.replace(&format!("FROM system.{table}\n"), &everywhere);
    }
    sql
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_statement_reads_every_shard_and_both_databases() {
        for sql in [
            include_str!("../../../../../sql/queries/broken_part_names.sql"),
            include_str!("../../../../../sql/queries/broken_parts.sql"),
            include_str!("../../../../../sql/queries/foreign_inserts.sql"),
            include_str!("../../../../../sql/queries/part_rows.sql"),
            include_str!("../../../../../sql/queries/row_widths.sql"),
            include_str!("../../../../../sql/queries/settled_parts.sql"),
        ] {
            let statement = on_cluster(sql, "c", "a");
            let tables = sql.matches("FROM system.").count();
            assert_eq!(statement.matches("('c', system.").count(), tables, "{statement}");
            assert_eq!(statement.matches("database IN ('a', 'a_local')").count(), tables, "{statement}");
            assert!(!statement.contains("currentDatabase()") && !statement.contains("FROM system."), "{statement}");
        }
    }
}
