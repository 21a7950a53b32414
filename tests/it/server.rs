//! ClickHouse's own server code instead of `trawl-engine`: the library that the engine embeds, with its listeners
//! (`cargo xtask clickhouse`).

mod accounts;
mod cluster;
mod containers;
mod following;
mod grants;
mod layouts;
mod missing_shard;
mod pruning;
mod questions;
mod readers;
mod replicas;
mod shards;
mod views;
mod writers;

use std::path::Path;

use xtask::clickhouse;
use xtask::process::Server;

use crate::env;

/// A server over `data`; its arguments are those of `cargo xtask clickhouse`.
pub fn start(data: &Path, arguments: &[&str]) -> anyhow::Result<Server> {
    clickhouse::start(&env::program("xtask"), data, arguments)
}
