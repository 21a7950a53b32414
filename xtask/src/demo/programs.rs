//! The programs of the demo: built, started, and ended with it.

use std::hash::{BuildHasher, RandomState};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail, ensure};
use xtask::process::{self, Server};
use xtask::{http, workspace};

use super::chains::Chain;

/// Where the programs listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ports {
    /// The well-known ones: 8123 for the engine, 4000 and up for the APIs.
    Fixed,
    /// Any that are free.
    Free,
}

/// A running engine's address, and what programs over it are started with.
#[derive(Debug)]
pub struct Programs {
    engine: String,
    /// Where the engine's data is.
    pub data: PathBuf,
    account: PathBuf,
    ports: Ports,
}

/// The profile of the programs: what the tests run too, so that one build serves both.
const PROFILE: &str = "debug";

/// The account that the API reads under, which could not change a row.
const READING_ACCOUNT: &str = "api";

/// The account of a reader, for the SQL of the page; both are printed.
pub const READER: [&str; 2] = ["reader", "demo"];

/// Builds all programs of the workspace, in the profile of the tests.
pub fn build() -> anyhow::Result<()> {
    eprintln!("xtask: building (minutes the first time, and `cargo xtask test` uses it too)");
    // As the tests build them: packages chosen otherwise may have other features and are built twice.
    process::run(workspace::cargo().args(["build", "--workspace", "--bins", "--quiet"]).current_dir(workspace::root()))
}

impl Programs {
    /// Starts an engine without data.
    pub fn start(library: &Path, ports: Ports) -> anyhow::Result<(Self, Server)> {
        let data = workspace::target().join(if ports == Ports::Free { "demo-check" } else { "demo" });
        if data.exists() {
            std::fs::remove_dir_all(&data).with_context(|| format!("cannot empty {}", data.display()))?;
        }
        let account = reading_account(&data)?;
        let mut command = Command::new(workspace::program(PROFILE, "trawl-engine"));
        command.arg("--data-dir").arg(&data).arg("--library").arg(library);
        command.args(["--api-user", READING_ACCOUNT, "--api-password-file"]).arg(&account);
        command.args(["--reader-user", READER[0], "--reader-password", READER[1]]);
        command.args(["--listen", if ports == Ports::Free { "127.0.0.1:0" } else { "127.0.0.1:8123" }]);
        let engine = start(command)?;
        Ok((Self { engine: engine.url.clone(), data, account, ports }, engine))
    }

    /// Runs `trawl-ingest` on the database of a chain; what it reports is printed with the name of the chain.
    pub fn ingest(&self, chain: &Chain, arguments: &[&str]) -> anyhow::Result<()> {
        let mut command = Command::new(workspace::program(PROFILE, "trawl-ingest"));
        command.args(arguments).args(["--clickhouse-url", &self.engine, "--clickhouse-database", chain.database]);
        // The bundled blocks are far apart by design, so a warning of what lies between them would only alarm.
        command.env("RUST_LOG", "warn,trawl_ingest::load::completeness=error");
        let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {command:?}"))?;
        for line in String::from_utf8_lossy(&output.stderr).lines() {
            eprintln!("{}: {line}", chain.name);
        }
        ensure!(output.status.success(), "{command:?} failed: {}", output.status);
        Ok(())
    }

    /// Starts `trawl-ingest follow` on the database of a chain.
    pub fn follow(&self, chain: &Chain, arguments: &[&str]) -> anyhow::Result<Child> {
        let mut command = Command::new(workspace::program(PROFILE, "trawl-ingest"));
        command.arg("follow").args(arguments);
        command.args(["--clickhouse-url", &self.engine, "--clickhouse-database", chain.database]);
        command.env("RUST_LOG", "error").stdin(Stdio::null()).process_group(0);
        command.spawn().with_context(|| format!("cannot start {command:?}"))
    }

    /// Starts the API of a chain, and waits until it has the blocks; `position` counts the chains from 0.
    pub fn api(&self, chain: &Chain, position: usize) -> anyhow::Result<Server> {
        let port = if self.ports == Ports::Free { 0 } else { 4000 + position };
        let mut command = Command::new(workspace::program(PROFILE, "trawl-api"));
        command.args(["--clickhouse-url", &self.engine, "--clickhouse-database", chain.database]);
        command.args(["--clickhouse-user", READING_ACCOUNT, "--clickhouse-password-file"]).arg(&self.account);
        // The bundled blocks are far apart; a log query over all of them shall answer with what there is.
        command.args(["--gaps", "serve", "--sql-console", "--listen", &format!("127.0.0.1:{port}")]);
        let api = start(command)?;
        wait_until_ready(&api.url)?;
        Ok(api)
    }
}

/// Starts a server that Ctrl-C in the terminal does not reach: the demo ends the APIs first, and then their engine.
fn start(mut command: Command) -> anyhow::Result<Server> {
    command.process_group(0);
    Server::start(command)
}

/// Makes the password file of the reading account, beside the engine's data.
fn reading_account(data: &Path) -> anyhow::Result<PathBuf> {
    let file = data.with_extension("password");
    let random = || RandomState::new().hash_one(0);
    // An old file must not stay: writing to it would leave its mode as it is.
    if file.exists() {
        std::fs::remove_file(&file).with_context(|| format!("cannot remove {}", file.display()))?;
    }
    let mut options = std::fs::OpenOptions::new();
    let mut opened = options.write(true).create_new(true).mode(0o600).open(&file);
    let written = opened.as_mut().map(|opened| writeln!(opened, "{:016x}{:016x}", random(), random()));
    written.map_err(|error| anyhow!("cannot write {}: {error}", file.display()))??;
    Ok(file)
}

fn wait_until_ready(api: &str) -> anyhow::Result<()> {
    let agent = http::agent();
    for _ in 0..600 {
        if http::get(&agent, &format!("{api}/health/ready"))?.status == 200 {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    bail!("the API did not become ready")
}
