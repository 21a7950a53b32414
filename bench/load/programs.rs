//! Runs of `trawl-ingest`, with the time and memory they took.

use std::ffi::OsStr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use xtask::workspace;

use crate::store::Store;

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

/// Processor seconds a process has used, in its own code and in the kernel's for it.
pub fn processor(id: u32) -> anyhow::Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
    // The name before it may hold anything but a closing bracket at the end.
    let fields: Vec<&str> = stat.rsplit_once(')').context("a process")?.1.split_whitespace().collect();
    let ticks: u64 = [11, 12].iter().filter_map(|field| fields.get(*field)?.parse::<u64>().ok()).sum();
    // Linux counts these in hundredths of a second on every architecture (USER_HZ).
    Ok(ticks as f64 / 100.0)
}
