//! JSON-RPC over HTTP: the specification's own transcripts, every block and receipt against the node's answers,
//! random log filters against a brute-force search, and the envelope.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::{http, workspace};

use crate::chains::{Chain, chain, quantity};
use crate::env;
use crate::golden::{names, sorted};

mod block_traces;
mod busy_sockets;
mod calls;
mod companions;
mod encodings;
mod execution_apis;
mod fees;
mod filter_crowds;
mod filters;
mod http_rules;
mod long_histories;
mod node;
mod node_endpoint;
mod node_filters;
mod polling_filters;
mod proofs;
mod replays;
mod server_facts;
mod shared_lookups;
mod simulations;
mod storage_ranges;
pub mod subscriptions;
mod traces;
mod upstream;
mod watching;

/// Calls a method and returns the whole envelope.
pub fn call(chain: &Chain, method: &str, params: Value) -> anyhow::Result<Value> {
    http::rpc(&http::agent(), &chain.rpc(), method, &params)
}

/// Calls a method that must succeed.
pub fn result(chain: &Chain, method: &str, params: Value) -> anyhow::Result<Value> {
    let mut answer = call(chain, method, params)?;
    ensure!(answer.get("error").is_none(), "{answer}");
    Ok(answer["result"].take())
}

/// The file of a transcript: its name has `-` where that of its test has `_`.
fn transcript_of(method: &str, name: &str) -> PathBuf {
    workspace::fixture("execution-apis").join(method).join(format!("{}.io", name.replace('_', "-")))
}

/// Every file of the specification's tests for the methods served is a test: exact results, exact error codes.
#[test]
fn every_transcript_is_listed() -> anyhow::Result<()> {
    // What needs a node is played in `upstream`.
    let methods = execution_apis::LISTED.iter().map(|(method, _)| *method).chain(["eth_sendRawTransaction"]);
    let found = names(&workspace::fixture("execution-apis"))?;
    ensure!(found == sorted(methods), "methods are missing in the list of {found:?}");
    for (method, listed) in execution_apis::LISTED {
        let found = names(&workspace::fixture("execution-apis").join(method))?;
        let listed: Vec<String> = listed.iter().map(|name| format!("{}.io", name.replace('_', "-"))).collect();
        ensure!(found == sorted(listed.iter().map(String::as_str)) && !found.is_empty(), "{method} has {found:?}");
    }
    Ok(())
}

/// Plays one of them to the chain it was recorded from, at both endpoints.
pub fn recorded(method: &str, name: &str) -> anyhow::Result<()> {
    let (hive, file) = (chain("hive"), transcript_of(method, name));
    transcript(&file, &hive.rpc())?;
    transcript(&file, &format!("{}/rpc", hive.api)).context("as nodes answer")
}

/// Plays a file of requests and answers against an endpoint.
fn transcript(file: &PathBuf, rpc: &str) -> anyhow::Result<()> {
    let text = fs::read_to_string(file)?;
    // Of such files only the shape of the answer is specified.
    let is_exact = !text.contains("// speconly");
    let mut request = None;
    let mut compared = 0;
    for line in text.lines() {
        if let Some(sent) = line.strip_prefix(">>") {
            request = Some(sent.trim());
        } else if let (Some(expected), Some(sent)) = (line.strip_prefix("<<"), request) {
            let expected: Value = serde_json::from_str(expected)?;
            let found = http::post(&http::agent(), rpc, sent.as_bytes())?.json()?;
            match expected.get("error") {
                Some(error) => ensure!(found["error"]["code"] == error["code"], "{found} instead of {expected}"),
                // Steps have one form.
                None if is_exact || expected["result"]["structLogs"].is_array() => {
                    ensure!(found == expected, "{found}\ninstead of\n{expected}");
                }
                None => {
                    ensure!(
                        has_shape(&found["result"], &expected["result"]),
                        "{found} has not the shape of {expected}"
                    );
                }
            }
            compared += 1;
        }
    }
    ensure!(compared > 0, "no exchange in {}", file.display());
    Ok(())
}

/// Whether an answer is a quantity as the other is, or an object with the same members.
fn has_shape(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            found.len() == expected.len() && expected.keys().all(|member| found.contains_key(member))
        }
        (Value::String(found), Value::String(_)) => {
            found.strip_prefix("0x").is_some_and(|digits| u64::from_str_radix(digits, 16).is_ok())
        }
        _ => false,
    }
}

/// Members that some recording nodes leave out and current nodes give, so an answer may have them and a recording not.
const MAY_BE_ADDED: [&str; 3] = ["blockTimestamp", "yParity", "type"];
/// Members of recordings that are no longer part of the specification.
const NO_LONGER_SPECIFIED: [&str; 1] = ["totalDifficulty"];

/// Compares an answer with the node's own object, member by member.
fn same_object(found: &Value, node: &Value, ignored: &[&str], what: &str) -> anyhow::Result<()> {
    let (found, node) =
        (found.as_object().with_context(|| format!("{what}: {found}"))?, node.as_object().context("an object")?);
    for (key, value) in node {
        if !ignored.contains(&key.as_str()) {
            ensure!(found.get(key) == Some(value), "{what}: {key} is {:?} instead of {value}", found.get(key));
        }
    }
    for key in found.keys() {
        ensure!(node.contains_key(key) || MAY_BE_ADDED.contains(&key.as_str()), "{what}: {key} was not expected");
    }
    Ok(())
}

fn blocks_equal_the_node(chain: &Chain) -> anyhow::Result<()> {
    for line in &chain.lines {
        let block = &line["block"];
        let height = quantity(&block["number"]);
        let found = result(chain, "eth_getBlockByNumber", json!([block["number"], true]))?;
        same_object(
            &found,
            block,
            &[&NO_LONGER_SPECIFIED[..], &["transactions"]].concat(),
            &format!("block {height}"),
        )?;
        let (found, transactions) = (
            found["transactions"].as_array().context("transactions")?,
            block["transactions"].as_array().context("transactions")?,
        );
        ensure!(found.len() == transactions.len(), "block {height} has {} transactions", found.len());
        for (found, transaction) in found.iter().zip(transactions) {
            same_object(
                found,
                transaction,
                &[],
                &format!("transaction {} of block {height}", transaction["transactionIndex"]),
            )?;
        }
        let hashes = result(chain, "eth_getBlockByHash", json!([block["hash"], false]))?;
        let expected: Vec<&Value> = transactions.iter().map(|transaction| &transaction["hash"]).collect();
        ensure!(hashes["transactions"] == json!(expected), "hashes of block {height}");
    }
    Ok(())
}

fn receipts_equal_the_node(chain: &Chain) -> anyhow::Result<()> {
    // Anvil gives every receipt a blob price and a time; the specification has neither there.
    let ignored = ["logs", "blobGasPrice", "blockTimestamp"];
    let mut compared = 0;
    for line in &chain.lines {
        // Of mainnet's blocks of thousands of transactions some are requested; `eth_getBlockReceipts` has all of them.
        let receipts = line["receipts"].as_array().context("receipts")?;
        let step = match receipts.len() {
            0..=30 => 1,
            31..=100 => env::amount(3, 1),
            _ => env::amount(17, 1),
        };
        for receipt in receipts.iter().step_by(step) {
            let hash = &receipt["transactionHash"];
            let found = result(chain, "eth_getTransactionReceipt", json!([hash]))?;
            same_object(&found, receipt, &ignored, &format!("receipt {hash}"))?;
            let (found, logs) =
                (found["logs"].as_array().context("logs")?, receipt["logs"].as_array().context("logs")?);
            ensure!(found.len() == logs.len(), "{hash} has {} logs", found.len());
            for (found, log) in found.iter().zip(logs) {
                same_object(found, log, &[], &format!("a log of {hash}"))?;
            }
            compared += 1;
        }
    }
    ensure!(compared > 200, "only {compared} receipts");
    Ok(())
}

fn post(body: &str) -> anyhow::Result<http::Answer> {
    http::post(&http::agent(), &chain("hive").rpc(), body.as_bytes())
}

#[test]
fn envelope() -> anyhow::Result<()> {
    let answer = post(r#"{"jsonrpc":"2.0","id":"a\"b","method":"eth_blockNumber","params":[]}"#)?;
    ensure!(answer.text() == "{\"jsonrpc\":\"2.0\",\"result\":\"0x36\",\"id\":\"a\\\"b\"}\n", "{}", answer.text());
    ensure!(post(r#"{"jsonrpc":"2.0","id":null,"method":"eth_blockNumber"}"#)?.json()?["result"] == "0x36");
    let forgotten = post(r#"{"jsonrpc":"2.0","method":"eth_blockNumber","params":[]}"#)?;
    ensure!(forgotten.status == 200);
    ensure!(
        forgotten.json()?
            == json!({"jsonrpc": "2.0", "error": {"code": -32600, "message": "Id is a required field"}, "id": 0})
    );
    let unknown = post(r#"{"jsonrpc":"2.0","id":1,"method":"eth_nothing"}"#)?.json()?;
    ensure!(unknown["error"] == json!({"code": -32601, "message": "Method not found."}), "{unknown}");
    let broken = post("{")?;
    ensure!(broken.status == 400 && broken.json()?["error"]["code"] == -32700, "{}", broken.text());
    let alias = http::post(
        &http::agent(),
        &format!("{}/api/v1/eth-rpc", chain("hive").api),
        br#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#,
    )?;
    ensure!(alias.json()?["result"] == "0xc72dd9d5e883e");
    Ok(())
}

#[test]
fn batches_answer_in_order() -> anyhow::Result<()> {
    let calls: Vec<Value> = (0..20)
        .map(|id| match id % 4 {
            0 => json!({"jsonrpc": "2.0", "id": id, "method": "eth_getBlockByNumber", "params": [format!("{id:#x}"), true]}),
            1 => json!({"jsonrpc": "2.0", "id": id, "method": "eth_getLogs", "params": [{"fromBlock": "0x2", "toBlock": "0x4"}]}),
            2 => json!({"jsonrpc": "2.0", "id": id, "method": "eth_getLogs", "params": [{"address": "0x1"}]}),
            _ => json!({"jsonrpc": "2.0", "id": id, "method": "eth_blockNumber"}),
        })
        .collect();
    let batch = post(&json!(calls).to_string())?.json()?;
    let answers = batch.as_array().context("an array")?;
    ensure!(answers.len() == 20);
    for (position, answer) in answers.iter().enumerate() {
        ensure!(answer["id"] == json!(position), "{answer}");
        ensure!((position % 4 == 2) == answer.get("error").is_some(), "{answer}");
        let alone = post(&calls[position].to_string())?.json()?;
        ensure!(*answer == alone, "{answer} and alone {alone}");
    }
    ensure!(post("[]")?.text() == "[]\n");
    let mixed = post(r#"[1, {"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}, []]"#)?.json()?;
    ensure!(
        mixed[0]["error"]["message"] == "Invalid Request"
            && mixed[1]["result"] == "0x36"
            && mixed[2]["error"]["code"] == -32600,
        "{mixed}"
    );
    Ok(())
}

#[test]
fn batches_have_a_limit() -> anyhow::Result<()> {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber"});
    let fits = post(&json!(vec![&call; 100]).to_string())?;
    ensure!(fits.status == 200 && fits.json()?.as_array().map(Vec::len) == Some(100));
    let over = post(&json!(vec![&call; 101]).to_string())?;
    ensure!(over.status == 413, "{}", over.status);
    ensure!(over.json()?["error"] == json!({"code": -32600, "message": "Payload Too Large. Max batch size is 100"}));
    Ok(())
}

#[test]
fn limits_are_flags() -> anyhow::Result<()> {
    let api = api_with(chain("hive"), &["--max-batch", "5", "--max-body", "2000"])?;
    let post = |body: &str| http::post(&http::agent(), &format!("{}/api/eth-rpc", api.url), body.as_bytes());
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber"});
    let fits = post(&json!(vec![&call; 5]).to_string())?;
    ensure!(fits.status == 200 && fits.json()?.as_array().map(Vec::len) == Some(5), "{}", fits.text());
    let over = post(&json!(vec![&call; 6]).to_string())?;
    ensure!(over.status == 413 && over.json()?["error"]["message"] == "Payload Too Large. Max batch size is 5");
    let padded = |length: usize| format!("{}{}", call, " ".repeat(length - call.to_string().len()));
    ensure!(post(&padded(2000))?.status == 200);
    let long = post(&padded(2001))?;
    ensure!(long.status == 413 && long.json()?["error"]["code"] == -32600, "{}", long.text());
    api.stop()?;
    Ok(())
}

#[test]
fn wrong_parameters_get_the_ruled_errors() -> anyhow::Result<()> {
    let word = format!("0x{}", "12".repeat(32));
    let cases = [
        ("eth_getBlockByNumber", json!(["10", false]), "Invalid block number"),
        ("eth_getBlockByNumber", json!([10, false]), "Invalid block number"),
        ("eth_getBlockByNumber", json!(["0x1", 1]), "Invalid bool"),
        ("eth_getBlockByNumber", json!(["0x1"]), "Incorrect number of params"),
        ("eth_getBlockByHash", json!(["0x12", true]), "Invalid hash"),
        ("eth_getTransactionByHash", json!(["0x12"]), "Transaction hash is invalid"),
        ("eth_getTransactionReceipt", json!([null]), "Transaction hash is invalid"),
        ("eth_blockNumber", json!([1]), "Incorrect number of params"),
        ("eth_getLogs", json!([]), "Incorrect number of params"),
        ("eth_getLogs", json!([{}, {}]), "Incorrect number of params"),
        ("eth_getLogs", json!([{"topics": [null, null, null, null, null]}]), "invalid topics"),
        ("eth_getLogs", json!([{"fromBlock": "0x5", "toBlock": "0x4"}]), "invalid block range params"),
        (
            "eth_getLogs",
            json!([{"fromBlock": "0x5", "toBlock": "0xffff"}]),
            "block range extends beyond current head block",
        ),
        ("eth_getLogs", json!([{"fromBlock": "0xffff"}]), "invalid block range params"),
        ("eth_getLogs", json!([{"blockHash": word}]), "Invalid block hash"),
        (
            "eth_getLogs",
            json!([{"blockHash": word, "toBlock": "0x1"}]),
            "cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other",
        ),
    ];
    for (method, params, text) in cases {
        let answer = call(chain("hive"), method, params.clone())?;
        ensure!(answer["error"] == json!({"code": -32602, "message": text}), "{method} {params}: {answer}");
    }
    for (method, params) in [
        ("eth_getBlockByNumber", json!(["0xffff", true])),
        ("eth_getBlockByHash", json!([word, true])),
        ("eth_getTransactionReceipt", json!([word])),
    ] {
        let answer = call(chain("hive"), method, params)?;
        ensure!(answer["result"].is_null() && answer.get("error").is_none(), "{method}: {answer}");
    }
    for tag in ["latest", "pending", "safe", "finalized", "0x36", "0x0036"] {
        ensure!(result(chain("hive"), "eth_getBlockByNumber", json!([tag, false]))?["number"] == "0x36", "{tag}");
    }
    ensure!(result(chain("hive"), "eth_getBlockByNumber", json!(["earliest", false]))?["number"] == "0x0");
    Ok(())
}

#[test]
fn state_that_is_not_covered_is_refused() -> anyhow::Result<()> {
    let account = "0x00000000219ab540356cbb839cbe05303d7705fa";
    for (method, params) in [
        ("eth_getBalance", json!([account])),
        ("eth_getCode", json!([account, "latest"])),
        ("eth_call", json!([{"to": account}, "latest"])),
        ("eth_estimateGas", json!([{"to": account}])),
    ] {
        let answer = call(chain("mainnet"), method, params)?;
        ensure!(answer["error"]["code"] == -32002, "{method}: {answer}");
        let data = &answer["error"]["data"];
        // As data of a call clients read what it returned.
        let is_of_call = method.starts_with("eth_get") || data.is_null();
        ensure!(is_of_call && (data.is_null() || data["missing"][0]["fromBlock"] == "0x0"), "{method}: {answer}");
        ensure!(answer["error"]["message"].as_str().is_some_and(|text| text.contains("of blocks 0-")), "{answer}");
    }
    Ok(())
}

/// What a chain's gaps look like to a client, here because filters need it too.
pub fn missing(chain: &Chain) -> Vec<(u64, u64)> {
    let heights: BTreeSet<u64> = chain.lines.iter().map(|line| quantity(&line["block"]["number"])).collect();
    let mut missing = Vec::new();
    let mut next = 0;
    for height in heights {
        if height > next {
            missing.push((next, height - 1));
        }
        next = height + 1;
    }
    missing
}

/// An API over a chain's database with further flags.
pub fn api_with(chain: &Chain, arguments: &[&str]) -> anyhow::Result<xtask::process::Server> {
    env::start_api(chain.name, arguments)
}

tests! {
    blocks_equal_the_node_hive: blocks_equal_the_node(chain("hive")),
    receipts_equal_the_node_hive: receipts_equal_the_node(chain("hive")),
    blocks_equal_the_node_mainnet: blocks_equal_the_node(chain("mainnet")),
    receipts_equal_the_node_mainnet: receipts_equal_the_node(chain("mainnet")),
    blocks_equal_the_node_devchain: blocks_equal_the_node(chain("devchain")),
    receipts_equal_the_node_devchain: receipts_equal_the_node(chain("devchain")),
}
