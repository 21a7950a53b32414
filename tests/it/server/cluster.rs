//! Shards, each a server process, and a chain whose tables are `Distributed` over them.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use tempfile::TempDir;
use xtask::process::{self, Server};

use super::start;
use crate::chains::dump;
use crate::env;

/// A node of each shard. The first one has the chain on one machine too, in [`Cluster::SINGLE`].
pub struct Cluster {
    pub nodes: Vec<Server>,
    at: Vec<Node>,
}

/// Where a node is.
struct Node {
    data: TempDir,
    http_port: u16,
    tcp_port: u16,
}

impl Node {
    fn start(&self) -> anyhow::Result<Server> {
        let config = self.data.path().join("cluster.xml").display().to_string();
        let [http, tcp] = [self.http_port, self.tcp_port].map(|port| port.to_string());
        let arguments = ["--http-port", &http, "--tcp-port", &tcp, "--config", &config];
        start(&self.data.path().join("data"), &arguments)
    }
}

impl Cluster {
    /// The database of one engine.
    pub const SINGLE: &str = "single";
    /// The database that printed statements make.
    pub const PRINTED: &str = "printed";
    /// The database whose tables are `Distributed`.
    pub const DISTRIBUTED: &str = "distributed";

    /// So many shards with a chain, loaded on one machine and on the cluster.
    pub fn with(chain: &str, shards: usize) -> anyhow::Result<Self> {
        let cluster = Self::start(shards)?;
        for arguments in [&["migrate"][..], &["load", "--dump", &dump(chain)]] {
            env::run(env::ingest_at(&cluster.nodes[0].url, Self::SINGLE, arguments), 0)?;
        }
        cluster.migrate()?;
        cluster.load_in_slices(chain)?;
        cluster.require_rows_on_each()?;
        Ok(cluster)
    }

    /// Loads what the other database has, by two processes at once.
    fn load_in_slices(&self, chain: &str) -> anyhow::Result<()> {
        let newest = "SELECT max(last_block) FROM ingest_commits";
        let (dump, to) = (dump(chain), env::sql_at(&self.nodes[0].url, Self::SINGLE, newest)?);
        let load = |slice| {
            let mut load = self.ingest(&["load", "--dump", &dump, "--to", &to, "--slice", slice]);
            load.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()
        };
        for load in [load("1/2")?, load("2/2")?] {
            let output = process::output_within(load, env::LONGEST)?;
            ensure!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    }

    /// Nodes without tables.
    pub fn start(shards: usize) -> anyhow::Result<Self> {
        let ports: Vec<u16> = (0..shards).map(|_| env::free_port()).collect::<anyhow::Result<_>>()?;
        let shard = |port| format!("<shard><replica><host>127.0.0.1</host><port>{port}</port></replica></shard>");
        let (all, first) = (ports.iter().map(shard).collect::<String>(), shard(&ports[0]));
        // The same servers as replicas of one shard, of which a `Distributed` table writes to one.
        let replicas = all
            .replace("</shard><shard>", "")
            .replace("<shard>", "<shard><internal_replication>true</internal_replication>");
        let config = format!(
            "<remote_servers><trawl>{all}</trawl><trawl_first>{first}</trawl_first>\
             <replicas>{replicas}</replicas><replicas_first>{first}</replicas_first></remote_servers>"
        );
        let node = |tcp_port: u16| {
            let data = env::directory()?;
            fs::write(data.path().join("cluster.xml"), &config)?;
            anyhow::Ok(Node { data, http_port: env::free_port()?, tcp_port })
        };
        let at = ports.into_iter().map(node).collect::<anyhow::Result<Vec<_>>>()?;
        Ok(Self { nodes: at.iter().map(Node::start).collect::<anyhow::Result<_>>()?, at })
    }

    /// The node of the last shard.
    pub fn last(&self) -> &Server {
        &self.nodes[self.at.len() - 1]
    }

    /// Starts the last node again.
    pub fn start_the_last(&mut self) -> anyhow::Result<()> {
        self.nodes.truncate(self.at.len() - 1);
        self.nodes.push(self.at[self.at.len() - 1].start()?);
        Ok(())
    }

    /// Makes the tables of [`Cluster::DISTRIBUTED`]. A thousand blocks of these chains would be on one shard.
    pub fn migrate(&self) -> anyhow::Result<()> {
        env::run(self.ingest(&["migrate", "--cluster", "trawl", "--shard-blocks", "7"]), 0).map(drop)
    }

    /// `trawl-ingest` over [`Cluster::DISTRIBUTED`].
    pub fn ingest(&self, arguments: &[&str]) -> Command {
        self.ingest_by(&self.nodes[0].url, arguments)
    }

    /// The same by another way to the first node.
    pub fn ingest_by(&self, first: &str, arguments: &[&str]) -> Command {
        let mut command = env::ingest_at(first, Self::DISTRIBUTED, arguments);
        let others: Vec<&str> = self.nodes[1..].iter().map(|node| node.url.as_str()).collect();
        command.args(["--clickhouse-shards", &others.join(",")]);
        command
    }

    pub fn stop(self) -> anyhow::Result<()> {
        self.nodes.into_iter().try_for_each(|node| node.stop().map(drop))
    }

    /// A node as the cluster names it.
    pub fn server(&self, node: usize) -> String {
        format!("127.0.0.1:{}", self.at[node].tcp_port)
    }

    /// Ends the last node.
    pub fn stop_the_last(&mut self) -> anyhow::Result<()> {
        self.nodes.pop().context("a further node")?.stop().map(drop)
    }

    pub fn shards(&self) -> usize {
        self.at.len()
    }

    pub fn sql(&self, node: usize, text: &str) -> anyhow::Result<String> {
        env::sql_at(&self.nodes[node].url, Self::DISTRIBUTED, text).with_context(|| text.to_owned())
    }

    pub fn require_rows_on_each(&self) -> anyhow::Result<()> {
        let count = "SELECT sum(total_rows) FROM system.tables WHERE database = 'distributed_local'";
        for node in 0..self.nodes.len() {
            let rows = self.sql(node, count)?;
            ensure!(rows.parse::<u64>()? > 100, "shard {} has {rows} rows", node + 1);
        }
        Ok(())
    }
}
