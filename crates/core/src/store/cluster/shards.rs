//! Which shards of a cluster answer.

use super::super::{Reader, StoreError};
use crate::schema::columns::columns;
use crate::statement::Statement;

/// A shard that is unavailable is skipped, as is one that is silent for half a second, twice: a pooled connection may
/// be broken.
const SETTINGS: &[(&str, &str)] = &[
    ("skip_unavailable_shards", "1"),
    ("connections_with_failover_max_tries", "2"),
    ("connect_timeout_with_failover_ms", "500"),
    ("handshake_timeout_ms", "500"),
    ("receive_timeout", "0.5"),
    ("use_hedged_requests", "0"),
];

columns! {
    /// A shard of a cluster.
    pub struct Shard / ShardView {
        /// Its number in the cluster, from 1.
        shard: u64,
        /// Its servers as `host:port`, as the cluster names them.
        servers: String,
    }
}

impl Reader {
    /// The shards that do not answer, if the tables are on a cluster.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn missing_shards(&self) -> Result<Vec<Shard>, StoreError> {
        let Some(cluster) = self.cluster().await? else { return Ok(Vec::new()) };
        let sql = include_str!("../../../../../sql/queries/missing_shards.sql");
        let mut statement = Statement::<Shard>::page(sql).with("cluster", cluster.as_str());
        statement.settings = SETTINGS;
        self.rows(&statement).await
    }
}
