//! `trace_filter` against the nodes' recorded answers to `trace_block`, searched here by brute force.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::{call, result};
use crate::chains::{Chain, chain, quantity};
use crate::env;

/// What the node reported for each block: frames, then rewards.
pub(super) fn recorded(chain: &Chain) -> Vec<Value> {
    let of_line = |line: &Value| -> Vec<Value> {
        let frames = line["parityTraces"].as_array().into_iter().flatten();
        let frames = frames.flat_map(|frames| frames.as_array().into_iter().flatten());
        frames.chain(line["parityRewards"].as_array().into_iter().flatten()).cloned().collect()
    };
    chain.lines.iter().flat_map(of_line).collect()
}

/// The members that nodes agree on.
fn same(found: &Value, node: &Value) -> anyhow::Result<()> {
    for member in ["from", "to", "gas", "input", "init", "callType", "creationMethod", "address", "balance", "author"] {
        ensure!(found["action"][member] == node["action"][member], "{member}: {found} instead of {node}");
    }
    for member in ["refundAddress", "rewardType", "value"] {
        ensure!(found["action"][member] == node["action"][member], "{member}: {found} not {node}");
    }
    for member in [
        "subtraces",
        "traceAddress",
        "blockHash",
        "blockNumber",
        "transactionHash",
        "transactionPosition",
        "type",
        "error",
    ] {
        ensure!(found[member] == node[member], "{member}: {found} instead of {node}");
    }
    let result = if returns(node) { &node["result"] } else { &Value::Null };
    ensure!(found["result"] == *result, "result: {found} instead of {node}");
    Ok(())
}

/// Whether the result of a frame is known: of those that failed, of calls that reverted with data, and of outermost
/// ones.
fn returns(node: &Value) -> bool {
    let is_outermost = node["traceAddress"] == json!([]);
    let has_result = is_outermost || node["result"]["output"].as_str().is_some_and(|output| output != "0x");
    match node["error"].as_str() {
        None => true,
        Some("Reverted") => node["type"] == "call" && has_result,
        Some(_) => false,
    }
}

#[test]
fn what_reverted_calls_returned_is_shown() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let expected = recorded(chain);
    let found = result(chain, "trace_filter", json!([{"fromBlock": "earliest", "toBlock": "latest"}]))?;
    let mut shown = 0;
    for (found, expected) in found.as_array().context("a list")?.iter().zip(&expected) {
        if expected["error"] == "Reverted" && returns(expected) && expected["result"].is_object() {
            ensure!(found["result"] == expected["result"] && found["error"] == "Reverted", "{found} not {expected}");
            shown += 1;
        }
    }
    ensure!(shown >= 10, "only {shown}");
    Ok(())
}

/// Also where the frame above is not in the list.
#[test]
fn delegated_calls_show_the_value_of_the_frame_above() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let expected = recorded(chain);
    let has_value = |trace: &&Value| trace["action"]["callType"] == "delegatecall" && trace["action"]["value"] != "0x0";
    let delegated: Vec<&Value> = expected.iter().filter(has_value).collect();
    ensure!(delegated.len() >= 2, "{} with a value", delegated.len());
    for trace in delegated {
        let to = &trace["action"]["to"];
        let filter = json!([{"fromBlock": "0x0", "toBlock": "latest", "toAddress": [to]}]);
        let (hash, address) = (&trace["transactionHash"], &trace["traceAddress"]);
        let path: Vec<String> =
            address.as_array().into_iter().flatten().map(|step| format!("{:#x}", step.as_u64().unwrap_or(0))).collect();
        let found = result(chain, "trace_filter", filter)?;
        let is_it = |found: &&Value| found["transactionHash"] == *hash && found["traceAddress"] == *address;
        let found = found.as_array().into_iter().flatten().find(is_it).context("found by its callee")?;
        same(found, trace)?;
        let agent = http::agent();
        let alone = http::rpc(&agent, &format!("{}/rpc", chain.api), "trace_get", &json!([hash, path]))?;
        ensure!(alone["result"] == *found, "{alone} not {found}");
    }
    Ok(())
}

pub(super) fn ensure_same(found: &Value, expected: &[&Value]) -> anyhow::Result<()> {
    let found = found.as_array().context("a list")?;
    found.iter().zip(expected).try_for_each(|(found, expected)| same(found, expected))?;
    ensure!(found.len() == expected.len(), "{} traces instead of {}", found.len(), expected.len());
    Ok(())
}

#[test]
fn are_those_of_trace_block() -> anyhow::Result<()> {
    for (name, count) in [("hive", 249 + 53), ("devchain", 608)] {
        let chain = chain(name);
        let expected = recorded(chain);
        ensure!(expected.len() == count, "{name}: {}", expected.len());
        let found = result(chain, "trace_filter", json!([{"fromBlock": "earliest", "toBlock": "latest"}]))?;
        ensure_same(&found, &expected.iter().collect::<Vec<_>>())?;
        // Without bounds it is the chain.
        ensure_same(&result(chain, "trace_filter", json!([{}]))?, &expected.iter().collect::<Vec<_>>())?;
        let newest: Vec<&Value> = expected.iter().filter(|trace| trace["blockNumber"] == chain.head()).collect();
        ensure_same(&result(chain, "trace_filter", json!([{"fromBlock": "latest"}]))?, &newest)?;
    }
    Ok(())
}

fn sides(trace: &Value) -> (Option<&str>, Vec<&str>) {
    let action = &trace["action"];
    let created = if trace["error"].is_null() { trace["result"]["address"].as_str() } else { None };
    let from = action["from"].as_str().or(if trace["type"] == "suicide" { action["address"].as_str() } else { None });
    let to = [action["to"].as_str(), action["refundAddress"].as_str(), action["author"].as_str(), created];
    (from, to.into_iter().flatten().collect())
}

#[test]
fn are_found_by_who_takes_part() -> anyhow::Result<()> {
    for name in ["hive", "devchain"] {
        let chain = chain(name);
        let traces = recorded(chain);
        let mut hits = [0; 4];
        for seed in (0..traces.len()).step_by(env::amount(11, 7)) {
            let (Some(from), to) = sides(&traces[seed]) else { continue };
            let Some(to) = to.first() else { continue };
            let other = sides(&traces[(seed * 31) % traces.len()]).1;
            let receivers: Vec<&str> = [*to].into_iter().chain(other.first().copied()).collect();
            for (kind, filter) in [
                json!({"fromAddress": [from]}),
                json!({"toAddress": receivers}),
                json!({"fromAddress": [from], "toAddress": receivers}),
                json!({"fromAddress": [from], "toAddress": receivers, "mode": "union"}),
            ]
            .into_iter()
            .enumerate()
            {
                let keep = |trace: &&Value| {
                    let (gives, takes) = sides(trace);
                    let is_from = filter["fromAddress"].is_null() || gives == Some(from);
                    let is_to = filter["toAddress"].is_null() || takes.iter().any(|one| receivers.contains(one));
                    if filter["mode"] == "union" { is_from || is_to } else { is_from && is_to }
                };
                let expected: Vec<&Value> = traces.iter().filter(keep).collect();
                let mut bounded = filter.clone();
                bounded["fromBlock"] = json!("0x0");
                bounded["toBlock"] = json!("latest");
                let found = result(chain, "trace_filter", json!([bounded]))?;
                ensure_same(&found, &expected).with_context(|| format!("{name} {bounded}"))?;
                hits[kind] += usize::from(!expected.is_empty());
            }
        }
        ensure!(hits.iter().all(|hits| *hits > 10), "{name}: {hits:?}");
    }
    // A reward has no sender.
    let from_zero =
        json!([{"fromBlock": "0x0", "toBlock": "latest", "fromAddress": [format!("0x{}", "00".repeat(20))]}]);
    ensure!(result(chain("hive"), "trace_filter", from_zero)? == json!([]));
    Ok(())
}

#[test]
fn are_counted_and_passed_over() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let expected = recorded(chain);
    let mut after = 0;
    while after < expected.len() {
        let filter = json!({"fromBlock": "0x0", "toBlock": "latest", "after": after, "count": 91});
        let end = expected.len().min(after + 91);
        let found = result(chain, "trace_filter", json!([filter]))?;
        ensure_same(&found, &expected[after..end].iter().collect::<Vec<_>>())?;
        after = end;
    }
    for (after, count) in [(5000, 10), (0, 0)] {
        let filter = json!({"fromBlock": "0x0", "toBlock": "latest", "after": after, "count": count});
        ensure!(result(chain, "trace_filter", json!([filter]))? == json!([]));
    }
    Ok(())
}

/// `mode` of Erigon, Nethermind and reth: with one list both mean the same, and other words are refused.
#[test]
fn a_mode_is_applied_or_refused() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let traces = recorded(chain);
    let one = json!({"fromBlock": "0x0", "toBlock": "latest", "fromAddress": [sides(&traces[0]).0]});
    let with_mode = |name: &str, mode: &str| {
        let mut filter = one.clone();
        filter[name] = json!(mode);
        call(chain, "trace_filter", json!([filter]))
    };
    let expected = result(chain, "trace_filter", json!([one]))?;
    for mode in ["union", "intersection"] {
        ensure!(with_mode("mode", mode)?["result"] == expected && expected != json!([]), "{mode}");
    }
    for name in ["mode", "Mode"] {
        ensure!(with_mode(name, "any")?["error"]["code"] == -32602, "{name}");
    }
    Ok(())
}

/// `blockHash` names one block, as in a filter of logs: it is not passed over.
#[test]
fn are_found_in_a_block_by_hash() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let traces = recorded(chain);
    let hash = &traces[traces.len() / 2]["blockHash"];
    let expected: Vec<&Value> = traces.iter().filter(|trace| trace["blockHash"] == *hash).collect();
    ensure_same(&result(chain, "trace_filter", json!([{"blockHash": hash}]))?, &expected)?;
    let page = result(chain, "trace_filter", json!([{"blockHash": hash, "after": 1, "count": 1}]))?;
    ensure_same(&page, &expected.iter().copied().skip(1).take(1).collect::<Vec<_>>())?;
    for (filter, code) in [
        (json!({"blockHash": hash, "fromBlock": "0x1"}), -32602),
        (json!({"blockHash": "0x1234"}), -32602),
        (json!({"blockHash": format!("0x{}", "ab".repeat(32))}), -32602),
    ] {
        ensure!(call(chain, "trace_filter", json!([filter]))?["error"]["code"] == code, "{filter}");
    }
    Ok(())
}

#[test]
fn of_blocks_without_them_are_refused() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let traced = |line: &&Value| line["parityTraces"].is_array();
    let without = chain
        .lines
        .iter()
        .find(|line| !traced(line) && line["block"]["transactions"] != json!([]))
        .context("a block without traces")?;
    let number = &without["block"]["number"];
    let answer = call(chain, "trace_filter", json!([{"fromBlock": number, "toBlock": number}]))?;
    ensure!(answer["error"]["code"] == -32002, "{answer}");
    ensure!(answer["error"]["data"]["missing"] == json!([{"fromBlock": number, "toBlock": number}]), "{answer}");
    let hash = &without["block"]["transactions"][0]["hash"];
    let alone = http::rpc(&http::agent(), &format!("{}/rpc", chain.api), "trace_transaction", &json!([hash]))?;
    ensure!(alone["error"]["code"] == -32002 && alone["error"]["data"] == answer["error"]["data"], "{alone}");
    let with = chain.lines.iter().find(traced).context("a block with traces")?;
    let number = &with["block"]["number"];
    let expected: Vec<Value> =
        recorded(chain).into_iter().filter(|trace| trace["blockNumber"] == quantity(number)).collect();
    let found = result(chain, "trace_filter", json!([{"fromBlock": number, "toBlock": number}]))?;
    ensure_same(&found, &expected.iter().collect::<Vec<_>>())
}

#[test]
fn have_no_cap_where_it_is_lifted() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let everything = json!([{"fromBlock": "0x0", "toBlock": "latest"}]);
    for (flag, count) in [("5", 5), ("0", 608)] {
        let api = env::start_api("devchain", &["--max-logs", flag])?;
        let found = http::rpc(&http::agent(), &format!("{}/api/eth-rpc", api.url), "trace_filter", &everything)?;
        let found = found["result"].as_array().context("a list")?.len();
        ensure!(found == count && recorded(chain).len() == 608, "{found}");
    }
    Ok(())
}

#[test]
fn wrong_filters_are_refused() -> anyhow::Result<()> {
    let chain = chain("devchain");
    for filter in [
        json!({"fromBlock": "10"}),
        json!({"fromAddress": ["0x12"]}),
        json!({"toAddress": 5}),
        json!({"count": "many"}),
        json!({"fromBlock": "0x5", "toBlock": "0x4"}),
        json!({"fromBlock": "0x0", "toBlock": "0x5000"}),
        json!("0x0"),
    ] {
        let answer = call(chain, "trace_filter", json!([filter]))?;
        ensure!(answer["error"]["code"] == -32602, "{filter}: {answer}");
    }
    for params in [json!([]), json!([{}, {}])] {
        ensure!(call(chain, "trace_filter", params)?["error"]["code"] == -32602);
    }
    Ok(())
}
