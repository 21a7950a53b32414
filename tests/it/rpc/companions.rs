//! The companions of the specification's methods: against the node's own objects, and against what anvil answered.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::workspace;

use super::{MAY_BE_ADDED, call, result, same_object};
use crate::chains::{Chain, chain, lines_of};

/// Answers of anvil over the scenario chain, method by method.
pub fn recorded() -> anyhow::Result<Vec<Value>> {
    lines_of(&workspace::fixture("devchain/answers.ndjson.gz"))
}

#[test]
fn equal_what_anvil_answered() -> anyhow::Result<()> {
    let mut compared = 0;
    for recording in recorded()? {
        let (method, params) = (recording["method"].as_str().context("a method")?, &recording["params"]);
        if method == "eth_feeHistory" {
            continue;
        }
        let found = result(chain("devchain"), method, params.clone())?;
        same(&found, &recording["result"], &format!("{method} {params}"))?;
        compared += 1;
    }
    ensure!(compared > 150, "only {compared} recordings");
    Ok(())
}

/// Compares values, objects member by member: see [`same_object`].
fn same(found: &Value, expected: &Value, what: &str) -> anyhow::Result<()> {
    match (found, expected) {
        (Value::Object(_), Value::Object(_)) if expected.get("logs").is_some() => receipt(found, expected, what),
        (Value::Object(_), Value::Object(_)) => same_object(found, expected, &[], what),
        (Value::Array(list), Value::Array(others)) => {
            ensure!(list.len() == others.len(), "{what}: {} instead of {}", list.len(), others.len());
            list.iter().zip(others).try_for_each(|(one, other)| same(one, other, what))
        }
        _ => {
            ensure!(found == expected, "{what}: {found} instead of {expected}");
            Ok(())
        }
    }
}

fn receipt(found: &Value, expected: &Value, what: &str) -> anyhow::Result<()> {
    // Anvil gives every receipt a blob price and a time; the specification has neither there.
    same_object(found, expected, &["logs", "blobGasPrice", "blockTimestamp"], what)?;
    same(&found["logs"], &expected["logs"], what)
}

fn bodies(chain: &Chain) -> anyhow::Result<()> {
    for line in &chain.lines {
        let block = &line["block"];
        let (number, hash) = (&block["number"], &block["hash"]);
        let transactions = block["transactions"].as_array().context("transactions")?;
        let count = json!(format!("{:#x}", transactions.len()));
        for (method, block) in
            [("eth_getBlockTransactionCountByNumber", number), ("eth_getBlockTransactionCountByHash", hash)]
        {
            ensure!(result(chain, method, json!([block]))? == count, "{method} {block}");
        }
        for position in [0, transactions.len() / 2, transactions.len().saturating_sub(1), transactions.len()] {
            let at = format!("{position:#x}");
            let one = result(chain, "eth_getTransactionByBlockNumberAndIndex", json!([number, at]))?;
            ensure!(one == result(chain, "eth_getTransactionByBlockHashAndIndex", json!([hash, at]))?, "{number} {at}");
            same(&one, transactions.get(position).unwrap_or(&Value::Null), &format!("transaction {at} of {number}"))?;
        }
        let receipts = result(chain, "eth_getBlockReceipts", json!([number]))?;
        same(&receipts, &line["receipts"], &format!("receipts of {number}"))?;
        for other in [json!(hash), json!({"blockHash": hash}), json!({"blockNumber": number})] {
            ensure!(result(chain, "eth_getBlockReceipts", json!([other]))? == receipts, "{other}");
        }
    }
    Ok(())
}

fn uncles(chain: &Chain) -> anyhow::Result<()> {
    let mut compared = 0;
    for line in &chain.lines {
        let (number, hash) = (&line["block"]["number"], &line["block"]["hash"]);
        let headers = line["uncleHeaders"].as_array().cloned().unwrap_or_default();
        ensure!(line["block"]["uncles"].as_array().map(Vec::len) == Some(headers.len()), "{number}");
        let count = json!(format!("{:#x}", headers.len()));
        ensure!(result(chain, "eth_getUncleCountByBlockNumber", json!([number]))? == count, "{number}");
        ensure!(result(chain, "eth_getUncleCountByBlockHash", json!([hash]))? == count, "{hash}");
        for position in 0..=headers.len() {
            let at = format!("{position:#x}");
            let one = result(chain, "eth_getUncleByBlockNumberAndIndex", json!([number, at]))?;
            ensure!(one == result(chain, "eth_getUncleByBlockHashAndIndex", json!([hash, at]))?, "{number} {at}");
            match headers.get(position) {
                Some(header) => uncle(&one, header, &format!("uncle {at} of {number}"))?,
                None => ensure!(one.is_null(), "uncle {at} of {number}: {one}"),
            }
            compared += 1;
        }
    }
    ensure!(compared >= chain.lines.len());
    Ok(())
}

/// Some recordings of old nodes have members that nodes left out since.
fn uncle(found: &Value, recorded: &Value, what: &str) -> anyhow::Result<()> {
    same_object(found, recorded, &["totalDifficulty", "transactions"], what)?;
    let named = |key: &&String| !MAY_BE_ADDED.contains(&key.as_str());
    ensure!(found.as_object().is_some_and(|object| object.keys().filter(named).count() >= 17), "{what}: {found}");
    Ok(())
}

#[test]
fn connecting_clients_get_their_facts() -> anyhow::Result<()> {
    let ask = |name, method| result(chain(name), method, json!([]));
    ensure!(ask("devchain", "net_version")? == "31337");
    ensure!(ask("hive", "net_version")? == "3503995874084926");
    ensure!(ask("mainnet", "net_version")? == "1");
    ensure!(ask("hive", "eth_syncing")? == false && ask("hive", "net_listening")? == true);
    ensure!(ask("hive", "eth_accounts")? == json!([]));
    let version = ask("hive", "web3_clientVersion")?;
    ensure!(version.as_str().is_some_and(|version| version.starts_with("Trawl/v")), "{version}");
    ensure!(ask("hive", "rpc_modules")?["eth"] == "1.0");
    let hash = result(chain("hive"), "web3_sha3", json!(["0x68656c6c6f20776f726c64"]))?;
    ensure!(hash == "0x47173285a8d7341e5e972fc677286384f802f8ef42a5ec5f03bbfa254cb01fad", "{hash}");
    Ok(())
}

#[test]
fn wrong_parameters_get_the_ruled_errors() -> anyhow::Result<()> {
    let word = format!("0x{}", "12".repeat(32));
    let cases = [
        ("eth_getBlockReceipts", json!([]), "Incorrect number of params"),
        ("eth_getBlockReceipts", json!(["10"]), "Invalid block number"),
        ("eth_getBlockReceipts", json!([{"blockHash": word, "blockNumber": "0x1"}]), "Invalid block number"),
        ("eth_getBlockTransactionCountByNumber", json!([word]), "Invalid block number"),
        ("eth_getBlockTransactionCountByHash", json!(["latest"]), "Invalid hash"),
        ("eth_getTransactionByBlockNumberAndIndex", json!(["0x1"]), "Incorrect number of params"),
        ("eth_getTransactionByBlockNumberAndIndex", json!(["0x1", 0]), "Invalid integer"),
        ("eth_getTransactionByBlockHashAndIndex", json!([word, "0xg"]), "Invalid integer"),
        ("eth_getUncleByBlockNumberAndIndex", json!(["0x1", "zero"]), "Invalid integer"),
        ("eth_getUncleCountByBlockHash", json!([1]), "Invalid hash"),
        ("web3_sha3", json!(["0x123"]), "Invalid hex data"),
        ("net_version", json!([1]), "Incorrect number of params"),
    ];
    for (method, params, text) in cases {
        let answer = call(chain("hive"), method, params.clone())?;
        ensure!(answer["error"] == json!({"code": -32602, "message": text}), "{method} {params}: {answer}");
    }
    for (method, params) in [
        ("eth_getBlockReceipts", json!(["0xffff"])),
        ("eth_getBlockReceipts", json!([word])),
        ("eth_getBlockTransactionCountByNumber", json!(["0xffff"])),
        ("eth_getUncleCountByBlockHash", json!([word])),
        ("eth_getTransactionByBlockHashAndIndex", json!([word, "0x0"])),
        ("eth_getTransactionByBlockNumberAndIndex", json!(["latest", "0xffffffffffffffff"])),
        ("eth_getUncleByBlockNumberAndIndex", json!(["0xffff", "0x0"])),
    ] {
        let answer = call(chain("hive"), method, params)?;
        ensure!(answer["result"].is_null() && answer.get("error").is_none(), "{method}: {answer}");
    }
    let answer = call(chain("hive"), "eth_subscribe", json!(["newHeads"]))?;
    ensure!(answer["error"]["code"] == -32601 && answer["error"]["message"].to_string().contains("ws://"), "{answer}");
    Ok(())
}

tests! {
    bodies_equal_the_node_hive: bodies(chain("hive")),
    uncles_equal_the_node_hive: uncles(chain("hive")),
    bodies_equal_the_node_mainnet: bodies(chain("mainnet")),
    uncles_equal_the_node_mainnet: uncles(chain("mainnet")),
    bodies_equal_the_node_devchain: bodies(chain("devchain")),
    uncles_equal_the_node_devchain: uncles(chain("devchain")),
}
