//! Clients that nobody here wrote watch blocks and logs over a WebSocket, while a node moves on behind `follow`.

use std::process::Command;

use anyhow::ensure;
use libtest_mimic::Trial;
use xtask::workspace;

use crate::chains::dump;
use crate::clients::python;
use crate::ingest::follow::{hashes, reaches, started};
use crate::{env, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("rpc::watching::viem", || watch(Command::new("node"), "watch_viem.mjs")),
        trial("rpc::watching::ethers", || watch(Command::new("node"), "watch_ethers.mjs")),
        trial("rpc::watching::web3_py", || watch(python(), "watch_web3.py")),
    ]
}

fn watch(mut command: Command, script: &str) -> anyhow::Result<()> {
    let database = format!("watched_by_{}", script.split('.').next().unwrap_or_default());
    let (node, follower, api) = started(&database, &["--head", "40", "--finality", "8"])?;
    reaches(&api.url, &hashes("main")?[&40])?;
    command.arg(workspace::root().join("tests/clients").join(script)).args([&api.url, &node.url, &dump("hive")]);
    let output = env::run(command, 0)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(text.contains("checks passed, 0 failed"), "{text}");
    follower.stop()
}
