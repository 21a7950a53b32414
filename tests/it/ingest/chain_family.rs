//! `--chain-family`: the rules of a chain that is not listed, given once and stored with the database.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::follow::Follower;
use super::node::Node;
use super::{load, write_dump};
use crate::chains;
use crate::env;

/// A block of the scenario chain with several transactions and logs.
const HEIGHT: usize = 5;
/// The scenario chain's id.
const CHAIN: &str = "31337";

/// The first blocks of the scenario chain, as nodes give them that have no receipt of one transaction.
fn blocks() -> anyhow::Result<Vec<Value>> {
    let mut lines = chains::lines("devchain")?[..=HEIGHT].to_vec();
    let receipts = lines[HEIGHT]["receipts"].as_array_mut().context("receipts")?;
    ensure!(receipts.len() > 2, "a block with several transactions");
    receipts.remove(1);
    Ok(lines)
}

#[test]
fn a_family_is_given_once_and_stored() -> anyhow::Result<()> {
    let lines = blocks()?;
    let file = write_dump(&lines)?;
    let file = file.path().display().to_string();
    let database = env::migrate("chain_family")?;
    let with = |more: &[&'static str]| [&["--chain-id", CHAIN][..], more].concat();
    let unknown = load(&database, &file, &with(&["--chain-family", "nonsense"]), 2)?;
    ensure!(unknown.contains("nonsense") && unknown.contains("cosmos") && unknown.contains("optimism"), "{unknown}");
    let no_chain = load(&database, &file, &["--chain-family", "cosmos"], 2)?;
    ensure!(no_chain.contains("--chain-id"), "{no_chain}");
    let listed = load(&database, &file, &["--chain-id", "10", "--chain-family", "cosmos"], 2)?;
    ensure!(listed.contains("chain 10 is of the family optimism"), "{listed}");
    // While nothing is loaded, another one may still be given.
    load(&database, &file, &with(&["--chain-family", "stable", "--from", "100"]), 0)?;
    load(&database, &file, &with(&["--chain-family", "cosmos", "--to", "3"]), 0)?;
    let other = load(&database, &file, &with(&["--chain-family", "stable"]), 2)?;
    ensure!(other.contains("by the rules of cosmos") && other.contains("stable"), "{other}");
    // From now on it needs no flag.
    load(&database, &file, &[], 0)?;
    let verdict = env::sql(
        &database,
        &format!("SELECT verdict, not_checkable.check FROM block_verdicts WHERE block_number = {HEIGHT}"),
    )?;
    ensure!(verdict.starts_with("partial\t") && verdict.contains("'number of receipts'"), "{verdict}");
    let output = env::run(env::ingest(&database, &["verify"]), 0)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(text.trim() == format!("{0} blocks: 0 verified, {0} in part", lines.len()), "{text}");
    // Its row is lost: it is stated again, and no other one.
    env::sql(&database, "TRUNCATE TABLE chain_configurations")?;
    let lost = load(&database, &file, &with(&["--chain-family", "cosmos"]), 2)?;
    ensure!(lost.contains("by the rules of ethereum") && lost.contains("trawl-ingest repair --chain-family"), "{lost}");
    env::run(env::ingest(&database, &["repair", "--chain-family", "cosmos"]), 0)?;
    env::run(env::ingest(&database, &["repair", "--chain-family", "stable"]), 2)?;
    let output = env::run(env::ingest(&database, &["verify"]), 0)?;
    ensure!(String::from_utf8_lossy(&output.stdout) == text, "{output:?}");
    missing_receipt(&database, &lines[HEIGHT])
}

/// What is known of the transaction without a receipt: that there is none.
fn missing_receipt(database: &str, line: &Value) -> anyhow::Result<()> {
    let api = env::start_api(database, &[])?;
    let ask = |method: &str, params: Value| -> anyhow::Result<Value> {
        let answer = http::rpc(&http::agent(), &format!("{}/rpc", api.url), method, &params)?;
        ensure!(answer["error"].is_null(), "{method} {params}: {answer}");
        Ok(answer["result"].clone())
    };
    let given = line["receipts"].as_array().context("receipts")?;
    let found = ask("eth_getBlockReceipts", json!([line["block"]["number"]]))?;
    let hashes = |receipts: &[Value]| -> Vec<Value> {
        receipts.iter().map(|receipt| receipt["transactionHash"].clone()).collect()
    };
    ensure!(hashes(found.as_array().context("a list")?) == hashes(given), "{found}");
    let hash = line["block"]["transactions"][1]["hash"].as_str().context("a hash")?;
    ensure!(ask("eth_getTransactionReceipt", json!([hash]))?.is_null());
    ensure!(ask("eth_getTransactionByHash", json!([hash]))?["hash"] == hash);
    let shown: Value = http::get(&http::agent(), &format!("{}/api/v2/transactions/{hash}", api.url))?.json()?;
    // Of the fee no more is known than what it was at most.
    ensure!(shown["gas_used"].is_null() && shown["fee"]["type"] == "maximum" && shown["status"].is_null(), "{shown}");
    // Ethereum's rules would say what was burnt.
    let other = given[0]["transactionHash"].as_str().context("a hash")?;
    let shown: Value = http::get(&http::agent(), &format!("{}/api/v2/transactions/{other}", api.url))?.json()?;
    ensure!(shown["fee"]["value"].is_string() && shown["transaction_burnt_fee"].is_null(), "{shown}");
    let block = line["block"]["hash"].as_str().context("a hash")?;
    let shown: Value = http::get(&http::agent(), &format!("{}/api/v2/blocks/{block}", api.url))?.json()?;
    ensure!(shown["transaction_fees"].is_null(), "{shown}");
    Ok(())
}

#[test]
fn settles_at_once_where_blocks_are_final_at_once() -> anyhow::Result<()> {
    // What the node calls final is ten blocks behind, and does not count.
    let node = Node::start("hive", &["--head", "30", "--finality", "10"])?;
    let _database = env::migrate("follow_at_once")?;
    let follower = Follower::start("follow_at_once", &node.url, &["--chain-family", "avalanche", "--verify", "off"])?;
    let settled = || env::sql("follow_at_once", "SELECT max(last_block) FROM ingest_commits");
    for head in [30, 33] {
        node.control(&json!({"head": head}))?;
        env::eventually(Duration::from_secs(20), || Ok(settled()? == head.to_string()))?;
    }
    follower.stop()
}
