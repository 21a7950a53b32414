//! `module=logs&action=getLogs` against the logs of the node's receipts.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::ask;
use super::transactions::{block, lower};
use crate::chains::{Chain, chain, quantity};
use crate::env;
use crate::transactions::{NodeTransaction, node_transactions};

/// The rows that are due, with the topics they have.
fn all(chain: &Chain) -> anyhow::Result<Vec<Value>> {
    let mut all = Vec::new();
    for NodeTransaction { transaction, receipt } in node_transactions(chain).values() {
        let number = quantity(&transaction["blockNumber"]);
        for log in receipt["logs"].as_array().into_iter().flatten() {
            let hex = |value: &Value| format!("{:#x}", quantity(value));
            all.push(json!({
                "address": lower(&log["address"]),
                "topics": log["topics"],
                "data": lower(&log["data"]),
                "blockNumber": hex(&transaction["blockNumber"]),
                "blockHash": transaction["blockHash"],
                "timeStamp": hex(&block(chain, number)?["timestamp"]),
                "gasPrice": hex(&receipt["effectiveGasPrice"]),
                "gasUsed": hex(&receipt["gasUsed"]),
                "logIndex": hex(&log["logIndex"]),
                "transactionHash": transaction["hash"],
                "transactionIndex": hex(&transaction["transactionIndex"]),
            }));
        }
    }
    Ok(all)
}

fn compare(chain: &Chain, query: &str, due: Vec<&Value>) -> anyhow::Result<()> {
    let found = ask(&chain.api, &format!("module=logs&action=getLogs&{query}"))?;
    let rows = found["result"].as_array().cloned().unwrap_or_default();
    let due: Vec<&Value> = due.into_iter().take(1_000).collect();
    ensure!(rows.iter().collect::<Vec<_>>() == due, "{query}: {} of {}", rows.len(), due.len());
    let empty = due.is_empty();
    ensure!(found["status"] == if empty { "0" } else { "1" }, "{query}: {found}");
    ensure!(!empty || found["message"] == "No records found", "{query}: {found}");
    Ok(())
}

#[test]
fn getlogs_is_what_the_receipts_have() -> anyhow::Result<()> {
    for name in ["hive", "devchain"] {
        let chain = chain(name);
        let all = all(chain)?;
        let head = chain.head();
        ensure!(all.len() > 50, "{name}: {}", all.len());
        for log in all.iter().step_by(all.len() / env::amount(6, 12)) {
            let address = lower(&log["address"]);
            let of_address = |row: &&Value| row["address"] == address;
            let query = format!("fromBlock=0&toBlock=latest&address={address}");
            compare(chain, &query, all.iter().filter(of_address).collect())?;
            let (first, last) = (head / 3, head / 2);
            let in_range = |row: &&Value| (first..=last).contains(&quantity(&row["blockNumber"]));
            let query = format!("fromBlock={first}&toBlock={last}&address={address}");
            compare(chain, &query, all.iter().filter(of_address).filter(in_range).collect())?;
            for position in 0..4 {
                let topic = lower(&log["topics"][position]);
                if topic.is_empty() {
                    continue;
                }
                let has = |row: &&Value| lower(&row["topics"][position]) == topic;
                let query = format!("fromBlock=0&toBlock=latest&topic{position}={topic}");
                compare(chain, &query, all.iter().filter(has).collect())?;
                if position > 0 {
                    let event = lower(&log["topics"][0]);
                    let both = |row: &&Value| lower(&row["topics"][0]) == event;
                    let query = format!("{query}&topic0={event}&topic0_{position}_opr=and&address={address}");
                    compare(chain, &query, all.iter().filter(has).filter(both).filter(of_address).collect())?;
                }
            }
        }
    }
    Ok(())
}

/// Either of two topics, either of three, and both of two or a third: as brute force finds them, each once.
#[test]
fn getlogs_joins_topics_by_or() -> anyhow::Result<()> {
    for name in ["hive", "devchain"] {
        let chain = chain(name);
        let all = all(chain)?;
        let mut overlaps = 0;
        for log in
            all.iter().filter(|row| row["topics"].as_array().map(Vec::len) >= Some(2)).step_by(env::amount(58, 29))
        {
            let other = &all[all.len() / 3];
            let topic = |position: usize| lower(&log["topics"][position]);
            // The event of another log, and its own: that one is met by logs that meet the others too.
            for event in [lower(&other["topics"][0]), lower(&log["topics"][0])] {
                let is = |row: &Value, position: usize, topic: &str| lower(&row["topics"][position]) == topic;
                let base = format!("fromBlock=0&toBlock=latest&topic0={event}&topic1={}", topic(1));
                let either = |row: &&Value| is(row, 0, &event) || is(row, 1, &topic(1));
                compare(chain, &format!("{base}&topic0_1_opr=or"), all.iter().filter(either).collect())?;
                overlaps += all.iter().filter(|row| is(row, 0, &event) && is(row, 1, &topic(1))).count();
                if topic(2).is_empty() {
                    continue;
                }
                let any = |row: &&Value| either(row) || is(row, 2, &topic(2));
                let base = format!("{base}&topic2={}", topic(2));
                let query = format!("{base}&topic0_1_opr=or&topic0_2_opr=or&topic1_2_opr=or");
                compare(chain, &query, all.iter().filter(any).collect())?;
                let mixed = |row: &&Value| is(row, 0, &event) || (is(row, 1, &topic(1)) && is(row, 2, &topic(2)));
                let query = format!("{base}&topic0_1_opr=or&topic0_2_opr=or&topic1_2_opr=and");
                compare(chain, &query, all.iter().filter(mixed).collect())?;
                let address = lower(&log["address"]);
                let of_address = |row: &&Value| row["address"] == address;
                let query = format!("{query}&address={address}");
                compare(chain, &query, all.iter().filter(mixed).filter(of_address).collect())?;
            }
        }
        ensure!(overlaps > 0, "{name}: no log meets two alternatives");
    }
    Ok(())
}

/// The transfers from or to an account, of one event: as Etherscan's clients ask for what somebody moved.
#[test]
fn getlogs_joins_an_event_with_either_of_two_topics() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let all = all(chain)?;
    let is = |row: &Value, position: usize, topic: &str| lower(&row["topics"][position]) == topic;
    let mut met = [0; 2];
    for log in all.iter().filter(|row| row["topics"].as_array().map(Vec::len) >= Some(3)).step_by(env::amount(40, 20)) {
        let [event, account] = [0, 1].map(|position| lower(&log["topics"][position]));
        let query = format!(
            "fromBlock=0&toBlock=latest&topic0={event}&topic1={account}&topic2={account}&topic0_1_opr=and&topic0_2_opr=and\
             &topic1_2_opr=or"
        );
        let either = |row: &&Value| is(row, 0, &event) && (is(row, 1, &account) || is(row, 2, &account));
        let due: Vec<&Value> = all.iter().filter(either).collect();
        for position in [1, 2] {
            met[position - 1] += due.iter().filter(|row| is(row, position, &account)).count();
        }
        compare(chain, &query, due)?;
        let address = lower(&log["address"]);
        let of_address = |row: &&Value| row["address"] == address;
        let due = all.iter().filter(either).filter(of_address).collect();
        compare(chain, &format!("{query}&address={address}"), due)?;
    }
    ensure!(met.iter().all(|met| *met > 0), "{met:?}");
    Ok(())
}

/// All pages of a query, to the first that is empty.
fn pages(base: &str, size: usize) -> anyhow::Result<Vec<Value>> {
    let mut found = Vec::new();
    for page in 1.. {
        let answer = http::get(&http::agent(), &format!("{base}&page={page}&offset={size}"))?.json()?;
        let rows = answer["result"].as_array().cloned().with_context(|| format!("{answer}"))?;
        ensure!(rows.len() <= size, "{} of {size}", rows.len());
        if rows.is_empty() {
            ensure!(answer["status"] == "0" && answer["message"] == "No records found", "{answer}");
            break;
        }
        ensure!(answer["status"] == "1", "{answer}");
        found.extend(rows);
    }
    Ok(found)
}

/// No log of a block is out of reach, and none comes twice: for each kind of client, by one filter and by two. In the
/// ordinary run a turn of two has every second kind.
fn ensure_paged(api: &str, query: &str, due: &[&Value], turn: usize) -> anyhow::Result<()> {
    let clients = [
        (format!("{api}/api?module=logs&action=getLogs&{query}"), 1_000),
        (format!("{api}/api?module=logs&action=getLogs&{query}"), 333),
        (format!("{api}/api?module=logs&action=getLogs&{query}&chainid=1"), 700),
        (format!("{api}/v2/api?chainid=1&module=logs&action=getLogs&{query}"), 1_000),
        (format!("{api}/api/legacy/logs/get-logs?{query}"), 500),
    ];
    for (base, size) in clients.into_iter().skip(env::amount(turn, 0)).step_by(env::amount(2, 1)) {
        let found = pages(&base, size)?;
        ensure!(found.iter().collect::<Vec<_>>() == due, "{base} by {size}: {} of {}", found.len(), due.len());
    }
    let beyond =
        http::get(&http::agent(), &format!("{api}/api?module=logs&action=getLogs&{query}&offset=1001"))?.json()?;
    ensure!(beyond["message"] == "Invalid offset: a page has at most 1000 rows", "{beyond}");
    Ok(())
}

/// One of the mainnet blocks has more logs than an answer.
#[test]
fn getlogs_ends_after_a_thousand_and_has_pages() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let all = all(chain)?;
    let topic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
    let mut by_block: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
    for row in all.iter().filter(|row| row["topics"][0] == topic) {
        by_block.entry(quantity(&row["blockNumber"])).or_default().push(row);
    }
    let (block, due) = by_block.into_iter().max_by_key(|(_, rows)| rows.len()).unwrap_or_default();
    ensure!(due.len() > 1_000, "{}", due.len());
    let query = format!("fromBlock={block}&toBlock={block}&topic0={topic}");
    compare(chain, &query, due.clone())?;
    ensure_paged(&chain.api, &query, &due, 0)?;
    // More than that of one alternative, and some of another between them.
    let of_block: Vec<&Value> = all.iter().filter(|row| quantity(&row["blockNumber"]) == block).collect();
    let other = of_block.iter().find(|row| row["topics"][0] != topic && row["topics"][1].is_string());
    let other = lower(&other.context("another event")?["topics"][1]);
    let either = of_block.into_iter().filter(|row| row["topics"][0] == topic || lower(&row["topics"][1]) == other);
    let (query, due) = (format!("{query}&topic1={other}&topic0_1_opr=or"), either.collect::<Vec<_>>());
    ensure_paged(&chain.api, &query, &due, 1)?;
    compare(chain, &query, due)
}

/// A missing operator is `and` for clients of Etherscan, and without bounds the whole chain is meant.
#[test]
fn getlogs_has_the_defaults_of_etherscan() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let all = all(chain)?;
    let log = all.iter().find(|row| row["topics"][1].is_string()).context("a log with topics")?;
    let topics = [0, 1].map(|position| lower(&log["topics"][position]));
    let query = format!("topic0={}&topic1={}", topics[0], topics[1]);
    let both = |row: &&Value| [0, 1].iter().all(|position| lower(&row["topics"][*position]) == topics[*position]);
    let due: Vec<&Value> = all.iter().filter(both).collect();
    for bounds in ["", "&fromBlock=0", "&toBlock=latest", "&toBlock=99999999"] {
        compare(chain, &format!("{query}{bounds}&chainid=1"), due.clone())?;
        compare(chain, &format!("{query}{bounds}&topic0_1_opr=AND"), due.clone())?;
    }
    // Names as rotki has written them, one of them of a fifth topic.
    let query = format!("module=logs&action=getLogs&{query}");
    for operators in ["topic0_1opr=and&topic1_2opr=and", "topic0_1opr=and&topic3_4opr=and"] {
        let found = ask(&chain.api, &format!("{query}&{operators}"))?;
        ensure!(found["result"] == json!(due), "{operators}: {found}");
    }
    let either = ask(&chain.api, &format!("{query}&topic0_1opr=or"))?;
    ensure!(either["result"].as_array().is_some_and(|rows| rows.len() > due.len()), "{either}");
    Ok(())
}

#[test]
fn getlogs_names_what_is_missing() -> anyhow::Result<()> {
    let api = &chain("hive").api;
    let (address, topic) = (format!("0x{}", "12".repeat(20)), format!("0x{}", "34".repeat(32)));
    for (query, message) in [
        ("fromBlock=0&toBlock=9".into(), "Query parameter 'address' or one of 'topic0' to 'topic3' is required"),
        (format!("fromBlock=0&toBlock=9&topic0={topic}&topic2={topic}"), "Query parameter 'topic0_2_opr' is required"),
        (format!("fromBlock=0&toBlock=9&topic0={topic}&topic2={topic}&topic0_2_opr=xor"), "Invalid topic0_2_opr"),
        (
            // A chain of `and` is no part of others by `or`, nor the other way round.
            format!(
                "fromBlock=0&toBlock=9&topic0={topic}&topic1={topic}&topic2={topic}&topic3={topic}&topic0_1_opr=and\
                 &topic1_2_opr=and&topic2_3_opr=and&topic0_2_opr=or&topic0_3_opr=or&topic1_3_opr=or"
            ),
            "The operators contradict each other",
        ),
        (format!("fromBlock=0&toBlock=9&topic0={address}"), "Invalid topic0 format"),
        (format!("fromBlock=a&toBlock=9&topic0={topic}"), "Invalid fromBlock"),
    ] {
        let refused = ask(api, &format!("module=logs&action=getlogs&{query}"))?;
        let text = refused["message"].as_str().unwrap_or_default();
        ensure!(refused["status"] == "0" && text.starts_with(message), "{query}: {refused}");
    }
    let missing =
        ask(&chain("mainnet").api, &format!("module=logs&action=getlogs&fromBlock=0&toBlock=99&topic0={topic}"))?;
    ensure!(missing["status"] == "2" && missing["result"] == json!([]), "{missing}");
    Ok(())
}
