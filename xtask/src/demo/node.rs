//! `--node`: the scenario chain, loaded from a real node over JSON-RPC.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use xtask::{http, process, tools, workspace};

use super::blocks::{self, Blocks};
use super::chains::SCENARIO;
use super::load::ChainServer;
use super::programs::Programs;

/// The node of the scenario; dropping it ends it.
pub struct Node(Child);

impl Drop for Node {
    fn drop(&mut self) {
        // Nothing can be done about a process that does not end.
        let _ = process::end(&mut self.0);
    }
}

/// Starts the scenario node, loads its chain over JSON-RPC, and serves it.
pub fn serve(programs: &Programs) -> anyhow::Result<(Node, ChainServer)> {
    programs.ingest(&SCENARIO, &["migrate"])?;
    let (node, url) = start()?;
    let genesis = workspace::fixture("devchain/genesis.json");
    // With the accounts at block 0 and the rules of the chain, state and calls are answered too.
    let genesis = genesis.to_str().context("the checkout's path is not UTF-8")?;
    programs.ingest(&SCENARIO, &["load", "--rpc-url", &url, "--genesis", genesis])?;
    let api = programs.api(&SCENARIO, 0)?;
    Ok((node, ChainServer { chain: &SCENARIO, api, blocks: blocks_of(&url)? }))
}

/// Runs the scenario on a new node.
fn start() -> anyhow::Result<(Node, String)> {
    let folder = workspace::fixture("devchain/node");
    tools::npm_ci(&folder)?;
    let port = free_port()?;
    eprintln!("xtask: starting the scenario node (about 20 seconds)");
    let mut node = Node(spawn(&folder, port, &workspace::target().join("devchain"))?);
    let stdout = node.0.stdout.take().context("the node has no standard output")?;
    // It prints one line when the scenario is through.
    if BufReader::new(stdout.take(1 << 20)).lines().next().is_none() {
        bail!("the scenario node ended early");
    }
    Ok((node, format!("http://127.0.0.1:{port}")))
}

fn spawn(folder: &Path, port: u16, out: &PathBuf) -> anyhow::Result<Child> {
    let mut command = Command::new("node");
    command.arg("run.mjs").args(["--port", &port.to_string(), "--out"]).arg(out);
    command.current_dir(folder).stdout(Stdio::piped()).spawn().context("cannot start the scenario node")
}

fn free_port() -> anyhow::Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Asks a node for all its blocks, to compare with.
fn blocks_of(url: &str) -> anyhow::Result<Blocks> {
    let agent = http::agent();
    let call =
        |method: &str, params: &Value| Ok::<_, anyhow::Error>(http::rpc(&agent, url, method, params)?["result"].take());
    let head = blocks::quantity(&call("eth_blockNumber", &json!([]))?)?;
    let mut blocks = Blocks::new();
    for number in 0..=head {
        let height = format!("{number:#x}");
        let block = call("eth_getBlockByNumber", &json!([height, true]))?;
        let receipts = call("eth_getBlockReceipts", &json!([height]))?;
        blocks.insert(number, json!({"block": block, "receipts": receipts}));
    }
    Ok(blocks)
}
