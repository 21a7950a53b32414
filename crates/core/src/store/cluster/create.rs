//! Creates the tables and views of a database on each node of a cluster.

use super::super::{StoreError, Writer};
use super::statements::{NodeStatement, StatementNodes, create_table};
use super::{ClusterError, ClusterLayout, DistributedTables, Tables};
use crate::schema::sharding::SHARD_BLOCKS;

impl Writer {
    /// The layout of a new or existing database: `None` is one server.
    ///
    /// # Errors
    ///
    /// If the layout of the database differs from `requested` or from the nodes of this writer.
    pub(in super::super) async fn layout(
        &self,
        requested: Option<&ClusterLayout>,
    ) -> Result<Option<ClusterLayout>, ClusterError> {
        let database = || self.address.database.clone();
        let layout = match (self.tables().await?, requested) {
            (Tables::None | Tables::OneServer, None) if self.nodes.is_empty() => return Ok(None),
            (Tables::None, None) => return Err(ClusterError::ClusterMissing { database: database() }),
            (Tables::OneServer, _) => return Err(ClusterError::OneServer { database: database() }),
            (Tables::Distributed(found), Some(requested)) if found.cluster != requested.cluster => {
                let (found, given) = (found.cluster, requested.cluster.clone());
                return Err(ClusterError::Other { database: database(), found, given });
            }
            (Tables::Distributed(found), Some(requested)) if found.replication != requested.replication => {
                return Err(ClusterError::OtherReplication { database: database(), found: found.replication });
            }
            (Tables::None | Tables::Distributed(_), Some(requested)) => requested.clone(),
            // Tables that are there keep their keys.
            (Tables::Distributed(DistributedTables { cluster, replication }), None) => {
                ClusterLayout { cluster, shard_blocks: SHARD_BLOCKS, replication }
            }
        };
        if self.nodes.is_empty() {
            return Err(ClusterError::NodesMissing { database: database(), cluster: layout.cluster });
        }
        self.check_nodes(&layout.cluster, layout.replication).await?;
        self.check_every_replica(&layout.cluster).await?;
        Ok(Some(layout))
    }

    /// Creates the databases.
    pub(in super::super) async fn create_databases(&self) -> Result<(), StoreError> {
        for node in self.on_each_replica() {
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
        for statement in self.creation(layout, name, sql) {
            for node in self.on(statement.nodes, layout).await? {
                node.execute_step(&statement.sql).await?;
            }
        }
        Ok(())
    }

    /// The statements that create a table or a view, and where each runs.
    pub(in super::super) fn creation(
        &self,
        layout: Option<&ClusterLayout>,
        name: &str,
        sql: &str,
    ) -> Vec<NodeStatement> {
        create_table(layout, &self.address.database, name, sql)
    }

    /// Writers of these nodes, replicas included.
    async fn on(&self, nodes: StatementNodes, layout: Option<&ClusterLayout>) -> Result<Vec<Self>, StoreError> {
        Ok(match (nodes, layout) {
            (StatementNodes::Each, _) => self.on_each_replica(),
            (StatementNodes::EachInLocalDatabase, _) => {
                let local = self.local_database();
                self.on_each_replica().iter().map(|node| node.at(&node.address.url, &local)).collect()
            }
            (StatementNodes::First, None) => vec![self.clone()],
            (StatementNodes::Others, None) => Vec::new(),
            (StatementNodes::First, Some(layout)) => self.nodes_by_shard(&layout.cluster).await?.0,
            (StatementNodes::Others, Some(layout)) => self.nodes_by_shard(&layout.cluster).await?.1,
        })
    }
}

async fn create_database(node: &Writer, name: &str) -> Result<(), StoreError> {
    let create = node.address.server().query_raw("CREATE DATABASE IF NOT EXISTS {database:Identifier}");
    Ok(create.param("database", name).execute().await?)
}
