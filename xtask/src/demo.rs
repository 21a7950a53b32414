//! `cargo xtask demo`: a newcomer's explorer over real data, in one command.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail, ensure};
use clap::Args;
use serde_json::{Value, json};
use xtask::process::{self, Server};
use xtask::{engine_library, http, tools, workspace};

/// Flags of the demo.
#[derive(Debug, Args)]
pub struct DemoFlags {
    /// Use free ports, check the answers against the data, and end: 0 if all is well.
    #[arg(long)]
    check: bool,
    /// Load a scenario chain from a real node (anvil, from npm) over JSON-RPC instead of the bundled mainnet blocks.
    #[arg(long)]
    node: bool,
}

/// Set by Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

extern "C" fn interrupted(_: libc::c_int) {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Runs the demo.
pub fn run(flags: &DemoFlags) -> anyhow::Result<()> {
    tools::require("cargo", "Rust (https://rustup.rs)")?;
    let library = engine_library::ensure()?;
    build()?;
    // SAFETY: the handler only stores to an atomic. Children get the signal too and end by themselves.
    unsafe {
        let handler: extern "C" fn(libc::c_int) = interrupted;
        libc::signal(libc::SIGINT, handler as libc::sighandler_t);
    }
    let data = workspace::target().join(if flags.check { "demo-check" } else { "demo" });
    if data.exists() {
        std::fs::remove_dir_all(&data).with_context(|| format!("cannot empty {}", data.display()))?;
    }
    let account = reading_account(&data)?;
    let engine = Server::start(engine_command((&data, &library), &account, flags.check))?;
    ingest(&engine.url, &["migrate"])?;
    let (_node, blocks) = if flags.node { load_from_node(&engine.url)? } else { (None, load_mainnet(&engine.url)?) };
    let api = Server::start(api_command(&engine.url, &account, flags.check))?;
    wait_until_ready(&api.url)?;
    if flags.check {
        let checked = check(&api.url, &blocks)?;
        println!("demo: {checked} answers checked against the source data, all equal");
        api.stop()?;
        engine.stop()?;
        return Ok(());
    }
    show(&api.url, &engine.url, &blocks)?;
    while !INTERRUPTED.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(100));
    }
    println!("\nstopping");
    api.stop()?;
    engine.stop()?;
    Ok(())
}

/// The profile of the programs: what the tests run too, so that one build serves both.
const PROFILE: &str = "debug";

fn build() -> anyhow::Result<()> {
    eprintln!("xtask: building (minutes the first time, and `cargo xtask test` uses it too)");
    // As the tests build them: packages chosen otherwise may have other features and are built twice.
    process::run(
        Command::new("cargo").args(["build", "--workspace", "--bins", "--quiet"]).current_dir(workspace::root()),
    )
}

/// The account that the API reads under, which could not change a row.
const READING_ACCOUNT: &str = "api";

/// Makes the password file of the reading account, beside the engine's data.
fn reading_account(data: &Path) -> anyhow::Result<PathBuf> {
    let file = data.with_extension("password");
    let random = || RandomState::new().hash_one(0);
    // Another one's file must not stay: its mode is kept when it is written.
    if file.exists() {
        std::fs::remove_file(&file).with_context(|| format!("cannot remove {}", file.display()))?;
    }
    let mut options = std::fs::OpenOptions::new();
    let mut opened = options.write(true).create_new(true).mode(0o600).open(&file);
    let written = opened.as_mut().map(|opened| writeln!(opened, "{:016x}{:016x}", random(), random()));
    written.map_err(|error| anyhow!("cannot write {}: {error}", file.display()))??;
    Ok(file)
}

fn engine_command((data, library): (&Path, &Path), account: &Path, free_port: bool) -> Command {
    let mut command = Command::new(workspace::program(PROFILE, "trawl-engine"));
    command.arg("--data-dir").arg(data).arg("--library").arg(library);
    command.args(["--api-user", READING_ACCOUNT, "--api-password-file"]).arg(account);
    command.args(["--listen", if free_port { "127.0.0.1:0" } else { "127.0.0.1:8123" }]);
    command
}

fn api_command(engine: &str, account: &Path, free_port: bool) -> Command {
    let mut command = Command::new(workspace::program(PROFILE, "trawl-api"));
    command.args(["--clickhouse-url", engine, "--listen", if free_port { "127.0.0.1:0" } else { "127.0.0.1:4000" }]);
    command.args(["--clickhouse-user", READING_ACCOUNT, "--clickhouse-password-file"]).arg(account);
    // The bundled blocks are far apart; a log query over all of them shall answer with what there is.
    command.args(["--gaps", "serve"]);
    command
}

fn ingest(engine: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new(workspace::program(PROFILE, "trawl-ingest"));
    command.args(arguments).args(["--clickhouse-url", engine]);
    // The bundled blocks are far apart by design, so a warning of what lies between them would only alarm.
    command.env("RUST_LOG", "warn,trawl_ingest::load::completeness=error");
    process::run(command.stdout(Stdio::null()))
}

/// A block as its source has it, to compare answers with.
type Blocks = BTreeMap<u64, Value>;

fn load_mainnet(engine: &str) -> anyhow::Result<Blocks> {
    let dump = workspace::fixture("mainnet/chain.ndjson.gz");
    let text = dump.to_str().context("the checkout's path is not UTF-8")?;
    ingest(engine, &["load", "--dump", text])?;
    read_dump(&dump)
}

fn read_dump(dump: &Path) -> anyhow::Result<Blocks> {
    let file = flate2::read::MultiGzDecoder::new(std::fs::File::open(dump)?);
    let mut blocks = Blocks::new();
    for line in BufReader::new(file).lines() {
        let line: Value = serde_json::from_str(&line?)?;
        blocks.insert(quantity(&line["block"]["number"])?, line);
    }
    Ok(blocks)
}

fn quantity(value: &Value) -> anyhow::Result<u64> {
    let digits =
        value.as_str().and_then(|text| text.strip_prefix("0x")).ok_or_else(|| anyhow!("{value} is no quantity"))?;
    Ok(u64::from_str_radix(digits, 16)?)
}

/// The node of the scenario; dropping it ends it.
struct Node(Child);

impl Drop for Node {
    fn drop(&mut self) {
        // Nothing can be done about a process that does not end.
        let _ = process::end(&mut self.0);
    }
}

/// Starts the scenario node, loads its chain over JSON-RPC, and asks it for the same blocks to compare with.
fn load_from_node(engine: &str) -> anyhow::Result<(Option<Node>, Blocks)> {
    let folder = workspace::fixture("devchain/node");
    tools::npm_ci(&folder)?;
    let port = free_port()?;
    eprintln!("xtask: starting the scenario node (about 20 seconds)");
    let out = workspace::target().join("devchain");
    let mut node = Node(start_node(&folder, port, &out)?);
    let stdout = node.0.stdout.take().context("the node has no standard output")?;
    // It prints one line when the scenario is through.
    if BufReader::new(stdout.take(1 << 20)).lines().next().is_none() {
        bail!("the scenario node ended early");
    }
    let url = format!("http://127.0.0.1:{port}");
    let genesis = workspace::fixture("devchain/genesis.json");
    // With the accounts at block 0 and the rules of the chain, state and calls are answered too.
    let genesis = genesis.to_str().context("the checkout's path is not UTF-8")?;
    ingest(engine, &["load", "--rpc-url", &url, "--genesis", genesis])?;
    let agent = http::agent();
    let call = |method: &str, params: &Value| {
        Ok::<_, anyhow::Error>(http::rpc(&agent, &url, method, params)?["result"].take())
    };
    let head = quantity(&call("eth_blockNumber", &json!([]))?)?;
    let mut blocks = Blocks::new();
    for number in 0..=head {
        let height = format!("{number:#x}");
        let block = call("eth_getBlockByNumber", &json!([height, true]))?;
        let receipts = call("eth_getBlockReceipts", &json!([height]))?;
        blocks.insert(number, json!({"block": block, "receipts": receipts}));
    }
    Ok((Some(node), blocks))
}

fn start_node(folder: &Path, port: u16, out: &PathBuf) -> anyhow::Result<Child> {
    let mut command = Command::new("node");
    command.arg("run.mjs").args(["--port", &port.to_string(), "--out"]).arg(out);
    command.current_dir(folder).stdout(Stdio::piped()).spawn().context("cannot start the scenario node")
}

fn free_port() -> anyhow::Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
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

/// Compares the answers of all endpoints about every block with the source. Returns how many answers were compared.
fn check(api: &str, blocks: &Blocks) -> anyhow::Result<usize> {
    let agent = http::agent();
    let rpc = format!("{api}/api/eth-rpc");
    let newest = blocks.keys().next_back().context("the source has blocks")?;
    let number = http::rpc(&agent, &rpc, "eth_blockNumber", &json!([]))?;
    ensure!(number["result"] == format!("{newest:#x}"), "eth_blockNumber: {number}");
    let page = http::get(&agent, &format!("{api}/api/v2/blocks"))?.json()?;
    let heights: Vec<u64> =
        page["items"].as_array().context("items")?.iter().filter_map(|block| block["height"].as_u64()).collect();
    let wanted: Vec<u64> = blocks.keys().rev().take(50).copied().collect();
    ensure!(heights == wanted, "block list: {heights:?} instead of {wanted:?}");
    let mut compared = 2;
    for (height, source) in blocks {
        let block = &source["block"];
        let answer = http::rpc(&agent, &rpc, "eth_getBlockByNumber", &json!([format!("{height:#x}"), false]))?;
        ensure!(answer["result"]["hash"] == block["hash"], "block {height}: {}", answer["result"]["hash"]);
        let hash = &block["hash"];
        let logs = http::rpc(&agent, &rpc, "eth_getLogs", &json!([{"blockHash": hash}]))?;
        let emitted: Vec<&Value> = source["receipts"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|receipt| receipt["logs"].as_array().into_iter().flatten())
            .collect();
        let answered = logs["result"].as_array().with_context(|| format!("logs of block {height}: {logs}"))?;
        ensure!(
            answered.len() == emitted.len().min(1000),
            "logs of block {height}: {} instead of {}",
            answered.len(),
            emitted.len()
        );
        for (answered, emitted) in answered.iter().zip(emitted) {
            for key in ["address", "topics", "data", "logIndex", "transactionHash"] {
                ensure!(
                    answered[key] == emitted[key],
                    "{key} of a log of block {height}: {} instead of {}",
                    answered[key],
                    emitted[key]
                );
            }
        }
        compared += 2;
    }
    Ok(compared)
}

/// Three requests to copy, with their answers.
fn show(api: &str, engine: &str, blocks: &Blocks) -> anyhow::Result<()> {
    let agent = http::agent();
    let busiest = blocks.values().max_by_key(|line| line["block"]["transactions"].as_array().map_or(0, Vec::len));
    let transaction = busiest
        .and_then(|line| {
            line["receipts"].as_array()?.iter().max_by_key(|receipt| receipt["logs"].as_array().map_or(0, Vec::len))
        })
        .and_then(|receipt| receipt["transactionHash"].as_str())
        .context("the source has a transaction")?;
    let logs = format!("{api}/api/v2/transactions/{transaction}/logs?items_count=1");
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [{"fromBlock": "latest"}]});
    println!("\nThe logs of one transaction:\n\ncurl '{logs}'");
    println!("{}\n", excerpt(&http::get(&agent, &logs)?.text()));
    println!("The same over JSON-RPC, of the newest block:\n");
    println!("curl '{api}/api/eth-rpc' -H 'content-type: application/json' -d '{body}'");
    println!("{}\n", excerpt(&http::post(&agent, &format!("{api}/api/eth-rpc"), &serde_json::to_vec(&body)?)?.text()));
    println!("Trawl is running over {} blocks (a development build; Ctrl-C ends it). To open:\n", blocks.len());
    println!("  {api}/                              the explorer: blocks, transactions, scans, charts");
    println!("  {api}/docs                          every endpoint, with its parameters and answers");
    println!("  {api}/api/v2/blocks?items_count=2   the two newest blocks");
    println!("  {api}/api/v2/openapi                the same description as OpenAPI 3.1");
    println!("  {engine}                               ClickHouse over HTTP, database trawl");
    Ok(())
}

fn excerpt(text: &str) -> String {
    let shown: String = text.trim_end().chars().take(400).collect();
    if shown.len() < text.trim_end().len() { format!("{shown} …") } else { shown }
}
