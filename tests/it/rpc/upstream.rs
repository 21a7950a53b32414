//! Calls that go to an upstream node: what passes, what is refused before, and what happens when nodes fail.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::process::Server;
use xtask::{http, workspace};

use super::{api_with, call, transcript};
use crate::chains::chain;
use crate::env;
use crate::ingest::node::Node;

/// A node that answers the specification's recordings of what it cannot compute.
pub fn canned(flags: &[&str]) -> anyhow::Result<Node> {
    let folder = workspace::fixture("execution-apis").display().to_string();
    Node::start("hive", &[&["--canned", &folder], flags].concat())
}

pub fn behind(urls: &[&str], flags: &[&str]) -> anyhow::Result<Server> {
    let urls = urls.join(",");
    api_with(chain("hive"), &[&["--upstream-rpc-url", &urls], flags].concat())
}

fn ask(api: &Server, method: &str, params: &Value) -> anyhow::Result<Value> {
    http::rpc(&http::agent(), &format!("{}/api/eth-rpc", api.url), method, params)
}

/// A transaction that the recordings know.
pub fn raw() -> anyhow::Result<Value> {
    let file = workspace::fixture("execution-apis/eth_sendRawTransaction/send-dynamic-fee-transaction.io");
    let text = std::fs::read_to_string(file)?;
    let sent = text.lines().find_map(|line| line.strip_prefix(">>")).context("a request")?;
    Ok(serde_json::from_str::<Value>(sent)?["params"].take())
}

#[test]
fn transactions_go_to_the_node() -> anyhow::Result<()> {
    let node = canned(&[])?;
    let api = behind(&[&node.url], &[])?;
    let folder = workspace::fixture("execution-apis/eth_sendRawTransaction");
    let files: Vec<_> = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<_>>()?;
    ensure!(files.len() >= 3);
    for file in files {
        transcript(&file, &format!("{}/api/eth-rpc", api.url))?;
    }
    api.stop()?;
    Ok(())
}

#[test]
fn errors_of_the_node_pass_unchanged() -> anyhow::Result<()> {
    let node = canned(&[])?;
    let api = behind(&[&node.url], &[])?;
    let params = json!([
        "0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83"
    ]);
    let refused = ask(&api, "eth_sendRawTransaction", &params)?;
    ensure!(refused["error"]["message"].to_string().contains("invalid chain id for signer: have 1"), "{refused}");
    // The chain id of the node is requested once.
    ensure!(ask(&api, "eth_sendRawTransaction", &raw()?)?["result"].is_string());
    node.control(&json!({"faults": {"rpcerror": 1.0}}))?;
    let direct = http::rpc(&http::agent(), &node.url, "eth_sendRawTransaction", &raw()?)?;
    let passed = ask(&api, "eth_sendRawTransaction", &raw()?)?;
    ensure!(direct["error"]["code"] == -32000 && passed["error"] == direct["error"], "{passed} instead of {direct}");
    api.stop()?;
    Ok(())
}

#[test]
fn bad_transactions_are_not_sent() -> anyhow::Result<()> {
    let node = canned(&[])?;
    let api = behind(&[&node.url], &[])?;
    for (bad, text) in [
        (json!("0x"), "invalid transaction: "),
        (json!("0x123"), "Invalid hex data"),
        (json!("0x02c0"), "invalid transaction: "),
        (json!("0x7f00"), "invalid transaction: "),
        (json!(5), "Invalid hex data"),
        (json!(format!("0x02{}", "00".repeat(200_000))), "oversized data: "),
    ] {
        let answer = ask(&api, "eth_sendRawTransaction", &json!([bad]))?;
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        ensure!(answer["error"]["code"] == -32602 && message.starts_with(text), "{answer}");
    }
    let calls = node.control(&json!({}))?;
    ensure!(calls.to_string().contains("eth_sendRawTransaction").eq(&false), "{calls}");
    ensure!(ask(&api, "eth_sendRawTransaction", &raw()?)?["result"].is_string());
    let calls = node.control(&json!({}))?;
    ensure!(calls.to_string().contains("eth_sendRawTransaction"), "{calls}");
    api.stop()?;
    Ok(())
}

#[test]
fn another_node_stands_in() -> anyhow::Result<()> {
    let dead = format!("http://127.0.0.1:{}", env::free_port()?);
    let (broken, whole) = (canned(&["--fault", "http500=1.0"])?, canned(&[])?);
    let api = behind(&[&dead, &broken.url, &whole.url], &[])?;
    for _ in 0..3 {
        let answer = ask(&api, "eth_sendRawTransaction", &raw()?)?;
        ensure!(answer["result"].as_str().is_some_and(|hash| hash.len() == 66), "{answer}");
    }
    for kind in ["garbage", "truncate", "http429", "html"] {
        whole.control(&json!({"faults": {(kind): 1.0}}))?;
        let answer = ask(&api, "eth_sendRawTransaction", &raw()?)?;
        let away = json!({"code": -32603, "message": "the upstream node cannot be reached; try again shortly"});
        ensure!(answer["error"] == away, "{kind}: {answer}");
        whole.control(&json!({"faults": {(kind): 0.0}}))?;
    }
    ensure!(ask(&api, "eth_sendRawTransaction", &raw()?)?["result"].is_string(), "it is queried again");
    api.stop()?;
    Ok(())
}

#[test]
fn a_node_of_another_chain_is_not_queried() -> anyhow::Result<()> {
    let other = canned(&["--chain-id", "0x5"])?;
    let api = behind(&[&other.url], &[])?;
    let answer = ask(&api, "eth_sendRawTransaction", &raw()?)?;
    ensure!(answer["error"]["code"] == -32603, "{answer}");
    api.stop()?;
    Ok(())
}

#[test]
fn a_silent_node_is_given_up() -> anyhow::Result<()> {
    let (slow, whole) = (canned(&["--latency", "5000"])?, canned(&[])?);
    let api = behind(&[&slow.url, &whole.url], &["--upstream-timeout-ms", "300"])?;
    let started = std::time::Instant::now();
    ensure!(ask(&api, "eth_sendRawTransaction", &raw()?)?["result"].is_string());
    ensure!(started.elapsed() < std::time::Duration::from_secs(4), "{:?}", started.elapsed());
    api.stop()?;
    Ok(())
}

#[test]
fn without_one_the_error_says_so() -> anyhow::Result<()> {
    let answer = call(chain("hive"), "eth_sendRawTransaction", raw()?)?;
    let text = "`eth_sendRawTransaction` needs a node: this server has no --upstream-rpc-url";
    ensure!(answer["error"] == json!({"code": -32601, "message": text}), "{answer}");
    let output = env::run(env::api_at("http://127.0.0.1:1", "none", &["--upstream-rpc-url", "ws://node"]), 2)?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(stderr.contains("the upstream `ws://node` is not an http or https URL"), "{stderr}");
    Ok(())
}

/// A chain of which only the upper half is loaded: the node tells the rest, and only that.
#[test]
fn what_is_lacking_comes_from_the_node() -> anyhow::Result<()> {
    let database = &env::migrate("upstream_half")?;
    env::run(env::ingest(database, &["load", "--dump", &crate::chains::dump("hive"), "--from", "30"]), 0)?;
    let node = canned(&[])?;
    let api = env::start_api(database, &["--upstream-rpc-url", &node.url])?;
    let filter = json!([{"fromBlock": "0x2", "toBlock": "0x6", "topics": [null]}]);
    let expected = http::rpc(&http::agent(), &node.url, "eth_getLogs", &filter)?;
    ensure!(expected["result"].as_array().is_some_and(|logs| !logs.is_empty()), "{expected}");
    ensure!(ask(&api, "eth_getLogs", &filter)?["result"] == expected["result"]);
    // Paging is not of the node: it would pass over it and answer the first page again.
    let paged =
        json!([{"fromBlock": "0x2", "toBlock": "0x6", "paging_options": {"blockNumber": "2", "logIndex": "0"}}]);
    let refused = ask(&api, "eth_getLogs", &paged)?;
    ensure!(refused["error"]["code"] == -32002, "{refused}");
    api.stop()?;
    Ok(())
}
