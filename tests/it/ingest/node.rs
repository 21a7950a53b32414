//! Ingest from a node: the replay node serves the recorded chains, with faults.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::{http, process, workspace};

use super::state::covered;
use crate::chains::chain;
use crate::env;

/// A replay node; ended when dropped.
pub struct Node {
    child: Child,
    pub url: String,
}

/// A database of its own for each node: a port, which would be a name too, may come again.
fn fresh_database() -> String {
    static USED: AtomicUsize = AtomicUsize::new(0);
    format!("node_{}", USED.fetch_add(1, Ordering::Relaxed))
}

impl Node {
    pub fn start(chain: &str, flags: &[&str]) -> anyhow::Result<Self> {
        let mut command = Command::new("python3");
        command.arg(workspace::fixture("replaynode/replaynode.py")).arg("--data").arg(workspace::fixture(chain));
        command.args(["--port", "0"]).args(flags).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = process::spawn(command)?;
        let mut url = String::new();
        BufReader::new(child.stdout.take().context("a pipe")?).read_line(&mut url)?;
        ensure!(url.starts_with("http://"), "the replay node printed {url:?}");
        Ok(Self { child, url: url.trim().into() })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn control(&self, change: &Value) -> anyhow::Result<Value> {
        http::post(&http::agent(), &format!("{}/control", self.url), change.to_string().as_bytes())?.json()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Nothing can be done about a process that does not end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the dump alone tells: a node does not say the total difficulty, nor the allocation. Its differences of state
/// leave out what happens outside of transactions: the values that follow from them are compared in `state`.
pub(super) fn comparable(database: &str) -> anyhow::Result<Vec<String>> {
    let mut sums = Vec::new();
    for (table, _) in trawl_core::schema::BLOCK_TABLES {
        let columns = match table {
            "blocks" => "* EXCEPT total_difficulty",
            "balance_history"
            | "nonce_history"
            | "code_history"
            | "codes"
            | "storage_history"
            | "account_destructions"
            | "balance_credits"
            | "proxy_implementations"
            // Verdicts name the source and what it did not have.
            | "block_verdicts" => continue,
            _ => "*",
        };
        let rows = if table == "contracts" { "contracts WHERE creation_type != 'genesis'" } else { table };
        sums.push(format!(
            "SELECT '{table}' AS name, count(), sum(cityHash64(formatRowNoNewline('TSV', {columns}))) FROM {rows}"
        ));
    }
    let all = env::sql(database, &format!("SELECT * FROM ({}) ORDER BY name", sums.join("\nUNION ALL\n")))?;
    Ok(all.lines().map(str::to_owned).collect())
}

/// The sums of a chain as loaded from its dump. No test changes that database, so they are read once.
pub(super) fn comparable_reference(name: &str) -> anyhow::Result<Vec<String>> {
    static REFERENCES: Mutex<BTreeMap<&str, Vec<String>>> = Mutex::new(BTreeMap::new());
    let database = chain(name).name;
    let mut references = REFERENCES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(reference) = references.get(database) {
        return Ok(reference.clone());
    }
    let reference = comparable(database)?;
    references.insert(database, reference.clone());
    Ok(reference)
}

fn same_rows(name: &str, node: &[&str], flags: &[&str]) -> anyhow::Result<()> {
    let node = Node::start(name, node)?;
    let database = fresh_database();
    let _database = env::migrate(&database)?;
    env::run(env::ingest(&database, &[&["load", "--rpc-url", &node.url], flags].concat()), 0)?;
    let (found, expected) = (comparable(&database)?, comparable_reference(name)?);
    ensure!(found == expected, "{found:?}\ninstead of\n{expected:?}");
    // What passes costs no block its state; there is none of the genesis.
    let (with_state, blocks) = (covered(&database, "state_transactions")?, covered(&database, "blocks")?);
    ensure!(with_state == blocks - 1, "state of {with_state} blocks");
    Ok(())
}

#[test]
fn that_dies_leaves_what_is_committed() -> anyhow::Result<()> {
    let node = Node::start("hive", &["--latency", "20"])?;
    let database = &env::migrate("node_that_dies")?;
    let mut command = env::ingest(
        database,
        &["load", "--rpc-url", &node.url, "--batch-blocks", "4", "--concurrency", "1", "--rpc-attempts", "5"],
    );
    let child = command.stderr(Stdio::piped()).spawn()?;
    env::eventually(Duration::from_secs(30), || {
        Ok(env::sql(database, "SELECT sum(last_block - first_block + 1) >= 8 FROM ingest_commits")? == "1")
    })?;
    drop(node);
    let output = process::output_within(child, env::LONGEST)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_named = text.contains("cannot be reached") && text.contains("after 5 attempts");
    ensure!(output.status.code() == Some(4) && is_named, "{} {text}", output.status);
    let committed = env::sql(
        database,
        "SELECT sum(last_block - first_block + 1), (SELECT count() FROM blocks) FROM ingest_commits",
    )?;
    let (committed, rows) = committed.split_once('\t').context("two numbers")?;
    ensure!(committed == rows && committed.parse::<u64>()? >= 8, "{committed} committed, {rows} rows");
    let again = Node::start("hive", &[])?;
    env::run(env::ingest(database, &["load", "--rpc-url", &again.url]), 0)?;
    ensure!(comparable(database)? == comparable_reference("hive")?);
    Ok(())
}

#[test]
fn that_tampers_is_refused() -> anyhow::Result<()> {
    // Each load goes on where the one before was refused.
    let database = fresh_database();
    let _database = env::migrate(&database)?;
    for (flags, check) in [
        (["--tamper-parent", "31"], "header hash"),
        (["--tamper-log", "31:0:0:remove"], "log index"),
        (["--tamper-gas", "31:0"], "cumulative gas"),
        (["--drop-tx", "31"], "number of receipts"),
    ] {
        let (node, started) = (Node::start("hive", &flags)?, Instant::now());
        let output = env::ingest(&database, &["load", "--rpc-url", &node.url]).output()?;
        // State that is not of the block's transactions is waited for no longer than receipts are: not for a minute.
        ensure!(started.elapsed() < Duration::from_secs(45), "{flags:?} took {:?}", started.elapsed());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(
            output.status.code() == Some(3) && text.contains("block 31 is refused") && text.contains(check),
            "{flags:?}: {} {text}",
            output.status
        );
        let head = env::sql(&database, "SELECT max(last_block) FROM ingest_commits")?;
        ensure!(head == "30", "{flags:?}: {head}");
    }
    Ok(())
}

#[test]
fn of_another_chain_is_refused() -> anyhow::Result<()> {
    let database = &env::migrate("node_other_chain")?;
    let node = Node::start("hive", &[])?;
    node.control(&json!({"head": 10}))?;
    env::run(env::ingest(database, &["load", "--rpc-url", &node.url]), 0)?;
    let other = Node::start("hive", &["--chain-id", "0x5"])?;
    let output = env::run(env::ingest(database, &["load", "--rpc-url", &other.url]), 3)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(text.contains("the source's chain is 5 and the database holds chain 3503995874084926"), "{text}");
    Ok(())
}

/// Loads from a node that must be refused, and gives the words.
fn refused(node: &Node, flags: &[&str], code: i32) -> anyhow::Result<String> {
    let database = fresh_database();
    let _database = env::migrate(&database)?;
    let arguments = [&["load", "--rpc-url", &node.url], flags].concat();
    let output = env::run(env::ingest(&database, &arguments), code)?;
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn without_one_receipt_is_refused() -> anyhow::Result<()> {
    let node = Node::start("hive", &["--missing-receipt", "31:1"])?;
    let text = refused(&node, &["--from", "30", "--to", "32"], 3)?;
    ensure!(text.contains("block 31 is refused: number of receipts: expected"), "{text}");
    let node = Node::start("hive", &["--missing-receipt", "31:1", "--disable", "eth_getBlockReceipts"])?;
    let text = refused(&node, &["--from", "30", "--to", "32", "--rpc-attempts", "5"], 4)?;
    ensure!(text.contains("gave up on block 31") && text.contains("a receipt is not there yet"), "{text}");
    Ok(())
}

/// Nodes of Polygon do so where a block ends with a state sync.
#[test]
fn with_incomplete_block_receipts_is_queried_for_each() -> anyhow::Result<()> {
    let node = Node::start("devchain", &["--unlisted-receipt", "5:1", "--receipts-mismatch", "6"])?;
    let database = &env::migrate("node_of_single_receipts")?;
    env::run(env::ingest(database, &["load", "--rpc-url", &node.url, "--to", "7"]), 0)?;
    let sums = |database: &str| {
        let sum = "SELECT count(), sum(gas_used), sum(logs_count), sum(cityHash64(hash, status)) FROM transactions WHERE block_number < 8";
        env::sql(database, sum)
    };
    ensure!(sums(database)? == sums(chain("devchain").name)?);
    Ok(())
}

/// One transaction of the chain has a log of 10 MB: its receipt alone is more than the node gives.
#[test]
fn with_answers_too_small_for_a_receipt_is_refused() -> anyhow::Result<()> {
    let node = Node::start("hive", &["--max-body", "100000"])?;
    let text = refused(&node, &[], 1)?;
    ensure!(text.contains("does not return block") && text.contains("response too large"), "{text}");
    Ok(())
}

/// The limit is found by halving, and then respected: a request is refused now and then only, as the size grows again.
#[test]
fn that_limits_batches_gets_smaller_ones() -> anyhow::Result<()> {
    let node = Node::start("devchain", &["--max-batch", "7", "--disable", "eth_getBlockReceipts"])?;
    let database = &env::migrate("node_that_limits")?;
    env::run(env::ingest(database, &["load", "--rpc-url", &node.url]), 0)?;
    ensure!(comparable(database)? == comparable_reference("devchain")?);
    let refused = node.control(&json!({}))?["injected"]["batch_limit"].as_u64().context("a count")?;
    ensure!((1..=20).contains(&refused), "{refused} refusals");
    Ok(())
}

/// Every request is answered with 404: nothing is worth another try.
#[test]
fn without_access_is_refused_at_once() -> anyhow::Result<()> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // A client that goes away first is none of our business.
            let _ = std::io::Read::read(&mut stream, &mut [0; 4096]);
            let _ = std::io::Write::write_all(
                &mut stream,
                b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            );
        }
    });
    let _database = env::migrate("node_forbidden")?;
    let started = Instant::now();
    let output = env::run(env::ingest("node_forbidden", &["load", "--rpc-url", &url]), 1)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(text.contains("does not return eth_chainId: HTTP 401"), "{text}");
    ensure!(started.elapsed() < Duration::from_secs(10), "it was retried again and again");
    Ok(())
}

fn with_faults(faults: &[&str]) -> anyhow::Result<()> {
    same_rows("hive", faults, &["--concurrency", "4", "--rpc-timeout-ms", "6000"])
}

/// Ways of nodes that are no faults, together: a load meets them all at once.
const HABITS: [&str; 16] = [
    "--gzip",
    "--shuffle-batch",
    "--latency",
    "10",
    "--null-block-lag",
    "5",
    "--null-receipts-lag",
    "8",
    "--null-times",
    "2",
    "--max-batch",
    "3",
    "--batch-style",
    "rpc",
    "--disable",
    "eth_getBlockReceipts",
];

/// Faults of several kinds: all of them mixed, and in the slow run each alone, ten in a hundred. An attempt at a block
/// is a few requests, and of each some fail: at 0.2 some load in twenty had ten bad attempts at one block.
fn with_each(faults: &[&str]) -> anyhow::Result<()> {
    if env::is_slow_run() {
        let kinds = faults.iter().filter_map(|fault| fault.split('=').next());
        return kinds.map(|kind| format!("{kind}=0.1")).try_for_each(|fault| with_faults(&["--fault", &fault]));
    }
    with_faults(&faults.iter().flat_map(|fault| ["--fault", *fault]).collect::<Vec<_>>())
}

tests! {
    gives_the_same_rows_as_its_dump_hive: same_rows("hive", &[], &[]),
    gives_the_same_rows_as_its_dump_devchain: same_rows("devchain", &[], &[]),
    #[ignore = "part of with_many_habits; alone with `cargo xtask test --slow`"]
    without_block_receipts_gives_the_same_rows: with_faults(&["--disable", "eth_getBlockReceipts"]),
    with_http429_gives_the_same_rows: with_faults(&["--fault", "http429=0.1", "--retry-after", "0"]),
    with_http429_and_a_wait_gives_the_same_rows: with_faults(&["--fault", "http429=0.05", "--retry-after", "1"]),
    // Three in a row cost a block a part, so they are rare.
    with_timeouts_gives_the_same_rows: with_faults(&["--fault", "timeout=0.01", "--timeout-secs", "9"]),
    with_broken_answers_gives_the_same_rows: with_each(&["truncate=0.03", "drop=0.03", "garbage=0.03", "html=0.03"]),
    with_refusals_gives_the_same_rows: with_each(&["http500=0.02", "http502=0.02", "rpcerror=0.02", "busy=0.02"]),
    #[ignore = "part of with_everything; alone with `cargo xtask test --slow`"]
    that_answers_null_at_first_gives_the_same_rows: with_faults(&["--fault", "nullresult=0.1"]),
    that_fails_at_first_gives_the_same_rows: same_rows("hive", &["--fail-first", if env::is_slow_run() { "2" } else { "1" }, "--fail-first-kind", "http502"], &["--concurrency", "24"]),
    #[ignore = "part of with_many_habits; alone with `cargo xtask test --slow`"]
    that_shuffles_batches_gives_the_same_rows: with_faults(&["--shuffle-batch"]),
    #[ignore = "part of with_many_habits; alone with `cargo xtask test --slow`"]
    that_lags_gives_the_same_rows: with_faults(&["--null-block-lag", "5", "--null-receipts-lag", "8", "--null-times", "2"]),
    #[ignore = "part of with_many_habits; alone with `cargo xtask test --slow`"]
    with_small_batches_gives_the_same_rows: with_faults(&["--max-batch", "3", "--batch-style", "rpc", "--disable", "eth_getBlockReceipts"]),
    with_small_batches_by_status_gives_the_same_rows: with_faults(&["--max-batch", "1", "--batch-style", "http"]),
    #[ignore = "part of with_many_habits; alone with `cargo xtask test --slow`"]
    that_compresses_gives_the_same_rows: with_faults(&["--gzip"]),
    #[ignore = "part of with_many_habits; alone with `cargo xtask test --slow`"]
    that_is_slow_gives_the_same_rows: with_faults(&["--latency", "30"]),
    with_small_answers_gives_the_same_rows: with_faults(&["--max-body", "11000000"]),
    with_many_habits_gives_the_same_rows: with_faults(&HABITS),
    with_everything_gives_the_same_rows: with_faults(&["--fault", "http500=0.05", "--fault", "drop=0.05", "--fault", "busy=0.05", "--fault", "nullresult=0.05"]),
}
