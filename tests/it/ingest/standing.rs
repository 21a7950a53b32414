//! What holds following up is named in metrics, log and health, and is over soon after its end.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use xtask::http;
use xtask::process::{self, Server};

use super::node::Node;
use super::outages::disk::SmallDisk;
use crate::env;

/// As often as the tests can bear: what takes seconds here takes five times as long by default.
const INTERVAL: &str = "400ms";
/// 30 seconds by default, and time for a machine with other work.
const NAMED: Duration = Duration::from_secs(15);
/// Two intervals: the newest block is in a report.
const REPORTED: Duration = Duration::from_millis(900);
/// Whatever the interval.
const OVER: Duration = Duration::from_secs(10);

/// `trawl-ingest follow` of a node, and an API over what it writes.
struct Scene {
    store: String,
    node: String,
    metrics: String,
    follow: Child,
    log: NamedTempFile,
    api: Server,
}

impl Scene {
    fn start(store: &str, node: &Node) -> anyhow::Result<Self> {
        let (metrics, log) = (format!("127.0.0.1:{}", env::free_port()?), NamedTempFile::new()?);
        let follow = follow(store, &node.url, &metrics, &log)?;
        let api = env::start_api_at(store, "standing", &["--stale-after", "3s"])?;
        let scene = Self { store: store.into(), node: node.url.clone(), metrics, follow, log, api };
        scene.moves_on(node)?;
        Ok(scene)
    }

    fn follow_again(&mut self) -> anyhow::Result<()> {
        self.follow = follow(&self.store, &self.node, &self.metrics, &self.log)?;
        Ok(())
    }

    fn health(&self) -> anyhow::Result<(u16, Value)> {
        let answer = http::get(&http::agent(), &format!("{}/api/health", self.api.url))?;
        Ok((answer.status, answer.json()?))
    }

    /// A time in what health says of following.
    fn time(&self, name: &str) -> anyhow::Result<Duration> {
        let health = self.health()?.1;
        let millis = health["data"]["following"][name].as_u64();
        Ok(Duration::from_millis(millis.with_context(|| format!("no {name} in {health}"))?))
    }

    fn head_age(&self) -> anyhow::Result<Duration> {
        self.time("head_age_ms")
    }

    fn report_age(&self) -> anyhow::Result<Duration> {
        self.time("report_age_ms")
    }

    /// The status of follow's own probe.
    fn readiness(&self) -> anyhow::Result<u16> {
        Ok(http::get(&http::agent(), &format!("http://{}/health/ready", self.metrics))?.status)
    }

    fn text(&self) -> anyhow::Result<String> {
        Ok(std::fs::read_to_string(self.log.path())?)
    }

    /// Where a problem is not named: in health, the metrics of both programs, or the log of follow.
    fn not_named(&self, kind: &str, follow: &str) -> anyhow::Result<Vec<&'static str>> {
        let problems = self.health()?.1["problems"].clone();
        let in_health = problems.as_array().context("problems")?.iter().any(|problem| problem["kind"] == kind);
        let of_api = http::get(&http::agent(), &format!("{}/metrics", self.api.url))?.text();
        let of_follow = http::get(&http::agent(), &format!("http://{}/metrics", self.metrics));
        let of_follow = of_follow.map(|answer| answer.text()).unwrap_or_default();
        let says = |text: &str, metric: &str, kind| text.contains(&format!("{metric}{{kind=\"{kind}\"}} 1"));
        let named = [
            ("health", in_health),
            ("metrics of the API", says(&of_api, "trawl_problem", kind)),
            ("metrics of follow", follow.is_empty() || says(&of_follow, "trawl_ingest_problem", follow)),
            ("log", follow.is_empty() || self.text()?.contains(follow)),
        ];
        Ok(named.into_iter().filter(|(_, is_named)| !is_named).map(|(position, _)| position).collect())
    }

    /// Waits until the API, and follow unless it is gone, name the problem.
    fn names(&self, kind: &str, follow: &str) -> anyhow::Result<()> {
        let mut lacking = Vec::new();
        env::eventually(NAMED, || {
            lacking = self.not_named(kind, follow)?;
            Ok(lacking.is_empty())
        })
        .with_context(|| {
            format!("{kind} is not named in {lacking:?}: {:?} {}", self.health(), self.text().unwrap_or_default())
        })
    }

    /// Readers see a new block of the node, and the problem is not named any more.
    fn is_over(&self, node: &Node, kind: &str) -> anyhow::Result<()> {
        let started = Instant::now();
        self.moves_on(node).context(kind.to_owned())?;
        env::eventually(OVER, || {
            let (status, health) = self.health()?;
            let problems = health["problems"].as_array().context("problems")?;
            Ok(status == 200 && !problems.iter().any(|problem| problem["kind"] == kind))
        })
        .with_context(|| format!("{kind} is not over: {:?}", self.health()))?;
        ensure!(started.elapsed() < OVER + Duration::from_secs(3), "{kind} was over after {:?}", started.elapsed());
        Ok(())
    }

    /// The node goes on by a block, and readers see it.
    fn moves_on(&self, node: &Node) -> anyhow::Result<()> {
        let head = node.control(&json!({"advance": 1}))?["head"].clone();
        let mut seen = Value::Null;
        env::eventually(OVER + Duration::from_secs(5), || {
            seen = self.health()?.1["data"]["latest_block_number"].clone();
            Ok(seen == head)
        })
        .with_context(|| format!("the node is at {head}, readers at {seen}: {}", self.text().unwrap_or_default()))
    }

    /// Asks follow to stop, whatever is away.
    fn ends(&mut self) -> anyhow::Result<()> {
        let started = Instant::now();
        process::signal(self.follow.id(), libc::SIGTERM)?;
        let status = process::wait_within(&mut self.follow, env::LONGEST)?;
        ensure!(status.code() == Some(130), "{status}: {}", self.text()?);
        ensure!(started.elapsed() < Duration::from_secs(10), "it ended after {:?}", started.elapsed());
        Ok(())
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        // Nothing can be done about a process that does not end.
        let _ = self.follow.kill();
        let _ = self.follow.wait();
    }
}

fn follow(store: &str, node: &str, metrics: &str, log: &NamedTempFile) -> anyhow::Result<Child> {
    let flags = ["--watch-interval", INTERVAL, "--metrics-listen", metrics, "--poll-interval-ms", "50"];
    let mut command = env::ingest_at(store, "standing", &[&["follow", "--rpc-url", node], &flags[..]].concat());
    let file = std::fs::OpenOptions::new().append(true).open(log.path())?;
    command.stderr(Stdio::from(file));
    Ok(process::spawn(command)?)
}

fn node(port: &str, head: &str) -> anyhow::Result<Node> {
    Node::start("hive", &["--port", port, "--head", head, "--finality", "8", "--retry-after", "120"])
}

#[test]
fn each_failure_of_a_node_is_named_and_over() -> anyhow::Result<()> {
    let _database = env::migrate("standing")?;
    let port = env::free_port()?.to_string();
    let dead = node(&port, "20")?;
    let mut scene = Scene::start(env::store(), &dead)?;
    drop(dead);
    scene.names("node_unreachable", "node_unreachable")?;
    let node = node(&port, "22")?;
    scene.is_over(&node, "node_unreachable")?;
    for (kind, change, back) in [
        ("node_silent", json!({"faults": {"timeout": 1}, "timeout_secs": 600}), json!({"faults": {}})),
        ("node_slow", json!({"latency": 900}), json!({"latency": 0})),
        ("node_rate_limited", json!({"faults": {"http429": 1}}), json!({"faults": {}})),
        // A gateway whose key has expired.
        ("node_failing", json!({"faults": {"http401": 1}}), json!({"faults": {}})),
        ("node_failing", json!({"faults": {"rpcerror": 1}}), json!({"faults": {}})),
        ("node_pruned", json!({"pruned_below": 1000, "advance": 1}), json!({"pruned_below": 0})),
        ("node_foreign", json!({"chain_id": "0x5"}), json!({"chain_id": null})),
    ] {
        node.control(&change)?;
        scene.names(kind, kind)?;
        if change["faults"]["rpcerror"] == 1 {
            // Nobody knows whether there are newer blocks.
            env::eventually(NAMED, || Ok(scene.readiness()? == 503)).context("follow is ready without a height")?;
        }
        if kind == "node_silent" {
            // Readers have seen nothing new for longer than they may.
            let mut health = Value::Null;
            env::eventually(NAMED, || {
                let (status, now) = scene.health()?;
                health = now;
                Ok(status == 503 && health["state"] == "stale")
            })
            .with_context(|| health.to_string())?;
        }
        node.control(&back)?;
        scene.is_over(&node, kind)?;
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
    scene.follow.kill()?;
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
    process::signal(disk.id(), libc::SIGSTOP)?;
    let named = scene.names("clickhouse_unreachable", "clickhouse_unreachable");
    process::signal(disk.id(), libc::SIGCONT)?;
    named?;
    scene.is_over(&node, "clickhouse_unreachable")?;
    process::signal(disk.id(), libc::SIGSTOP)?;
    std::thread::sleep(Duration::from_secs(1));
    let ended = scene.ends();
    process::signal(disk.id(), libc::SIGCONT)?;
    ended
}
