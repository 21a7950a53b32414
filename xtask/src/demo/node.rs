//! `--node` and `--live`: the scenario chain of a real node, loaded or followed over JSON-RPC.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use xtask::{http, process, tools, workspace};

use super::blocks::{self, Blocks};
use super::chains::{LIVE, SCENARIO};
use super::load::ChainServer;
use super::programs::Programs;

/// Seconds between two blocks of the live chain.
const BLOCK_TIME: &str = "2";

/// Blocks at the end of the live chain that stay unsettled; anvil replaces none by itself.
const FINAL_AFTER: &str = "12";

/// A node or what follows it; dropping it ends it.
pub struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Nothing can be done about a process that does not end.
        let _ = process::end(&mut self.0);
    }
}

/// Starts the scenario node, loads its chain over JSON-RPC, and serves it.
pub fn serve(programs: &Programs) -> anyhow::Result<(Process, ChainServer)> {
    programs.ingest(&SCENARIO, &["migrate"])?;
    let (node, url) = start(&[])?;
    programs.ingest(&SCENARIO, &["load", "--rpc-url", &url, "--genesis", &genesis()?])?;
    let api = programs.api(&SCENARIO, 0)?;
    Ok((node, ChainServer { chain: &SCENARIO, api, blocks: blocks_of(&url)? }))
}

/// Starts the scenario node, which adds a block every two seconds, follows it, and serves it at the port after those of
/// `others` chains. The node and what follows it end when they are dropped.
pub fn serve_live(programs: &Programs, others: usize) -> anyhow::Result<([Process; 2], ChainServer)> {
    programs.ingest(&LIVE, &["migrate"])?;
    let (node, url) = start(&["--live", BLOCK_TIME, "--quiet"])?;
    let blocks = blocks_of(&url)?;
    let follow = ["--rpc-url", &url, "--genesis", &genesis()?, "--from", "0", "--final-after", FINAL_AFTER];
    let follow = Process(programs.follow(&LIVE, &follow)?);
    let api = programs.api(&LIVE, others)?;
    Ok(([follow, node], ChainServer { chain: &LIVE, api, blocks }))
}

/// The accounts at block 0 and the rules of the chain: with them, state and calls are answered too.
fn genesis() -> anyhow::Result<String> {
    let genesis = workspace::fixture("devchain/genesis.json");
    Ok(genesis.to_str().context("the checkout's path is not UTF-8")?.to_owned())
}

/// Runs the scenario on a new node.
fn start(flags: &[&str]) -> anyhow::Result<(Process, String)> {
    let folder = workspace::fixture("devchain/node");
    tools::npm_ci(&folder)?;
    let port = free_port()?;
    eprintln!("xtask: starting the scenario node (about 20 seconds)");
    let mut node = Process(spawn(&folder, port, flags)?);
    let stdout = node.0.stdout.take().context("the node has no standard output")?;
    // It prints one line when the scenario is through.
    if BufReader::new(stdout.take(1 << 20)).lines().next().is_none() {
        bail!("the scenario node ended early");
    }
    Ok((node, format!("http://127.0.0.1:{port}")))
}

fn spawn(folder: &Path, port: u16, flags: &[&str]) -> anyhow::Result<Child> {
    let mut command = Command::new("node");
    command.arg("run.mjs").args(["--port", &port.to_string(), "--out"]).arg(workspace::target().join("devchain"));
    command.args(flags).process_group(0);
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
