//! One node of each shard: writers there, and whether they are what they were taken for.

use std::collections::BTreeMap;

use super::super::{StoreAddress, StoreError, Writer};
use super::{ClusterError, LOOK_TIMEOUT, local_database};
use crate::schema::sharding::{Sharding, sharding};
use crate::statement::Parameter;
use crate::store::client::timeout::within;

/// ClickHouse's code for a cluster that is not configured: CLUSTER_DOESNT_EXIST.
const UNKNOWN_CLUSTER: i32 = 701;

impl Writer {
    /// The same writer, which knows a node of each further shard of the cluster that its tables are `Distributed` over:
    /// their HTTP endpoints, in the cluster's order. Its own is of the first shard.
    #[must_use]
    pub fn with_shards(mut self, urls: &[String]) -> Self {
        let own = (!urls.is_empty()).then_some(&self.address.url);
        self.nodes = own.into_iter().chain(urls).cloned().collect();
        self
    }

    /// The database with the rows of one shard.
    pub(super) fn local_database(&self) -> String {
        local_database(&self.address.database)
    }

    /// A writer of another database of a node.
    fn at(&self, url: &str, database: &str) -> Self {
        Self::new(&StoreAddress { url: url.into(), database: database.into(), ..self.address.clone() }, self.run())
    }

    /// Writers of this database on each node, this one first; this one alone where there is no cluster.
    pub(in super::super) fn on_each_node(&self) -> Vec<Self> {
        let others = self.nodes.iter().skip(1).map(|url| self.at(url, &self.address.database));
        [self.clone()].into_iter().chain(others).collect()
    }

    /// Writers of the databases with the rows of each shard.
    pub(super) fn local_writers(&self) -> Vec<Self> {
        let local = self.local_database();
        self.nodes.iter().map(|url| self.at(url, &local)).collect()
    }

    /// Writers of the tables that have the rows of `table`, in the order of the shards.
    pub(in super::super) fn writers_of(&self, table: &str) -> Vec<Self> {
        match sharding(table) {
            Some(Sharding::Key(_) | Sharding::Blocks(_)) if !self.nodes.is_empty() => self.local_writers(),
            _ => vec![self.clone()],
        }
    }

    /// Runs a statement that changes rows of `table` where they are. It can be repeated: if a shard does not answer,
    /// others may have run it.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub(in super::super) async fn execute_on_shards(
        &self,
        table: &str,
        sql: &str,
        parameters: &[(&str, Parameter)],
    ) -> Result<(), StoreError> {
        for writer in self.writers_of(table) {
            writer.execute(sql, parameters).await?;
        }
        Ok(())
    }

    /// Checks that each node is one of its shard, and that the first shard is the one that tables are on alone.
    pub(super) async fn check_nodes(&self, cluster: &str) -> Result<(), ClusterError> {
        for node in self.on_each_node() {
            node.check_replicas(cluster).await?;
        }
        let shards = self.servers(cluster).await?;
        let (found, named) = (shards.len(), self.nodes.len());
        if found != named {
            return Err(ClusterError::NodeCount { cluster: cluster.into(), shards: found, nodes: named });
        }
        let first = self.servers(&first_shard(cluster)).await?;
        for (index, (servers, node)) in shards.values().zip(self.on_each_node()).enumerate() {
            let identity =
                node.address.server().query_raw(include_str!("../../../../../sql/queries/server_identity.sql"));
            let server: String = within(LOOK_TIMEOUT, identity.fetch_one()).await?.map_err(StoreError::from)?;
            let is_first = index > 0 || first.values().next().is_some_and(|first| first.contains(&server));
            if !servers.contains(&server) || !is_first {
                let url = node.address.url.clone();
                return Err(ClusterError::OtherShard { url, shard: index + 1, cluster: cluster.into() });
            }
        }
        Ok(())
    }

    /// Checks that each shard is on one server. A `Distributed` table writes to one replica, or to all that answer,
    /// and reads any of them.
    async fn check_replicas(&self, cluster: &str) -> Result<(), ClusterError> {
        let query = self.address.server().query_raw(include_str!("../../../../../sql/queries/replicas_of_cluster.sql"));
        let query = query.param("cluster", cluster).param("first", first_shard(cluster));
        let shard: Option<(u32, u64)> =
            within(LOOK_TIMEOUT, query.fetch_optional()).await?.map_err(StoreError::from)?;
        shard.map_or(Ok(()), |(shard, replicas)| {
            Err(ClusterError::Replicas { url: self.address.url.clone(), cluster: cluster.into(), shard, replicas })
        })
    }

    /// The servers of each shard of a cluster.
    async fn servers(&self, cluster: &str) -> Result<BTreeMap<u32, Vec<String>>, ClusterError> {
        let query = self.address.server().query_raw(include_str!("../../../../../sql/queries/servers_of_cluster.sql"));
        let rows = within(LOOK_TIMEOUT, query.param("cluster", cluster).fetch_all()).await?;
        let rows: Vec<(u32, String)> = match rows.map_err(StoreError::from) {
            Err(StoreError::Refused { code: UNKNOWN_CLUSTER, .. }) => {
                return Err(ClusterError::Unknown { url: self.address.url.clone(), cluster: cluster.into() });
            }
            rows => rows?,
        };
        let mut shards: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for (shard, server) in rows {
            shards.entry(shard).or_default().push(server);
        }
        Ok(shards)
    }
}

/// The cluster of the first shard of `cluster`.
pub(super) fn first_shard(cluster: &str) -> String {
    format!("{cluster}_first")
}
