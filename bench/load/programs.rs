//! Runs of `trawl-ingest`, with the time and memory they took.

use std::ffi::OsStr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use xtask::workspace;

use crate::store::{Store, processor};

/// What one run took.
#[derive(Debug, Clone, Copy)]
pub struct RunCost {
    /// Seconds by the clock.
    pub wall: f64,
    /// Seconds on processors, its own and the engine's.
    pub processor: f64,
    /// Highest resident memory in MiB (`VmHWM`).
    pub peak: f64,
    /// Highest resident memory in MiB over the second and over the last quarter of its time.
    pub quarters: [f64; 2],
}

/// A run about to start.
pub struct Run<'a> {
    command: Command,
    store: &'a Store,
}

/// `trawl-ingest` against a database of the engine.
pub fn ingest<'a>(store: &'a Store, database: &str) -> Run<'a> {
    let mut command = Command::new(workspace::program("release", "trawl-ingest"));
    command.args(["--clickhouse-url", store.url(), "--clickhouse-database", database]);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    Run { command, store }
}

/// An empty database with the tables of Trawl.
pub fn empty(store: &Store, database: &str) -> anyhow::Result<()> {
    store.text(&format!("DROP DATABASE IF EXISTS {database} SYNC"))?;
    store.rest()?;
    ingest(store, database).arg("migrate").run().map(drop)
}

impl Run<'_> {
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    pub fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Runs it to its end.
    pub fn run(mut self) -> anyhow::Result<RunCost> {
        let engine = self.store.processor()?;
        let started = Instant::now();
        let mut child = self.command.spawn().context("trawl-ingest")?;
        let (mut own, mut peak, mut resident) = (0.0, 0.0, Vec::new());
        while child.try_wait()?.is_none() {
            // What a process has used is gone once it has been waited for, so the last look counts.
            if let (Ok(seconds), Ok(high), Ok(now)) =
                (processor(child.id()), memory(&child, "VmHWM"), memory(&child, "VmRSS"))
            {
                (own, peak) = (seconds, high);
                resident.push(now);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let wall = started.elapsed().as_secs_f64();
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "trawl-ingest failed: {}", String::from_utf8_lossy(&output.stderr));
        let highest = |part: &[f64]| part.iter().copied().fold(0.0, f64::max);
        let quarter = resident.len() / 4;
        let quarters = [highest(&resident[quarter..2 * quarter]), highest(&resident[3 * quarter..])];
        Ok(RunCost { wall, processor: own + self.store.processor()? - engine, peak, quarters })
    }
}

/// A line of `/proc/PID/status` in MiB.
fn memory(child: &Child, name: &str) -> anyhow::Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()).context("memory of a process")?;
    Ok(kibibytes.parse::<f64>()? / 1024.0)
}
