//! The coins that addresses received and sent, by counterparty, against the calls that the nodes traced.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_core::primitives::U256;

use crate::activity::{list, text, wide};
use crate::chains::{Chain, chain, quantity};
use crate::pages::get;

/// Giver, receiver and wei.
type Move = (String, String, U256);

/// What a call and the calls in it move, unless they failed.
fn moves(call: &Value, found: &mut Vec<Move>) {
    if call["error"].is_string() {
        return;
    }
    let kind = text(&call["type"]);
    let value = wide(&call["value"]);
    if matches!(kind.as_str(), "call" | "create" | "create2" | "selfdestruct") && !value.is_zero() {
        found.push((text(&call["from"]), text(&call["to"]), value));
    }
    list(&call["calls"]).iter().for_each(|inner| moves(inner, found));
}

/// The same of the flat frames of a transaction.
fn flat_moves(frames: &[Value]) -> Vec<Move> {
    let failed: Vec<Vec<Value>> =
        frames.iter().filter(|frame| frame["error"].is_string()).map(|frame| list(&frame["traceAddress"])).collect();
    let is_undone = |frame: &&Value| failed.iter().any(|path| list(&frame["traceAddress"]).starts_with(path));
    let of_frame = |frame: &Value| {
        let action = &frame["action"];
        let plain = frame["type"] == "call" && action["callType"] == "call";
        let to = if plain { text(&action["to"]) } else { text(&frame["result"]["address"]) };
        let value = wide(&action["value"]);
        (plain || frame["type"] == "create").then_some((text(&action["from"]), to, value))
    };
    frames.iter().filter(|frame| !is_undone(frame)).filter_map(of_frame).filter(|(.., wei)| !wei.is_zero()).collect()
}

fn moves_of(chain: &Chain) -> Vec<Move> {
    let mut found = Vec::new();
    for line in &chain.lines {
        let (trees, flat) = (list(&line["traces"]), list(&line["parityTraces"]));
        for at in 0..trees.len().max(flat.len()) {
            match (trees.get(at), flat.get(at).and_then(Value::as_array)) {
                (Some(tree), _) if tree.is_object() => moves(tree.get("result").unwrap_or(tree), &mut found),
                (_, Some(frames)) => found.extend(flat_moves(frames)),
                _ => {}
            }
        }
    }
    found
}

/// Counterparties of an address, with what was received and sent: how often, and how much.
type Pairs = BTreeMap<String, [(u64, U256); 2]>;

#[test]
fn are_those_of_the_traces() -> anyhow::Result<()> {
    let (mut to_oneself, mut addresses) = (0, 0);
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let mut expected: BTreeMap<String, Pairs> = BTreeMap::new();
        for (from, to, wei) in moves_of(chain) {
            to_oneself += u64::from(from == to);
            for (side, own, other) in [(0, &to, &from), (1, &from, &to)] {
                let sums = &mut expected.entry(own.clone()).or_default().entry(other.clone()).or_default()[side];
                *sums = (sums.0 + 1, sums.1 + wei);
            }
        }
        addresses += expected.len();
        for (address, pairs) in &expected {
            let answer = get(chain, &format!("addresses/{address}/activity/coins"))?;
            let items = list(&answer["items"]);
            let is_whole = answer["items_in_all"] == pairs.len() && items.len() == pairs.len().min(100);
            ensure!(
                is_whole && answer["is_complete"] == (name != "mainnet"),
                "{name} {address}: {answer}, not {pairs:#?}"
            );
            let times = |item: &Value| item["received_count"].as_u64().zip(item["sent_count"].as_u64());
            let counts: Vec<u64> = items.iter().filter_map(times).map(|(one, other)| one + other).collect();
            ensure!(counts.is_sorted_by(|one, next| one >= next) && counts.len() == items.len(), "{items:#?}");
            for item in &items {
                let [received, sent] =
                    pairs.get(&text(&item["address"]["hash"])).with_context(|| format!("{name} {address}: {item}"))?;
                let amounts = [&item["received_amount"], &item["sent_amount"]];
                let same = amounts == [&json!(received.1.to_string()), &json!(sent.1.to_string())];
                ensure!(same && times(item) == Some((received.0, sent.0)), "{name} {address}: {item}, not {pairs:?}");
            }
        }
    }
    ensure!(to_oneself > 0 && addresses > 40, "{to_oneself} {addresses}");
    Ok(())
}

/// Coins of a day are those of its blocks.
#[test]
fn of_a_day_are_those_of_its_blocks() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let newest = chain.lines.last().context("a block")?;
    let day = crate::activity::date(quantity(&newest["block"]["timestamp"]))?;
    let (mut of_day, mut of_all) = (0, 0);
    for line in &chain.lines {
        let moved: usize = list(&line["parityTraces"]).iter().map(|frames| flat_moves(&list(frames)).len()).sum();
        of_all += moved;
        if crate::activity::date(quantity(&line["block"]["timestamp"]))? == day {
            of_day += moved;
        }
    }
    let senders = list(&get(chain, "transactions")?["items"]);
    let sender = text(&senders.first().context("a transaction")?["from"]["hash"]);
    let times = |path: &str| -> anyhow::Result<u64> {
        let items = list(&get(chain, path)?["items"]);
        Ok(items.iter().filter_map(|item| Some(item["received_count"].as_u64()? + item["sent_count"].as_u64()?)).sum())
    };
    let all = times(&format!("addresses/{sender}/activity/coins"))?;
    let before = times(&format!("addresses/{sender}/activity/coins?to={}", day.yesterday()?))?;
    let after = times(&format!("addresses/{sender}/activity/coins?from={day}"))?;
    ensure!(before + after == all && all > 0, "{before} and {after} are not {all} ({of_day} of {of_all} in all)");
    Ok(())
}
