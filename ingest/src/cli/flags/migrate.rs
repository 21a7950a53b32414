//! Flags of `migrate`, and those that say what the tables are on.

use std::num::NonZero;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use trawl_core::schema::OptionalTable;

/// The shards of a cluster of ClickHouse.
#[derive(Debug, Args)]
#[command(next_help_heading = "ClickHouse")]
pub struct ShardFlags {
    /// If the tables are on a cluster (migrate --cluster): the HTTP endpoint of one node of each further shard, in the
    /// cluster's order. --clickhouse-url is a node of the first shard.
    #[arg(long, env = "TRAWL_CLICKHOUSE_SHARDS", value_name = "URL,URL", value_delimiter = ',', global = true)]
    pub clickhouse_shards: Vec<String>,
    /// If the tables replicate (migrate --replicated): the HTTP endpoints of all further replicas of each shard, in any
    /// order. Only commands that create tables or views need them.
    #[arg(long, env = "TRAWL_CLICKHOUSE_REPLICAS", value_name = "URL,URL", value_delimiter = ',', global = true)]
    pub clickhouse_replicas: Vec<String>,
}

/// Which optional tables there are.
#[derive(Debug, Args)]
pub struct MigrateFlags {
    /// Drop this optional table to save disk space; without logs_by_topic, topic filters without a contract read all
    /// logs of the range. Remembered until --with.
    #[arg(long, value_name = "TABLE", value_parser = optional_table(), conflicts_with = "with")]
    pub without: Vec<OptionalTable>,
    /// Create a table that was left out, and fill it. A new database has no logs_by_topic, which finds logs of accounts
    /// by topic at once, for a third more disk space.
    #[arg(long, value_name = "TABLE", value_parser = optional_table())]
    pub with: Vec<OptionalTable>,
    /// On a ClickHouse server, also create the role `trawl_reader` for analysts: grants, a settings profile, a quota
    /// and row policies. The user needs the rights to do so.
    #[arg(long)]
    pub with_reader: bool,
    /// Print the statements that create a new database, and on which nodes each runs; ClickHouse is not contacted.
    #[arg(long, conflicts_with_all = ["with", "with_reader"])]
    pub print: bool,
    /// List the pending changes of this database: statements, what they rewrite, and the disk space they need. Changes
    /// nothing.
    #[arg(long, conflicts_with_all = ["print", "with_reader"])]
    pub plan: bool,
    /// Only report whether changes are pending: exit code 0 if none are, 9 if some are. Changes nothing.
    #[arg(long, conflicts_with_all = ["print", "plan", "with_reader"])]
    pub check: bool,
    /// Create the tables of a new database on this cluster of `remote_servers`, whose first shard must also be the
    /// cluster NAME_first; --clickhouse-shards names a node of each further shard.
    #[arg(long, env = "TRAWL_CLUSTER", value_name = "NAME", value_parser = cluster_name)]
    pub cluster: Option<String>,
    /// Create replicated tables, on a cluster with several replicas per shard and a Keeper. Each server needs the
    /// macros {shard} and {replica}, and the cluster needs internal_replication. An existing database names its cluster
    /// itself.
    #[arg(long, env = "TRAWL_REPLICATED")]
    pub replicated: bool,
    /// Number of consecutive blocks on one shard, in tables that are sharded by block.
    #[arg(long, env = "TRAWL_SHARD_BLOCKS", value_name = "BLOCKS", default_value = "1000", requires = "cluster")]
    pub shard_blocks: NonZero<u32>,
}

/// A name of a cluster that needs no quotes, as it is part of statements.
fn cluster_name(text: &str) -> Result<String, String> {
    let is_name = !text.is_empty() && text.chars().all(|of| of.is_ascii_alphanumeric() || of == '_');
    if is_name { Ok(text.into()) } else { Err("a cluster's name has letters, digits and _".into()) }
}

/// The name of a table that may be left out.
fn optional_table() -> impl TypedValueParser<Value = OptionalTable> {
    let unknown = || "no table that may be left out";
    PossibleValuesParser::new(OptionalTable::NAMES)
        .try_map(move |name| OptionalTable::from_name(&name).ok_or_else(unknown))
}
