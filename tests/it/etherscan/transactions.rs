//! `module=account&action=txlist`: rows, orders and pages against what the node reported.

use alloy_primitives::U256;
use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::ask;
use crate::chains::{Chain, chain, quantity};
use crate::env;
use crate::transactions::{NodeTransaction, busiest, node_transactions};

/// A quantity of any size in decimal digits.
pub fn decimal(value: &Value) -> anyhow::Result<String> {
    let digits = value.as_str().with_context(|| format!("{value}"))?.trim_start_matches("0x");
    Ok(U256::from_str_radix(digits, 16)?.to_string())
}

/// An address or hash in small letters; nothing is an empty text.
pub fn lower(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_lowercase()
}

/// The whole row that is due for what the node reported, but for the name of the function.
pub fn row(tx: &NodeTransaction, chain: &Chain) -> anyhow::Result<Value> {
    let (transaction, receipt) = (&tx.transaction, &tx.receipt);
    let block = block(chain, tx.position().0)?;
    let input = lower(&transaction["input"]);
    let status = receipt["status"].as_str();
    Ok(json!({
        "blockNumber": decimal(&transaction["blockNumber"])?,
        "timeStamp": decimal(&block["timestamp"])?,
        "hash": transaction["hash"],
        "nonce": decimal(&transaction["nonce"])?,
        "blockHash": transaction["blockHash"],
        "transactionIndex": decimal(&transaction["transactionIndex"])?,
        "from": lower(&transaction["from"]),
        "to": lower(&transaction["to"]),
        "value": decimal(&transaction["value"])?,
        "gas": decimal(&transaction["gas"])?,
        "gasPrice": decimal(&receipt["effectiveGasPrice"])?,
        "isError": flag(has_failed(chain, tx)?),
        "txreceipt_status": flag(status.map(|status| status == "0x1")),
        "input": input,
        "contractAddress": lower(&receipt["contractAddress"]),
        "cumulativeGasUsed": decimal(&receipt["cumulativeGasUsed"])?,
        "gasUsed": decimal(&receipt["gasUsed"])?,
        "confirmations": (chain.head() - tx.position().0 + 1).to_string(),
        "methodId": if input.len() < 10 { "0x" } else { &input[..10] },
    }))
}

/// The rows of an answer without names of functions, which no node says.
fn rows(answer: &Value) -> Vec<Value> {
    let mut rows = answer["result"].as_array().cloned().unwrap_or_default();
    for row in &mut rows {
        let name = row.as_object_mut().and_then(|row| row.remove("functionName"));
        assert!(name.is_some_and(|name| name.is_string()), "{row}");
    }
    rows
}

fn line(chain: &Chain, number: u64) -> anyhow::Result<&Value> {
    chain.lines.iter().find(|line| quantity(&line["block"]["number"]) == number).context("a block")
}

pub fn block(chain: &Chain, number: u64) -> anyhow::Result<&Value> {
    Ok(&line(chain, number)?["block"])
}

/// Whether a transaction failed: by its receipt, else by the node's trace of it; of the mainnet blocks no traces are
/// loaded.
pub fn has_failed(chain: &Chain, tx: &NodeTransaction) -> anyhow::Result<Option<bool>> {
    let (number, index) = tx.position();
    let trace = &line(chain, number)?["traces"][usize::try_from(index)?]["result"];
    let by_trace = trace.is_object().then(|| trace["error"].is_string());
    Ok(tx.receipt["status"].as_str().map(|status| status != "0x1").or(by_trace))
}

pub fn flag(of: Option<bool>) -> &'static str {
    of.map_or("", |is| if is { "1" } else { "0" })
}

#[test]
fn txlist_is_what_the_account_takes_part_in() -> anyhow::Result<()> {
    // The mainnet blocks have gaps: status 2 beside the rows that are known.
    for (name, status) in [("hive", "1"), ("devchain", "1"), ("mainnet", "2")] {
        let chain = chain(name);
        let all = node_transactions(chain);
        let busiest = busiest(&all);
        let some = busiest.iter().take(env::amount(2, 3));
        let some = some.chain(busiest.iter().skip(3).step_by(busiest.len() / env::amount(2, 4)));
        for (address, _) in some {
            for filter in ["", "from", "to"] {
                let mut due = Vec::new();
                for tx in all.values().filter(|tx| tx.participants(filter).contains(address)) {
                    due.push(row(tx, chain)?);
                }
                let query = format!("module=account&action=txlist&address={address}&filterby={filter}");
                let up = ask(&chain.api, &format!("{query}&sort=asc"))?;
                ensure!(rows(&up) == due, "{name} {query}: {up}");
                let empty = due.is_empty() && status == "1";
                ensure!(up["status"] == if empty { "0" } else { status }, "{up}");
                ensure!(!empty || up["message"] == "No transactions found", "{up}");
                let down = ask(&chain.api, &format!("{query}&sort=desc"))?;
                due.reverse();
                ensure!(rows(&down) == due, "{name} {query}&sort=desc");
                // Without an order each kind of client gets that of its server.
                ensure!(ask(&chain.api, &query)? == down, "{name} {query}");
                ensure!(ask(&chain.api, &format!("{query}&chainid=1"))? == up, "{name} {query}&chainid=1");
                for page in [1, 2, 5] {
                    let found = ask(&chain.api, &format!("{query}&sort=desc&page={page}&offset=7"))?;
                    let due: Vec<Value> = due.iter().skip((page - 1) * 7).take(7).cloned().collect();
                    ensure!(rows(&found) == due, "{name} {query} page {page}: {found}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn txlist_is_cut_at_blocks() -> anyhow::Result<()> {
    let chain = chain("hive");
    let all = node_transactions(chain);
    let address = &busiest(&all)[0].0;
    let query = format!("module=account&action=txlist&address={address}&sort=asc");
    for (first, last) in [(0, 20), (10, 10), (17, 30), (30, 17), (0, 99_999_999), (99_999_999, 99_999_999)] {
        let found = ask(&chain.api, &format!("{query}&startblock={first}&endblock={last}"))?;
        let due = all
            .iter()
            .filter(|(position, tx)| (first..=last).contains(&position.0) && tx.participants("").contains(address));
        let due: Vec<&Value> = due.map(|(_, tx)| &tx.transaction["hash"]).collect();
        let found: Vec<Value> = rows(&found).iter().map(|row| row["hash"].clone()).collect();
        ensure!(found.iter().collect::<Vec<_>>() == due, "{first} to {last}: {found:?}");
    }
    Ok(())
}

#[test]
fn txlist_is_cut_at_times() -> anyhow::Result<()> {
    for name in ["hive", "devchain"] {
        let chain = chain(name);
        let all = node_transactions(chain);
        let address = &busiest(&all)[0].0;
        let time = |height: u64| Ok::<_, anyhow::Error>(quantity(&block(chain, height)?["timestamp"]));
        let (first, last) = (time(chain.head() / 3)?, time(chain.head() / 2)?);
        for (start, end) in
            [(first, last), (first + 1, last - 1), (0, first), (last, u64::from(u32::MAX)), (last, first), (0, 1)]
        {
            let period = format!("start_timestamp={start}&end_timestamp={end}");
            let query = format!("module=account&action=txlist&address={address}&sort=asc&{period}");
            let mut due = Vec::new();
            for tx in all.values().filter(|tx| tx.participants("").contains(address)) {
                if (start..=end).contains(&time(tx.position().0)?) {
                    due.push(tx.transaction["hash"].clone());
                }
            }
            for query in [query.replace("_timestamp", "timestamp"), query] {
                let found: Vec<Value> = rows(&ask(&chain.api, &query)?).iter().map(|row| row["hash"].clone()).collect();
                ensure!(found == due, "{name} {query}: {found:?}, due {due:?}");
            }
        }
        let refused = ask(&chain.api, &format!("module=account&action=txlist&address={address}&start_timestamp=x"))?;
        ensure!(refused["status"] == "0", "{refused}");
    }
    Ok(())
}

#[test]
fn gettxinfo_is_what_the_receipt_says() -> anyhow::Result<()> {
    let (mut failed, mut paged) = (0, 0);
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let is_long = |tx: &NodeTransaction| tx.receipt["logs"].as_array().map(Vec::len) > Some(100);
        let all = node_transactions(chain);
        let step = env::amount(24, 8);
        let some = all.values().enumerate().filter(|(nth, tx)| nth % step == 0 || is_long(tx));
        for (_, tx) in some {
            let (transaction, receipt) = (&tx.transaction, &tx.receipt);
            let mut logs: Vec<Value> = Vec::new();
            let mut index = String::new();
            loop {
                let query =
                    format!("module=transaction&action=gettxinfo&txhash={}{index}", lower(&transaction["hash"]));
                let found = ask(&chain.api, &query)?;
                let item = &found["result"];
                for (key, due) in [
                    ("blockNumber", decimal(&transaction["blockNumber"])?),
                    ("from", lower(&transaction["from"])),
                    ("to", lower(&transaction["to"])),
                    ("value", decimal(&transaction["value"])?),
                    ("input", lower(&transaction["input"])),
                    ("gasLimit", decimal(&transaction["gas"])?),
                    ("gasUsed", decimal(&receipt["gasUsed"])?),
                    ("gasPrice", decimal(&receipt["effectiveGasPrice"])?),
                    ("confirmations", (chain.head() - tx.position().0 + 1).to_string()),
                ] {
                    ensure!(item[key] == due, "{key}: {found}, due {due}");
                }
                let success = has_failed(chain, tx)?.map(|has_failed| !has_failed);
                ensure!(item["success"] == json!(success), "{found}");
                failed += usize::from(
                    success == Some(false) && item["revertReason"].as_str().is_some_and(|text| text.len() > 2),
                );
                logs.extend(item["logs"].as_array().context("logs")?.iter().cloned());
                let Some(next) = item["next_page_params"]["index"].as_str() else { break };
                index = format!("&index={next}");
                paged += 1;
            }
            let mut due = Vec::new();
            for log in receipt["logs"].as_array().into_iter().flatten() {
                due.push(json!({
                    "address": lower(&log["address"]),
                    "data": lower(&log["data"]),
                    "index": decimal(&log["logIndex"])?,
                    "topics": log["topics"],
                }));
            }
            ensure!(logs == due, "{name} {}: {logs:?}", transaction["hash"]);
        }
    }
    ensure!(failed > 0 && paged > 0, "{failed} with a reason, {paged} with more logs than an answer");
    let nothing =
        ask(&chain("hive").api, &format!("module=transaction&action=gettxinfo&txhash=0x{}", "12".repeat(32)))?;
    ensure!(nothing["status"] == "0" && nothing["message"] == "Transaction not found", "{nothing}");
    Ok(())
}

/// Blocks that are loaded are answered with status 1 on a chain with gaps too.
#[test]
fn missing_blocks_are_named_only_where_they_are_requested() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let address = format!("0x{}", "12".repeat(20));
    let head = chain.head();
    let there = ask(&chain.api, &format!("module=account&action=txlist&address={address}&startblock={head}"))?;
    ensure!(there == json!({"status": "0", "message": "No transactions found", "result": []}), "{there}");
    let missing = ask(&chain.api, &format!("module=account&action=txlist&address={address}"))?;
    let message = missing["message"].as_str().unwrap_or_default();
    ensure!(missing["status"] == "2" && message.starts_with("blocks ") && missing["result"] == json!([]), "{missing}");
    Ok(())
}
