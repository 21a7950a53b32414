//! The rules that operators copy, evaluated by Prometheus over running stacks: the alert of each failure fires soon and
//! is soon over, and none fires while nothing is wrong.
//!
//! Each failure has a stack of its own, and all are injected at the same time: one after the other they take an hour.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use tempfile::TempDir;
use xtask::process::Server;

use crate::env;
use crate::ingest::outages::disk::SmallDisk;
use crate::ingest::outages::injection::Injection;

mod prometheus;
mod stack;

use prometheus::{Alert, Prometheus, Target};
use stack::Stack;

/// How long nothing is wrong.
const QUIET: Duration = Duration::from_mins(5);
/// How soon the alerts of a failure fire after it began, and are over after it ended.
const FIRES: Duration = Duration::from_mins(2);
/// The disk that runs full has room for the chain many times over: the rule is about a tenth of it.
const DISK_MEGABYTES: u32 = 512;

/// What must fire for a failure, as alert, program and kind of the problem, and what else may.
struct FailureAlerts {
    stack: &'static str,
    must: &'static [[&'static str; 3]],
    may: &'static [&'static str],
}

const NODE_AWAY: &[&str] = &["TrawlStale", "TrawlNodeFails", "TrawlProblem stale"];
const ENGINE_AWAY: &[&str] =
    &["TrawlStale", "TrawlFollowStandsStill", "TrawlProblem stale", "TrawlProblem follow_silent"];
const NOTHING_NEW: [&str; 3] = ["TrawlFollowStandsStill", "follow", ""];

const ALERTS: [FailureAlerts; 8] = [
    FailureAlerts {
        stack: "node_killed",
        must: &[
            ["TrawlProblem", "follow", "node_unreachable"],
            ["TrawlProblem", "api", "node_unreachable"],
            NOTHING_NEW,
        ],
        may: NODE_AWAY,
    },
    FailureAlerts {
        stack: "node_stopped",
        must: &[["TrawlProblem", "follow", "node_silent"], ["TrawlProblem", "api", "node_silent"], NOTHING_NEW],
        may: NODE_AWAY,
    },
    FailureAlerts {
        stack: "node_slow",
        must: &[["TrawlProblem", "follow", "node_slow"], ["TrawlProblem", "api", "node_slow"]],
        may: &[],
    },
    FailureAlerts {
        stack: "node_foreign",
        must: &[["TrawlProblem", "follow", "node_foreign"], ["TrawlProblem", "api", "node_foreign"], NOTHING_NEW],
        may: NODE_AWAY,
    },
    FailureAlerts {
        stack: "engine_killed",
        must: &[
            ["TrawlProcessGone", "engine", ""],
            ["TrawlApiNotReady", "api", ""],
            ["TrawlProblem", "follow", "clickhouse_unreachable"],
            ["TrawlProblem", "api", "clickhouse_unreachable"],
        ],
        may: ENGINE_AWAY,
    },
    FailureAlerts {
        stack: "engine_stopped",
        must: &[
            ["TrawlProcessGone", "engine", ""],
            ["TrawlApiNotReady", "api", ""],
            ["TrawlProblem", "follow", "clickhouse_unreachable"],
            ["TrawlProblem", "api", "clickhouse_unreachable"],
        ],
        may: ENGINE_AWAY,
    },
    FailureAlerts {
        stack: "disk_full",
        must: &[
            ["TrawlDiskFillsUp", "engine", ""],
            ["TrawlProblem", "follow", "disk_full"],
            ["TrawlProblem", "api", "disk_full"],
            NOTHING_NEW,
        ],
        may: ENGINE_AWAY,
    },
    FailureAlerts {
        stack: "follow_killed",
        must: &[["TrawlProcessGone", "follow", ""], ["TrawlProblem", "api", "follow_silent"]],
        may: &["TrawlStale", "TrawlProblem stale"],
    },
];

impl FailureAlerts {
    fn of(alert: &Alert) -> Option<&'static Self> {
        ALERTS.iter().find(|alerts| alert.instance.ends_with(&format!(":{}", alerts.stack)))
    }

    fn alerts(&self) -> impl Iterator<Item = Alert> {
        self.must.iter().map(|[name, program, kind]| Alert {
            name: (*name).into(),
            instance: format!("{program}:{}", self.stack),
            kind: (*kind).into(),
        })
    }

    fn allows(&self, alert: &Alert) -> bool {
        let name = format!("{} {}", alert.name, alert.kind);
        self.alerts().any(|other| other == *alert) || self.may.contains(&name.trim_end())
    }
}

/// An engine of which the test is the service manager.
struct Engine {
    data: TempDir,
    server: Option<Server>,
}

impl Engine {
    fn start() -> anyhow::Result<Self> {
        let data = env::directory()?;
        let server = env::start_engine(data.path(), 0, &[])?;
        Ok(Self { data, server: Some(server) })
    }

    fn server(&self) -> anyhow::Result<&Server> {
        self.server.as_ref().context("the engine does not run")
    }

    /// Starts it again where it was.
    fn restart(&mut self) -> anyhow::Result<()> {
        let port = self.server()?.url.rsplit(':').next().context("a port")?.parse()?;
        drop(self.server.take());
        self.server = Some(env::start_engine(self.data.path(), port, &[])?);
        Ok(())
    }
}

/// All stacks and their engines.
struct Site {
    stacks: BTreeMap<&'static str, Stack>,
    shared: Engine,
    killed: Engine,
    stopped: Engine,
    disk: SmallDisk,
}

impl Site {
    fn start() -> anyhow::Result<Self> {
        let (shared, killed, stopped) = (Engine::start()?, Engine::start()?, Engine::start()?);
        let disk = SmallDisk::of_megabytes("disk_full", DISK_MEGABYTES)?;
        ensure!(disk.is_full_for_removals(), "no user namespaces here: no disk of this test's own");
        let mut stacks = BTreeMap::new();
        for FailureAlerts { stack, .. } in ALERTS {
            let store = match stack {
                "engine_killed" => &killed.server()?.url,
                "engine_stopped" => &stopped.server()?.url,
                "disk_full" => disk.url(),
                _ => &shared.server()?.url,
            };
            stacks.insert(stack, Stack::start(stack, store)?);
        }
        Ok(Self { stacks, shared, killed, stopped, disk })
    }

    fn targets(&self) -> anyhow::Result<Vec<Target>> {
        let engine = |name: &str, url: &str| Target {
            job: "trawl-engine",
            address: url.trim_start_matches("http://").into(),
            instance: format!("engine:{name}"),
        };
        let engines = [
            engine("shared", &self.shared.server()?.url),
            engine("engine_killed", &self.killed.server()?.url),
            engine("engine_stopped", &self.stopped.server()?.url),
            engine("disk_full", self.disk.url()),
        ];
        Ok(self.stacks.values().flat_map(Stack::targets).chain(engines).collect())
    }

    fn stack(&mut self, name: &str) -> anyhow::Result<&mut Stack> {
        self.stacks.get_mut(name).context("a stack")
    }

    /// Injects all failures.
    fn fail(&mut self) -> anyhow::Result<Vec<Injection>> {
        self.disk.fill()?;
        let killed = self.stack("node_killed")?.node.as_ref().context("a node")?.id();
        let stopped = self.stack("node_stopped")?.node.as_ref().context("a node")?.id();
        Ok(vec![
            Injection::begin("killed", killed)?,
            Injection::begin("stopped", stopped)?,
            Injection::begin("node-slow", self.stack("node_slow")?.node_url())?,
            Injection::begin_with(
                "node-other-chain",
                self.stack("node_foreign")?.node_url(),
                &[("FAULT_CHAIN", "hive")],
            )?,
            Injection::begin("killed", self.killed.server()?.id())?,
            Injection::begin("stopped", self.stopped.server()?.id())?,
            Injection::begin("killed", self.stack("follow_killed")?.follow.id())?,
        ])
    }

    /// Ends all failures; who was killed is started again.
    fn recover(&mut self, failures: Vec<Injection>) -> anyhow::Result<()> {
        failures.into_iter().try_for_each(Injection::end)?;
        self.disk.free()?;
        self.killed.restart()?;
        self.stack("follow_killed")?.restart_follow()?;
        self.stack("node_killed")?.restart_node()
    }
}

/// Nothing fires for so long.
fn is_quiet(prometheus: &Prometheus, lasts: Duration) -> anyhow::Result<()> {
    let started = Instant::now();
    while started.elapsed() < lasts {
        let firing = prometheus.firing()?;
        ensure!(firing.is_empty(), "nothing is wrong, and after {:?} there is {firing:?}", started.elapsed());
        std::thread::sleep(Duration::from_secs(2));
    }
    Ok(())
}

/// Waits until everything fires that must, and prints when each began to; nothing else fires.
fn all_fire(prometheus: &Prometheus, started: Instant) -> anyhow::Result<()> {
    let mut missing: BTreeSet<Alert> = ALERTS.iter().flat_map(FailureAlerts::alerts).collect();
    let mut seen = BTreeSet::new();
    while !missing.is_empty() && started.elapsed() < FIRES {
        for alert in prometheus.firing()? {
            if seen.insert(alert.clone()) {
                eprintln!(
                    "{:6.1} s  {} {} {}",
                    started.elapsed().as_secs_f64(),
                    alert.instance,
                    alert.name,
                    alert.kind
                );
            }
            missing.remove(&alert);
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    ensure!(missing.is_empty(), "not within {FIRES:?}: {missing:#?}");
    let wrong: Vec<&Alert> =
        seen.iter().filter(|alert| !FailureAlerts::of(alert).is_some_and(|alerts| alerts.allows(alert))).collect();
    ensure!(wrong.is_empty(), "for another reason: {wrong:#?}");
    Ok(())
}

/// Waits until nothing fires any more, and prints when the last alert of each stack was over.
fn all_are_over(prometheus: &Prometheus, started: Instant) -> anyhow::Result<()> {
    let mut firing = prometheus.firing()?;
    while !firing.is_empty() {
        ensure!(started.elapsed() < FIRES, "not over after {FIRES:?}: {firing:#?}");
        std::thread::sleep(Duration::from_secs(1));
        let now = prometheus.firing()?;
        for alert in firing.difference(&now) {
            eprintln!(
                "{:6.1} s  {} {} {} is over",
                started.elapsed().as_secs_f64(),
                alert.instance,
                alert.name,
                alert.kind
            );
        }
        firing = now;
    }
    Ok(())
}

#[test]
#[ignore = "12 minutes; with `cargo xtask test --slow`"]
fn the_right_alert_fires_and_is_over() -> anyhow::Result<()> {
    let Some(program) = prometheus::program() else {
        eprintln!("skipped: there is no Prometheus (Debian: prometheus; or TRAWL_TEST_PROMETHEUS)");
        return Ok(());
    };
    let mut site = Site::start()?;
    let targets = site.targets()?;
    let prometheus = Prometheus::start(program, &targets)?;
    prometheus.sees_all(targets.len())?;
    is_quiet(&prometheus, QUIET)?;
    let began = Instant::now();
    let failures = site.fail()?;
    let fired = all_fire(&prometheus, began);
    let ended = Instant::now();
    site.recover(failures)?;
    fired?;
    all_are_over(&prometheus, ended)?;
    // All of them serve on.
    is_quiet(&prometheus, FIRES).with_context(|| {
        site.stacks.values().map(|stack| format!("{}:\n{}", stack.name, stack.text())).collect::<String>()
    })
}
