//! Slots of an account before a transaction, `debug_storageRangeAt`, against what another implementation of the EVM
//! reported for all transactions of a chain with every fork.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::{Map, Value, json};
use xtask::workspace;

use super::{call, result};
use crate::chains::chain;

/// The contract with storage in the genesis block.
const OF_GENESIS: &str = "0x8bebc8ba651aee624937e7d897853ac30c95a067";

/// All slots of an account before a transaction, by position.
fn slots(block: &Value, transaction: &Value, account: &str) -> anyhow::Result<BTreeMap<String, Value>> {
    let range = result(chain("hive"), "debug_storageRangeAt", json!([block, transaction, account, "0x", 1_000]))?;
    ensure!(range["nextKey"].is_null(), "{range}");
    let slots = range["storage"].as_object().context("slots")?;
    Ok(slots.values().map(|one| (one["key"].as_str().unwrap_or_default().to_owned(), one["value"].clone())).collect())
}

/// Accounts of one side of a change, and the slots of each.
fn storage(changes: &Value, side: &str) -> Vec<(String, Map<String, Value>)> {
    let accounts = changes["prestateDiff"][side].as_object().into_iter().flatten();
    accounts.filter_map(|(account, of)| Some((account.clone(), of["storage"].as_object()?.clone()))).collect()
}

#[test]
fn are_those_that_another_evm_saw() -> anyhow::Result<()> {
    let (mut before, mut after) = (0, 0);
    for line in chain("hive").lines.iter().filter(|line| line["fork"] != "constantinople") {
        let block = &line["block"]["hash"];
        let transactions = line["block"]["transactions"].as_array().map_or(&[][..], Vec::as_slice);
        for (index, changes) in line["txStateDiffs"].as_array().into_iter().flatten().enumerate() {
            for (account, due) in storage(changes, "pre") {
                let found = slots(block, &json!(index), &account)?;
                ensure!(
                    due.iter().all(|(slot, value)| found.get(slot) == Some(value)),
                    "{account}: {found:?}, {due:?}"
                );
                before += due.len();
            }
            let Some(next) = transactions.get(index + 1) else { continue };
            for (account, due) in storage(changes, "post") {
                let found = slots(block, &next["hash"], &account)?;
                ensure!(
                    due.iter().all(|(slot, value)| found.get(slot) == Some(value)),
                    "{account}: {found:?}, {due:?}"
                );
                after += due.len();
            }
        }
    }
    ensure!(before > 40 && after > 40, "{before} before transactions, {after} after them");
    Ok(())
}

#[test]
fn are_all_of_an_account_in_the_order_of_their_hashes() -> anyhow::Result<()> {
    let hive = chain("hive");
    let genesis: Value = serde_json::from_slice(&std::fs::read(workspace::fixture("hive/genesis.json"))?)?;
    let due = genesis["alloc"][&OF_GENESIS[2..]]["storage"].as_object().context("slots")?;
    let due: BTreeMap<String, Value> = due.iter().map(|(slot, value)| (slot.clone(), value.clone())).collect();
    let first = hive.lines.iter().find(|line| line["block"]["transactions"][0].is_object()).context("a transaction")?;
    let block = &first["block"]["hash"];
    ensure!(!due.is_empty() && slots(block, &json!("0x0"), OF_GENESIS)? == due, "{due:?}");
    // In pages of one, each begins where the one before ended.
    let busiest = "0x7dcd17433742f4c0ca53122ab541d0ba67fc27df";
    let last = hive.lines.iter().rfind(|line| line["block"]["transactions"][0].is_object()).context("a transaction")?;
    let block = &last["block"]["number"];
    let ask = |start: &Value, most: u64| result(hive, "debug_storageRangeAt", json!([block, 0, busiest, start, most]));
    let whole = ask(&json!("0x"), 100_000)?;
    let (mut start, mut hashes, mut pages) = (json!("0x"), Vec::new(), Map::new());
    while !start.is_null() {
        let mut page = ask(&start, 1)?;
        let part = page["storage"].as_object().context("slots")?.clone();
        ensure!(part.len() == 1, "{page}");
        hashes.extend(part.keys().cloned());
        pages.extend(part);
        start = page["nextKey"].take();
        ensure!(hashes.len() < 500, "the pages do not end");
    }
    ensure!(hashes.is_sorted() && hashes.len() > 5, "{hashes:?}");
    ensure!(whole["storage"] == Value::Object(pages) && whole["nextKey"].is_null(), "{whole}");
    Ok(())
}

#[test]
fn are_refused_where_there_is_no_such_state() -> anyhow::Result<()> {
    let hive = chain("hive");
    let line = hive.lines.iter().find(|line| line["block"]["transactions"][0].is_object()).context("a transaction")?;
    let (block, hash) = (&line["block"]["hash"], &line["block"]["transactions"][0]["hash"]);
    let unknown = format!("0x{}", "12".repeat(32));
    for (params, code) in [
        (json!([block, 99, OF_GENESIS, "0x", 1]), -32000),
        (json!([block, unknown, OF_GENESIS, "0x", 1]), -32000),
        (json!([unknown, 0, OF_GENESIS, "0x", 1]), -32000),
        (json!(["0x0", 0, OF_GENESIS, "0x", 1]), -32000),
        (json!([block, hash, "0x12", "0x", 1]), -32602),
        (json!([block, hash, OF_GENESIS, "0xg", 1]), -32602),
        (json!([block, hash, OF_GENESIS, "0x", "many"]), -32602),
        (json!([block, -1, OF_GENESIS, "0x", 1]), -32602),
        (json!([block, hash, OF_GENESIS, "0x"]), -32602),
    ] {
        let answer = call(hive, "debug_storageRangeAt", params.clone())?;
        ensure!(answer["error"]["code"] == code, "{params}: {answer}");
    }
    // Nothing is stored by an account without code.
    let none = result(hive, "debug_storageRangeAt", json!([block, hash, format!("0x{}", "12".repeat(20)), "0x", 9]))?;
    ensure!(none == json!({"storage": {}, "nextKey": null}), "{none}");
    // Its state is not loaded.
    let dev = chain("devchain");
    let block = &dev.lines.iter().find(|line| line["block"]["transactions"][0].is_object()).context("one")?["block"];
    let answer = call(dev, "debug_storageRangeAt", json!([block["hash"], 0, OF_GENESIS, "0x", 1]))?;
    ensure!(answer["error"]["code"] == -32002, "{answer}");
    Ok(())
}
