//! Why transactions and calls failed, in words: errors that are well known, and those that only an ABI tells.

use alloy_primitives::U256;
use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{get, labels, scenario, written};
use crate::chains::chain;
use crate::env;

/// Whose functions revert in every way, and the error that no other contract has (`Scenes.sol` of the fixture).
const SPREADER: &str = "0x2279B7A0a67DB372996a5FaB50D91eAA73D2eBe6";
const TOO_DEEP: &str = "TooDeep(uint256 depth, address who)";
/// Selectors (`cast sig`) and declarations (OpenZeppelin 5.x, Solidity) of errors of the scenario's transactions.
const ERRORS: &[(&str, &str)] = &[
    ("0xb06ebf3d", "FailedDeployment()"),
    ("0xfb8f41b2", "ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)"),
    ("0xe450d38c", "ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)"),
    ("0xec442f05", "ERC20InvalidReceiver(address receiver)"),
    ("0x177e802f", "ERC721InsufficientApproval(address operator, uint256 tokenId)"),
    ("0x57f447ce", "ERC1155InvalidReceiver(address receiver)"),
    ("0x4e487b71", "Panic(uint256 code)"),
    ("0x23e13a2d", TOO_DEEP),
];

/// The revert reason of a call that returned `output`, decoded by hand: words are addresses and numbers.
fn reason(output: &str, unknown: &[&str]) -> Value {
    if output.len() < 4 {
        return Value::Null;
    }
    let id = &output[..output.len().min(10)];
    let words: Vec<&str> =
        output.as_bytes()[id.len()..].chunks(64).filter_map(|word| std::str::from_utf8(word).ok()).collect();
    let parameter = |name: &str, kind: &str, value: &str| json!({"name": name, "type": kind, "value": value});
    if id == "0x08c379a0" {
        let length = usize::from_str_radix(&words[1][48..], 16).unwrap_or_default();
        let text = alloy_primitives::hex::decode(&words[2..].concat()[..2 * length]).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let text = parameter("reason", "string", &text);
        return json!({"method_call": "Error(string reason)", "method_id": id, "parameters": [text]});
    }
    let Some((_, call)) = ERRORS.iter().find(|(known, _)| *known == id && !unknown.contains(known)) else {
        return json!({"raw": output});
    };
    let inputs = call.split_once('(').map_or("", |(_, inputs)| inputs.trim_end_matches(')'));
    let inputs = inputs.split(", ").filter(|input| !input.is_empty()).filter_map(|input| input.split_once(' '));
    let parameters: Vec<Value> = inputs
        .zip(&words)
        .map(|((kind, name), word)| match kind {
            "address" => {
                parameter(name, kind, &word[24..].parse::<alloy_primitives::Address>().expect("a word").to_string())
            }
            _ => parameter(name, kind, &U256::from_str_radix(word, 16).expect("a word").to_string()),
        })
        .collect();
    json!({"method_call": call, "method_id": id, "parameters": parameters})
}

/// The transactions that failed, each with its frames as the node traced them, as a list in order of execution.
fn failed() -> Vec<(String, Vec<Value>)> {
    let mut failed = Vec::new();
    for line in &chain("devchain").lines {
        let items = |key: &str| line[key].as_array().cloned().unwrap_or_default();
        for (trace, receipt) in items("traces").into_iter().zip(items("receipts")) {
            if receipt["status"] == "0x0" {
                let tree = trace.get("result").cloned().unwrap_or(trace);
                let mut frames = Vec::new();
                add_frames(&tree, &mut frames);
                failed.push((receipt["transactionHash"].as_str().unwrap_or_default().to_owned(), frames));
            }
        }
    }
    failed
}

fn add_frames(frame: &Value, frames: &mut Vec<Value>) {
    frames.push(frame.clone());
    frame["calls"].as_array().into_iter().flatten().for_each(|below| add_frames(below, frames));
}

/// Compares every transaction that failed and all calls in them; returns how many reasons were not null.
fn ensure_reasons(api: &xtask::process::Server, unknown: &[&str]) -> anyhow::Result<(usize, usize)> {
    let (mut transactions, mut calls) = (0, 0);
    for (hash, frames) in failed() {
        let output = |frame: &Value| frame["output"].as_str().unwrap_or_default().to_owned();
        let transaction = get(api, &format!("transactions/{hash}"))?;
        let expected = reason(&output(frames.first().context("a frame")?), unknown);
        ensure!(transaction["revert_reason"] == expected, "{hash}: {} is not {expected}", transaction["revert_reason"]);
        transactions += usize::from(!expected.is_null());
        let trace = get(api, &format!("transactions/{hash}/raw-trace?reasons=1"))?;
        let bare = get(api, &format!("transactions/{hash}/raw-trace"))?;
        let trace = trace.as_array().context("a list")?;
        ensure!(trace.len() == frames.len(), "{hash}: {} frames of {}", trace.len(), frames.len());
        for (position, (shown, frame)) in trace.iter().zip(&frames).enumerate() {
            ensure!(
                shown.get("revert_reason").is_some() == frame.get("error").is_some(),
                "{hash}: {shown}, traced as {frame}"
            );
            ensure!(bare[position].get("revert_reason").is_none() && bare[position]["error"] == shown["error"]);
            if frame.get("error").is_some() {
                let expected = reason(&output(frame), unknown);
                ensure!(shown["revert_reason"] == expected, "{hash} {position}: {shown} is not {expected}");
                calls += usize::from(!expected.is_null());
            }
        }
    }
    Ok((transactions, calls))
}

#[test]
fn reverts_are_read_by_well_known_errors_and_by_abis() -> anyhow::Result<()> {
    let database = "labels_reverts";
    let _database = scenario(database)?;
    let api = env::start_api(database, &[])?;
    let (transactions, calls) = ensure_reasons(&api, &["0x23e13a2d"])?;
    ensure!(transactions > 12 && calls > 50, "only {transactions} and {calls}");
    let folder = TempDir::new()?;
    let inputs = json!([{"name": "depth", "type": "uint256"}, {"name": "who", "type": "address"}]);
    let abi = json!([{"type": "error", "name": "TooDeep", "inputs": inputs}]);
    let file = written(&folder, "Spreader.json", &abi.to_string())?;
    labels(database, &[&format!("{SPREADER}={file}")], 0)?;
    // No restart: the API follows what is loaded.
    env::eventually(env::SOON, || Ok(ensure_reasons(&api, &[]).is_ok()))?;
    ensure!(ensure_reasons(&api, &[])? == (transactions, calls));
    let listed = get(&api, &format!("addresses/{SPREADER}/transactions?filter=to&items_count=100"))?;
    let items = listed["items"].as_array().context("items")?;
    let deep = items.iter().filter(|item| item["revert_reason"]["method_call"] == TOO_DEEP).count();
    ensure!(deep == 2, "{deep} in the list");
    api.stop()?;
    Ok(())
}

#[test]
fn signatures_that_were_loaded_read_reverts_too() -> anyhow::Result<()> {
    let database = "labels_reverts_signatures";
    let _database = scenario(database)?;
    let folder = TempDir::new()?;
    labels(database, &[&written(&folder, "errors.txt", "error TooDeep(uint256 depth, address who);\n")?], 0)?;
    let api = env::start_api(database, &[])?;
    ensure_reasons(&api, &[])?;
    api.stop()?;
    Ok(())
}
