//! Many polling filters while `follow` extends and reorganises the chain, beside clients that never read.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::polling_filters::chain_with;
use super::subscriptions::logs_of;
use crate::chains::lines;
use crate::env;
use crate::ingest::follow::{hashes, reaches, started, tip};

const CLIENTS: usize = 64;
const CLIENTS_THAT_NEVER_READ: usize = 8;

/// A client of a filter: the logs that the answers left it with, and how long its polls took.
struct Poller {
    logs: Vec<Value>,
    times: Vec<Duration>,
}

impl Poller {
    /// Polls until the chain has ended, and then until nothing is new for a second.
    fn run(mut self, url: &str, has_ended: &AtomicBool) -> anyhow::Result<Self> {
        let agent = http::agent();
        let created = http::rpc(&agent, url, "eth_newFilter", &json!([{}]))?;
        let mut quiet = 0;
        while quiet < 20 {
            let started = Instant::now();
            let answer = http::rpc(&agent, url, "eth_getFilterChanges", &json!([created["result"]]))?;
            self.times.push(started.elapsed());
            let changes = answer["result"].as_array().with_context(|| answer.to_string())?;
            changes.iter().try_for_each(|log| self.apply(log))?;
            let is_quiet = changes.is_empty() && has_ended.load(Ordering::Relaxed);
            quiet = if is_quiet { quiet + 1 } else { 0 };
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(self)
    }

    /// A removed log must be the last one, any other follows it.
    fn apply(&mut self, log: &Value) -> anyhow::Result<()> {
        if log["removed"] == false {
            self.logs.push(log.clone());
            return Ok(());
        }
        let last = self.logs.pop().context("a log is removed that was not there")?;
        let same = ["blockHash", "logIndex"].iter().all(|key| last[*key] == log[*key]);
        ensure!(same, "{log} is removed, and the last one is {last}");
        Ok(())
    }
}

/// A connection that sends batches with long answers and reads none.
fn mute(api: &str) -> anyhow::Result<TcpStream> {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [{"fromBlock": "0x0"}]});
    let body = json!(vec![call; 50]).to_string();
    let address = api.strip_prefix("http://").context("an HTTP address")?;
    let mut stream = env::connect(address)?;
    let head = format!("POST /rpc HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all([head.as_bytes(), body.as_bytes()].concat().as_slice())?;
    Ok(stream)
}

#[test]
#[ignore = "half a minute: runs with `cargo xtask test --slow`"]
fn have_the_logs_of_the_chain_after_reorganisations() -> anyhow::Result<()> {
    let (_database, node, follower, api) = started("filter_crowds", &["--head", "40", "--finality", "40"])?;
    let (main, chain) = (hashes("main")?, lines("hive")?);
    reaches(&api.url, &main[&40])?;
    let known = logs_of(&chain[..=40]);
    let has_ended = Arc::new(AtomicBool::new(false));
    let pollers: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (url, has_ended) = (format!("{}/rpc", api.url), Arc::clone(&has_ended));
            let poller = Poller { logs: known.clone(), times: Vec::new() };
            std::thread::spawn(move || poller.run(&url, &has_ended))
        })
        .collect();
    std::thread::sleep(Duration::from_secs(2));
    let _mute: Vec<TcpStream> = (0..CLIENTS_THAT_NEVER_READ).map(|_| mute(&api.url)).collect::<anyhow::Result<_>>()?;
    for head in [41, 44, 47, 54] {
        node.control(&json!({"head": head}))?;
        reaches(&api.url, &main[&head])?;
    }
    for branch in ["depth1", "depth6", "depth17"] {
        node.control(&json!({"branch": branch}))?;
        reaches(&api.url, tip(&hashes(branch)?))?;
        std::thread::sleep(Duration::from_millis(500));
    }
    has_ended.store(true, Ordering::Relaxed);
    let due = logs_of(&chain_with("depth17")?);
    let mut times = Vec::new();
    for poller in pollers {
        let poller = poller.join().map_err(|_| anyhow::anyhow!("the thread panicked"))??;
        ensure!(poller.logs == due, "{} logs, and there are {}", poller.logs.len(), due.len());
        times.extend(poller.times);
    }
    times.sort_unstable();
    let percentile = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    eprintln!("{} polls: median {:?}, 99th percentile {:?}", times.len(), percentile(50), percentile(99));
    ensure!(percentile(99) < Duration::from_secs(5), "polls wait for those who do not read: {:?}", percentile(99));
    follower.stop()
}
