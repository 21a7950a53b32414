//! Logs of an address, against what the nodes reported.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::chains::{chain, quantity};
use crate::env;
use crate::pages::{get, walk};
use xtask::http;

/// A log as the node reported it, with the recipient of its transaction.
type LogPair = (Value, Value);

/// The logs of each address, newest first.
fn expected_logs(lines: &[Value]) -> BTreeMap<String, Vec<LogPair>> {
    let mut logs: BTreeMap<String, Vec<LogPair>> = BTreeMap::new();
    for receipt in lines.iter().rev().flat_map(|line| line["receipts"].as_array().into_iter().flatten().rev()) {
        for log in receipt["logs"].as_array().into_iter().flatten().rev() {
            let address = log["address"].as_str().unwrap_or_default().to_lowercase();
            logs.entry(address).or_default().push((log.clone(), receipt["to"].clone()));
        }
    }
    logs
}

fn lower(value: &Value) -> Option<String> {
    value.as_str().map(str::to_lowercase)
}

fn ensure_are(found: &[Value], expected: &[&LogPair]) -> anyhow::Result<()> {
    ensure!(found.len() == expected.len(), "{} and {}", found.len(), expected.len());
    for (item, (log, recipient)) in found.iter().zip(expected) {
        ensure!(
            item["block_number"] == quantity(&log["blockNumber"]) && item["index"] == quantity(&log["logIndex"]),
            "{item}, expected {log}"
        );
        for (member, name) in [("transaction_hash", "transactionHash"), ("data", "data"), ("topics", "topics")] {
            ensure!(item[member] == log[name], "{item}, expected {log}");
        }
        ensure!(lower(&item["address"]["hash"]) == lower(&log["address"]), "{item}, expected {log}");
        ensure!(lower(&item["smart_contract"]["hash"]) == lower(recipient), "{item}, expected {recipient}");
    }
    Ok(())
}

#[test]
fn are_those_that_it_emitted_newest_first() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let all = expected_logs(&chain.lines);
        let mut busiest: Vec<_> = all.iter().collect();
        busiest.sort_by_key(|(address, logs)| (std::cmp::Reverse(logs.len()), (*address).clone()));
        let some = busiest.iter().take(3).chain(busiest.iter().skip(3).step_by(busiest.len().max(4) / 4));
        for ((address, logs), size) in some.zip([100, 7, 20, 3, 50, 1]) {
            let size = size.max((logs.len() / env::amount(20, usize::MAX)) as u64).min(100);
            let logs: Vec<&LogPair> = logs.iter().take(400).collect();
            let found = walk(chain, &format!("addresses/{address}/logs"), size)?;
            ensure_are(&found[..logs.len().min(found.len())], &logs)?;
            ensure!(found.len() == all[*address].len(), "{name} {address}");
        }
    }
    Ok(())
}

#[test]
fn a_topic_is_found_at_any_position() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let all = expected_logs(&chain.lines);
    let (address, logs) = all.iter().max_by_key(|(_, logs)| logs.len()).context("logs")?;
    let size = env::amount(100, 60) as u64;
    for position in 0..3 {
        let topic = logs.iter().find_map(|(log, _)| log["topics"][position].as_str()).context("a topic")?;
        let has_it =
            |(log, _): &&LogPair| log["topics"].as_array().is_some_and(|all| all.iter().any(|one| one == topic));
        let expected: Vec<&LogPair> = logs.iter().filter(has_it).collect();
        ensure_are(&walk(chain, &format!("addresses/{address}/logs?topic={topic}"), size)?, &expected)?;
    }
    // The columns of absent topics are zero, which is no topic of theirs.
    let zero = format!("0x{}", "0".repeat(64));
    let has_zero = |(log, _): &&LogPair| log["topics"].as_array().is_some_and(|all| all.iter().any(|one| *one == zero));
    let expected: Vec<&LogPair> = logs.iter().filter(has_zero).collect();
    ensure_are(&walk(chain, &format!("addresses/{address}/logs?topic={zero}"), size)?, &expected)
}

#[test]
fn of_an_unknown_address_are_none_and_bad_input_is_refused() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let path = format!("addresses/0x{}/logs", "12".repeat(20));
    ensure!(get(chain, &path)?["items"].as_array().is_some_and(Vec::is_empty));
    for bad in ["topic=0x12", "topic=transfer", "block_number=1", "index=1", "block_number=-1&index=0", "sort=asc"] {
        let answer = http::get(&http::agent(), &format!("{}/api/v2/{path}?{bad}", chain.api))?;
        ensure!(answer.status == 422, "{bad}: {}", answer.text());
    }
    Ok(())
}
