//! What is looked at while something fails: `follow` of a node, and an API.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use xtask::http;
use xtask::process::{self, Server};

use crate::env;
use crate::ingest::node::Node;

/// As often as the tests can bear: what takes seconds here takes five times as long by default.
const INTERVAL: &str = "400ms";
/// 30 seconds by default, and time for a machine with other work.
pub(super) const NAMED: Duration = Duration::from_secs(15);
/// Two intervals: the newest block is in a report.
pub(super) const REPORTED: Duration = Duration::from_millis(900);
/// Whatever the interval.
const OVER: Duration = Duration::from_secs(10);

/// `trawl-ingest follow` of a node, and an API over what it writes.
pub(super) struct Scene {
    store: String,
    node: String,
    metrics: String,
    flags: &'static [&'static str],
    pub follow: Child,
    log: NamedTempFile,
    api: Server,
}

impl Scene {
    pub fn start(store: &str, node: &Node) -> anyhow::Result<Self> {
        Self::start_with(store, node, &[])
    }

    /// The same with more flags of `follow`.
    pub fn start_with(store: &str, node: &Node, flags: &'static [&'static str]) -> anyhow::Result<Self> {
        let (metrics, log) = (format!("127.0.0.1:{}", env::free_port()?), NamedTempFile::new()?);
        let follow = follow([store, &node.url, &metrics], flags, &log)?;
        let api = env::start_api_at(store, "standing", &["--stale-after", "3s"])?;
        let scene = Self { store: store.into(), node: node.url.clone(), metrics, flags, follow, log, api };
        scene.moves_on(node)?;
        Ok(scene)
    }

    pub fn follow_again(&mut self) -> anyhow::Result<()> {
        self.follow = follow([&self.store, &self.node, &self.metrics], self.flags, &self.log)?;
        Ok(())
    }

    pub fn health(&self) -> anyhow::Result<(u16, Value)> {
        let answer = http::get(&http::agent(), &format!("{}/api/health", self.api.url))?;
        Ok((answer.status, answer.json()?))
    }

    /// A time in what health says of following.
    fn time(&self, name: &str) -> anyhow::Result<Duration> {
        let health = self.health()?.1;
        let millis = health["data"]["following"][name].as_u64();
        Ok(Duration::from_millis(millis.with_context(|| format!("no {name} in {health}"))?))
    }

    pub fn head_age(&self) -> anyhow::Result<Duration> {
        self.time("head_age_ms")
    }

    pub fn report_age(&self) -> anyhow::Result<Duration> {
        self.time("report_age_ms")
    }

    /// The status of follow's own probe.
    pub fn readiness(&self) -> anyhow::Result<u16> {
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
    pub fn names(&self, kind: &str, follow: &str) -> anyhow::Result<()> {
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
    pub fn is_over(&self, node: &Node, kind: &str) -> anyhow::Result<()> {
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
    pub fn moves_on(&self, node: &Node) -> anyhow::Result<()> {
        let head = node.control(&json!({"advance": 1}))?["head"].clone();
        let mut seen = Value::Null;
        env::eventually(OVER + Duration::from_secs(5), || {
            seen = self.health()?.1["data"]["latest_block_number"].clone();
            Ok(seen == head)
        })
        .with_context(|| format!("the node is at {head}, readers at {seen}: {}", self.text().unwrap_or_default()))
    }

    /// Asks follow to stop, whatever is away.
    pub fn ends(&mut self) -> anyhow::Result<()> {
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

fn follow([store, node, metrics]: [&str; 3], more: &[&str], log: &NamedTempFile) -> anyhow::Result<Child> {
    let flags = ["--watch-interval", INTERVAL, "--metrics-listen", metrics, "--poll-interval-ms", "50"];
    let mut command = env::ingest_at(store, "standing", &[&["follow", "--rpc-url", node], &flags[..], more].concat());
    let file = std::fs::OpenOptions::new().append(true).open(log.path())?;
    command.stderr(Stdio::from(file));
    Ok(process::spawn(command)?)
}
