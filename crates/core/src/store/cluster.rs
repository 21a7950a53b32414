//! A cluster of ClickHouse: its databases on each node, and statements that must reach the rows of every shard.
//!
//! On each node the database has the tables' names: tables with a sharding key are `Distributed` over those of a second
//! database, `…_local`, which have the rows of that shard; the tables of the first shard have their rows there, and
//! elsewhere they are `Distributed` over a cluster of that shard alone, `…_first`. What reads and inserts goes to one
//! node; `ALTER`, `DELETE`, `OPTIMIZE` and `TRUNCATE` of a `Distributed` table are refused or do nothing, so they go to
//! each shard's own table.

mod create;
mod error;
mod name;
mod nodes;
mod shards;
mod statements;
mod system_tables;

pub use error::ClusterError;
pub(super) use name::ClusterName;
pub use shards::Shard;
pub use statements::{NodeStatement, StatementNodes, statements_of_new_database};

use std::time::Duration;

use super::client::timeout::within;
use super::{StoreAddress, StoreError, Writer};
use crate::schema::replication::Replication;

/// How long a look at what tables and servers are may take, of a server that may hang.
const LOOK_TIMEOUT: Duration = Duration::from_secs(30);

/// Where `migrate` makes the tables of a new database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterLayout {
    /// Name of the cluster in the servers' `remote_servers`.
    pub cluster: String,
    /// Blocks that lie together on a shard, in tables that are sharded by block.
    pub shard_blocks: u64,
    /// Whether a shard may have replicas.
    pub replication: Replication,
}

/// What the tables of a database are.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Tables {
    /// There are none yet.
    None,
    /// Tables of one server.
    OneServer,
    /// `Distributed` over a cluster.
    Distributed(DistributedTables),
}

/// The cluster of tables that are there.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DistributedTables {
    cluster: String,
    replication: Replication,
}

impl Tables {
    /// What the tables of a database are.
    async fn of(address: &StoreAddress) -> Result<Self, StoreError> {
        let query = address.server().query_raw(include_str!("../../../../sql/queries/cluster_of_tables.sql"));
        let query = query.param("database", &address.database).param("local", local_database(&address.database));
        let rows: Vec<(String, String, bool)> = within(LOOK_TIMEOUT, query.fetch_all()).await??;
        Ok(match rows.into_iter().next() {
            None => Self::None,
            Some((engine, cluster, replicates)) if engine == "Distributed" => {
                let replication = if replicates { Replication::Keeper } else { Replication::None };
                Self::Distributed(DistributedTables { cluster, replication })
            }
            Some(_) => Self::OneServer,
        })
    }
}

/// The database with the rows of one shard, of this one.
fn local_database(database: &str) -> String {
    format!("{database}_local")
}

impl Writer {
    /// What the tables of this database are.
    async fn tables(&self) -> Result<Tables, StoreError> {
        Tables::of(&self.address).await
    }

    /// The cluster that the tables are `Distributed` over; `None` if they are of one server, or there are none.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be read.
    pub async fn cluster_of_tables(&self) -> Result<Option<String>, StoreError> {
        Ok(match self.tables().await? {
            Tables::None | Tables::OneServer => None,
            Tables::Distributed(of) => Some(of.cluster),
        })
    }

    /// Checks that this writer knows every server of the cluster, if the tables replicate: for what is made on each.
    ///
    /// # Errors
    ///
    /// If one was not named, or ClickHouse cannot be read.
    pub async fn require_every_replica(&self) -> Result<(), ClusterError> {
        match self.tables().await? {
            Tables::Distributed(of) if of.replication == Replication::Keeper => {
                self.check_every_replica(&of.cluster).await
            }
            Tables::None | Tables::OneServer | Tables::Distributed(_) => Ok(()),
        }
    }

    /// Checks that this writer knows a node of each shard, if the tables are on a cluster.
    ///
    /// # Errors
    ///
    /// If nodes are named and the tables are of one server, or the reverse, or the nodes are not those of the cluster.
    pub(super) async fn require_nodes(&self) -> Result<(), ClusterError> {
        let database = || self.address.database.clone();
        match (self.tables().await?, self.nodes.is_empty()) {
            (Tables::None | Tables::OneServer, true) | (Tables::None, false) => Ok(()),
            (Tables::OneServer, false) => Err(ClusterError::OneServer { database: database() }),
            (Tables::Distributed(of), true) => {
                Err(ClusterError::NodesMissing { database: database(), cluster: of.cluster })
            }
            (Tables::Distributed(of), false) => self.check_nodes(&of.cluster, of.replication).await,
        }
    }
}
