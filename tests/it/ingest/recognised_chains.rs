//! Chains whose ids are not listed, and whose blocks show of which family they are.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::{http, workspace};

use super::load;
use crate::env;

/// An id that no family lists.
const CHAIN: &str = "990099";

#[test]
fn a_chain_of_the_op_stack_needs_no_flag() -> anyhow::Result<()> {
    let database = &env::migrate("recognised_chain")?;
    // One deposit, which names no chain.
    let file = workspace::fixture("chains/optimism-11155420.ndjson").display().to_string();
    let range = ["--chain-id", CHAIN, "--from", "4089330", "--to", "4089330"];
    load(database, &file, &range, 0)?;
    let stored = env::sql(database, "SELECT chain_id, family FROM chain_configurations")?;
    ensure!(stored == format!("{CHAIN}\toptimism"), "{stored}");
    let verdict = env::sql(database, "SELECT verdict FROM block_verdicts")?;
    ensure!(verdict == "verified", "{verdict}");
    let output = env::run(env::ingest(database, &["verify"]), 0)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(text.trim() == "1 blocks: 1 verified, 0 in part", "{text}");
    let other = load(database, &file, &[&range[..], &["--chain-family", "mantle"]].concat(), 2)?;
    ensure!(other.contains("by the rules of optimism"), "{other}");
    let api = env::start_api(database, &[])?;
    let line: Value = serde_json::from_str(std::fs::read_to_string(&file)?.trim())?;
    let hash = line["block"]["transactions"][0]["hash"].as_str().context("a hash")?;
    let shown: Value = http::get(&http::agent(), &format!("{}/api/v2/transactions/{hash}", api.url))?.json()?;
    // A deposit pays nothing, so nothing is burnt; Ethereum's rules would name the base fee.
    ensure!(shown["transaction_burnt_fee"] == json!("0"), "{shown}");
    ensure!(shown["chain_facts"]["type"] == "L1 attributes", "{shown}");
    api.stop()?;
    Ok(())
}

#[test]
fn a_stated_family_is_not_replaced() -> anyhow::Result<()> {
    let database = &env::migrate("recognised_otherwise")?;
    let file = workspace::fixture("chains/optimism-11155420.ndjson").display().to_string();
    let flags = ["--chain-id", CHAIN, "--chain-family", "ethereum", "--from", "4089330", "--to", "4089330"];
    load(database, &file, &flags, 0)?;
    let verdict = env::sql(database, "SELECT verdict, count() FROM block_verdicts GROUP BY 1")?;
    ensure!(verdict == "partial\t1", "{verdict}");
    ensure!(env::sql(database, "SELECT count() FROM chain_configurations WHERE family = 'optimism'")? == "0");
    Ok(())
}
