//! Following the head: new blocks, reorganisations of every depth, kills, and readers who look meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, anyhow, ensure};
use serde_json::{Value, json};
use trawl_core::schema::BLOCK_TABLES;
use trawl_core::schema::hot::hot_name;
use xtask::http;
use xtask::process::{self, Server};

use super::node::Node;
use crate::chains::{self, quantity};
use crate::damage::live::ensure_counted;
use crate::dice::Dice;
use crate::env::{self, Database};

/// `trawl-ingest follow`; killed when dropped.
pub struct Follower(Child);

impl Follower {
    pub fn start(database: &str, node: &str, flags: &[&str]) -> anyhow::Result<Self> {
        // Tests look at the typed hot tables, and at an API that reads them.
        Self::start_at(env::store(), database, node, &[&["--hot-tables-interval", "20ms"], flags].concat())
    }

    /// The same over another address of ClickHouse, with the typed hot tables in groups.
    pub(super) fn start_at(store: &str, database: &str, node: &str, flags: &[&str]) -> anyhow::Result<Self> {
        Self::start_settling(
            store,
            database,
            node,
            &[&["--settle-blocks", "1", "--settle-interval", "1ms"], flags].concat(),
        )
    }

    /// The same, which settles as `flags` say.
    pub(super) fn start_settling(store: &str, database: &str, node: &str, flags: &[&str]) -> anyhow::Result<Self> {
        let often = ["--poll-interval-ms", "20"];
        let arguments = [&["follow", "--rpc-url", node], &often[..], flags].concat();
        let mut command = env::ingest_at(store, database, &arguments);
        command.stderr(Stdio::piped());
        Ok(Self(process::spawn(command)?))
    }

    pub(super) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Waits for its end: the exit code and stderr.
    pub(super) fn end(mut self) -> anyhow::Result<(Option<i32>, String)> {
        let stderr = self.0.stderr.take().context("a pipe")?;
        let log = std::thread::spawn(move || std::io::read_to_string(stderr));
        let status = process::wait_within(&mut self.0, env::LONGEST);
        let text = log.join().map_err(|_| anyhow!("the reader panicked"))??;
        Ok((status.with_context(|| text.clone())?.code(), text))
    }

    pub fn stop(self) -> anyhow::Result<()> {
        process::signal(self.0.id(), libc::SIGTERM)?;
        let (code, stderr) = self.end()?;
        ensure!(code == Some(130), "{code:?}: {stderr}");
        Ok(())
    }

    pub(super) fn kill(mut self) -> anyhow::Result<()> {
        self.0.kill()?;
        process::wait_within(&mut self.0, env::LONGEST)?;
        Ok(())
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        // Nothing can be done about a process that does not end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn call(api: &str, method: &str, params: &Value) -> anyhow::Result<Value> {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let answer = http::post(&http::agent(), &format!("{api}/api/eth-rpc"), request.as_bytes())?.json()?;
    ensure!(answer["error"].is_null(), "{method}: {answer}");
    Ok(answer["result"].clone())
}

fn block_at(api: &str, block: &str) -> anyhow::Result<Value> {
    call(api, "eth_getBlockByNumber", &json!([block, false]))
}

/// Waits until the API's newest block has this hash.
pub fn reaches(api: &str, hash: &str) -> anyhow::Result<()> {
    let mut last = Value::Null;
    env::eventually(Duration::from_secs(60), || {
        last = block_at(api, "latest")?;
        Ok(last["hash"] == hash)
    })
    .with_context(|| format!("waiting for {hash}, and the newest is {} {}", last["number"], last["hash"]))
}

/// Heights and hashes of the chain with a branch of the recording on top, from block 0.
pub fn hashes(branch: &str) -> anyhow::Result<BTreeMap<u64, String>> {
    let entry = |line: &Value| {
        (quantity(&line["block"]["number"]), line["block"]["hash"].as_str().unwrap_or_default().to_owned())
    };
    let mut hashes: BTreeMap<u64, String> = chains::lines("hive")?.iter().map(entry).collect();
    if branch != "main" {
        let path = format!("hive/branch-{branch}.ndjson.gz");
        hashes.extend(chains::lines_of(&xtask::workspace::fixture(&path))?.iter().map(entry));
    }
    Ok(hashes)
}

pub fn tip(chain: &BTreeMap<u64, String>) -> &str {
    chain.last_key_value().map_or("", |(_, hash)| hash)
}

/// All rows a reader may see, table by table: the settled ones, and those of the newest head.
pub(super) fn visible(database: &str) -> anyhow::Result<Vec<String>> {
    let sum = |(table, column): (&str, &str)| {
        let columns = if table == "block_verdicts" { "* EXCEPT (run, decided_at)" } else { "*" };
        format!(
            "SELECT '{table}' AS name, count(), sum(cityHash64(formatRowNoNewline('TSV', {columns}))) FROM (
                SELECT * FROM {table}
                UNION ALL
                SELECT * EXCEPT (generation) FROM {hot} WHERE arrayExists(
                    segment -> {column} BETWEEN segment.1 AND segment.2 AND generation = segment.3,
                    (SELECT argMax(segments, sequence) FROM ingest_heads)))",
            hot = hot_name(table)
        )
    };
    // One statement: each has a price of its own.
    let sums = BLOCK_TABLES.map(sum).join("\nUNION ALL\n");
    Ok(env::sql(database, &format!("SELECT * FROM ({sums}) ORDER BY name"))?.lines().map(str::to_owned).collect())
}

/// The same after a plain load of what the node has now, with traces and state: once for each newest block.
pub(super) fn loaded(node: &Node, database: &str) -> anyhow::Result<Vec<String>> {
    static LOADED: Mutex<BTreeMap<String, Vec<String>>> = Mutex::new(BTreeMap::new());
    let newest = http::rpc(&http::agent(), &node.url, "eth_getBlockByNumber", &json!(["latest", false]))?;
    let newest = newest["result"]["hash"].as_str().context("a newest block")?.to_owned();
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(rows) = loaded.get(&newest) {
        return Ok(rows.clone());
    }
    let _database = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--rpc-url", &node.url]), 0)?;
    let rows = visible(database)?;
    loaded.insert(newest, rows.clone());
    Ok(rows)
}

/// A database of that name, a node, `follow` between them, and an API over what it writes.
pub fn started(database: &str, node_flags: &[&str]) -> anyhow::Result<(Database, Node, Follower, Server)> {
    let node = Node::start("hive", node_flags)?;
    let guard = env::migrate(database)?;
    let follower = Follower::start(database, &node.url, &[])?;
    let api = env::start_api(database, &[])?;
    Ok((guard, node, follower, api))
}

#[test]
fn keeps_up_and_settles_what_is_final() -> anyhow::Result<()> {
    let (_database, node, follower, api) = started("follow_keeps_up", &["--head", "30", "--finality", "8"])?;
    let main = hashes("main")?;
    reaches(&api.url, &main[&30])?;
    for head in [31, 33, 40, 54] {
        node.control(&json!({"head": head}))?;
        reaches(&api.url, &main[&head])?;
    }
    let finalized = block_at(&api.url, "finalized")?;
    ensure!(finalized["number"] == "0x2e", "{finalized}");
    let settled = || env::sql("follow_keeps_up", "SELECT max(last_block) FROM ingest_commits");
    env::eventually(Duration::from_secs(20), || Ok(settled()? == "46"))?;
    for (number, hash) in &main {
        let block = block_at(&api.url, &format!("{number:#x}"))?;
        ensure!(block["hash"] == *hash, "block {number}: {block}");
    }
    let status: Value =
        serde_json::from_slice(&env::run(env::ingest("follow_keeps_up", &["status", "--json"]), 0)?.stdout)?;
    ensure!(status["head"] == 54 && status["following"]["lag_blocks"] == 0, "{status}");
    ensure!(status["damaged"] == json!([]), "{status}");
    ensure!(status["following"]["finalized_block"] == 46 && status["following"]["node_block"] == 54, "{status}");
    let health = http::get(&http::agent(), &format!("{}/api/health", api.url))?.json()?;
    let following = &health["data"]["following"];
    ensure!(
        following["node_block"] == 54 && following["silent_ms"].as_u64().is_some_and(|ms| ms < 600_000),
        "{health}"
    );
    follower.stop()?;
    ensure_counted("follow_keeps_up")?;
    ensure!(visible("follow_keeps_up")? == loaded(&node, "follow_keeps_up_loaded")?);
    let logs = call(&api.url, "eth_getLogs", &json!([{"fromBlock": "0x28", "toBlock": "latest"}]))?;
    let expected: usize = chains::lines("hive")?[40..]
        .iter()
        .flat_map(|line| line["receipts"].as_array().into_iter().flatten())
        .map(|receipt| receipt["logs"].as_array().map_or(0, Vec::len))
        .sum();
    ensure!(expected > 0 && logs.as_array().map(Vec::len) == Some(expected.min(1000)), "{expected} logs");
    Ok(())
}

fn lost_blocks(api: &str) -> anyhow::Result<BTreeSet<String>> {
    let page = http::get(&http::agent(), &format!("{api}/api/v2/blocks?type=reorg"))?.json()?;
    let items = page["items"].as_array().context("items")?;
    ensure!(items.iter().all(|item| item["type"] == "reorg"), "{page}");
    let hashes: Vec<String> = items.iter().map(|item| item["hash"].as_str().unwrap_or_default().to_owned()).collect();
    let set: BTreeSet<String> = hashes.iter().cloned().collect();
    ensure!(set.len() == hashes.len(), "a block twice: {page}");
    Ok(set)
}

/// The blocks of one chain that another does not have.
fn only_in(one: &BTreeMap<u64, String>, other: &BTreeMap<u64, String>) -> BTreeSet<String> {
    one.iter().filter(|(number, hash)| other.get(number) != Some(hash)).map(|(_, hash)| hash.clone()).collect()
}

#[test]
fn goes_over_reorganisations_of_every_depth() -> anyhow::Result<()> {
    let (_database, node, follower, api) = started("follow_reorganised", &["--head", "54", "--finality", "30"])?;
    let main = hashes("main")?;
    reaches(&api.url, tip(&main))?;
    let mut seen = main;
    let mut lost = BTreeSet::new();
    for branch in ["depth1", "main", "depth6", "depth17", "main", "depth6"] {
        let expected = hashes(branch)?;
        node.control(&json!({"branch": branch}))?;
        reaches(&api.url, tip(&expected))?;
        for (number, hash) in expected.range(30..).step_by(env::amount(3, 1)) {
            let block = block_at(&api.url, &format!("{number:#x}"))?;
            ensure!(block["hash"] == *hash, "{branch}: block {number}: {block}");
        }
        lost.extend(only_in(&seen, &expected));
        lost.retain(|hash| !expected.values().any(|current| current == hash));
        ensure!(lost_blocks(&api.url)? == lost, "{branch}: {:?} instead of {lost:?}", lost_blocks(&api.url)?);
        seen = expected;
    }
    // `depth17` was a block longer than what the node has now.
    let deepest = hashes("depth17")?;
    let (above, hash) = deepest.last_key_value().context("a block")?;
    ensure!(!seen.contains_key(above));
    let answer = http::get(&http::agent(), &format!("{}/api/v2/blocks/{above}/withdrawals", api.url))?;
    ensure!(answer.status == 404, "{}", answer.text());
    ensure!(answer.json()? == json!({"message": "Block lost consensus", "hash": hash}), "{}", answer.text());
    let hash = lost.first().context("a lost block")?;
    let withdrawals = http::get(&http::agent(), &format!("{}/api/v2/blocks/{hash}/withdrawals", api.url))?;
    ensure!(withdrawals.status == 200, "{}", withdrawals.text());
    ensure!(call(&api.url, "eth_getBlockByHash", &json!([hash, false]))?.is_null());
    follower.stop()?;
    ensure!(visible("follow_reorganised")? == loaded(&node, "follow_reorganised_loaded")?);
    Ok(())
}

#[test]
fn keeps_up_with_a_node_that_reorganises_by_itself() -> anyhow::Result<()> {
    let flags =
        ["--head", "40", "--block-interval", "0.1", "--reorg", "depth6@53", "--orphans", "drop", "--finality", "8"];
    let (_database, node, follower, api) = started("follow_live", &flags)?;
    reaches(&api.url, tip(&hashes("depth6")?))?;
    follower.stop()?;
    ensure!(visible("follow_live")? == loaded(&node, "follow_live_loaded")?);
    Ok(())
}

/// Whether all pairs of height and hash are of one chain.
fn is_of_one(chains: &[BTreeMap<u64, String>], pairs: &[(u64, String)]) -> bool {
    chains.iter().any(|chain| pairs.iter().all(|(number, hash)| chain.get(number) == Some(hash)))
}

/// Heights with the hashes that an answer gives them.
type Pairs = Vec<(u64, String)>;

fn blocks_of_logs(api: &str) -> anyhow::Result<Pairs> {
    let logs = call(api, "eth_getLogs", &json!([{"fromBlock": "0x14", "toBlock": "latest"}]))?;
    let pair = |log: &Value| (quantity(&log["blockNumber"]), log["blockHash"].as_str().unwrap_or_default().to_owned());
    Ok(logs.as_array().context("logs")?.iter().map(pair).collect())
}

fn blocks_of_list(api: &str) -> anyhow::Result<Pairs> {
    let page = http::get(&http::agent(), &format!("{api}/api/v2/blocks"))?.json()?;
    let items = page["items"].as_array().context("items")?;
    ensure!(items.windows(2).all(|pair| pair[0]["parent_hash"] == pair[1]["hash"]), "{page}");
    let pair = |item: &Value| {
        (item["height"].as_u64().unwrap_or_default(), item["hash"].as_str().unwrap_or_default().to_owned())
    };
    Ok(items.iter().map(pair).collect())
}

#[test]
fn readers_never_see_a_mixture() -> anyhow::Result<()> {
    let (_database, node, follower, api) = started("follow_mixture", &["--head", "54", "--finality", "30"])?;
    let branches = ["main", "depth17", "depth6", "depth1"];
    let chains: Vec<BTreeMap<u64, String>> = branches.iter().map(|name| hashes(name)).collect::<Result<_, _>>()?;
    reaches(&api.url, tip(&chains[0]))?;
    let (is_over, reads) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let reader = |read: fn(&str) -> anyhow::Result<Pairs>| {
            let (url, chains, is_over, reads) = (&api.url, &chains, &is_over, &reads);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let pairs = read(url)?;
                    ensure!(!pairs.is_empty() && is_of_one(chains, &pairs), "a mixture: {pairs:?}");
                    reads.fetch_add(1, Ordering::Relaxed);
                }
                anyhow::Ok(())
            })
        };
        let readers = [reader(blocks_of_logs), reader(blocks_of_list), reader(blocks_of_logs), reader(blocks_of_list)];
        let rounds = if env::is_slow_run() { 60 } else { 5 };
        let mut dice = Dice(23);
        let changed = (1..=rounds).try_for_each(|round| {
            let position = if env::is_slow_run() { dice.roll(branches.len()) } else { round % branches.len() };
            node.control(&json!({"branch": branches[position]}))?;
            reaches(&api.url, tip(&chains[position]))
        });
        is_over.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        changed
    })?;
    ensure!(reads.load(Ordering::Relaxed) > 12, "only {} reads", reads.load(Ordering::Relaxed));
    follower.stop()
}

#[test]
fn killed_at_any_moment_ends_clean() -> anyhow::Result<()> {
    let node = Node::start("hive", &["--head", "20", "--finality", "20"])?;
    let database = &env::migrate("follow_killed")?;
    let mut dice = Dice(29);
    let rounds = if env::is_slow_run() { 60 } else { 5 };
    for round in 0..rounds {
        let follower = Follower::start(database, &node.url, &[])?;
        std::thread::sleep(Duration::from_millis(50 + dice.roll(900) as u64));
        let head = 20 + (round + 1) * 34 / rounds;
        node.control(&json!({"head": head}))?;
        if head > 50 {
            node.control(&json!({"branch": *dice.pick(&["depth17", "depth6", "main"])}))?;
        }
        std::thread::sleep(Duration::from_millis(dice.roll(700) as u64));
        follower.kill()?;
    }
    node.control(&json!({"branch": "depth6"}))?;
    let follower = Follower::start(database, &node.url, &[])?;
    let api = env::start_api(database, &[])?;
    reaches(&api.url, tip(&hashes("depth6")?))?;
    follower.stop()?;
    let (found, expected) = (visible(database)?, loaded(&node, "follow_killed_loaded")?);
    ensure!(found == expected, "{found:?}\ninstead of\n{expected:?}");
    ensure_counted(database)
}

#[test]
fn a_reorganisation_below_finality_ends_it() -> anyhow::Result<()> {
    let (_database, node, follower, api) = started("follow_below", &["--head", "54", "--finality", "5"])?;
    let (main, branch) = (hashes("main")?, hashes("depth17")?);
    reaches(&api.url, tip(&main))?;
    let settled = || env::sql("follow_below", "SELECT max(last_block) FROM ingest_commits");
    env::eventually(Duration::from_secs(20), || Ok(settled()? == "49"))?;
    node.control(&json!({"branch": "depth17"}))?;
    let (code, stderr) = follower.end()?;
    ensure!(code == Some(3), "{code:?}: {stderr}");
    ensure!(
        stderr.contains("below finality") && stderr.contains(&main[&49]) && stderr.contains(&branch[&49]),
        "{stderr}"
    );
    ensure!(block_at(&api.url, "latest")?["hash"] == tip(&main), "what was there is gone");
    Ok(())
}

#[test]
fn waits_for_a_node_that_is_away() -> anyhow::Result<()> {
    let (_database, node, follower, api) = started("follow_waits", &["--head", "40", "--finality", "8"])?;
    let main = hashes("main")?;
    reaches(&api.url, &main[&40])?;
    node.control(&json!({"faults": {"http500": 1.0}}))?;
    std::thread::sleep(Duration::from_secs(2));
    node.control(&json!({"head": 45}))?;
    node.control(&json!({"faults": {"http500": 0.0}}))?;
    reaches(&api.url, &main[&45])?;
    follower.stop()
}

#[test]
fn a_block_that_does_not_verify_ends_it() -> anyhow::Result<()> {
    let (_database, node, follower, api) = started("follow_refused", &["--head", "50", "--finality", "8"])?;
    let main = hashes("main")?;
    reaches(&api.url, &main[&50])?;
    node.control(&json!({"tamper_log": "54:1:0:data"}))?;
    node.control(&json!({"head": 54}))?;
    let (code, stderr) = follower.end()?;
    ensure!(code == Some(3) && stderr.contains("block 54") && stderr.contains("receipts root"), "{code:?}: {stderr}");
    ensure!(quantity(&block_at(&api.url, "latest")?["number"]) < 54, "a block that was refused is visible");
    Ok(())
}
