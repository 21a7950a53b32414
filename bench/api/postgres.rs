//! The leg of a conventional explorer: the same rows in PostgreSQL with the usual indexes, behind a minimal handler.

use std::process::Command;

use anyhow::Context as _;
use xtask::process::Server;

use crate::bed::TestBed;
use crate::progress;
use crate::store::Content;

mod cluster;
mod fill;
pub mod handler;

use cluster::Cluster;

/// PostgreSQL with the rows of a data set, and the handler before it.
pub struct Postgres {
    cluster: Cluster,
    handler: Server,
}

impl Postgres {
    /// Starts both; fills the tables if that was not done before. An error says what is missing.
    pub fn start(bed: &TestBed, content: Content) -> anyhow::Result<Self> {
        let folder = bed.folder().join("postgres");
        let mark = bed.folder().join("postgres-complete");
        if !mark.exists() && folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        let cluster = Cluster::start(&folder)?;
        if !mark.exists() {
            progress("filling PostgreSQL");
            fill::fill(bed, &cluster, content).context("cannot fill PostgreSQL")?;
            std::fs::write(mark, "")?;
        }
        // This very program: the handler has a process of its own, as the API has.
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--serve-postgres").arg(cluster.address());
        Ok(Self { cluster, handler: Server::start(command)? })
    }

    /// Where the handler listens.
    pub fn url(&self) -> &str {
        &self.handler.url
    }

    /// Bytes on disk of a table with its indexes.
    pub fn bytes(&self, table: &str) -> anyhow::Result<f64> {
        self.cluster.run(async |client| {
            let row = client.query_one("SELECT pg_total_relation_size($1::text::regclass)::float8", &[&table]).await?;
            Ok(row.get(0))
        })
    }

    /// What it calls itself.
    pub fn version(&self) -> anyhow::Result<String> {
        self.cluster.run(async |client| Ok(client.query_one("SHOW server_version", &[]).await?.get(0)))
    }
}
