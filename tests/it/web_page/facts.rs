//! What pages must say of blocks, transactions, addresses and tokens: made from the nodes' recorded words alone, and
//! handed to a browser as JSON. No answer of the API has a part in it.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::U256;
use serde_json::{Map, Value, json};

use crate::chains::{Chain, quantity};
use crate::env;

/// Signature of the event that both ERC-20 and ERC-721 tokens emit.
const TRANSFER: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/// Rows of a page of a list.
const PAGE: usize = 50;
/// Blocks whose pages are opened, about.
const BLOCKS: usize = 40;
/// Receipts whose proofs are checked in the browser, at most.
const PROOFS: usize = 5;
/// Addresses and tokens whose pages are opened.
const MAX_ADDRESSES: usize = 8;

/// A transaction with its receipt, and the block's line.
type Item<'a> = (&'a Value, &'a Value, &'a Value);

/// Every fact that pages of this chain are held against; `symbol` is what its coin is called.
pub fn of(chain: &Chain, symbol: &str) -> Value {
    let items: Vec<Item<'_>> = chain.lines.iter().flat_map(items_of).collect();
    // Whether no block is missing, so that counts of the whole chain are known.
    let is_whole = chain.lines.len() as u64 == chain.head() + 1;
    let chosen = of_each_kind(&items);
    let step = (chain.lines.len() / env::amount(BLOCKS / 6, BLOCKS)).max(1);
    let mut pages: Vec<Value> = chain.lines.iter().step_by(step).map(|line| block(line, symbol)).collect();
    pages.extend(chain.lines.iter().flat_map(uncles));
    pages.extend(chosen.iter().map(|item| transaction(*item, symbol)));
    pages.extend(chosen.iter().step_by(env::amount(3, 1)).map(|item| logs(*item)));
    pages.extend(chosen.iter().step_by(chosen.len().div_ceil(env::amount(3, PROOFS))).map(proof));
    pages.extend(parties(&chosen).into_iter().map(|address| account(&address, &items, is_whole)));
    pages.extend(tokens(&items, is_whole));
    pages.push(gaps(chain));
    pages.extend(chain.lines.iter().max_by_key(|line| items_of(line).len()).map(by_fee));
    Value::Array(pages)
}

/// The transactions of a block that paid the most, the last of equal ones first.
fn by_fee(line: &Value) -> Value {
    let mut items: Vec<(usize, Item<'_>)> = items_of(line).into_iter().enumerate().collect();
    items.sort_by_key(|(index, (_, receipt, _))| std::cmp::Reverse((fee(receipt), *index)));
    let links: Vec<String> = items.iter().take(PAGE).map(|(_, (item, ..))| path("tx", &item["hash"])).collect();
    let height = quantity(&line["block"]["number"]);
    json!({"path": format!("/block/{height}?sort=fee"), "rows": links.len(), "links": links})
}

/// The list of the newest blocks, with how many are missing between them.
fn gaps(chain: &Chain) -> Value {
    let heights: Vec<u64> =
        chain.lines.iter().map(|line| quantity(&line["block"]["number"])).rev().take(PAGE).collect();
    let between = heights.windows(2).map(|pair| pair[0] - pair[1] - 1).filter(|missing| *missing > 0);
    let text = |missing: u64| format!("{} block{} not indexed here", grouped(&missing.to_string()), plural(missing));
    json!({"path": "/blocks", "gaps": between.map(text).collect::<Vec<_>>()})
}

fn plural(count: u64) -> &'static str {
    if count == 1 { " is" } else { "s are" }
}

fn items_of(line: &Value) -> Vec<Item<'_>> {
    let receipts = line["receipts"].as_array().into_iter().flatten();
    let transactions = line["block"]["transactions"].as_array().into_iter().flatten();
    transactions.zip(receipts).map(|(transaction, receipt)| (transaction, receipt, line)).collect()
}

/// The oldest and the newest transaction of each kind that the chain has: by type, outcome, creation, logs and value.
/// The ordinary run has one of both, in turns.
fn of_each_kind<'a>(items: &[Item<'a>]) -> Vec<Item<'a>> {
    let kind = |(transaction, receipt, _): &Item<'_>| {
        let is_set = |value: &Value| value.as_str().is_some_and(|text| text != "0x0");
        let logs = receipt["logs"].as_array().is_some_and(|logs| !logs.is_empty());
        let words = [&transaction["type"], &receipt["status"]].map(ToString::to_string);
        (words, transaction["to"].is_null(), logs, is_set(&transaction["value"]))
    };
    let mut kinds: BTreeMap<_, Vec<Item<'a>>> = BTreeMap::new();
    for item in items {
        kinds.entry(kind(item)).or_default().push(*item);
    }
    let ends = |(turn, of_kind): (usize, Vec<Item<'a>>)| {
        let ends = [of_kind[0], of_kind[of_kind.len() - 1]];
        if of_kind.len() > 1 && env::is_slow_run() { ends.to_vec() } else { vec![ends[turn % 2]] }
    };
    kinds.into_values().enumerate().flat_map(ends).collect()
}

fn block(line: &Value, symbol: &str) -> Value {
    let block = &line["block"];
    let transactions = block["transactions"].as_array().map_or(0, Vec::len);
    let mut facts = json!({
        "Hash": {"text": block["hash"]},
        "Time": {"time": quantity(&block["timestamp"])},
        "Fee recipient": {"link": block["miner"]},
        "Gas used": {"text": of_limit(&block["gasUsed"], &block["gasLimit"])},
        "Parent": {"text": block["parentHash"]},
        "State root": {"text": block["stateRoot"]},
        "Extra data": {"text": if block["extraData"] == "0x" { "none" } else { block["extraData"].as_str().unwrap_or_default() }},
    });
    if let Some(receipts) = line["receipts"].as_array() {
        let fees = receipts.iter().map(fee).sum::<U256>();
        facts["Fees"] = json!({"title": coins(fees, symbol)});
    }
    if !block["baseFeePerGas"].is_null() {
        facts["Base fee"] = json!({"title": format!("{} wei", grouped(&amount(&block["baseFeePerGas"]).to_string()))});
    }
    let height = quantity(&block["number"]);
    json!({
        "path": format!("/block/{height}"),
        "heading": format!("Block {}", grouped(&height.to_string())),
        "facts": facts,
        "tab": ["Transactions", grouped(&transactions.to_string())],
        "rows": transactions.min(PAGE),
        "links": transactions_of(block),
    })
}

/// The pages of uncles that a block names.
fn uncles(line: &Value) -> Vec<Value> {
    let nephew = quantity(&line["block"]["number"]);
    let page = |header: &Value| {
        let height = quantity(&header["number"]);
        json!({
            "path": path("block", &header["hash"]),
            "heading": format!("Block {} uncle", grouped(&height.to_string())),
            "facts": {
                "Hash": {"text": header["hash"]},
                "Fee recipient": {"link": header["miner"]},
                "Included by": {"text": format!("{} distance {}", grouped(&nephew.to_string()), nephew - height)},
            },
        })
    };
    line["uncleHeaders"].as_array().into_iter().flatten().map(page).collect()
}

/// Of a block that has no more of them than a page has rows.
fn transactions_of(block: &Value) -> Vec<String> {
    let transactions: Vec<&Value> = block["transactions"].as_array().into_iter().flatten().collect();
    if transactions.len() > PAGE {
        Vec::new()
    } else {
        transactions.iter().map(|transaction| path("tx", &transaction["hash"])).collect()
    }
}

fn transaction((transaction, receipt, line): Item<'_>, symbol: &str) -> Value {
    let made = receipt["contractAddress"].as_str();
    let outcome = match receipt["status"].as_str() {
        Some("0x1") => "succeeded",
        Some(_) => "failed",
        // Receipts before Byzantium have a root in its place.
        None => "outcome unknown",
    };
    let (kind, nonce) = (quantity(&transaction["type"]), quantity(&transaction["nonce"]));
    let mut facts = json!({
        "From": {"link": transaction["from"]},
        "Value": {"title": coins(amount(&transaction["value"]), symbol)},
        "Fee": {"title": coins(fee(receipt), symbol)},
        "Block": {"text": grouped(&quantity(&transaction["blockNumber"]).to_string())},
        "Time": {"time": quantity(&line["block"]["timestamp"])},
        "Gas used": {"text": of_limit(&receipt["gasUsed"], &transaction["gas"])},
        "Type and nonce": {"text": format!("type {kind}, nonce {}", grouped(&nonce.to_string()))},
    });
    match (transaction["to"].is_null(), made) {
        (false, _) => facts["To"] = json!({"link": transaction["to"]}),
        (true, Some(made)) => facts["Created"] = json!({"link": made}),
        (true, None) => {}
    }
    facts.as_object_mut().expect("an object").extend(blobs(transaction, receipt, symbol));
    let mut page =
        json!({"path": path("tx", &transaction["hash"]), "heading": format!("Transaction {outcome}"), "facts": facts});
    if !fee(receipt).is_zero() {
        page["payer"] = transaction["from"].clone();
    }
    page
}

/// What is shown of the blobs of a transaction that carries some.
fn blobs(transaction: &Value, receipt: &Value, symbol: &str) -> Map<String, Value> {
    let Some(hashes) = transaction["blobVersionedHashes"].as_array() else { return Map::new() };
    let hashes: Vec<&str> = hashes.iter().filter_map(Value::as_str).collect();
    let blob_fee = amount(&receipt["blobGasUsed"]) * amount(&receipt["blobGasPrice"]);
    let facts = json!({
        "Versioned hashes": {"text": hashes.join(" ")},
        "Blob gas used": {"text": grouped(&quantity(&receipt["blobGasUsed"]).to_string())},
        "Blob fee": {"title": coins(blob_fee, symbol)},
    });
    facts.as_object().cloned().unwrap_or_default()
}

fn proof((transaction, ..): &Item<'_>) -> Value {
    json!({"path": format!("{}?tab=proof", path("tx", &transaction["hash"])), "proof": "It holds: the "})
}

fn logs((transaction, receipt, _): Item<'_>) -> Value {
    let count = receipt["logs"].as_array().map_or(0, Vec::len);
    json!({"path": format!("{}?tab=logs", path("tx", &transaction["hash"])), "cards": count.min(PAGE)})
}

/// Senders and recipients of some transactions.
fn parties(items: &[Item<'_>]) -> BTreeSet<String> {
    let sides = items
        .iter()
        .flat_map(|(transaction, receipt, _)| [&transaction["from"], &transaction["to"], &receipt["contractAddress"]]);
    sides.filter_map(Value::as_str).map(str::to_owned).take(3 * env::amount(MAX_ADDRESSES / 4, MAX_ADDRESSES)).collect()
}

fn account(address: &str, items: &[Item<'_>], is_whole: bool) -> Value {
    let is_party = |(transaction, receipt, _): &&Item<'_>| {
        [&transaction["from"], &transaction["to"], &receipt["contractAddress"]]
            .iter()
            .any(|side| side.as_str() == Some(address))
    };
    let theirs: Vec<&Item<'_>> = items.iter().filter(is_party).collect();
    let newest: Vec<String> =
        theirs.iter().rev().take(PAGE).map(|(transaction, ..)| path("tx", &transaction["hash"])).collect();
    let count = json!({"text": grouped(&theirs.len().to_string())});
    // Fewer than a page of a part of the chain say nothing of the rest.
    let indexed = if theirs.len() > PAGE { format!("{PAGE}+ in indexed blocks") } else { "unknown".to_owned() };
    let facts = json!({"Transactions": if is_whole { count } else { json!({"text": indexed}) }});
    json!({"path": format!("/address/{address}"), "facts": facts, "rows": newest.len(), "links": newest})
}

/// Tokens by what they emitted: those with most transfers.
fn tokens(items: &[Item<'_>], is_whole: bool) -> Vec<Value> {
    let mut emitted: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for log in items.iter().flat_map(|(_, receipt, _)| receipt["logs"].as_array()).flatten() {
        let topics = log["topics"].as_array().map_or(0, Vec::len);
        if log["topics"][0] == TRANSFER
            && (topics == 4 || topics == 3 && log["data"].as_str().map_or(0, str::len) == 66)
        {
            emitted.entry(log["address"].as_str().unwrap_or_default()).or_default().push(log);
        }
    }
    let mut most: Vec<_> = emitted.into_iter().collect();
    most.sort_by_key(|(_, logs)| std::cmp::Reverse(logs.len()));
    most.iter()
        .take(env::amount(MAX_ADDRESSES / 4, MAX_ADDRESSES))
        .map(|(address, logs)| token(address, logs, is_whole))
        .collect()
}

fn token(address: &str, logs: &[&Value], is_whole: bool) -> Value {
    let rows: Vec<String> = logs.iter().rev().take(PAGE).map(|log| path("tx", &log["transactionHash"])).collect();
    let facts = if is_whole { json!({"Transfers": {"text": grouped(&logs.len().to_string())}}) } else { json!({}) };
    json!({"path": format!("/token/{address}"), "facts": facts, "rows": rows.len(), "links": rows})
}

fn path(noun: &str, hash: &Value) -> String {
    format!("/{noun}/{}", hash.as_str().unwrap_or_default())
}

fn amount(value: &Value) -> U256 {
    U256::from_str_radix(value.as_str().unwrap_or_default().trim_start_matches("0x"), 16)
        .expect("a quantity of the node")
}

/// What a transaction cost: its gas, and that of its blobs.
fn fee(receipt: &Value) -> U256 {
    amount(&receipt["gasUsed"]) * amount(&receipt["effectiveGasPrice"])
}

fn of_limit(used: &Value, limit: &Value) -> String {
    let [used, limit] = [used, limit].map(|gas| grouped(&quantity(gas).to_string()));
    format!("{used} of {limit}")
}

/// All digits of an amount of wei, as coins and as wei.
fn coins(wei: U256, symbol: &str) -> String {
    let digits = wei.to_string();
    let padded = format!("{digits:0>19}");
    let (whole, rest) = padded.split_at(padded.len() - 18);
    let rest = rest.trim_end_matches('0');
    let point = if rest.is_empty() { "" } else { "." };
    format!("{}{point}{rest} {symbol}\n{} wei", grouped(whole), grouped(&digits))
}

/// Digits in groups of three.
fn grouped(digits: &str) -> String {
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).expect("digits")).collect();
    groups.join(",")
}
