//! Nodes that do not have what belongs to a block: those that dropped the state of old blocks, and those whose chain
//! has another block by now. Neither is queried again and again, and what is missing is recorded as missing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::{Value, json};
use xtask::{http, process};

use super::follow::{Follower, hashes, tip, visible};
use super::node::Node;
use super::spoiled::spoiled;
use super::state::covered;
use crate::damage::live::ensure_counted;
use crate::env;

/// The methods that a node with old state is needed for.
const OF_STATE: [&str; 5] = [
    "trace_block",
    "debug_traceBlockByHash",
    "debug_traceBlockByNumber",
    "trace_replayBlockTransactions",
    "eth_getStorageAt",
];

/// Loads all of a node; gives the log and the time it took.
fn load(database: &str, node: &Node, flags: &[&str]) -> anyhow::Result<(String, Duration)> {
    let started = Instant::now();
    let arguments = [&["load", "--rpc-url", &node.url, "--merge", "off"], flags].concat();
    let output = env::run(env::ingest(database, &arguments), 0)?;
    Ok((String::from_utf8_lossy(&output.stderr).into_owned(), started.elapsed()))
}

/// Blocks below 40 have no state, in the words of several clients.
#[test]
fn old_state_is_missing_and_no_reason_to_wait() -> anyhow::Result<()> {
    let plain = &env::migrate("pruned_plain")?;
    let (_, without) = load(plain, &Node::start("hive", &[])?, &["--traces", "off", "--state", "off"])?;
    for (position, text) in
        ["header not found", "World state unavailable", "missing trie node 5f1c (path )"].into_iter().enumerate()
    {
        let node = Node::start("hive", &["--pruned-below", "40", "--pruned-text", text])?;
        let database = &env::migrate(&format!("pruned_{position}"))?;
        let (log, took) = load(database, &node, &["--concurrency", "4"])?;
        // What is requested to find out where the state begins is most of it in so short a chain.
        // Other tests run beside this one; a node that is queried ten times for each block costs minutes.
        ensure!(took < without * 2 + Duration::from_secs(15), "{text}: {took:?} instead of {without:?}");
        let calls = node.control(&json!({}))?["calls"].clone();
        let requests: u64 = OF_STATE.iter().filter_map(|method| calls[*method].as_u64()).sum();
        ensure!(requests < 300, "{text}: {requests} calls for state: {calls}");
        let of_state = [
            covered(database, "blocks")?,
            covered(database, "receipts")?,
            covered(database, "traces")?,
            covered(database, "state_transactions")?,
        ];
        // The genesis has no frames, and no state but its own.
        ensure!(of_state == [55, 55, 16, 15], "{text}: {of_state:?}");
        for part in ["traces", "state"] {
            let lines = log
                .lines()
                .filter(|line| line.contains("recording it as missing") && line.contains(&format!("part=\"{part}\"")));
            let lines: Vec<&str> = lines.collect();
            ensure!(lines.len() == 1 && lines[0].contains("to 39"), "{text}: {log}");
        }
    }
    Ok(())
}

/// What a node had dropped comes from another; what readers see then is what a load from that one gives.
#[test]
fn what_was_missing_is_filled_in() -> anyhow::Result<()> {
    let (pruned, archive) = (Node::start("hive", &["--pruned-below", "40"])?, Node::start("hive", &[])?);
    let database = &env::migrate("pruned_filled")?;
    load(database, &pruned, &["--batch-blocks", "25"])?;
    let stdout = env::run(env::ingest(database, &["repair"]), 0)?.stdout;
    let stdout = String::from_utf8_lossy(&stdout).into_owned();
    ensure!(stdout.contains("traces: 1-39; state: 1-39") && stdout.contains("--fill traces,state"), "{stdout}");
    // The node that dropped it is no help, and nothing is lost by querying it.
    let fill = |node: &Node, parts| env::ingest(database, &["repair", "--fill", parts, "--rpc-url", &node.url]);
    env::run(fill(&pruned, "traces,state"), 1)?;
    ensure!(covered(database, "traces")? == 16 && covered(database, "blocks")? == 55);
    // One that is killed leaves nothing behind.
    let mut killed = fill(&archive, "traces,state").spawn()?;
    std::thread::sleep(Duration::from_millis(u64::from(std::process::id() % 7) * 40));
    killed.kill()?;
    process::wait_within(&mut killed, env::LONGEST)?;
    env::run(fill(&archive, "traces"), 0)?;
    ensure!(covered(database, "traces")? == 55);
    env::run(fill(&archive, "traces,state"), 0)?;
    ensure!(covered(database, "state_transactions")? == 54);
    ensure_counted(database)?;
    env::run(env::ingest(database, &["verify"]), 0)?;
    let rows = |database: &str| -> anyhow::Result<Vec<String>> {
        let rows = visible(database)?;
        // Each proof of a block is a verdict.
        Ok(rows.into_iter().filter(|row| !row.starts_with("block_verdicts")).collect())
    };
    let reference = &env::migrate("pruned_never")?;
    load(reference, &archive, &[])?;
    ensure!(rows(database)? == rows(reference)?, "{:#?}\ninstead of\n{:#?}", rows(database)?, rows(reference)?);
    let stdout = env::run(env::ingest(database, &["repair"]), 0)?.stdout;
    ensure!(!String::from_utf8_lossy(&stdout).contains("--fill"));
    Ok(())
}

/// The chain gets another branch while the state of its newest block is requested.
#[test]
fn a_block_that_is_replaced_is_not_waited_for() -> anyhow::Result<()> {
    let main = hashes("main")?;
    let newest = tip(&main);
    replaced_while_its_state_is_requested(
        "pruned_replaced",
        &json!({"code": -32000, "message": format!("block {newest} not found")}),
    )
}

/// The same of a node whose error could as well pass.
#[test]
fn a_block_that_is_replaced_is_not_waited_for_whatever_the_error() -> anyhow::Result<()> {
    replaced_while_its_state_is_requested("pruned_internal", &json!({"code": -32603, "message": "internal error"}))
}

/// Whether the new branch is there soon, with its state. The node has `error` for each request for the state of the
/// block that is gone.
fn replaced_while_its_state_is_requested(database: &str, error: &Value) -> anyhow::Result<()> {
    let node = Node::start("hive", &["--head", "53", "--finality", "30", "--orphans", "drop"])?;
    let database = &env::migrate(database)?;
    let main = hashes("main")?;
    let (newest, control) = (json!(tip(&main)), format!("{}/control", node.url));
    let is_replaced = AtomicBool::new(false);
    let error = error.clone();
    let url = spoiled(&node, move |call, answer| {
        let is_state = call["params"][1]["tracer"] == "prestateTracer" && call["params"][0] == newest;
        if is_state && !is_replaced.swap(true, Ordering::SeqCst) {
            let branch = json!({"branch": "depth1"}).to_string();
            http::post(&http::agent(), &control, branch.as_bytes()).expect("the node");
        }
        if is_state {
            *answer = json!({"jsonrpc": "2.0", "id": call["id"], "error": error});
        }
        None
    })?;
    let follower = Follower::start(database, &url, &[])?;
    let head = "SELECT argMax(head_block, sequence) FROM ingest_heads";
    env::eventually(Duration::from_secs(60), || Ok(env::sql(database, head)? == "53"))?;
    let (branch, started) = (hashes("depth1")?, Instant::now());
    node.control(&json!({"head": 54}))?;
    let expected = tip(&branch).trim_start_matches("0x");
    let newest = "SELECT lower(hex(argMax(hash, (block_number, generation)))) FROM hot_blocks";
    env::eventually(Duration::from_secs(20), || Ok(env::sql(database, newest)? == expected))?;
    ensure!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    follower.stop()?;
    let parts: Value = serde_json::from_str(&env::sql(
        database,
        "SELECT toJSONString(arrayFlatten(arrayMap(segment -> segment.4, argMax(segments, sequence)))) FROM ingest_heads",
    )?)?;
    let segments = env::sql(database, "SELECT length(argMax(segments, sequence)) FROM ingest_heads")?;
    let with_state = parts.as_array().into_iter().flatten().filter(|part| **part == "state_transactions").count();
    ensure!(with_state.to_string() == segments, "{parts} in {segments} segments");
    Ok(())
}
