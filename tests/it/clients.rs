//! Clients that nobody here wrote, from pinned versions: viem, ethers, web3.py and cast against the API, the official ClickHouse
//! clients for Node and Python against the engine; and a YAML parser for docker-compose.yml.

use std::process::Command;

use anyhow::{Context as _, ensure};
use libtest_mimic::Trial;
use xtask::workspace;

use crate::chains::dump;
use crate::scenario::scenario;
use crate::{env, trial};

mod cast;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("clients::viem", || dapp_library("viem.mjs")),
        trial("clients::ethers", || dapp_library("ethers.mjs")),
        trial("clients::web3_py", web3_py),
        trial("clients::cast", cast::prints_the_same),
        trial("clients::docker_compose", docker_compose),
        trial("clients::clickhouse_for_node", || clickhouse_client(Command::new("node"), "clickhouse.mjs")),
        trial("clients::clickhouse_for_python", || clickhouse_client(python(), "clickhouse_connect_check.py")),
    ]
}

/// Python with the packages of `requirements.txt`.
pub fn python() -> Command {
    let installed = || workspace::target().join("python/bin/python").display().to_string();
    Command::new(std::env::var("TRAWL_TEST_PYTHON").unwrap_or_else(|_| installed()))
}

fn succeeds(command: Command) -> anyhow::Result<()> {
    let output = env::run(command, 0).context("packages missing? `cargo xtask test` installs them")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(text.contains("checks passed, 0 failed"), "{text}");
    Ok(())
}

fn dapp_library(script: &str) -> anyhow::Result<()> {
    asks(Command::new("node"), script)
}

fn web3_py() -> anyhow::Result<()> {
    asks(python(), "web3_check.py")
}

/// Lets a script ask Trawl over the scenario chain; it has the node's recording, what the scenario's script read from the node
/// by calls, and the node.
fn asks(mut command: Command, script: &str) -> anyhow::Result<()> {
    let (scenario, folder) = (scenario(), env::directory()?);
    let expected = folder.path().join("expected.json");
    std::fs::write(&expected, scenario.expected.to_string())?;
    command.arg(workspace::root().join("tests/clients").join(script)).args([&scenario.api, &dump("devchain")]);
    command.arg(expected).arg(&scenario.node);
    succeeds(command)
}

fn docker_compose() -> anyhow::Result<()> {
    let programs = env::program("trawl-api").parent().context("programs are in a folder")?.to_owned();
    let mut command = Command::new("node");
    command.arg(workspace::root().join("tests/clients/compose.mjs")).arg(programs);
    succeeds(command)
}

fn clickhouse_client(mut command: Command, script: &str) -> anyhow::Result<()> {
    let data = env::directory()?;
    let engine = env::start_engine(data.path(), 0, &["--reader-user", "ana", "--reader-password", "secret"])?;
    command.arg(workspace::root().join("tests/clients").join(script)).args([&engine.url, "ana", "secret"]);
    succeeds(command)?;
    engine.stop()?;
    Ok(())
}
