//! The engine of a measurement, queried over HTTP without Trawl in between.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use xtask::process::Server;
use xtask::{engine_library, workspace};

/// An engine over an empty folder.
pub struct Store {
    agent: ureq::Agent,
    server: Server,
}

impl Store {
    /// Starts an engine over `data`, which is emptied.
    pub fn start(data: &Path) -> anyhow::Result<Self> {
        if data.exists() {
            std::fs::remove_dir_all(data)?;
        }
        let mut command = Command::new(workspace::program("release", "trawl-engine"));
        command
            .arg("--data-dir")
            .arg(data)
            .args(["--listen", "127.0.0.1:0", "--library"])
            .arg(engine_library::ensure()?);
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        Ok(Self { agent, server: Server::start(command)? })
    }

    /// Where it listens.
    pub fn url(&self) -> &str {
        &self.server.url
    }

    /// Processor seconds it has used.
    pub fn processor(&self) -> anyhow::Result<f64> {
        processor(self.server.id())
    }

    /// Runs a statement and returns what it says.
    pub fn text(&self, sql: &str) -> anyhow::Result<String> {
        let mut response = self.agent.post(self.url()).query("default_format", "TSV").send(sql)?;
        let status = response.status();
        let body = response.body_mut().with_config().limit(u64::MAX).read_to_string()?;
        ensure!(status == 200, "{sql}: {body}");
        Ok(body.trim_end().to_owned())
    }

    /// Writes the result of a statement to a file.
    pub fn save(&self, sql: &str, file: &Path) -> anyhow::Result<()> {
        let mut response = self.agent.post(self.url()).send(sql)?;
        if response.status() != 200 {
            anyhow::bail!("{sql}: {}", response.body_mut().read_to_string()?);
        }
        std::io::copy(&mut response.body_mut().as_reader(), &mut File::create(file)?)?;
        Ok(())
    }

    /// Sends a file as the rows of an insert.
    pub fn insert(&self, table: &str, file: &Path) -> anyhow::Result<()> {
        let sql = format!("INSERT INTO {table} FORMAT RowBinary");
        let mut response = self.agent.post(self.url()).query("query", &sql).send(File::open(file)?)?;
        let status = response.status();
        ensure!(status == 200, "{sql}: {}", response.body_mut().read_to_string()?);
        Ok(())
    }

    /// Waits until nothing is merged any more, so that no measurement pays for the one before.
    pub fn rest(&self) -> anyhow::Result<()> {
        let started = Instant::now();
        while self.text("SELECT count() FROM system.merges")? != "0" && started.elapsed() < Duration::from_secs(120) {
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }

    /// The tables of a database that have rows of the chain, with their sorting keys and how many rows.
    pub fn tables(&self, database: &str) -> anyhow::Result<Vec<(String, String, u64)>> {
        let sql = format!(
            "SELECT name, sorting_key, total_rows FROM system.tables WHERE database = '{database}' AND total_rows > 0 \
             AND name NOT LIKE 'ingest%' AND name != 'schema_migrations' ORDER BY total_bytes DESC"
        );
        let text = self.text(&sql)?;
        let row = |line: &str| {
            let mut cells = line.split('\t');
            let (name, key) = (cells.next()?.to_owned(), cells.next()?.to_owned());
            Some((name, key, cells.next()?.parse().ok()?))
        };
        Ok(text.lines().filter_map(row).collect())
    }

    /// Ends the engine and waits for it.
    pub fn stop(self) -> anyhow::Result<()> {
        self.server.stop().map(drop)
    }
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
