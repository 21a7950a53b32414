//! Makes the tables and views of a database on each node of a cluster.

use super::super::{StoreError, Writer};
use super::nodes::first_shard;
use super::{ClusterError, ClusterLayout, Tables};
use crate::schema::sharding::{SHARD_BLOCKS, sharding};

impl Writer {
    /// The layout of a database that is made, or is there: `None` is one server.
    ///
    /// # Errors
    ///
    /// If the database is laid out in another way than `wanted` and the nodes of this writer say.
    pub(in super::super) async fn layout(
        &self,
        wanted: Option<&ClusterLayout>,
    ) -> Result<Option<ClusterLayout>, ClusterError> {
        let database = || self.address.database.clone();
        let layout = match (self.tables().await?, wanted) {
            (Tables::None | Tables::OneServer, None) if self.nodes.is_empty() => return Ok(None),
            (Tables::None, None) => return Err(ClusterError::ClusterMissing { database: database() }),
            (Tables::OneServer, _) => return Err(ClusterError::OneServer { database: database() }),
            (Tables::Distributed(found), Some(wanted)) if found != wanted.cluster => {
                return Err(ClusterError::Other { database: database(), found, given: wanted.cluster.clone() });
            }
            (Tables::None | Tables::Distributed(_), Some(wanted)) => wanted.clone(),
            // Tables that are there keep their keys.
            (Tables::Distributed(cluster), None) => ClusterLayout { cluster, shard_blocks: SHARD_BLOCKS },
        };
        if self.nodes.is_empty() {
            return Err(ClusterError::NodesMissing { database: database(), cluster: layout.cluster });
        }
        self.check_nodes(&layout.cluster).await?;
        Ok(Some(layout))
    }

    /// Creates the databases.
    pub(in super::super) async fn create_databases(&self) -> Result<(), StoreError> {
        for node in self.on_each_node() {
            create_database(&node, &self.address.database).await?;
            if !self.nodes.is_empty() {
                create_database(&node, &self.local_database()).await?;
            }
        }
        Ok(())
    }

    /// Runs the statement that creates a table or a view, where it belongs.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses a statement.
    pub(in super::super) async fn create(
        &self,
        layout: Option<&ClusterLayout>,
        name: &str,
        sql: &str,
    ) -> Result<(), StoreError> {
        let (Some(layout), Some(sharding)) = (layout, sharding(name)) else {
            return self.execute_on_each_node(sql).await;
        };
        match sharding.expression(layout.shard_blocks) {
            None => {
                self.execute_step(sql).await?;
                self.create_over_first_shard(layout, name).await
            }
            Some(key) => {
                for shard in self.local_writers() {
                    shard.execute_step(sql).await?;
                }
                let (cluster, local) = (&layout.cluster, self.local_database());
                self.execute_on_each_node(&format!(
                    "CREATE TABLE IF NOT EXISTS {name} AS `{local}`.{name} ENGINE = Distributed('{cluster}', '{local}', '{name}', {key})"
                ))
                .await
            }
        }
    }

    /// A table of the first shard, on the nodes of the others: it has no rows, so it is made anew.
    async fn create_over_first_shard(&self, layout: &ClusterLayout, name: &str) -> Result<(), StoreError> {
        let (first, database) = (first_shard(&layout.cluster), &self.address.database);
        let sql = format!("CREATE OR REPLACE TABLE {name} ENGINE = Distributed('{first}', '{database}', '{name}')");
        for node in self.on_each_node().iter().skip(1) {
            node.execute_step(&sql).await?;
        }
        Ok(())
    }

    async fn execute_on_each_node(&self, sql: &str) -> Result<(), StoreError> {
        for node in self.on_each_node() {
            node.execute_step(sql).await?;
        }
        Ok(())
    }
}

async fn create_database(node: &Writer, name: &str) -> Result<(), StoreError> {
    let create = node.address.server().query_raw("CREATE DATABASE IF NOT EXISTS {database:Identifier}");
    Ok(create.param("database", name).execute().await?)
}
