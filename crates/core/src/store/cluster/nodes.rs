//! One node of each shard: writers there, and whether they are what they were taken for.

use std::collections::BTreeMap;

use super::super::{StoreError, Writer};
use super::{ClusterError, LOOK_TIMEOUT, local_database};
use crate::schema::replication::Replication;
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

    /// The same writer, which also knows the HTTP endpoints of all further replicas of each shard, in any order: tables
    /// and views are made on each of them.
    #[must_use]
    pub fn with_replicas(mut self, urls: &[String]) -> Self {
        if self.nodes.is_empty() && !urls.is_empty() {
            self.nodes = [self.address.url.clone()].into();
        }
        self.replicas = urls.into();
        self
    }

    /// The database with the rows of one shard.
    pub(super) fn local_database(&self) -> String {
        local_database(&self.address.database)
    }

    /// Writers of this database on each node, this one first; this one alone where there is no cluster.
    pub(in super::super) fn on_each_node(&self) -> Vec<Self> {
        let others = self.nodes.iter().skip(1).map(|url| self.at(url, &self.address.database));
        [self.clone()].into_iter().chain(others).collect()
    }

    /// Writers of this database on each node and all their replicas.
    pub(in super::super) fn on_each_replica(&self) -> Vec<Self> {
        let replicas = self.replicas.iter().map(|url| self.at(url, &self.address.database));
        self.on_each_node().into_iter().chain(replicas).collect()
    }

    /// Writers of this database and of that with the rows of a shard, on each node and all their replicas.
    pub(in super::super) fn with_local_databases(&self) -> Vec<Self> {
        let local = self.local_database();
        let nodes = self.on_each_replica();
        let locals = nodes.iter().filter(|_| !self.nodes.is_empty()).map(|node| node.at(&node.address.url, &local));
        locals.chain(nodes.iter().cloned()).collect()
    }

    /// Writers of each database that has a table with the rows of `table`, replicas included; a replica of another
    /// shard may be among them, which has none.
    pub(in super::super) fn replicas_of(&self, table: &str) -> Vec<Self> {
        let own = self.writers_of(table);
        let database = own.first().map_or(&self.address.database, |writer| &writer.address.database).clone();
        let replicas: Vec<Self> = self.replicas.iter().map(|url| self.at(url, &database)).collect();
        own.into_iter().chain(replicas).collect()
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
    pub(super) async fn check_nodes(&self, cluster: &str, replication: Replication) -> Result<(), ClusterError> {
        for node in self.on_each_node() {
            node.check_replicas(cluster, replication).await?;
        }
        let shards = self.servers(cluster).await?;
        let (found, named) = (shards.len(), self.nodes.len());
        if found != named {
            return Err(ClusterError::NodeCount { cluster: cluster.into(), shards: found, nodes: named });
        }
        let first = self.servers(&first_shard(cluster)).await?;
        for (index, (servers, node)) in shards.values().zip(self.on_each_node()).enumerate() {
            let server = node.server_identity().await?;
            let is_first = index > 0 || first.values().next().is_some_and(|first| first.contains(&server));
            if !servers.contains(&server) || !is_first {
                let url = node.address.url.clone();
                return Err(ClusterError::OtherShard { url, shard: index + 1, cluster: cluster.into() });
            }
        }
        Ok(())
    }

    /// Checks that each shard is on one server, or that the tables replicate: a `Distributed` table writes to one
    /// replica, or to all that answer, and reads any of them. Shards have the same number of replicas, which is how
    /// many an insert waits for.
    async fn check_replicas(&self, cluster: &str, replication: Replication) -> Result<(), ClusterError> {
        let (url, cluster) = (self.address.url.clone(), cluster.to_owned());
        let shards = self.replicas_of_shards(&cluster).await?;
        let of_first = shards.first().map(|(_, replicas)| *replicas);
        match replication {
            Replication::None => match shards.into_iter().find(|(_, replicas)| *replicas > 1) {
                Some((shard, replicas)) => Err(ClusterError::Replicas { url, cluster, shard, replicas }),
                None => Ok(()),
            },
            Replication::Keeper if shards.iter().any(|(_, replicas)| Some(*replicas) != of_first) => {
                Err(ClusterError::ReplicaCounts { url, cluster })
            }
            Replication::Keeper => {
                if let Some(replicas) = of_first {
                    // It may be known already, from another node.
                    let _ = self.quorum.set(replicas);
                }
                Ok(())
            }
        }
    }

    /// How many replicas each shard of a cluster and of that of its first shard has, by its number from 1.
    async fn replicas_of_shards(&self, cluster: &str) -> Result<Vec<(u32, u64)>, StoreError> {
        let query = self.address.server().query_raw(include_str!("../../../../../sql/queries/replicas_of_cluster.sql"));
        let query = query.param("cluster", cluster).param("first", first_shard(cluster));
        Ok(within(LOOK_TIMEOUT, query.fetch_all()).await??)
    }

    /// Checks that every server of the cluster was named, so that each has the tables.
    pub(super) async fn check_every_replica(&self, cluster: &str) -> Result<(), ClusterError> {
        let servers: Vec<String> = self.servers(cluster).await?.into_values().flatten().collect();
        let mut named = Vec::new();
        for node in self.on_each_replica() {
            let server = node.server_identity().await?;
            if !servers.contains(&server) {
                return Err(ClusterError::NoReplica { url: node.address.url.clone(), cluster: cluster.into() });
            }
            named.push(server);
        }
        match servers.into_iter().find(|server| !named.contains(server)) {
            Some(server) => Err(ClusterError::ReplicaMissing { server, cluster: cluster.into() }),
            None => Ok(()),
        }
    }

    /// Writers of this database on the servers of the first shard, and on those of the others.
    pub(super) async fn nodes_by_shard(&self, cluster: &str) -> Result<(Vec<Self>, Vec<Self>), StoreError> {
        let mut first = vec![self.clone()];
        let mut others = self.on_each_node().split_off(1);
        if self.replicas.is_empty() {
            return Ok((first, others));
        }
        let query = self.address.server().query_raw(include_str!("../../../../../sql/queries/servers_of_cluster.sql"));
        let query = query.param("cluster", first_shard(cluster));
        let servers: Vec<(u32, String)> = within(LOOK_TIMEOUT, query.fetch_all()).await??;
        for url in self.replicas.iter() {
            let node = self.at(url, &self.address.database);
            let identity = node.server_identity().await?;
            let is_first = servers.iter().any(|(_, server)| *server == identity);
            if is_first { first.push(node) } else { others.push(node) }
        }
        Ok((first, others))
    }

    /// Which server this is, as `servers_of_cluster.sql` names them.
    async fn server_identity(&self) -> Result<String, StoreError> {
        let query = self.address.server().query_raw(include_str!("../../../../../sql/queries/server_identity.sql"));
        Ok(within(LOOK_TIMEOUT, query.fetch_one()).await??)
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
