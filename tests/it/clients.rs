//! Third-party clients, from pinned versions: viem, ethers, web3.py and cast against both endpoints of
//! JSON-RPC; the trie of @ethereumjs/mpt against proofs of receipts; ethers, whatsabi, hardhat-verify and
//! foundry-block-explorers against `/api`; cryo and ethereum-etl against the endpoint of nodes; the official ClickHouse
//! clients for Node and Python against the engine; and a YAML parser for docker-compose.yml.

use std::process::Command;

use anyhow::{Context as _, ensure};
use xtask::workspace;

use crate::chains::{chain, dump};
use crate::env;
use crate::scenario::scenario;

mod cast;
mod foundry;

/// Python with the packages of `requirements.txt`.
pub fn python() -> Command {
    let installed = || workspace::target().join("python/bin/python").display().to_string();
    Command::new(std::env::var("TRAWL_TEST_PYTHON").unwrap_or_else(|_| installed()))
}

/// Python with cryo and ethereum-etl, which no Python of newer packages can have.
fn exporters() -> Command {
    let installed = || workspace::target().join("exporters/bin/python").display().to_string();
    Command::new(std::env::var("TRAWL_TEST_EXPORTERS").unwrap_or_else(|_| installed()))
}

/// Runs a script that ends with the number of its checks.
pub fn succeeds(command: Command) -> anyhow::Result<()> {
    let output = env::run(command, 0).context("packages missing? `cargo xtask test` installs them")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(text.contains("checks passed, 0 failed"), "{text}");
    Ok(())
}

/// Lets a script ask both endpoints of Trawl over the scenario chain; it has the node's recording, what the scenario's
/// script read from the node by calls, and the node.
fn asks(program: fn() -> Command, script: &str) -> anyhow::Result<()> {
    for endpoint in [scenario().trawl(), scenario().trawl_as_node()] {
        asks_at(&endpoint, program(), script).with_context(|| endpoint)?;
    }
    Ok(())
}

fn asks_at(endpoint: &str, mut command: Command, script: &str) -> anyhow::Result<()> {
    let (scenario, folder) = (scenario(), env::directory()?);
    let expected = folder.path().join("expected.json");
    std::fs::write(&expected, scenario.expected.to_string())?;
    command.arg(workspace::root().join("tests/clients").join(script)).args([endpoint, &dump("devchain")]);
    command.arg(expected).arg(&scenario.node);
    succeeds(command)
}

/// Every row that an exporter of whole chains gets from `/rpc` is the one that it gets from the node.
fn exports(exporter: &str) -> anyhow::Result<()> {
    let (scenario, folder) = (scenario(), env::directory()?);
    let mut command = exporters();
    command.arg(workspace::root().join("tests/clients/exporters/compare.py")).arg(exporter);
    command.args([&scenario.trawl_as_node(), &scenario.node, &dump("devchain")]).arg(folder.path());
    // What they keep of earlier runs.
    command.env("HOME", folder.path()).current_dir(folder.path());
    succeeds(command)
}

#[test]
fn docker_compose() -> anyhow::Result<()> {
    let programs = env::program("trawl-api").parent().context("programs are in a folder")?.to_owned();
    let mut command = Command::new("node");
    command.arg(workspace::root().join("tests/clients/compose.mjs")).arg(programs);
    succeeds(command)
}

/// Look-ups of contracts whose ABIs are loaded.
fn look_up() -> anyhow::Result<()> {
    let database = "clients_verified";
    let _database = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain")]), 0)?;
    let abis = workspace::fixture("labels/abis.json").display().to_string();
    env::run(env::ingest(database, &["labels", &abis]), 0)?;
    let api = env::start_api(database, &[])?;
    let mut command = Command::new("node");
    command.arg(workspace::root().join("tests/clients/verified.mjs")).args([&api.url, &abis]);
    succeeds(command)?;
    api.stop()?;
    Ok(())
}

/// Proofs of receipts of all bundled chains.
fn proofs() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let mut command = Command::new("node");
        command.arg(workspace::root().join("tests/clients/proofs.mjs")).args([&chain(name).api, &dump(name)]);
        succeeds(command).context(name)?;
    }
    Ok(())
}

const READER: [&str; 6] = ["--reader-user", "ana", "--reader-password", "secret", "--reader-databases", "default"];

fn clickhouse_client(mut command: Command, script: &str) -> anyhow::Result<()> {
    let data = env::directory()?;
    let engine = env::start_engine(data.path(), 0, &READER)?;
    command.arg(workspace::root().join("tests/clients").join(script)).args([&engine.url, "ana", "secret"]);
    succeeds(command)?;
    engine.stop()?;
    Ok(())
}

tests! {
    viem: asks(|| Command::new("node"), "viem.mjs"),
    ethers: asks(|| Command::new("node"), "ethers.mjs"),
    ethers_for_explorers: asks_at(&scenario().trawl(), Command::new("node"), "etherscan.mjs"),
    look_ups_of_contracts: look_up(),
    proofs_of_receipts: proofs(),
    #[ignore = "minutes of compiling: runs with `cargo xtask test --slow`"]
    foundry_reads_lists: foundry::reads_lists(),
    #[ignore = "minutes of compiling: runs with `cargo xtask test --slow`"]
    foundry_reads_objects: foundry::reads_objects(),
    web3_py: asks(python, "web3_check.py"),
    cast: cast::prints_the_same(&scenario().trawl(), 1),
    cast_as_of_a_node: cast::prints_the_same(&scenario().trawl_as_node(), 3),
    cryo: exports("cryo"),
    ethereum_etl: exports("ethereum-etl"),
    clickhouse_for_node: clickhouse_client(Command::new("node"), "clickhouse.mjs"),
    clickhouse_for_python: clickhouse_client(python(), "clickhouse_connect_check.py"),
}
