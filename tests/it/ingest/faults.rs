//! The replay node's faults: each of its switches has a test, and those that no other group of tests is about.

use anyhow::{Context as _, ensure};
use serde_json::json;
use xtask::{process, workspace};

use super::node::{Node, comparable, comparable_reference};
use crate::env;

/// What is no fault, or of methods Trawl asks no node for.
const NO_FAULTS: [&str; 10] = [
    "--data",
    "--host",
    "--port",
    "--canned",
    "--seed",
    "--verbose",
    "--total-difficulty",
    "--max-log-range",
    "--max-log-results",
    "--logs-past-head",
];

#[test]
fn every_switch_of_the_replay_node_has_a_test() -> anyhow::Result<()> {
    let node = std::fs::read_to_string(workspace::fixture("replaynode/replaynode.py"))?;
    let switches = node.split("add_argument(\"").skip(1).filter_map(|rest| rest.split('"').next());
    // Those of `SPECS` are made of its keys.
    let table = node.split("SPECS = {").nth(1).and_then(|rest| rest.split('}').next()).context("SPECS")?;
    let made = table.split('"').skip(1).step_by(2).map(|key| format!("--{}", key.replace('_', "-")));
    let kinds = ["HTTP_FAULTS = (", "RPC_FAULTS = ("].map(|name| node.split(name).nth(1)?.split(')').next());
    let kinds = kinds.into_iter().flatten().flat_map(|kinds| kinds.split('"').skip(1).step_by(2));
    let switches_and_kinds: Vec<String> = switches
        .filter(|switch| *switch != "--")
        .map(str::to_owned)
        .chain(made)
        .filter(|switch| !NO_FAULTS.contains(&switch.as_str()))
        .map(|switch| format!("\"{switch}\""))
        .chain(kinds.map(|kind| format!("\"{kind}=")))
        .collect();
    ensure!(switches_and_kinds.len() >= 38, "only {switches_and_kinds:?} were found in the replay node");
    let mut tests = String::new();
    for file in std::fs::read_dir(workspace::root().join("tests/it/ingest"))? {
        let path = file?.path();
        if path.is_file() {
            tests += &std::fs::read_to_string(&path)?;
        }
    }
    // Which the tests of what is reported run.
    tests += &std::fs::read_to_string(workspace::root().join("ops/faults.sh"))?;
    // A kind may also be set while the node runs.
    let is_used = |switch: &String| tests.contains(switch.as_str()) || tests.contains(&switch.replace('=', "\":"));
    let missing: Vec<&String> = switches_and_kinds.iter().filter(|switch| !is_used(switch)).collect();
    ensure!(missing.is_empty(), "no test uses {missing:?}");
    Ok(())
}

/// What is above the head when the load asks for it is left for the next one.
#[test]
fn a_head_that_moves_is_loaded_as_far_as_it_was() -> anyhow::Result<()> {
    let database = &env::migrate("faults_moving_head")?;
    let node = Node::start("hive", &["--head", "50", "--advance-every", "1"])?;
    let mut loads = 0;
    loop {
        env::run(env::ingest(database, &["load", "--rpc-url", &node.url, "--to", "latest", "--batch-blocks", "5"]), 0)?;
        loads += 1;
        let found = env::sql(
            database,
            "SELECT sum(last_block - first_block + 1) = max(last_block) + 1, (SELECT count() FROM blocks) = max(last_block) + 1, max(last_block) FROM ingest_commits",
        )?;
        ensure!(found.starts_with("1\t1\t") && loads < 10, "{found}");
        if found.ends_with("\t54") {
            break;
        }
    }
    ensure!(loads > 1, "the head did not move");
    ensure!(comparable(database)? == comparable_reference("hive")?);
    Ok(())
}

/// Faults come and go while a load runs, and so do limits.
#[test]
fn a_node_that_changes_its_mind_gives_the_same_rows() -> anyhow::Result<()> {
    let database = &env::migrate("faults_that_change")?;
    let node = Node::start("hive", &["--latency", "10", "--retry-after", "0"])?;
    let mut load =
        env::ingest(database, &["load", "--rpc-url", &node.url, "--batch-blocks", "8", "--concurrency", "2"])
            .spawn()?;
    let changes = [
        json!({"faults": {"http500": 0.3}, "max_batch": 2}),
        json!({"faults": {"busy": 0.3}, "max_batch": 1}),
        json!({"faults": {"http429": 0.3}, "max_batch": 0}),
        json!({"faults": {"garbage": 0.2, "drop": 0.2}, "max_batch": 3}),
        json!({"faults": {}, "max_batch": 0}),
    ];
    for change in changes.iter().chain(&changes) {
        node.control(change)?;
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    ensure!(process::wait_within(&mut load, env::LONGEST)?.success(), "the load failed");
    ensure!(comparable(database)? == comparable_reference("hive")?);
    Ok(())
}

/// A node that has trouble with one method only, as with a slow trace index or a lagging receipts store.
#[test]
fn faults_of_single_methods_give_the_same_rows() -> anyhow::Result<()> {
    for (number, flags) in [
        ["--fault", "rpcerror=0.25", "--fault-methods", "eth_getBlockReceipts"],
        ["--fault", "nullresult=0.25", "--fault-methods", "eth_getBlockByNumber"],
        ["--fault", "http502=0.25", "--fault-methods", "debug_traceBlockByHash"],
    ]
    .into_iter()
    .enumerate()
    {
        let database = format!("faults_of_methods_{number}");
        let _database = env::migrate(&database)?;
        let node = Node::start("devchain", &flags)?;
        env::run(env::ingest(&database, &["load", "--rpc-url", &node.url, "--concurrency", "24"]), 0)?;
        let (found, expected) = (comparable(&database)?, comparable_reference("devchain")?);
        ensure!(found == expected, "{flags:?}: {found:?}\ninstead of\n{expected:?}");
        let kind = flags[1].split('=').next().unwrap_or_default();
        let injected = node.control(&json!({}))?["injected"][kind].as_u64().unwrap_or_default();
        ensure!(injected > 0, "{flags:?}: no fault");
    }
    Ok(())
}
