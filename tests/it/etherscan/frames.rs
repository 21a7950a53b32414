//! `module=account&action=txlistinternal`: by account, by transaction and by blocks, against the node's traces.

use std::collections::BTreeMap;

use anyhow::ensure;
use serde_json::{Value, json};

use super::ask;
use super::transactions::{decimal, lower};
use crate::chains::{Chain, chain, quantity};

/// A frame that lists show: its transaction, path and words.
pub struct NodeFrame {
    pub block: u64,
    hash: Value,
    path: String,
    frame: Value,
    /// Whether it failed, or a frame around it did.
    is_undone: bool,
}

/// All frames of a chain in order of execution, without outermost calls.
pub fn node_frames(chain: &Chain) -> Vec<NodeFrame> {
    let mut all = Vec::new();
    for line in &chain.lines {
        let transactions = line["block"]["transactions"].as_array().cloned().unwrap_or_default();
        for (transaction, trace) in transactions.iter().zip(line["traces"].as_array().into_iter().flatten()) {
            let mut frames = Vec::new();
            flatten(&trace["result"], String::new(), &mut frames);
            let failed = frames.iter().filter(|(_, frame)| frame["error"].is_string());
            let failed: Vec<String> = failed.map(|(path, _)| path.clone()).collect();
            let is_listed =
                |(path, frame): &(String, Value)| !path.is_empty() || lower(&frame["type"]).starts_with("create");
            for (path, frame) in frames.into_iter().filter(is_listed) {
                let (block, hash) = (quantity(&line["block"]["number"]), transaction["hash"].clone());
                let is_below =
                    |above: &String| above.is_empty() || path == *above || path.starts_with(&format!("{above}_"));
                let is_undone = failed.iter().any(is_below);
                all.push(NodeFrame { block, hash, path, frame, is_undone });
            }
        }
    }
    all
}

fn flatten(frame: &Value, path: String, frames: &mut Vec<(String, Value)>) {
    frames.push((path.clone(), frame.clone()));
    for (child, below) in frame["calls"].as_array().into_iter().flatten().enumerate() {
        let path = if path.is_empty() { child.to_string() } else { format!("{path}_{child}") };
        flatten(below, path, frames);
    }
}

impl NodeFrame {
    fn participants(&self) -> Vec<String> {
        // The contract of a failed creation does not exist.
        let is_made = !lower(&self.frame["type"]).starts_with("create") || !self.frame["error"].is_string();
        let ends = [Some(&self.frame["from"]), is_made.then_some(&self.frame["to"])];
        ends.into_iter().flatten().map(lower).filter(|end| !end.is_empty()).collect()
    }

    /// Whether it is a call that moves no coins: those that run in their caller, or may not write, never do.
    pub fn is_idle_call(&self) -> bool {
        match &*lower(&self.frame["type"]) {
            "delegatecall" | "staticcall" => true,
            "call" | "callcode" => self.frame["value"]
                .as_str()
                .is_none_or(|value| value.trim_start_matches("0x").trim_matches('0').is_empty()),
            _ => false,
        }
    }

    fn ensure_is(&self, row: &Value) -> anyhow::Result<()> {
        let frame = &self.frame;
        let kind = lower(&frame["type"]);
        let (is_call, is_creation) = (kind.ends_with("call") || kind == "callcode", kind.starts_with("create"));
        let has_failed = frame["error"].is_string();
        ensure!(row["hash"] == self.hash && row["transactionHash"] == self.hash, "{row}, expected {frame}");
        let path = if self.path.is_empty() { "0" } else { &self.path };
        ensure!(
            row["traceId"] == path && row["blockNumber"] == json!(self.block.to_string()),
            "{row}, expected {frame}"
        );
        ensure!(row["type"] == if is_call { "call" } else { &kind }, "{row}, expected {frame}");
        ensure!(row["callType"] == if is_call { &kind } else { "" }, "{row}, expected {frame}");
        ensure!(row["from"] == lower(&frame["from"]), "{row}, expected {frame}");
        let to = lower(&frame["to"]);
        let (callee, created) = if is_creation { ("", if has_failed { "" } else { &to }) } else { (to.as_str(), "") };
        // Of some destructions the tree does not say who received.
        ensure!(row["to"] == callee || frame["to"].is_null(), "{row}, expected {frame}");
        ensure!(row["contractAddress"] == created, "{row}, expected {frame}");
        let moves = !["delegatecall", "staticcall"].contains(&kind.as_str()) && frame["value"].is_string();
        ensure!(row["value"] == if moves { decimal(&frame["value"])? } else { "0".into() }, "{row}, expected {frame}");
        if kind != "selfdestruct" {
            ensure!(row["input"] == lower(&frame["input"]), "{row}, expected {frame}");
        }
        if !self.path.is_empty() && kind != "selfdestruct" && !has_failed {
            ensure!(
                row["gas"] == decimal(&frame["gas"])? && row["gasUsed"] == decimal(&frame["gasUsed"])?,
                "{row}, expected {frame}"
            );
        }
        ensure!(row["isError"] == if self.is_undone { "1" } else { "0" }, "{row}, expected {frame}");
        ensure!(row["errCode"].as_str().is_some_and(|code| code.is_empty() != has_failed), "{row}, expected {frame}");
        Ok(())
    }
}

fn compare(found: &Value, due: &[&NodeFrame]) -> anyhow::Result<()> {
    let rows = found["result"].as_array().cloned().unwrap_or_default();
    ensure!(rows.len() == due.len(), "{} of {}: {found}", rows.len(), due.len());
    let (status, message) = if due.is_empty() { ("0", "No transactions found") } else { ("1", "OK") };
    ensure!(found["status"] == status && found["message"] == message, "{found}");
    rows.iter().zip(due).try_for_each(|(row, expected)| expected.ensure_is(row))
}

/// Frames are listed without calls of no value unless these are requested: oldest first, and a page from the other end.
fn ensure_listed(api: &str, query: &str, frames: &[&NodeFrame]) -> anyhow::Result<()> {
    let valued: Vec<&NodeFrame> = frames.iter().copied().filter(|frame| !frame.is_idle_call()).collect();
    for (choice, due) in [
        ("", valued.as_slice()),
        ("&include_zero_value=False", valued.as_slice()),
        ("&include_zero_value=true", frames),
    ] {
        compare(&ask(api, &format!("{query}{choice}&sort=asc"))?, due)?;
        let down: Vec<&NodeFrame> = due.iter().rev().copied().skip(3).take(3).collect();
        compare(&ask(api, &format!("{query}{choice}&sort=desc&page=2&offset=3"))?, &down)?;
    }
    Ok(())
}

#[test]
fn txlistinternal_is_what_the_node_traced() -> anyhow::Result<()> {
    let mut idle = 0;
    for name in ["hive", "devchain"] {
        let chain = chain(name);
        let all = node_frames(chain);
        let mut by_account: BTreeMap<String, Vec<&NodeFrame>> = BTreeMap::new();
        let mut by_hash: BTreeMap<String, Vec<&NodeFrame>> = BTreeMap::new();
        for frame in &all {
            let mut accounts = frame.participants();
            accounts.sort();
            accounts.dedup();
            accounts.into_iter().for_each(|account| by_account.entry(account).or_default().push(frame));
            by_hash.entry(lower(&frame.hash)).or_default().push(frame);
        }
        ensure!(by_account.len() > 5 && all.len() > 40, "{name}: {}", all.len());
        idle += all.iter().filter(|frame| frame.is_idle_call()).count();
        for (account, due) in by_account.iter().take(30) {
            ensure_listed(&chain.api, &format!("module=account&action=txlistinternal&address={account}"), due)?;
        }
        for (hash, due) in by_hash.iter().step_by(4) {
            let query = format!("module=account&action=txlistinternal&txhash={hash}");
            // In order of execution without `sort` too.
            compare(&ask(&chain.api, &format!("{query}&include_zero_value=true"))?, due)?;
            let account = due.iter().find_map(|frame| frame.participants().pop());
            let Some(account) = account else { continue };
            let of_both: Vec<&NodeFrame> =
                due.iter().copied().filter(|frame| frame.participants().contains(&account)).collect();
            ensure_listed(&chain.api, &format!("{query}&address={account}"), &of_both)?;
            ensure_listed(&chain.api, &query, due)?;
        }
        let (first, last) = (chain.head() / 3, chain.head() / 2);
        let range = format!("module=account&action=txlistinternal&startblock={first}&endblock={last}");
        let mut due: Vec<&NodeFrame> = all.iter().filter(|frame| (first..=last).contains(&frame.block)).collect();
        ensure_listed(&chain.api, &range, &due)?;
        // Without an order each kind of client gets that of its server.
        compare(&ask(&chain.api, &format!("{range}&include_zero_value=TRUE&chainid=1"))?, &due)?;
        due.reverse();
        compare(&ask(&chain.api, &format!("{range}&include_zero_value=TRUE"))?, &due)?;
        let wrong = ask(&chain.api, &format!("{range}&include_zero_value=1"))?;
        ensure!(wrong["status"] == "0" && wrong["result"].is_null(), "{wrong}");
        let unknown = format!("module=account&action=txlistinternal&txhash=0x{}", "12".repeat(32));
        compare(&ask(&chain.api, &unknown)?, &[])?;
    }
    ensure!(idle > 40, "{idle} calls without value");
    Ok(())
}

/// No traces of the mainnet blocks are loaded.
#[test]
fn frames_that_are_not_loaded_are_missing() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let line = chain.lines.iter().rfind(|line| line["block"]["transactions"][0].is_object());
    let hash = line.map(|line| lower(&line["block"]["transactions"][0]["hash"])).unwrap_or_default();
    for query in [format!("txhash={hash}"), format!("address=0x{}", "12".repeat(20))] {
        let missing = ask(&chain.api, &format!("module=account&action=txlistinternal&{query}"))?;
        ensure!(missing["status"] == "2" && missing["result"] == json!([]), "{query}: {missing}");
    }
    Ok(())
}
