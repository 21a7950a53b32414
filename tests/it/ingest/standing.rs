//! What holds following up is named in metrics, log and health, and is over soon after its end. The failures are those
//! of `ops/faults.sh`.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use xtask::process::{self, Server};

use super::node::Node;
use super::outages::disk::SmallDisk;
use super::outages::injection::Injection;
use crate::env;

mod scene;

use scene::{NAMED, REPORTED, Scene};

fn node(port: &str, head: &str) -> anyhow::Result<Node> {
    Node::start("hive", &["--port", port, "--head", head, "--finality", "8", "--retry-after", "120"])
}

/// Failures of a node by their names in `ops/faults.sh`, and the problem that each is.
const OF_NODES: [(&str, &str); 8] = [
    ("node-silent", "node_silent"),
    ("node-slow", "node_slow"),
    ("node-limited", "node_rate_limited"),
    // A gateway whose key has expired.
    ("node-denied", "node_failing"),
    ("node-failing", "node_failing"),
    ("node-pruned", "node_pruned"),
    ("node-other-id", "node_foreign"),
    ("node-back", "node_behind"),
];

/// The interval of the script in these tests: a slow node takes longer, and an absent one is away for longer.
const VARIABLES: [(&str, &str); 2] = [("FAULT_LATENCY", "900"), ("FAULT_AWAY", "2")];

/// A failure of a node is named while it lasts, and then over.
fn is_named_and_over(scene: &Scene, node: &Node, fault: &str, kind: &str) -> anyhow::Result<()> {
    let subject = if fault == "stopped" { node.id().to_string() } else { node.url.clone() };
    let injection = Injection::begin_with(fault, &subject, &VARIABLES)?;
    if fault == "node-pruned" {
        // Only a block that is fetched lacks something.
        node.control(&json!({"advance": 1}))?;
    }
    scene.names(kind, kind).context(fault.to_owned())?;
    if fault == "node-failing" {
        // It is unknown whether there are newer blocks.
        env::eventually(NAMED, || Ok(scene.readiness()? == 503)).context("follow is ready without a height")?;
    }
    if fault == "node-silent" {
        // Readers have seen nothing new for longer than they may.
        let mut health = Value::Null;
        env::eventually(NAMED, || {
            let (status, now) = scene.health()?;
            health = now;
            Ok(status == 503 && health["state"] == "stale")
        })
        .with_context(|| health.to_string())?;
    }
    injection.end()?;
    scene.is_over(node, kind).context(fault.to_owned())
}

#[test]
fn each_failure_of_a_node_is_named_and_over() -> anyhow::Result<()> {
    let _database = env::migrate("standing")?;
    let port = env::free_port()?.to_string();
    let dead = node(&port, "20")?;
    let mut scene = Scene::start(env::store(), &dead)?;
    Injection::begin("killed", dead.id())?.end()?;
    scene.names("node_unreachable", "node_unreachable")?;
    drop(dead);
    let node = node(&port, "22")?;
    scene.is_over(&node, "node_unreachable")?;
    for (fault, kind) in OF_NODES {
        is_named_and_over(&scene, &node, fault, kind)?;
    }
    // A node that takes calls and answers none holds nobody up.
    node.control(&json!({"faults": {"timeout": 1}, "timeout_secs": 600}))?;
    std::thread::sleep(Duration::from_millis(300));
    scene.ends()?;
    scene.names("follow_ended", "")?;
    // Reports are dropped after a day. A chain that was followed is not healthy then.
    env::sql("standing", "TRUNCATE TABLE follow_reports")?;
    scene.names("follow_silent", "")?;
    let (status, health) = scene.health()?;
    ensure!(status == 503 && health["state"] == "stale", "{status} {health}");
    Ok(())
}

#[test]
fn each_failure_of_follow_and_of_clickhouse_is_named_and_over() -> anyhow::Result<()> {
    let mut disk = SmallDisk::start("standing")?;
    let node = node("0", "20")?;
    let mut scene = Scene::start(disk.url(), &node)?;
    std::thread::sleep(REPORTED);
    Injection::begin("killed", scene.follow.id())?.end()?;
    process::wait_within(&mut scene.follow, env::LONGEST)?;
    scene.names("follow_silent", "")?;
    let age = scene.head_age()?;
    scene.follow_again()?;
    // One that starts again and again does not look as if its newest block were new.
    env::eventually(NAMED, || Ok(scene.report_age()? < Duration::from_secs(1)))?;
    ensure!(scene.head_age()? >= age, "readers saw nothing new, and the head got younger than {age:?}");
    scene.is_over(&node, "follow_silent")?;
    disk.fill()?;
    // An engine that only pretends that its disk is full says so to who writes.
    scene.names(if disk.is_full_for_removals() { "disk_full" } else { "follow_silent" }, "disk_full")?;
    disk.free()?;
    scene.is_over(&node, "disk_full")?;
    let stopped = Injection::begin("stopped", disk.id())?;
    let named = scene.names("clickhouse_unreachable", "clickhouse_unreachable");
    stopped.end()?;
    named?;
    scene.is_over(&node, "clickhouse_unreachable")?;
    Injection::begin("killed", disk.id())?.end()?;
    scene.names("clickhouse_unreachable", "clickhouse_unreachable")?;
    disk.restart()?;
    scene.is_over(&node, "clickhouse_unreachable")?;
    // What it has after all of this is what it starts with.
    disk.restart()?;
    scene.is_over(&node, "clickhouse_unreachable")?;
    let stopped = Injection::begin("stopped", disk.id())?;
    std::thread::sleep(Duration::from_secs(1));
    let ended = scene.ends();
    stopped.end()?;
    ended
}

/// After each failure of a node the engine is stopped and started, and readers get the next block.
#[test]
#[ignore = "three minutes; with `cargo xtask test --slow`"]
fn the_engine_starts_again_after_each_failure_of_a_node() -> anyhow::Result<()> {
    let data: TempDir = env::directory()?;
    let mut engine = Some(env::start_engine(data.path(), 0, &[])?);
    let store = engine.as_ref().context("an engine")?.url.clone();
    env::run(env::ingest_at(&store, "standing", &["migrate"]), 0)?;
    let node = node("0", "20")?;
    let scene = Scene::start_with(&store, &node, &["--settle-blocks", "1", "--settle-interval", "2s"])?;
    let more = [("stopped", "node_silent"), ("node-other-chain", "node_foreign"), ("node-fork", "node_foreign")];
    for (fault, kind) in OF_NODES.into_iter().chain(more) {
        if fault == "node-fork" {
            settles_past_the_fork(&store, &node)?;
        }
        is_named_and_over(&scene, &node, fault, kind)?;
        let port = store.rsplit(':').next().context("a port")?.parse()?;
        engine =
            engine.map(Server::stop).transpose()?.map(|_| env::start_engine(data.path(), port, &[])).transpose()?;
        scene.is_over(&node, "clickhouse_unreachable").with_context(|| format!("after {fault}"))?;
    }
    Ok(())
}

/// The branch of the fork begins at block 38, and the blocks up to 42 are final then.
fn settles_past_the_fork(store: &str, node: &Node) -> anyhow::Result<()> {
    node.control(&json!({"head": 50}))?;
    let settled = || env::sql_at(store, "standing", "SELECT max(last_block) >= 40 FROM ingest_commits");
    env::eventually(env::SOON, || Ok(settled()? == "1")).context("blocks do not settle")?;
    // What the node is compared with is looked up every ten intervals.
    std::thread::sleep(Duration::from_secs(6));
    Ok(())
}
