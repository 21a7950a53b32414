//! Errors of clusters.

use super::super::StoreError;
use crate::schema::replication::Replication;

/// Why the tables of a database cannot be created or written on a cluster.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// Writers must reach the rows of each shard.
    #[error(
        "the tables of database `{database}` are Distributed over cluster `{cluster}`: name a node of each further shard, in the cluster's \
         order, with --clickhouse-shards URL,URL, and further replicas with --clickhouse-replicas"
    )]
    NodesMissing {
        /// Name of the database.
        database: String,
        /// Name of its cluster.
        cluster: String,
    },
    /// Nodes of shards without a cluster.
    #[error(
        "database `{database}` has no tables yet: name the cluster to create them on with --cluster, or leave \
         --clickhouse-shards out"
    )]
    ClusterMissing {
        /// Name of the database.
        database: String,
    },
    /// Tables that replicate are on a cluster.
    #[error(
        "--replicated needs the cluster, and no tables of database `{database}` name one: give --cluster NAME, a \
         cluster of the servers' `remote_servers`"
    )]
    ReplicatedNowhere {
        /// Name of the database.
        database: String,
    },
    /// The rows are on one server.
    #[error(
        "the tables of database `{database}` are those of one server: leave --clickhouse-shards and --cluster out, or \
         load a new database with another --clickhouse-database"
    )]
    OneServer {
        /// Name of the database.
        database: String,
    },
    /// Made on another cluster.
    #[error("the tables of database `{database}` are Distributed over cluster `{found}`, not over `{given}`")]
    Other {
        /// Name of the database.
        database: String,
        /// Name of its cluster.
        found: String,
        /// The requested cluster.
        given: String,
    },
    /// Not in the configuration.
    #[error("{url} has no cluster `{cluster}` in its `remote_servers`")]
    Unknown {
        /// Endpoint of the node.
        url: String,
        /// Name of the cluster.
        cluster: String,
    },
    /// A shard is on several servers, which the tables do not keep equal.
    #[error(
        "shard {shard} of cluster `{cluster}` has {replicas} replicas at {url}: its tables do not replicate, so a \
         second replica would lack rows; use one replica per shard, or create a new database with --replicated"
    )]
    Replicas {
        /// The node that says so.
        url: String,
        /// Name of the cluster.
        cluster: String,
        /// The shard, from 1.
        shard: u32,
        /// How many it has.
        replicas: u64,
    },
    /// Shards with different numbers of replicas.
    #[error(
        "the shards of cluster `{cluster}`, or of `{cluster}_first`, have different numbers of replicas at {url}: an \
         insert waits for all replicas of its shard, and this number must be the same for all shards"
    )]
    ReplicaCounts {
        /// The node that says so.
        url: String,
        /// Name of the cluster.
        cluster: String,
    },
    /// Tables are replicated and were requested without replication, or the reverse.
    #[error(
        "the tables of database `{database}` {}: the table engines of a database cannot change; load a new one with \
         another --clickhouse-database",
        match found {
            Replication::None => "do not replicate: leave out --replicated",
            Replication::Keeper => "replicate: add --replicated",
        }
    )]
    OtherReplication {
        /// Name of the database.
        database: String,
        /// What its tables are.
        found: Replication,
    },
    /// A replica that is on no shard.
    #[error(
        "{url} is not a server of cluster `{cluster}`: --clickhouse-replicas names the further replicas of its shards"
    )]
    NoReplica {
        /// Endpoint of the node.
        url: String,
        /// Name of the cluster.
        cluster: String,
    },
    /// A server of the cluster would have no tables.
    #[error(
        "cluster `{cluster}` has the server {server} (its UUID, host and port), which was not named: \
         --clickhouse-replicas must name all further replicas of each shard, since tables are created on each"
    )]
    ReplicaMissing {
        /// UUID, host and port.
        server: String,
        /// Name of the cluster.
        cluster: String,
    },
    /// The nodes are not one of each shard.
    #[error(
        "cluster `{cluster}` has {shards} shards, and {nodes} nodes were named: --clickhouse-url is a node of the first shard, --clickhouse-shards \
         names one of each further shard, in the cluster's order"
    )]
    NodeCount {
        /// Name of the cluster.
        cluster: String,
        /// How many shards it has.
        shards: usize,
        /// How many nodes were named.
        nodes: usize,
    },
    /// A node is of another shard than its position says.
    #[error(
        "{url} is not a node of shard {shard} of cluster `{cluster}`: --clickhouse-url is a node of the first shard, \
         --clickhouse-shards names one of \
         each further shard, in the cluster's order, and `{cluster}_first` has the first shard alone"
    )]
    OtherShard {
        /// Endpoint of the node.
        url: String,
        /// The expected shard, from 1.
        shard: usize,
        /// Name of the cluster.
        cluster: String,
    },
    /// ClickHouse cannot be reached or refused a statement.
    #[error(transparent)]
    Store(#[from] StoreError),
}
