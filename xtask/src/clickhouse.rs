//! A ClickHouse server for tests: the library that the engine embeds, called by its command line (`clickhouse local`
//! with listeners).
//!
//! It is ClickHouse's own code from the sockets on: HTTP handler, native protocol, users, `system.query_log`,
//! `remote_servers`. Not there are an embedded Keeper, the interserver port (so replicas do not fetch parts), `ON
//! CLUSTER`, and `CREATE USER` and `CREATE ROLE` (users and grants come from `users_config`).

mod configuration;
mod serve;

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::process::Server;
pub use serve::serve;

/// What one server is made of.
#[derive(Debug, Clone, Args)]
pub struct ServerFlags {
    /// Data directory, created if missing; one server per directory.
    #[arg(long)]
    pub data_dir: PathBuf,
    /// Port of ClickHouse's HTTP interface on 127.0.0.1; 0 picks a free one.
    #[arg(long, default_value_t = 0)]
    pub http_port: u16,
    /// Port of the native protocol on 127.0.0.1; 0 picks a free one.
    #[arg(long, default_value_t = 0)]
    pub tcp_port: u16,
    /// Users, profiles and quotas, in the format of ClickHouse's users.xml; without it `default` has no password and
    /// all rights.
    #[arg(long)]
    pub users: Option<PathBuf>,
    /// Additional ClickHouse configuration in XML, such as `<remote_servers>`: the elements inside `<clickhouse>`.
    #[arg(long)]
    pub config: Option<PathBuf>,
}

/// Starts a server over `data` as a process of its own: `program` is this package's, and `arguments` are
/// [`ServerFlags`].
///
/// # Errors
///
/// If it does not get ready.
pub fn start(program: &Path, data: &Path, arguments: &[&str]) -> anyhow::Result<Server> {
    let mut command = Command::new(program);
    command.arg("clickhouse").arg("--data-dir").arg(data).args(arguments);
    Server::start(command)
}
