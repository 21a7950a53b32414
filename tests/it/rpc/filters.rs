//! eth_getLogs against a brute-force search through the node's own receipts.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::{api_with, call, missing, result};
use crate::chains::{Chain, chain, quantity};
use crate::dice::Dice;

/// A log as the node emitted it, with what the answer adds.
pub(super) fn emitted(chain: &Chain) -> Vec<Value> {
    let mut logs = Vec::new();
    for line in &chain.lines {
        for receipt in line["receipts"].as_array().into_iter().flatten() {
            for log in receipt["logs"].as_array().into_iter().flatten() {
                let mut log = log.clone();
                log["blockTimestamp"] = line["block"]["timestamp"].clone();
                logs.push(log);
            }
        }
    }
    logs
}

/// Whether a log passes a filter, straight from the specification's words.
fn passes<'a>(log: &'a Value, filter: &'a Value) -> bool {
    fn alternatives(value: &Value) -> &[Value] {
        match value {
            Value::Array(list) => list,
            Value::Null => &[],
            one => std::slice::from_ref(one),
        }
    }
    let height = quantity(&log["blockNumber"]);
    if let Some(hash) = filter.get("blockHash") {
        if log["blockHash"] != *hash {
            return false;
        }
    } else if height < quantity(&filter["fromBlock"]) || height > quantity(&filter["toBlock"]) {
        return false;
    }
    let addresses = alternatives(&filter["address"]);
    if !addresses.is_empty() && !addresses.contains(&log["address"]) {
        return false;
    }
    let list = |value: &'a Value| value.as_array().map_or(&[][..], Vec::as_slice);
    let (topics, positions) = (list(&log["topics"]), list(&filter["topics"]));
    positions.len() <= topics.len()
        && positions.iter().zip(topics).all(|(position, topic)| {
            let accepted = alternatives(position);
            accepted.is_empty() || accepted.contains(topic)
        })
}

/// One of: nothing, a single value, a list of up to four (with a value no log has).
fn some_of(dice: &mut Dice, values: &[&Value], stranger: &Value) -> Value {
    match dice.roll(4) {
        0 => Value::Null,
        1 => (*dice.pick(values)).clone(),
        2 => json!([]),
        _ => {
            let mut list: Vec<Value> = (0..dice.roll(4)).map(|_| (*dice.pick(values)).clone()).collect();
            list.push(stranger.clone());
            json!(list)
        }
    }
}

fn random_filter(dice: &mut Dice, logs: &[Value], head: u64) -> Value {
    let strange_address = json!(format!("0x{}", "12".repeat(20)));
    let strange_word = json!(format!("0x{}", "12".repeat(32)));
    let addresses: Vec<&Value> = (0..8).map(|_| &dice.pick(logs)["address"]).collect();
    let first = dice.roll(usize::try_from(head + 1).unwrap_or(1)) as u64;
    let last = first + dice.roll(usize::try_from(head - first + 1).unwrap_or(1)) as u64;
    let mut filter = json!({"fromBlock": format!("{first:#x}"), "toBlock": format!("{last:#x}")});
    if dice.roll(6) == 0 {
        filter = json!({"blockHash": dice.pick(logs)["blockHash"]});
    }
    filter["address"] = some_of(dice, &addresses, &strange_address);
    let positions: Vec<Value> = (0..dice.roll(5))
        .map(|position| {
            let words: Vec<&Value> = logs.iter().filter_map(|log| log["topics"].get(position)).collect();
            if words.is_empty() { json!(strange_word) } else { some_of(dice, &words, &strange_word) }
        })
        .collect();
    if dice.roll(4) > 0 {
        filter["topics"] = json!(positions);
    }
    filter
}

fn compare(chain: &Chain, logs: &[Value], filter: &Value) -> anyhow::Result<usize> {
    let expected: Vec<&Value> = logs.iter().filter(|log| passes(log, filter)).take(1000).collect();
    let found = result(chain, "eth_getLogs", json!([filter])).with_context(|| filter.to_string())?;
    let found = found.as_array().context("an array")?;
    ensure!(found.len() == expected.len(), "{filter}: {} logs instead of {}", found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        ensure!(found == expected, "{filter}: {found} instead of {expected}");
    }
    Ok(found.len())
}

fn random_filters(chain: &Chain) -> anyhow::Result<()> {
    let logs = emitted(chain);
    let mut dice = Dice(42);
    let (mut filled, rounds) = (0, if crate::env::is_slow_run() { 10_000 } else { 150 });
    for _ in 0..rounds {
        let filter = random_filter(&mut dice, &logs, chain.head());
        filled += usize::from(compare(chain, &logs, &filter)? > 0);
    }
    ensure!(filled > rounds / 10, "only {filled} of {rounds} filters found anything");
    Ok(())
}

#[test]
fn random_filters_of_mainnet_blocks() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let logs = emitted(chain);
    let mut dice = Dice(7);
    let mut filled = 0;
    for _ in 0..crate::env::amount(60, 200) {
        let block = dice.pick(&logs)["blockNumber"].clone();
        let mut filter = random_filter(&mut dice, &logs, 100);
        if filter.get("blockHash").is_none() {
            filter["fromBlock"] = block.clone();
            filter["toBlock"] = block;
        }
        filled += usize::from(compare(chain, &logs, &filter)? > 0);
    }
    ensure!(filled > 15, "only {filled} filters found anything");
    Ok(())
}

#[test]
fn pages_concatenate_to_everything() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let logs = emitted(chain);
    let mut by_block: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
    for log in &logs {
        by_block.entry(quantity(&log["blockNumber"])).or_default().push(log);
    }
    let expected = by_block.into_values().max_by_key(Vec::len).context("a block")?;
    let block = &expected[0]["blockNumber"];
    let mut filter = json!({"fromBlock": block, "toBlock": block, "topics": []});
    ensure!(expected.len() > 10_000);
    let mut found = Vec::new();
    loop {
        let page = result(chain, "eth_getLogs", json!([filter]))?;
        let page = page.as_array().context("an array")?.clone();
        ensure!(page.len() <= 1000);
        let is_last = page.len() < 1000;
        if let Some(last) = page.last() {
            filter["paging_options"] = json!({"blockNumber": last["blockNumber"], "logIndex": last["logIndex"]});
        }
        found.extend(page);
        if is_last {
            break;
        }
    }
    ensure!(found.iter().collect::<Vec<_>>() == expected);
    Ok(())
}

/// Without a cap the answer is put together from pages of 5,000 logs: the client cannot tell.
#[test]
fn the_cap_is_a_flag() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let logs = emitted(chain);
    let mut blocks: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    for log in logs {
        blocks.entry(quantity(&log["blockNumber"])).or_default().push(log);
    }
    let expected = blocks.into_values().max_by_key(Vec::len).context("a block")?;
    let block = &expected[0]["blockNumber"];
    ensure!(expected.len() > 10_000);
    let address = &expected[0]["address"];
    let of_address: Vec<Value> = expected.iter().filter(|log| log["address"] == *address).cloned().collect();
    for (cap, most) in [("0", usize::MAX), ("7000", 7_000), ("5000", 5_000), ("1", 1)] {
        let api = api_with(chain, &["--max-logs", cap])?;
        let ask = |filter: Value| -> anyhow::Result<Value> {
            let rpc = format!("{}/api/eth-rpc", api.url);
            Ok(http::rpc(&http::agent(), &rpc, "eth_getLogs", &json!([filter]))?["result"].take())
        };
        let found = ask(json!({"fromBlock": block, "toBlock": block}))?;
        ensure!(
            found == json!(expected[..expected.len().min(most)]),
            "{cap}: {:?} logs",
            found.as_array().map(Vec::len)
        );
        let found = ask(json!({"fromBlock": block, "toBlock": block, "address": address}))?;
        ensure!(found == json!(of_address[..of_address.len().min(most)]), "{cap}");
        let after = json!({"blockNumber": expected[99]["blockNumber"], "logIndex": expected[99]["logIndex"]});
        let found = ask(json!({"fromBlock": block, "toBlock": block, "paging_options": after}))?;
        ensure!(found == json!(expected[100..(expected.len()).min(most.saturating_add(100))]), "{cap}");
        api.stop()?;
    }
    Ok(())
}

#[test]
fn paging_options_in_every_notation() -> anyhow::Result<()> {
    let chain = chain("hive");
    let all = result(chain, "eth_getLogs", json!([{"fromBlock": "0x0", "toBlock": "latest"}]))?;
    let all = all.as_array().context("an array")?;
    let (before, rest) = all.split_at(17);
    let last = before.last().context("a log")?;
    let (block, log) = (quantity(&last["blockNumber"]), quantity(&last["logIndex"]));
    for options in [
        json!({"blockNumber": format!("{block:#x}"), "logIndex": format!("{log:#x}")}),
        json!({"blockNumber": format!("{block:X}"), "logIndex": format!("{log:X}"), "transactionIndex": "0x0"}),
        json!({"blockNumber": block, "logIndex": log}),
    ] {
        let found = result(
            chain,
            "eth_getLogs",
            json!([{"fromBlock": "0x0", "toBlock": "latest", "paging_options": options}]),
        )?;
        ensure!(found.as_array().map(Vec::as_slice) == Some(rest), "{options}");
    }
    let incomplete = call(chain, "eth_getLogs", json!([{"fromBlock": "0x0", "paging_options": {"blockNumber": "1"}}]))?;
    ensure!(incomplete["error"]["code"] == -32602, "{incomplete}");
    Ok(())
}

/// JSON integers are heights in a filter, and only there.
#[test]
fn range_ends_in_every_notation() -> anyhow::Result<()> {
    let chain = chain("hive");
    let expected = result(chain, "eth_getLogs", json!([{"fromBlock": "0x1", "toBlock": "0x1f"}]))?;
    ensure!(expected.as_array().is_some_and(|logs| !logs.is_empty()), "{expected}");
    for (from, to) in [(json!(1), json!(31)), (json!("0x01"), json!(31)), (json!(1), json!("0x1f"))] {
        let found = result(chain, "eth_getLogs", json!([{"fromBlock": from, "toBlock": to}]))?;
        ensure!(found == expected, "{from} to {to}");
    }
    for bad in [json!(-1), json!(1.5), json!(1e30), json!("31"), json!([1]), json!(true)] {
        for end in ["fromBlock", "toBlock"] {
            let refused = call(chain, "eth_getLogs", json!([{(end): bad}]))?;
            ensure!(refused["error"] == json!({"code": -32602, "message": "invalid block number"}), "{bad}: {refused}");
        }
    }
    let beyond = call(chain, "eth_getLogs", json!([{"fromBlock": 1, "toBlock": 1_000_000}]))?;
    ensure!(beyond["error"]["message"] == "block range extends beyond current head block", "{beyond}");
    let elsewhere = call(chain, "eth_getBlockByNumber", json!([1, false]))?;
    ensure!(elsewhere["error"] == json!({"code": -32602, "message": "Invalid block number"}), "{elsewhere}");
    Ok(())
}

#[test]
fn positions_demand_topics() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let logs = emitted(chain);
    let counts: Vec<usize> = (0..=4)
        .map(|count| logs.iter().filter(|log| log["topics"].as_array().map(Vec::len) == Some(count)).count())
        .collect();
    ensure!(counts.iter().all(|count| *count > 0), "{counts:?}");
    for positions in 0..=4 {
        let filter = json!({"fromBlock": "0x0", "toBlock": format!("{:#x}", chain.head()), "topics": vec![Value::Null; positions]});
        let expected: usize = counts[positions..].iter().sum();
        ensure!(compare(chain, &logs, &filter)? == expected.min(1000), "{positions}");
    }
    Ok(())
}

#[test]
fn missing_blocks_are_named() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let answer = call(
        chain,
        "eth_getLogs",
        json!([{"fromBlock": "earliest", "toBlock": "latest", "address": format!("0x{}", "12".repeat(20))}]),
    )?;
    let ranges: Vec<Value> = missing(chain)
        .iter()
        .map(|(first, last)| json!({"fromBlock": format!("{first:#x}"), "toBlock": format!("{last:#x}")}))
        .collect();
    ensure!(answer["error"]["code"] == -32002 && answer["error"]["data"]["missing"] == json!(ranges), "{answer}");
    ensure!(answer["error"]["message"].as_str().is_some_and(|text| text.contains("31-36")), "{answer}");
    Ok(())
}

#[test]
fn gaps_are_served_on_request() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let api = api_with(chain, &["--gaps", "serve"])?;
    let address = "0xdac17f958d2ee523a2206206994597c13d831ec7";
    let filter = json!([{"fromBlock": "earliest", "toBlock": "latest", "address": address}]);
    let found = http::rpc(&http::agent(), &format!("{}/api/eth-rpc", api.url), "eth_getLogs", &filter)?;
    let expected: Vec<Value> = emitted(chain).into_iter().filter(|log| log["address"] == address).take(1000).collect();
    ensure!(expected.len() > 100 && found["result"] == json!(expected));
    api.stop()?;
    Ok(())
}

#[test]
fn unbounded_filters_are_refused() -> anyhow::Result<()> {
    let api = api_with(chain("hive"), &["--max-unfiltered-blocks", "10"])?;
    let rpc = format!("{}/api/eth-rpc", api.url);
    let ask = |filter: Value| http::rpc(&http::agent(), &rpc, "eth_getLogs", &json!([filter]));
    let refused = ask(json!({"fromBlock": "0x0", "toBlock": "0xa"}))?;
    ensure!(
        refused["error"] == json!({"code": -32602, "message": "Must supply one of address and topics"}),
        "{refused}"
    );
    ensure!(ask(json!({"fromBlock": "0x0", "toBlock": "0x9"}))?["result"].is_array());
    ensure!(ask(json!({"fromBlock": "0x0", "toBlock": "0xa", "topics": [null]}))?["error"]["code"] == -32602);
    ensure!(
        ask(json!({"fromBlock": "0x0", "toBlock": "0xa", "address": format!("0x{}", "12".repeat(20))}))?["result"]
            == json!([])
    );
    api.stop()?;
    Ok(())
}

/// As many addresses and topics as are allowed, through form parameters that no URL could hold.
#[test]
fn many_alternatives() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let logs = emitted(chain);
    let address = &logs[0]["address"];
    let topic = &logs[0]["topics"][0];
    let mut addresses: Vec<Value> = (1..5000).map(|number| json!(format!("0x{number:040x}"))).collect();
    addresses.push(address.clone());
    let mut topics: Vec<Value> = (1..5000).map(|number| json!(format!("0x{number:064x}"))).collect();
    topics.push(topic.clone());
    let head = format!("{:#x}", chain.head());
    let filter = json!({"fromBlock": "0x0", "toBlock": head, "address": addresses, "topics": [topics]});
    ensure!(compare(chain, &logs, &filter)? > 0);
    for count in [2, 8, 9, 50] {
        let some: Vec<Value> = addresses.iter().rev().take(count).cloned().collect();
        ensure!(compare(chain, &logs, &json!({"fromBlock": "0x0", "toBlock": head, "address": some}))? > 0);
    }
    addresses.push(json!(format!("0x{}", "12".repeat(20))));
    let over = call(chain, "eth_getLogs", json!([{"address": addresses}]))?;
    ensure!(
        over["error"] == json!({"code": -32000, "message": "exceed max addresses or topics per search position: 5000"}),
        "{over}"
    );
    Ok(())
}

tests! {
    random_filters_hive: random_filters(chain("hive")),
    random_filters_devchain: random_filters(chain("devchain")),
}

/// As geth reads them (JSON of Go).
#[test]
fn members_have_names_in_any_letter_case() -> anyhow::Result<()> {
    let devchain = chain("devchain");
    let all = json!({"fromBlock": "0x1", "toBlock": "latest"});
    let log = &emitted(devchain)[0];
    let (address, topic, hash) = (&log["address"], &log["topics"][0], &log["blockHash"]);
    for (spelt, other) in [
        (json!({"address": address, "topics": [topic]}), json!({"Address": address, "TOPICS": [topic]})),
        (json!({"fromBlock": "0x5", "toBlock": "0x9"}), json!({"fromBlock": "0x5", "toblock": "0x9"})),
        (json!({"blockHash": hash}), json!({"blockhash": hash})),
    ] {
        let filter = |given: &Value| {
            let mut filter =
                if given.get("address").is_some() || given.get("Address").is_some() { all.clone() } else { json!({}) };
            for (name, value) in given.as_object().into_iter().flatten() {
                filter[name] = value.clone();
            }
            json!([filter])
        };
        let (expected, found) =
            (result(devchain, "eth_getLogs", filter(&spelt))?, result(devchain, "eth_getLogs", filter(&other))?);
        ensure!(expected == found && expected.as_array().is_some_and(|logs| !logs.is_empty()), "{other}: {found}");
    }
    // Of two spellings the one of the specification counts.
    let both = json!([{"blockHash": hash, "BLOCKHASH": format!("0x{}", "11".repeat(32))}]);
    ensure!(result(devchain, "eth_getLogs", both)? == result(devchain, "eth_getLogs", json!([{"blockHash": hash}]))?);
    // Calls need state.
    let hive = chain("hive");
    let (returns, account) = (json!({"DATA": "0x602a5f5260205ff3"}), format!("0x{}", "ab".repeat(20)));
    ensure!(result(hive, "eth_call", json!([returns, "latest"]))? == format!("0x{:064x}", 0x2a));
    let refused = call(hive, "eth_call", json!([{"From": account, "To": account, "VALUE": "0x1"}, "latest"]))?;
    ensure!(refused["error"]["message"].as_str().is_some_and(|text| text.contains("insufficient funds")), "{refused}");
    let refused = call(hive, "eth_call", json!([{"to": account, "chainID": "0x1"}, "latest"]))?;
    ensure!(refused["error"]["code"] == -32000, "{refused}");
    Ok(())
}
