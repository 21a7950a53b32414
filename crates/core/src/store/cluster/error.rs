//! Why a cluster cannot be used.

use super::super::StoreError;

/// Why the tables of a database cannot be made or written on a cluster.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// Writers must reach the rows of each shard.
    #[error(
        "the tables of database `{database}` are Distributed over cluster `{cluster}`: name a node of each further shard, in the cluster's \
         order, with --clickhouse-shards URL,URL"
    )]
    NodesMissing {
        /// The database.
        database: String,
        /// Its cluster.
        cluster: String,
    },
    /// Nodes of shards without a cluster.
    #[error(
        "database `{database}` has no tables yet: name the cluster to make them on with --cluster, or leave --clickhouse-shards out"
    )]
    ClusterMissing {
        /// The database.
        database: String,
    },
    /// The rows are on one server.
    #[error(
        "the tables of database `{database}` are those of one server: leave --clickhouse-shards and --cluster out, or load a database anew with \
         another --clickhouse-database"
    )]
    OneServer {
        /// The database.
        database: String,
    },
    /// Made on another cluster.
    #[error("the tables of database `{database}` are Distributed over cluster `{found}`, not over `{given}`")]
    Other {
        /// The database.
        database: String,
        /// Its cluster.
        found: String,
        /// The one that was asked for.
        given: String,
    },
    /// Not in the configuration.
    #[error("{url} has no cluster `{cluster}` in its `remote_servers`")]
    Unknown {
        /// The node.
        url: String,
        /// The cluster.
        cluster: String,
    },
    /// A shard is on several servers, which the tables do not keep equal.
    #[error(
        "shard {shard} of cluster `{cluster}` has {replicas} replicas at {url}: Trawl makes tables that do not replicate, so a replica would lack rows \
         and give short answers; a shard must have one"
    )]
    Replicas {
        /// The node that says so.
        url: String,
        /// The cluster.
        cluster: String,
        /// The shard, from 1.
        shard: u32,
        /// How many it has.
        replicas: u64,
    },
    /// The nodes are not one of each shard.
    #[error(
        "cluster `{cluster}` has {shards} shards, and {nodes} nodes were named: --clickhouse-url is a node of the first shard, --clickhouse-shards \
         names one of each further shard, in the cluster's order"
    )]
    NodeCount {
        /// The cluster.
        cluster: String,
        /// Its shards.
        shards: usize,
        /// How many nodes were named.
        nodes: usize,
    },
    /// A node is of another shard than its position says.
    #[error(
        "{url} is no node of shard {shard} of cluster `{cluster}`: --clickhouse-url is a node of the first shard, --clickhouse-shards names one of \
         each further shard, in the cluster's order, and `{cluster}_first` has the first shard alone"
    )]
    OtherShard {
        /// The node.
        url: String,
        /// Which shard it was taken for, from 1.
        shard: usize,
        /// The cluster.
        cluster: String,
    },
    /// ClickHouse cannot be reached or refused a statement.
    #[error(transparent)]
    Store(#[from] StoreError),
}
