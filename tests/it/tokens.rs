//! Tokens of REST, against what the nodes reported in receipts and by calls.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::{http, workspace};

use crate::chains::{Chain, chain, quantity};
use crate::env;
use crate::pages::{get, walk};

const TRANSFER: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const TRANSFER_SINGLE: &str = "0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62";
const TRANSFER_BATCH: &str = "0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb";

/// The standard of a log and the number of its transfers, if it is any.
fn transfers(log: &Value) -> Option<(&'static str, usize)> {
    let topics: Vec<&str> = log["topics"].as_array()?.iter().filter_map(Value::as_str).collect();
    let data = log["data"].as_str()?.trim_start_matches("0x");
    let are_addresses = |topics: &[&str]| topics.iter().all(|topic| topic[2..26].bytes().all(|digit| digit == b'0'));
    match (topics.as_slice(), data.len()) {
        ([TRANSFER, sides @ ..], 64) if sides.len() == 2 && are_addresses(sides) => Some(("ERC-20", 1)),
        ([TRANSFER, from, to, _], 0) if are_addresses(&[from, to]) => Some(("ERC-721", 1)),
        ([TRANSFER_SINGLE, sides @ ..], 128) if sides.len() == 3 && are_addresses(sides) => Some(("ERC-1155", 1)),
        ([TRANSFER_BATCH, sides @ ..], length) if sides.len() == 3 && are_addresses(sides) => {
            let items = (length / 64).checked_sub(4)? / 2;
            let ids: BTreeSet<&str> = (0..items).map(|item| &data[64 * (3 + item)..64 * (4 + item)]).collect();
            (!ids.is_empty()).then_some(("ERC-1155", ids.len()))
        }
        _ => None,
    }
}

/// The positions of a token's transfers, their standard, and how many a log has.
type Moves = BTreeMap<(u64, u64), (&'static str, usize)>;

/// Of each token.
type ExpectedMoves = BTreeMap<String, Moves>;

fn expected_moves(chain: &Chain) -> ExpectedMoves {
    let mut moves = ExpectedMoves::new();
    let receipts = chain.lines.iter().filter_map(|line| line["receipts"].as_array()).flatten();
    for log in receipts.filter_map(|receipt| receipt["logs"].as_array()).flatten() {
        let Some(found) = transfers(log) else { continue };
        let token = log["address"].as_str().unwrap_or_default().to_lowercase();
        moves.entry(token).or_default().insert((quantity(&log["blockNumber"]), quantity(&log["logIndex"])), found);
    }
    moves
}

/// Some tokens, the most moved among them.
fn some(moves: &ExpectedMoves) -> impl Iterator<Item = (&String, &Moves)> {
    let most = moves.iter().max_by_key(|(_, positions)| positions.len());
    let batches = moves.iter().find(|(_, positions)| positions.values().any(|(_, count)| *count > 1));
    most.into_iter().chain(batches).chain(moves.iter().step_by((moves.len() / 12).max(1)))
}

#[test]
fn are_what_their_transfers_are() -> anyhow::Result<()> {
    let mut standards = BTreeSet::new();
    for (name, is_whole) in [("hive", true), ("devchain", true), ("mainnet", false)] {
        let chain = chain(name);
        let moves = expected_moves(chain);
        for (token, positions) in some(&moves) {
            let page = get(chain, &format!("tokens/{token}"))?;
            ensure!(page["address_hash"].as_str().map(str::to_lowercase).as_ref() == Some(token), "{page}");
            let standard = page["type"].as_str().context("type")?;
            ensure!(
                positions.values().any(|(kind, _)| *kind == standard),
                "{name} {token}: {page}, expected {positions:?}"
            );
            standards.insert(standard.to_owned());
            let counters = get(chain, &format!("tokens/{token}/counters"))?;
            let count: usize = positions.values().map(|(_, count)| count).sum();
            let expected = if is_whole { json!(count.to_string()) } else { Value::Null };
            ensure!(counters["transfers_count"] == expected, "{name} {token}: {counters}, expected {count}");
            ensure!(counters["token_holders_count"] == page["holders_count"], "{name} {token}: {counters}, {page}");
        }
    }
    ensure!(standards.len() == 3, "{standards:?}");
    Ok(())
}

/// Each transfer once, from the highest position down, however large the pages are.
#[test]
fn have_the_transfers_of_their_logs() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let moves = expected_moves(chain);
        for (token, positions) in some(&moves) {
            let expected: Vec<(u64, u64)> =
                positions.iter().rev().flat_map(|(position, (_, count))| vec![*position; *count]).collect();
            let sizes: &[u64] = if expected.len() > env::amount(20, 200) { &[97] } else { &[1, 2, 50] };
            for size in sizes {
                let found = walk(chain, &format!("tokens/{token}/transfers"), *size)?;
                let position = |item: &Value| (item["block_number"].as_u64(), item["log_index"].as_u64());
                let is_same =
                    found.iter().map(position).eq(expected.iter().map(|position| (Some(position.0), Some(position.1))));
                ensure!(is_same, "{name} {token} in pages of {size}: {} of {}", found.len(), expected.len());
                let each: BTreeSet<String> = found.iter().map(ToString::to_string).collect();
                ensure!(each.len() == found.len(), "{name} {token}: one twice");
                let own = |item: &Value| item["token"]["address_hash"].as_str().map(str::to_lowercase);
                ensure!(found.iter().all(|item| own(item).as_ref() == Some(token)), "{name} {token}");
            }
        }
    }
    Ok(())
}

#[test]
fn have_the_supply_and_the_names_that_the_node_says() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(workspace::fixture("devchain/node/expected.json"))?)?;
    let mut supplies = 0;
    for (token, facts) in expected["erc20"].as_object().context("tokens")? {
        let page = get(chain, &format!("tokens/{token}"))?;
        // Deposits and withdrawals make and take coins without a transfer.
        let is_known = facts["label"] != "Wrapped";
        ensure!(!is_known || page["total_supply"] == facts["totalSupply"], "{page}, expected {facts}");
        ensure!(is_known == page["holders_count"].is_string(), "{page}");
        supplies += usize::from(is_known);
    }
    ensure!(supplies > 1, "{expected}");
    Ok(())
}

#[test]
fn that_are_none_are_not_found() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        for (path, status) in [(format!("0x{}", "9e".repeat(20)), 404), ("0x12".into(), 422), ("latest".into(), 422)] {
            for part in ["", "/counters", "/transfers", "/holders"] {
                let path = format!("{}/api/v2/tokens/{path}{part}", chain.api);
                let answer = http::get(&http::agent(), &path)?;
                ensure!(answer.status == status, "{path}: {} {}", answer.status, answer.text());
            }
        }
    }
    Ok(())
}
