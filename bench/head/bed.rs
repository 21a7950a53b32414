//! The test bed of the legs: the chain with its node, the engine, `follow` and the API.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use xtask::process::Server;
use xtask::workspace;

use crate::ask::HighestBlock;
use crate::chain::{Chain, Size};
use crate::clients::{Target, agent};
use crate::node::Node;
use crate::processes::{Follower, Launch, processor};
use crate::{Flags, progress};

/// Everything that runs.
pub struct TestBed {
    /// The generated chain, which grows.
    pub chain: Arc<Chain>,
    /// JSON-RPC of the chain.
    pub node: Node,
    /// trawl-engine, with the tables.
    pub engine: Server,
    /// `trawl-ingest follow`; `None` while it does not run.
    pub follow: Option<Follower>,
    /// trawl-api; `None` while it does not run.
    pub api: Option<Server>,
    /// How programs are started.
    pub launch: Launch,
    genesis: PathBuf,
    arguments: Vec<String>,
    allowed: Duration,
    agent: ureq::Agent,
}

impl TestBed {
    /// A chain of some blocks, an engine with empty tables, and nothing that reads or writes them yet.
    pub fn start(flags: &Flags, blocks: usize, size: Size) -> anyhow::Result<Self> {
        let folder = workspace::target().join("bench").join("head");
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir_all(&folder)?;
        let started = Instant::now();
        let chain = Arc::new(Chain::new(flags.final_after, blocks)?);
        chain.grow(blocks, size)?;
        let each = started.elapsed().as_secs_f64() * 1e3 / blocks as f64;
        progress(&format!(
            "{blocks} blocks of {} transactions and {} logs, {each:.1} ms each",
            size.transactions, size.logs
        ));
        let genesis = folder.join("genesis.json");
        std::fs::write(&genesis, chain.world.genesis().to_string())?;
        let launch = Launch { profile: flags.profile.clone(), cores: flags.cores.clone(), folder };
        let node = Node::start(Arc::clone(&chain))?;
        let engine = launch.engine("127.0.0.1:0")?;
        launch.ingest(&engine.url, "trawl", &["migrate"])?;
        let arguments = flags.api_flag.clone();
        let allowed = Duration::from_secs_f64(flags.allowed_staleness);
        let agent = agent();
        Ok(Self { chain, node, engine, follow: None, api: None, launch, genesis, arguments, allowed, agent })
    }

    /// Starts `follow` anew with a pause between two looks.
    pub fn follow(&mut self, poll: Duration) -> anyhow::Result<()> {
        self.follow_with(poll, &[])
    }

    /// The same with more flags.
    pub fn follow_with(&mut self, poll: Duration, flags: &[&str]) -> anyhow::Result<()> {
        self.follow = None;
        let (engine, node) = (&self.engine.url, &self.node.url);
        self.follow = Some(self.launch.follow((engine, node), &self.genesis, poll, flags)?);
        Ok(())
    }

    /// Starts the API anew, once there is something to read.
    pub fn serve(&mut self) -> anyhow::Result<()> {
        self.api = None;
        self.wait_until_followed()?;
        self.api = Some(self.launch.api(&self.engine.url, &self.arguments)?);
        self.target()?.catch_up(&self.agent).map(drop)
    }

    /// Stops the engine and starts it over what it wrote; readers get the newest block again.
    pub fn restart_engine(&mut self) -> anyhow::Result<()> {
        let listen = self.engine.url.trim_start_matches("http://").to_owned();
        self.engine.end()?;
        self.engine = self.launch.engine(&listen)?;
        self.wait_until_followed()?;
        self.target()?.catch_up(&self.agent).map(drop)
    }

    /// Waits until the newest block of the node is committed.
    pub fn wait_until_followed(&self) -> anyhow::Result<()> {
        let started = Instant::now();
        let tip = {
            let model = self.chain.model();
            model.at(model.tip()).number
        };
        let (expected, patience) = (tip.to_string(), Duration::from_secs(180 + tip / 10));
        while self.sql("SELECT head_block FROM ingest_heads ORDER BY sequence DESC LIMIT 1")? != expected {
            ensure!(started.elapsed() < patience, "follow did not reach block {expected}");
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    /// Waits, without a query of the engine, until `follow` has committed the newest block of the node.
    pub fn wait_until_taken(&self) -> anyhow::Result<()> {
        let started = Instant::now();
        let expected = {
            let model = self.chain.model();
            model.at(model.tip()).number
        };
        while self.chain.follower.done() != expected {
            ensure!(started.elapsed() < Duration::from_secs(60), "follow did not take block {expected}");
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// The target of clients.
    pub fn target(&self) -> anyhow::Result<Target> {
        let url = self.api.as_ref().context("the API runs")?.url.clone();
        Ok(Target {
            url,
            chain: Arc::clone(&self.chain),
            seen: Arc::new(HighestBlock::default()),
            allowed: self.allowed,
        })
    }

    /// Runs a statement without Trawl in between; tab-separated text.
    pub fn sql(&self, sql: &str) -> anyhow::Result<String> {
        let request = self.agent.post(&self.engine.url).query("database", "trawl").query("default_format", "TSV");
        let mut response = request.send(sql)?;
        let (status, body) = (response.status(), response.body_mut().read_to_string()?);
        ensure!(status == 200, "{sql}: {body}");
        Ok(body.trim_end().to_owned())
    }

    /// How many settled blocks are verified, and how many are not.
    pub fn verdicts(&self) -> anyhow::Result<String> {
        let sql = "SELECT concat(toString(verdict), ' ', toString(count())) FROM block_verdicts GROUP BY verdict";
        Ok(self.sql(sql)?.replace('\n', ", "))
    }

    /// Processor seconds so far of the engine, the API and the follower.
    pub fn spent(&self) -> anyhow::Result<[f64; 3]> {
        let of = |id: Option<u32>| id.map_or(Ok(0.), processor);
        let (api, follow) = (self.api.as_ref().map(Server::id), self.follow.as_ref().map(Follower::id));
        Ok([processor(self.engine.id())?, of(api)?, of(follow)?])
    }

    /// Processor seconds over a time without requests, as a share of one core each.
    pub fn idle(&self, seconds: f64) -> anyhow::Result<[f64; 3]> {
        let (before, started) = (self.spent()?, Instant::now());
        std::thread::sleep(Duration::from_secs_f64(seconds));
        let (after, took) = (self.spent()?, started.elapsed().as_secs_f64());
        Ok(std::array::from_fn(|of| (after[of] - before[of]) / took))
    }

    /// Waits until the engine merges nothing, so that no leg pays for the one before.
    pub fn rest(&self) -> anyhow::Result<()> {
        let started = Instant::now();
        while self.sql("SELECT count() FROM system.merges")? != "0" && started.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }
}
