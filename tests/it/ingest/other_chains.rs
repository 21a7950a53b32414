//! Blocks of chains that are not Ethereum: what is not known costs its own proof and no other.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::{http, workspace};

use super::{load, write_dump};
use crate::chains;
use crate::env;

/// What is changed, and the reason that a verdict gives.
type Change = (&'static str, fn(&mut Value));

/// A height of the scenario chain with several transactions and logs.
const HEIGHT: usize = 5;

#[test]
fn headers_of_other_chains_are_not_called_verified() -> anyhow::Result<()> {
    let lines = chains::lines("devchain")?;
    let shapes: [Change; 3] = [
        ("fields of its own: l1BlockNumber", |line| {
            line["block"]["l1BlockNumber"] = json!("0x10");
            line["block"]["mixHash"] = json!(format!("0x{}", "12".repeat(32)));
        }),
        ("no mix hash", |line| drop(line["block"].as_object_mut().map(|block| block.remove("mixHash")))),
        ("transaction type 126 is not known", |line| line["block"]["transactions"][0]["type"] = json!("0x7e")),
    ];
    for (position, (reason, change)) in shapes.into_iter().enumerate() {
        let database = format!("verify_other_chain_{position}");
        let _database = env::migrate(&database)?;
        let mut lines = lines[..HEIGHT + 1].to_vec();
        change(&mut lines[HEIGHT]);
        let file = write_dump(&lines)?;
        load(&database, &file.path().display().to_string(), &[], 0)?;
        let verdict = env::sql(
            &database,
            &format!("SELECT verdict, not_checkable.reason FROM block_verdicts WHERE block_number = {HEIGHT}"),
        )?;
        ensure!(verdict.starts_with("partial\t") && verdict.contains(reason), "{reason}: {verdict}");
    }
    Ok(())
}

#[test]
fn a_change_beside_an_unknown_transaction_is_refused() -> anyhow::Result<()> {
    let text = std::fs::read_to_string(workspace::fixture("chains/optimism-goerli-5003318.json"))?;
    let text = text.replace("\"0x7e\"", "\"0x55\"");
    let mut line: Value = serde_json::from_str(&text)?;
    let database = "verify_beside_unknown";
    let _database = env::migrate(database)?;
    line["block"]["transactions"][1]["value"] = json!("0x7");
    let file = write_dump(std::slice::from_ref(&line))?;
    let refused = load(database, &file.path().display().to_string(), &["--from", "5003318"], 3)?;
    ensure!(refused.contains("block 5003318 is refused: transaction hash"), "{refused}");
    line = serde_json::from_str(&text)?;
    let file = write_dump(&[line])?;
    load(database, &file.path().display().to_string(), &["--from", "5003318"], 0)?;
    let reasons = env::sql(
        database,
        "SELECT verdict, not_checkable.reason FROM block_verdicts ORDER BY decided_at DESC LIMIT 1",
    )?;
    ensure!(reasons.starts_with("partial\t") && reasons.contains("1 of 2 transactions are not affected"), "{reasons}");
    // What was loaded is proven to the same extent from the tables.
    let output = env::run(env::ingest(database, &["verify"]), 0)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(text.trim() == "1 blocks: 0 verified, 1 in part", "{text}");
    Ok(())
}

/// A deposit as rollups have them: a type the specification does not know, without signature, with members of its own.
#[test]
fn unknown_transaction_types_are_stored_raw() -> anyhow::Result<()> {
    let database = &env::migrate("ingest_raw")?;
    let mut lines = chains::lines("devchain")?[..5].to_vec();
    let deposit = &mut lines[2]["block"]["transactions"][0];
    deposit["type"] = json!("0x7e");
    deposit["sourceHash"] = json!(format!("0x{}", "34".repeat(32)));
    deposit["mint"] = json!("0x0");
    for member in ["r", "s", "v", "yParity", "accessList"] {
        deposit.as_object_mut().context("an object")?.remove(member);
    }
    let deposit = deposit.clone();
    let receipt = &mut lines[2]["receipts"][0];
    receipt["type"] = json!("0x7e");
    receipt["depositNonce"] = json!("0x7");
    let receipt = receipt.clone();
    let file = write_dump(&lines)?;
    load(database, &file.path().display().to_string(), &[], 0)?;
    let api = env::start_api(database, &[])?;
    let rpc =
        |method: &str, params: Value| http::rpc(&http::agent(), &format!("{}/api/eth-rpc", api.url), method, &params);
    ensure!(rpc("eth_getTransactionByHash", json!([deposit["hash"]]))?["result"] == deposit);
    ensure!(rpc("eth_getBlockByNumber", json!(["0x2", true]))?["result"]["transactions"][0] == deposit);
    let mut found = rpc("eth_getTransactionReceipt", json!([deposit["hash"]]))?["result"].take();
    for log in found["logs"].as_array_mut().into_iter().flatten() {
        log.as_object_mut().context("a log")?.remove("blockTimestamp");
    }
    let mut expected = receipt;
    for log in expected["logs"].as_array_mut().into_iter().flatten() {
        log.as_object_mut().context("a log")?.remove("blockTimestamp");
    }
    ensure!(found == expected, "{found} instead of {expected}");
    api.stop()?;
    Ok(())
}

/// Gas that is paid with a token, on a chain of Celo's family.
#[test]
fn the_token_that_pays_for_gas_is_shown() -> anyhow::Result<()> {
    let database = &env::migrate("ingest_gas_token")?;
    let mut lines = chains::lines("devchain")?[2..4].to_vec();
    let currency = "0x765DE816845861e75A25fCA122bb6898B8B1282a";
    lines[0]["block"]["transactions"][0]["type"] = json!("0x7b");
    lines[0]["block"]["transactions"][0]["feeCurrency"] = json!(currency.to_lowercase());
    lines[0]["receipts"][0]["type"] = json!("0x7b");
    let file = write_dump(&lines)?;
    let flags = ["--chain-id", "31337", "--chain-family", "celo", "--from", "2", "--verify", "off"];
    load(database, &file.path().display().to_string(), &flags, 0)?;
    let api = env::start_api(database, &[])?;
    let get = |path: &str| http::get(&http::agent(), &format!("{}/api/v2/{path}", api.url))?.json();
    let hash = |line: &Value| line["block"]["transactions"][0]["hash"].as_str().unwrap_or_default().to_owned();
    let (token, coin) = (hash(&lines[0]), hash(&lines[1]));
    let shown = get(&format!("transactions/{token}"))?;
    ensure!(shown["celo"]["gas_token"]["address_hash"] == currency, "{shown}");
    // What the token is called is not known here.
    ensure!(shown["celo"]["gas_token"]["name"].is_null() && shown["celo"]["gas_token"]["type"] == "ERC-20", "{shown}");
    let fact = json!({"name": "Fee currency", "unit": "address", "value": currency});
    let facts = shown["chain_facts"]["facts"].as_array().context("facts")?;
    ensure!(facts.contains(&fact), "{shown}");
    let items = get("transactions")?["items"].take();
    let item =
        items.as_array().into_iter().flatten().find(|item| item["hash"] == token.as_str()).context("its item")?;
    ensure!(item["celo"] == shown["celo"], "{item}");
    let shown = get(&format!("transactions/{coin}"))?;
    ensure!(shown["celo"] == json!({"gas_token": null}), "{shown}");
    api.stop()?;
    Ok(())
}
