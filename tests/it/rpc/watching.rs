//! Third-party clients watch blocks and logs over a WebSocket, while a node moves on behind `follow`.

use std::process::Command;

use anyhow::ensure;
use xtask::workspace;

use crate::chains::dump;
use crate::clients::python;
use crate::env;
use crate::ingest::follow::{hashes, reaches, started};

fn watch(mut command: Command, script: &str) -> anyhow::Result<()> {
    let database = format!("watched_by_{}", script.split('.').next().unwrap_or_default());
    let (_database, node, follower, api) = started(&database, &["--head", "40", "--finality", "8"])?;
    reaches(&api.url, &hashes("main")?[&40])?;
    command.arg(workspace::root().join("tests/clients").join(script)).args([&api.url, &node.url, &dump("hive")]);
    let output = env::run(command, 0)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(text.contains("checks passed, 0 failed"), "{text}");
    follower.stop()
}

tests! {
    viem: watch(Command::new("node"), "watch_viem.mjs"),
    ethers: watch(Command::new("node"), "watch_ethers.mjs"),
    web3_py: watch(python(), "watch_web3.py"),
}
