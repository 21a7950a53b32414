//! `ots_searchTransactionsBefore` and `ots_searchTransactionsAfter`, searched here by brute force.

use std::collections::{BTreeMap, BTreeSet};

use alloy_rpc_types_trace::otterscan::TransactionsWithReceipts;
use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::{NodeTransaction, node_transactions, typed};
use crate::chains::{Chain, chain, dump, quantity};
use crate::env;
use crate::rpc::call;

/// Who takes part in a transaction: sender, recipient, created contract, and both ends of every frame.
fn participants(tx: &NodeTransaction<'_>) -> BTreeSet<String> {
    let own = [&tx.transaction["from"], &tx.transaction["to"], &tx.receipt["contractAddress"]];
    let of_frame = |frame: &'_ Value| {
        let created = if frame["error"].is_null() { &frame["result"]["address"] } else { &Value::Null };
        let action = &frame["action"];
        let ends = [&action["from"], &action["to"], &action["address"], &action["refundAddress"], created];
        ends.into_iter().filter_map(Value::as_str).map(str::to_lowercase).collect::<Vec<_>>()
    };
    let inner = tx.frames.into_iter().flatten().flat_map(of_frame);
    own.into_iter().filter_map(Value::as_str).map(str::to_lowercase).chain(inner).collect()
}

/// The transactions of each address, in chain order.
fn by_address<'t, 'c>(all: &'t [NodeTransaction<'c>]) -> BTreeMap<String, Vec<&'t NodeTransaction<'c>>> {
    let mut by_address: BTreeMap<String, Vec<&NodeTransaction<'_>>> = BTreeMap::new();
    for tx in all {
        participants(tx).into_iter().for_each(|address| by_address.entry(address).or_default().push(tx));
    }
    by_address
}

/// The first transactions of a list, so many and those of the last one's block.
fn first_blocks<'l, 't, 'c>(list: &'l [&'t NodeTransaction<'c>], size: usize) -> &'l [&'t NodeTransaction<'c>] {
    let Some(last) = list.get(size.min(list.len()).wrapping_sub(1)) else { return &[] };
    let end = list.iter().rposition(|tx| tx.block() == last.block()).map_or(0, |end| end + 1);
    &list[..end]
}

struct Search<'a> {
    api: &'a str,
    address: &'a str,
    size: usize,
}

impl Search<'_> {
    fn ask(&self, method: &str, block: u64) -> anyhow::Result<Value> {
        let params = json!([self.address, block, self.size]);
        let answer = http::rpc(&http::agent(), &format!("{}/api/eth-rpc", self.api), method, &params)?;
        ensure!(answer.get("error").is_none(), "{method} {params}: {answer}");
        Ok(answer["result"].clone())
    }

    /// Compares a page with the transactions that it must have, from the newest down.
    fn ensure_has(&self, page: &Value, expected: &[&NodeTransaction<'_>]) -> anyhow::Result<()> {
        let read: TransactionsWithReceipts = typed(page)?;
        ensure!(read.txs.len() == read.receipts.len());
        let found: Vec<&str> =
            page["txs"].as_array().into_iter().flatten().filter_map(|tx| tx["hash"].as_str()).collect();
        let hashes: Vec<&str> = expected.iter().map(|tx| tx.hash()).collect();
        ensure!(found == hashes, "{} {}: {found:?}, expected {hashes:?}", self.address, self.size);
        for (position, tx) in expected.iter().enumerate() {
            let (transaction, receipt) = (&page["txs"][position], &page["receipts"][position]);
            ensure!(transaction["input"] == tx.transaction["input"], "{transaction}");
            ensure!(receipt["transactionHash"] == tx.hash() && receipt["timestamp"].is_u64(), "{receipt}");
            ensure!(receipt["status"] == tx.status() && receipt.get("root").is_none(), "{receipt}");
            let logs = |receipt: &Value| -> Vec<(Value, Value)> {
                let logs = receipt["logs"].as_array().into_iter().flatten();
                logs.map(|log| (log["logIndex"].clone(), log["data"].clone())).collect()
            };
            ensure!(logs(receipt) == logs(tx.receipt) && receipt["logsBloom"] == tx.receipt["logsBloom"], "{receipt}");
        }
        Ok(())
    }

    /// Walks from the newest transaction down, and from the oldest up.
    fn walk(&self, all: &[&NodeTransaction<'_>]) -> anyhow::Result<()> {
        let down: Vec<&NodeTransaction<'_>> = all.iter().rev().copied().collect();
        let (mut rest, mut block) = (down.as_slice(), 0);
        loop {
            let page = self.ask("ots_searchTransactionsBefore", block)?;
            let expected = first_blocks(rest, self.size);
            self.ensure_has(&page, expected)?;
            rest = &rest[expected.len()..];
            ensure!(page["firstPage"] == (block == 0) && page["lastPage"] == rest.is_empty(), "{page}");
            let Some(last) = expected.last().filter(|_| !rest.is_empty()) else { break };
            block = last.block();
        }
        let (mut rest, mut block) = (all, 0);
        loop {
            let page = self.ask("ots_searchTransactionsAfter", block)?;
            let expected = first_blocks(rest, self.size);
            self.ensure_has(&page, &expected.iter().rev().copied().collect::<Vec<_>>())?;
            rest = &rest[expected.len()..];
            ensure!(page["lastPage"] == (block == 0) && page["firstPage"] == rest.is_empty(), "{page}");
            let Some(last) = expected.last().filter(|_| !rest.is_empty()) else { return Ok(()) };
            block = last.block();
        }
    }
}

fn compare(chain: &'static Chain, api: &str) -> anyhow::Result<usize> {
    let all = node_transactions(chain);
    let by_address = by_address(&all);
    let mut addresses: Vec<(&String, &Vec<&NodeTransaction<'_>>)> = by_address.iter().collect();
    addresses.sort_by_key(|(address, list)| (std::cmp::Reverse(list.len()), (*address).clone()));
    // Who takes part only within transactions is found too.
    let is_inner = |tx: &NodeTransaction<'_>, address: &str| {
        let own = [&tx.transaction["from"], &tx.transaction["to"], &tx.receipt["contractAddress"]];
        own.iter().all(|own| own.as_str().is_none_or(|own| own.to_lowercase() != address))
    };
    let inner =
        addresses.iter().filter(|(address, list)| list.iter().all(|tx| is_inner(tx, address))).take(env::amount(2, 4));
    let some = addresses
        .iter()
        .take(env::amount(1, 4))
        .chain(addresses.iter().skip(4).step_by(addresses.len() / env::amount(3, 6)))
        .chain(inner);
    let mut hits = 0;
    for (address, list) in some {
        for size in if list.len() > env::amount(20, 60) { vec![23, 100] } else { vec![1, 4, 25] } {
            Search { api, address, size }.walk(list)?;
        }
        hits += list.len();
    }
    let unknown = format!("0x{}", "12".repeat(20));
    Search { api, address: &unknown, size: 25 }.walk(&[])?;
    Ok(hits)
}

#[test]
fn finds_every_transaction_an_address_takes_part_in() -> anyhow::Result<()> {
    for name in ["hive", "devchain"] {
        let hits = compare(chain(name), &chain(name).api)?;
        ensure!(hits > 60, "{name}: {hits}");
    }
    let gaps = env::start_api("mainnet", &["--gaps", "serve"]).or_else(|_| {
        chain("mainnet");
        env::start_api("mainnet", &["--gaps", "serve"])
    })?;
    ensure!(compare(chain("mainnet"), &gaps.url)? > 60);
    gaps.stop()?;
    Ok(())
}

#[test]
fn refuses_where_blocks_or_traces_or_tables_are_missing() -> anyhow::Result<()> {
    let mainnet = chain("mainnet");
    let address = mainnet.lines.iter().flat_map(|line| line["block"]["transactions"].as_array().into_iter().flatten());
    let address = address.map(|transaction| &transaction["from"]).next().context("a sender")?;
    for method in ["ots_searchTransactionsBefore", "ots_searchTransactionsAfter"] {
        let error = &call(mainnet, method, json!([address, 0, 25]))?["error"];
        ensure!(error["code"] == -32002 && error["data"]["missing"].is_array(), "{method}: {error}");
        for wrong in
            [json!([address, 0, 0]), json!([address, 0, 101]), json!(["0x12", 0, 25]), json!([address, "x", 25])]
        {
            ensure!(call(mainnet, method, wrong)?["error"]["code"] == -32602);
        }
    }
    let newest = chain("devchain").head();
    let beyond = call(chain("devchain"), "ots_searchTransactionsAfter", json!([address, newest, 25]))?;
    ensure!(beyond["result"] == json!({"txs": [], "receipts": [], "firstPage": true, "lastPage": false}), "{beyond}");
    let database = "otterscan_without";
    let _database = env::database(database);
    env::run(env::ingest(database, &["migrate", "--without", "transactions_by_address"]), 0)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain"), "--to", "9"]), 0)?;
    let api = env::start_api(database, &[])?;
    for (method, params) in [
        ("ots_searchTransactionsBefore", json!([address, 0, 25])),
        ("ots_getTransactionBySenderAndNonce", json!([address, 0])),
    ] {
        let answer = http::rpc(&http::agent(), &format!("{}/rpc", api.url), method, &params)?;
        let text = answer["error"]["message"].as_str().unwrap_or_default();
        ensure!(answer["error"]["code"] == -32002 && text.contains("migrate --with"), "{answer}");
    }
    api.stop()?;
    Ok(())
}

/// A page ends where what lies beyond is not known, and the next one says so.
#[test]
fn answers_from_what_is_there_above_a_gap() -> anyhow::Result<()> {
    let database = "otterscan_gap";
    let _database = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain"), "--from", "30"]), 0)?;
    let api = env::start_api(database, &[])?;
    let all = node_transactions(chain("devchain"));
    let above: Vec<&NodeTransaction<'_>> = all.iter().filter(|tx| tx.block() >= 30).collect();
    let sender = above.iter().map(|tx| tx.transaction["from"].as_str().unwrap_or_default());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    sender.for_each(|sender| *counts.entry(sender).or_default() += 1);
    let (address, _) = counts.into_iter().max_by_key(|(_, count)| *count).context("a sender")?;
    let own: Vec<&NodeTransaction<'_>> =
        above.iter().rev().copied().filter(|tx| participants(tx).contains(address)).collect();
    let search = Search { api: &api.url, address, size: 5 };
    let page = search.ask("ots_searchTransactionsBefore", 0)?;
    search.ensure_has(&page, first_blocks(&own, 5))?;
    ensure!(page["lastPage"] == false);
    for (method, block) in [("ots_searchTransactionsBefore", 31), ("ots_searchTransactionsAfter", 0)] {
        let params = json!([address, block, 100]);
        let answer = http::rpc(&http::agent(), &format!("{}/rpc", api.url), method, &params)?;
        ensure!(answer["error"]["code"] == -32002, "{answer}");
        ensure!(answer["error"]["data"]["missing"][0]["toBlock"] == "0x1d", "{answer}");
    }
    let oldest = own.last().context("a transaction")?;
    ensure!(quantity(&oldest.transaction["blockNumber"]) >= 30);
    api.stop()?;
    Ok(())
}
