//! Transactions of an address and of a block by what they sent and paid, against the nodes' words.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::ensure;
use serde_json::Value;
use xtask::http;

use crate::chains::chain;
use crate::env;
use crate::pages::walk;
use crate::transactions::{NodeTransaction, busiest, node_transactions};

fn number(value: &Value) -> u128 {
    u128::from_str_radix(value.as_str().unwrap_or_default().trim_start_matches("0x"), 16).unwrap_or_default()
}

fn value(tx: &NodeTransaction) -> u128 {
    number(&tx.transaction["value"])
}

fn fee(tx: &NodeTransaction) -> u128 {
    number(&tx.receipt["gasUsed"]) * number(&tx.receipt["effectiveGasPrice"])
}

type Amount = fn(&NodeTransaction) -> u128;

#[test]
fn of_addresses_are_in_the_order_of_amounts() -> anyhow::Result<()> {
    let mut equal = 0;
    for name in ["devchain", "hive", "mainnet"] {
        let chain = chain(name);
        let all = node_transactions(chain);
        let busiest = busiest(&all);
        let others = busiest.iter().skip(3).step_by(busiest.len() / env::amount(1, 2));
        for (address, _) in busiest.iter().take(env::amount(1, 3)).chain(others) {
            for (by, amount) in [("value", value as Amount), ("fee", fee as Amount)] {
                for (filter, size) in [("", 7), ("&filter=from", 50), ("&filter=to", 3)] {
                    let side = filter.trim_start_matches("&filter=");
                    let mut expected: Vec<&NodeTransaction> =
                        all.values().filter(|tx| tx.participants(side).contains(address)).collect();
                    expected.sort_by_key(|tx| (amount(tx), tx.position()));
                    let size = size.max(expected.len() as u64 / 5).min(100);
                    equal += expected.windows(2).filter(|pair| amount(pair[0]) == amount(pair[1])).count();
                    for order in ["asc", "desc"] {
                        let path = format!("addresses/{address}/transactions?sort={by}&order={order}{filter}");
                        let found = walk(chain, &path, size)?;
                        let hashes: Vec<&Value> = found.iter().map(|item| &item["hash"]).collect();
                        let due: Vec<&Value> = expected.iter().map(|tx| &tx.transaction["hash"]).collect();
                        ensure!(hashes == due, "{name} {path}: {hashes:?}, not {due:?}");
                        expected.reverse();
                    }
                }
            }
        }
    }
    ensure!(equal > 50, "{equal} pairs of equal amounts");
    Ok(())
}

#[test]
fn of_blocks_are_in_the_order_of_amounts() -> anyhow::Result<()> {
    let mut compared = 0;
    for name in ["devchain", "hive", "mainnet"] {
        let chain = chain(name);
        let all = node_transactions(chain);
        let mut by_block: BTreeMap<u64, Vec<&NodeTransaction>> = BTreeMap::new();
        for tx in all.values() {
            by_block.entry(tx.position().0).or_default().push(tx);
        }
        let mut fullest: Vec<_> = by_block.into_iter().collect();
        fullest.sort_by_key(|(_, of_block)| Reverse(of_block.len()));
        for (block, mut expected) in fullest.into_iter().take(env::amount(2, 10)) {
            for (by, amount) in [("value", value as Amount), ("fee", fee as Amount)] {
                expected.sort_by_key(|tx| (amount(tx), tx.position()));
                for order in ["asc", "desc"] {
                    let path = format!("blocks/{block}/transactions?sort={by}&order={order}");
                    let size = (expected.len() as u64 / 3).clamp(1, 100);
                    let found = walk(chain, &path, size)?;
                    let hashes: Vec<&Value> = found.iter().map(|item| &item["hash"]).collect();
                    let due: Vec<&Value> = expected.iter().map(|tx| &tx.transaction["hash"]).collect();
                    ensure!(hashes == due, "{name} {path}: {hashes:?}, not {due:?}");
                    compared += found.len();
                    expected.reverse();
                }
            }
        }
    }
    ensure!(compared > 1_000, "{compared} positions");
    let path = format!("{}/api/v2/blocks/1/transactions?order=desc", chain("devchain").api);
    ensure!(http::get(&http::agent(), &path)?.status == 422);
    Ok(())
}

#[test]
fn a_part_of_a_cursor_is_refused() -> anyhow::Result<()> {
    let list = format!("{}/api/v2/addresses/0x{}/transactions", chain("devchain").api, "12".repeat(20));
    for query in [
        "sort=gas",
        "sort=value&block_number=3&index=1",
        "sort=value&value=3",
        "sort=fee&value=3&block_number=3&index=1",
        "sort=fee&fee=0x1&block_number=3&index=1",
    ] {
        let answer = http::get(&http::agent(), &format!("{list}?{query}"))?;
        ensure!(answer.status == 422, "{query}: {} {}", answer.status, answer.text());
    }
    let answer = http::get(&http::agent(), &format!("{list}?sort=fee"))?;
    ensure!(answer.status == 200 && answer.json()?["items"] == serde_json::json!([]), "{}", answer.text());
    Ok(())
}
