//! Every path of the API family is served with the shape that its clients expect.

use std::collections::BTreeSet;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::{http, workspace};

use crate::chains::{Chain, chain, quantity};

mod shapes;

/// Where answers differ from the family's shapes: the eight endpoints that came first follow their specification, in
/// which blocks have no count of deposits and rewards are numbers.
const DIFFERENT: [&str; 2] = [".beacon_deposits_count is missing", ".rewards[].reward: "];

/// The subjects of the paths.
struct PathSubjects {
    transaction: String,
    address: String,
    contract: String,
    token: Option<String>,
    /// Of a log of that block.
    emitter: String,
    block: u64,
}

/// A transaction with a log, its sender, the contract it called and a token that emitted a transfer.
fn path_subjects(chain: &Chain) -> anyhow::Result<PathSubjects> {
    let receipts = || chain.lines.iter().filter_map(|line| line["receipts"].as_array()).flatten();
    let logs = |receipt: &Value| receipt["logs"].as_array().cloned().unwrap_or_default();
    let transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
    let moved = receipts().filter(|receipt| !receipt["to"].is_null());
    let is_transfer = |log: &Value| log["topics"][0] == transfer && log["topics"].as_array().map(Vec::len) == Some(3);
    let of_token = moved.clone().find(|receipt| logs(receipt).iter().any(is_transfer));
    let token = of_token.and_then(|receipt| logs(receipt).into_iter().find(is_transfer));
    let receipt = of_token.or_else(|| moved.clone().find(|receipt| !logs(receipt).is_empty())).context("a log")?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Ok(PathSubjects {
        transaction: text(&receipt["transactionHash"]).context("a hash")?,
        address: text(&receipt["from"]).context("a sender")?,
        contract: text(&receipt["to"]).context("a recipient")?,
        emitter: logs(receipt).iter().find_map(|log| text(&log["address"])).context("an emitter")?,
        token: token.and_then(|log| text(&log["address"])),
        block: quantity(&receipt["blockNumber"]),
    })
}

impl PathSubjects {
    fn path(&self, template: &str) -> Option<String> {
        let address = match template {
            _ if template.starts_with("/v2/tokens/") => self.token.as_ref()?,
            _ if template.starts_with("/v2/smart-contracts/") => &self.contract,
            _ => &self.address,
        };
        let path = template
            .replace("{transaction_hash_param}", &self.transaction)
            .replace("{address_hash_param}", address)
            .replace("{block_hash_or_number_param}", &self.block.to_string())
            .replace("{token_id_param}", "1");
        let query = match template {
            "/legacy/logs/get-logs" => format!("?fromBlock={0}&toBlock={0}&address={1}", self.block, self.emitter),
            "/legacy/block/get-block-number-by-time" => "?timestamp=2000000000&closest=before".into(),
            _ if template.starts_with("/v2/search") => format!("?q={}", self.transaction),
            _ => String::new(),
        };
        Some(format!("/api{path}{query}"))
    }
}

/// Paths and the types of their answers.
fn paths(text: &str) -> Vec<(&str, &str)> {
    let (mut paths, mut path) = (Vec::new(), "");
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## GET ") {
            path = heading.trim();
        } else if let Some(of) = line.trim().strip_prefix("200 application/json ") {
            paths.push((path, of));
        } else if line.trim().starts_with("200 application/csv") {
            paths.push((path, "?"));
        }
    }
    paths
}

#[test]
fn every_path_is_served_in_its_shape() -> anyhow::Result<()> {
    let read = |name: &str| std::fs::read_to_string(workspace::fixture(&format!("v2-family/{name}")));
    let shapes = shapes::read(&read("v2-objects.txt")?)?;
    let text = read("v2-paths.txt")?;
    let paths = paths(&text);
    ensure!(paths.len() > 45 && shapes.len() > 30, "{} paths, {} shapes", paths.len(), shapes.len());
    let mut wrong = BTreeSet::new();
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let subjects = path_subjects(chain)?;
        for (template, of) in &paths {
            let Some(path) = subjects.path(template) else { continue };
            let answer = http::get(&http::agent(), &format!("{}{path}", chain.api))?;
            match answer.status {
                200 if *of == "?" => ensure!(answer.header("content-type") == "application/csv", "{path}"),
                200 => wrong.extend(shapes::check(&shapes, &shapes::parse(of)?, &answer.json()?, template)),
                404 if answer.text().contains("Traces of block") => {}
                // A file is all of it, and this chain has gaps.
                404 if name == "mainnet" && template.ends_with("/csv") => {}
                // Balances and holders need the chain from its first block on, and sums of some time all its blocks.
                404 | 501
                    if name == "mainnet" && ["token", "/nft", "/hot-"].iter().any(|part| template.contains(part)) => {}
                // The token of these chains is one without ids.
                404 if template.ends_with("/{token_id_param}") => {}
                // Balances over time need all state from genesis on.
                501 if name != "hive" && (template.contains("coin-balance") || *template == "/v2/addresses") => {}
                status => drop(wrong.insert(format!("{name} {path}: {status} {}", answer.text()))),
            }
        }
    }
    wrong.retain(|text| !DIFFERENT.iter().any(|known| text.contains(known)));
    ensure!(wrong.is_empty(), "{wrong:#?}");
    Ok(())
}

/// Blockscout's MCP server asks for user operations of each transaction.
#[test]
fn user_operations_are_listed_or_refused_by_name_and_json_rpc_is_found() -> anyhow::Result<()> {
    let api = &chain("hive").api;
    for path in ["status", "accounts", "bundlers/0x12"] {
        let answer = http::get(&http::agent(), &format!("{api}/api/v2/proxy/account-abstraction/{path}"))?;
        ensure!(
            answer.status == 501 && answer.text().contains("ERC-4337"),
            "{path}: {} {}",
            answer.status,
            answer.text()
        );
    }
    let of_transaction =
        format!("{api}/api/v2/proxy/account-abstraction/operations?transaction_hash=0x{}", "12".repeat(32));
    let none: Value = http::get(&http::agent(), &of_transaction)?.json()?;
    ensure!(none == json!({"items": [], "next_page_params": null}), "{none}");
    let unknown = http::get(&http::agent(), &format!("{api}/api/v2/proxy/others/status"))?;
    ensure!(unknown.status == 400, "{}", unknown.text());
    let config = format!("{api}/api/v2/config/json-rpc-url");
    let answer: Value = http::get(&http::agent(), &config)?.json()?;
    ensure!(answer["json_rpc_url"] == format!("{api}/rpc"), "{answer}");
    let request =
        http::agent().get(&config).header("x-forwarded-proto", "https").header("x-forwarded-host", "scan.test");
    let behind: Value = request.call()?.body_mut().read_json()?;
    ensure!(behind["json_rpc_url"] == "https://scan.test/rpc", "{behind}");
    let strange =
        http::agent().get(&config).header("x-forwarded-host", "scan.test/\"><b>").call()?.body_mut().read_json()?;
    let strange: Value = strange;
    ensure!(strange["json_rpc_url"].is_null(), "{strange}");
    Ok(())
}
