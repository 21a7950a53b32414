//! Below its name each chain answers as a server of its own.

use std::fs;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::{get, own, same, shared};
use crate::golden::{self, folder};
use crate::rpc::subscriptions::Socket;

/// The requests of all golden cases: chain and path.
fn cases() -> anyhow::Result<Vec<(String, String)>> {
    let mut cases = Vec::new();
    for endpoint in golden::names(&folder(""))?.into_iter().filter(|name| !name.contains('.')) {
        for case in golden::names(&folder(&endpoint))? {
            let request = fs::read_to_string(folder(&endpoint).join(case).join("request"))?;
            let [chain, _, path] = request.split_whitespace().collect::<Vec<_>>()[..] else { continue };
            cases.push((chain.replace("devchain", "dev"), path.to_owned()));
        }
    }
    Ok(cases)
}

/// Paths of every kind of route.
const PATHS: [&str; 18] = [
    "/api/v2/blocks",
    "/api/v2/main-page/transactions",
    "/api/v2/stats",
    "/api/v2/transactions?items_count=7",
    "/api/v2/search/quick?q=0",
    "/api/v2/scan/logs?format=ndjson&limit=20",
    "/api/v2/scan/logs/metadata",
    "/api/v2/openapi",
    "/api/v2/none",
    "/api/v2/blocks/x",
    "/api?module=proxy&action=eth_blockNumber",
    "/v2/api?module=block&action=eth_block_number&chainid=5",
    "/api/legacy/block/eth-block-number",
    "/assets/chains/eip155-1.json",
    "/docs",
    "/health/live",
    "/health/ready",
    "/none",
];

#[test]
fn each_chain_answers_as_a_server_of_its_own() -> anyhow::Result<()> {
    let several = shared();
    let mut compared = 0;
    for (name, api) in own() {
        let cases = cases()?.into_iter().filter(|(chain, _)| chain == name).map(|(_, path)| path);
        for path in PATHS.into_iter().map(str::to_owned).chain(cases) {
            same(&get(&format!("{several}/{name}{path}"))?, &get(&format!("{api}{path}"))?, &path)?;
            compared += 1;
        }
    }
    ensure!(compared > 140, "only {compared} answers");
    Ok(())
}

#[test]
fn calls_batches_sockets_and_tools_are_those_of_the_chain() -> anyhow::Result<()> {
    let (several, agent) = (shared(), http::agent());
    for (name, api) in own() {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_getBlockByNumber", "params": ["latest", true]});
        let batch = json!([call, {"jsonrpc": "2.0", "id": 2, "method": "eth_chainId"}]);
        for (path, body) in [
            ("/rpc", &call),
            ("/rpc", &batch),
            ("/api/eth-rpc", &batch),
            ("/rpc", &json!({"jsonrpc": "2.0", "id": 1, "method": "ots_getBlockDetails", "params": ["latest"]})),
        ] {
            let ask = |url: String| http::post(&agent, &url, body.to_string().as_bytes());
            same(&ask(format!("{several}/{name}{path}"))?, &ask(format!("{api}{path}"))?, path)?;
        }
        let chain_id = http::rpc(&agent, &format!("{api}/rpc"), "eth_chainId", &json!([]))?["result"].clone();
        let mut socket = Socket::connect_to(several, &format!("/{name}/rpc"))?;
        ensure!(socket.call("eth_chainId", &json!([]))?["result"] == chain_id);
        let tool = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "chain_status", "arguments": {}}});
        let ask = |url: &str| -> anyhow::Result<Value> {
            let request = agent.post(&format!("{url}/mcp")).header("content-type", "application/json");
            let mut answer = request
                .header("accept", "application/json, text/event-stream")
                .header("mcp-protocol-version", "2025-06-18")
                .send(tool.to_string())?;
            Ok(serde_json::from_str(&answer.body_mut().read_to_string()?)?)
        };
        let answer = ask(&format!("{several}/{name}"))?;
        ensure!(answer == ask(api)? && answer["result"]["isError"] != true, "{answer}");
        let config = get(&format!("{several}/{name}/api/v2/config/json-rpc-url"))?.json()?;
        ensure!(config["json_rpc_url"] == format!("{several}/{name}/rpc"), "{config}");
    }
    Ok(())
}

#[test]
fn what_begins_with_no_chain_is_404_and_says_which_there_are() -> anyhow::Result<()> {
    let (several, agent) = (shared(), http::agent());
    let refused = |answer: http::Answer, what: &str| -> anyhow::Result<()> {
        let body = answer.json().with_context(|| what.to_owned())?;
        let message = "Not found: paths begin with the name of a chain: /mainnet, /dev, /none";
        ensure!(answer.status == 404 && body["message"] == message, "{what}: {}", answer.text());
        ensure!(body["data"]["chains"][0] == json!({"name": "mainnet", "chain_id": "1", "path": "/mainnet"}), "{body}");
        ensure!(answer.header("x-request-id").len() >= 20, "{:?}", answer.headers);
        Ok(())
    };
    for path in
        ["/api/v2/blocks", "/mainnets", "/Mainnet/api/v2/blocks", "/%6dainnet/rpc", "/docs", "/rpc", "/mcp", "/x/y"]
    {
        refused(get(&format!("{several}{path}"))?, path)?;
    }
    refused(http::post(&agent, &format!("{several}/rpc"), b"{}")?, "POST /rpc")?;
    let list = get(several)?;
    ensure!(list.status == 200 && list.header("vary").contains("accept"), "{list:?}");
    let names: Vec<Value> =
        list.json()?["chains"].as_array().context("a list")?.iter().map(|one| one["name"].clone()).collect();
    ensure!(names == ["mainnet", "dev", "none"], "{names:?}");
    Ok(())
}
