//! Two shards, each a server process, and a chain whose tables are `Distributed` over them as [`trawl_core::schema::sharding`] says.

use std::fs;

use anyhow::{Context as _, ensure};
use tempfile::TempDir;
use trawl_core::schema::sharding::{Sharding, sharding};
use xtask::process::Server;

use super::start;
use crate::chains::dump;
use crate::env;

/// Two nodes. The first one has the chain on one machine too, in [`Cluster::SINGLE`].
pub struct Cluster {
    pub nodes: Vec<Server>,
    _data: [TempDir; 2],
}

impl Cluster {
    /// The database of one engine.
    pub const SINGLE: &str = "single";
    /// The database whose tables are `Distributed`.
    pub const DISTRIBUTED: &str = "distributed";

    /// Loads a chain on the first node and distributes its rows.
    pub fn with(chain: &str) -> anyhow::Result<Self> {
        let ports = [env::free_port()?, env::free_port()?];
        let shards =
            ports.map(|port| format!("<shard><replica><host>127.0.0.1</host><port>{port}</port></replica></shard>"));
        let config = format!("<remote_servers><trawl>{}</trawl></remote_servers>", shards.concat());
        let data = [env::directory()?, env::directory()?];
        let node = |index: usize| {
            let file = data[index].path().join("cluster.xml");
            fs::write(&file, &config)?;
            let (port, file) = (ports[index].to_string(), file.display().to_string());
            start(&data[index].path().join("data"), &["--tcp-port", &port, "--config", &file])
        };
        let cluster = Self { nodes: vec![node(0)?, node(1)?], _data: data };
        let url = &cluster.nodes[0].url;
        for arguments in [&["migrate"][..], &["load", "--dump", &dump(chain)]] {
            env::run(env::ingest_at(url, Self::SINGLE, arguments), 0)?;
        }
        cluster.distribute(ports[0])?;
        Ok(cluster)
    }

    pub fn stop(self) -> anyhow::Result<()> {
        self.nodes.into_iter().try_for_each(|node| node.stop().map(drop))
    }

    /// Ends the second node.
    pub fn stop_the_second(&mut self) -> anyhow::Result<()> {
        self.nodes.pop().context("a second node")?.stop().map(drop)
    }

    fn sql(&self, node: usize, text: &str) -> anyhow::Result<String> {
        env::sql_at(&self.nodes[node].url, "default", text).with_context(|| text.to_owned())
    }

    /// Tables of the rows of each shard, and `Distributed` tables over them.
    fn distribute(&self, port: u16) -> anyhow::Result<()> {
        for node in 0..2 {
            self.sql(node, "CREATE DATABASE parts")?;
            self.sql(node, "CREATE DATABASE distributed")?;
        }
        let tables =
            self.sql(0, "SELECT name FROM system.tables WHERE database = 'single' AND engine LIKE '%MergeTree'")?;
        for table in tables.lines() {
            let created = self.sql(0, &format!("SELECT create_table_query FROM system.tables WHERE database = 'single' AND name = '{table}' FORMAT TSVRaw"))?;
            match sharding(table).with_context(|| format!("{table} has no sharding"))? {
                Sharding::FirstShard => {
                    self.sql(0, &created.replacen("single.", "distributed.", 1))?;
                    self.sql(0, &format!("INSERT INTO distributed.{table} SELECT * FROM single.{table}"))?;
                }
                Sharding::Key(key) => {
                    // So few blocks would be on one shard.
                    let key = key.replace("1000", "7");
                    for node in 0..2 {
                        self.sql(node, &created.replacen("single.", "parts.", 1))?;
                        let from = format!("remote('127.0.0.1:{port}', single, {table})");
                        self.sql(
                            node,
                            &format!("INSERT INTO parts.{table} SELECT * FROM {from} WHERE modulo({key}, 2) = {node}"),
                        )?;
                    }
                    self.sql(0, &format!("CREATE TABLE distributed.{table} AS parts.{table} ENGINE = Distributed(trawl, parts, {table}, {key})"))?;
                }
            }
        }
        let count = |database| format!("SELECT sum(total_rows) FROM system.tables WHERE database = '{database}'");
        let [first, second, whole] =
            [self.sql(0, &count("parts"))?, self.sql(1, &count("parts"))?, self.sql(0, &count("single"))?];
        ensure!(first.parse::<u64>()? > 100 && second.parse::<u64>()? > 100, "{first} and {second} of {whole}");
        Ok(())
    }
}
