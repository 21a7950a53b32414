//! Programs as an operator runs them together: a node, the engine, `follow` and the API.

use std::fs::File;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use xtask::process::{self, Server};

use super::prometheus::Target;
use crate::env;
use crate::ingest::node::Node;

/// Seconds between blocks, those of Ethereum: the thresholds of the rules are for it.
pub const BLOCK_SECONDS: u64 = 12;
/// The first head of the node.
const HEAD: u64 = 20;

/// A stack over an engine.
pub struct Stack {
    /// Its name in alerts, and its database.
    pub name: &'static str,
    pub node: Option<Node>,
    pub follow: Child,
    store: String,
    port: String,
    metrics: String,
    log: TempDir,
    api: Server,
    started: Instant,
}

impl Stack {
    pub fn start(name: &'static str, store: &str) -> anyhow::Result<Self> {
        env::run(env::ingest_at(store, name, &["migrate"]), 0)?;
        let (port, metrics) = (env::free_port()?.to_string(), format!("127.0.0.1:{}", env::free_port()?));
        let (started, log) = (Instant::now(), env::directory()?);
        let node = node(&port, HEAD)?;
        let follow = follow(name, store, &port, &metrics, &log)?;
        let api = env::start_api_at(store, name, &["--head-interval-ms", "1000"])?;
        Ok(Self { name, node: Some(node), follow, store: store.into(), port, metrics, log, api, started })
    }

    pub fn targets(&self) -> [Target; 2] {
        let target = |job, program: &str, address: &str| Target {
            job,
            address: address.into(),
            instance: format!("{program}:{}", self.name),
        };
        [
            target("trawl-api", "api", self.api.url.trim_start_matches("http://")),
            target("trawl-ingest", "follow", &self.metrics),
        ]
    }

    /// The node's address.
    pub fn node_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Starts the node again after a crash, where its chain would be by now.
    pub fn restart_node(&mut self) -> anyhow::Result<()> {
        // The port is taken until the process is gone.
        drop(self.node.take());
        self.node = Some(node(&self.port, HEAD + self.started.elapsed().as_secs() / BLOCK_SECONDS)?);
        Ok(())
    }

    /// Starts `follow` again after a crash, as a service manager does.
    pub fn restart_follow(&mut self) -> anyhow::Result<()> {
        process::wait_within(&mut self.follow, Duration::from_secs(10))?;
        self.follow = follow(self.name, &self.store, &self.port, &self.metrics, &self.log)?;
        Ok(())
    }

    /// What `follow` logged.
    pub fn text(&self) -> String {
        std::fs::read_to_string(self.log.path().join("follow")).unwrap_or_default()
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // It is killed: what it waits for may be away.
        let _ = self.follow.kill();
        let _ = self.follow.wait();
    }
}

fn node(port: &str, head: u64) -> anyhow::Result<Node> {
    let (head, interval) = (head.to_string(), BLOCK_SECONDS.to_string());
    let flags = ["--port", port, "--head", &head, "--block-interval", &interval, "--finality", "8"];
    Node::start("devchain", &flags)
}

fn follow(name: &str, store: &str, port: &str, metrics: &str, log: &TempDir) -> anyhow::Result<Child> {
    let node = format!("http://127.0.0.1:{port}");
    let mut command = env::ingest_at(store, name, &["follow", "--rpc-url", &node, "--metrics-listen", metrics]);
    let file = File::options().create(true).append(true).open(log.path().join("follow"))?;
    command.stderr(Stdio::from(file));
    Ok(process::spawn(command)?)
}
