//! The methods of Otterscan, against blocks, receipts and traces as the nodes reported them, read with alloy's types.

use std::collections::{BTreeMap, BTreeSet};

use alloy_rpc_types_trace::otterscan::{BlockDetails, InternalOperation, OtsBlockTransactions, TraceEntry};
use anyhow::{Context as _, ensure};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::chains::{Chain, chain, quantity};
use crate::env;
use crate::rpc::{call, result};

mod accounts;
mod search;

/// A transaction as the node reported it.
pub struct NodeTransaction<'c> {
    pub transaction: &'c Value,
    pub receipt: &'c Value,
    /// Its call frames, if the recording has them.
    pub frames: Option<&'c [Value]>,
    /// The same as geth tells them.
    geth: &'c Value,
}

impl<'c> NodeTransaction<'c> {
    pub fn hash(&self) -> &'c str {
        self.transaction["hash"].as_str().unwrap_or_default()
    }

    /// Its status, which receipts before Byzantium do not have: as its outermost call ended. Of those blocks of Mainnet
    /// that have no frames, all transactions left gas, and so succeeded.
    pub fn status(&self) -> &'c str {
        let has_failed = self.frames.is_some_and(|frames| frames[0].get("error").is_some_and(|error| !error.is_null()));
        self.receipt["status"].as_str().unwrap_or(if has_failed { "0x0" } else { "0x1" })
    }

    pub fn block(&self) -> u64 {
        quantity(&self.transaction["blockNumber"])
    }
}

/// All transactions in chain order.
pub fn node_transactions(chain: &Chain) -> Vec<NodeTransaction<'_>> {
    let of_line = |line: &'static Value| {
        let transactions = line["block"]["transactions"].as_array().into_iter().flatten().enumerate();
        transactions.map(|(position, transaction)| NodeTransaction {
            transaction,
            receipt: &line["receipts"][position],
            frames: line["parityTraces"].get(position).and_then(Value::as_array).map(Vec::as_slice),
            geth: &line["traces"][position]["result"],
        })
    };
    let lines: &'static [Value] = self::chain(chain.name).lines.as_slice();
    lines.iter().flat_map(of_line).collect()
}

/// Transactions whose call frames are recorded; in the ordinary run those whose frames are remarkable, and every seventh.
fn traced(chain: &Chain, is_remarkable: fn(&[Value]) -> bool) -> impl Iterator<Item = NodeTransaction<'_>> {
    let all = node_transactions(chain).into_iter().enumerate();
    let some = all.filter(move |(position, tx)| {
        tx.frames.is_some_and(|frames| is_remarkable(frames) || position.is_multiple_of(env::amount(7, 1)))
    });
    some.map(|(_, tx)| tx)
}

/// The answer as alloy reads it. Erigon, whose answers these are, leaves out what alloy's types demand: the filter of
/// logs of a block, rewards that no node reported, and the address of a creation that failed.
pub fn typed<T: DeserializeOwned>(answer: &Value) -> anyhow::Result<T> {
    let mut answer = answer.clone();
    for block in ["/block", "/fullblock"] {
        if let Some(bloom) = answer.pointer_mut(&format!("{block}/logsBloom")) {
            ensure!(bloom.is_null(), "{bloom}");
            *bloom = json!(format!("0x{}", "00".repeat(256)));
        }
    }
    for reward in answer.get_mut("issuance").and_then(Value::as_object_mut).into_iter().flat_map(|all| all.values_mut())
    {
        if reward.is_null() {
            *reward = json!("0x0");
        }
    }
    for frame in answer.as_array_mut().into_iter().flatten() {
        if frame["to"].is_null() && frame["type"].as_str().is_some_and(|name| name.starts_with("CREATE")) {
            frame["to"] = json!(format!("0x{}", "00".repeat(20)));
        }
    }
    Ok(serde_json::from_value(answer)?)
}

fn wei(value: &Value) -> u128 {
    u128::from_str_radix(value.as_str().unwrap_or_default().trim_start_matches("0x"), 16).expect("a quantity")
}

#[test]
fn level_and_headers_are_those_requested() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        ensure!(result(chain, "ots_getApiLevel", json!([]))? == 8);
        for line in chain.lines.iter().step_by(3) {
            let block = &line["block"];
            let number = quantity(&block["number"]);
            for form in [json!(number), block["number"].clone(), json!(number.to_string())] {
                let header = result(chain, "erigon_getHeaderByNumber", json!([form]))?;
                for member in
                    ["hash", "number", "parentHash", "timestamp", "logsBloom", "gasUsed", "baseFeePerGas", "miner"]
                {
                    ensure!(header.get(member) == block.get(member), "{member} of {header}");
                }
            }
        }
        let newest = result(chain, "erigon_getHeaderByNumber", json!(["latest"]))?;
        ensure!(quantity(&newest["number"]) == chain.head());
        for method in ["erigon_getHeaderByNumber", "ots_getBlockDetails"] {
            ensure!(result(chain, method, json!([chain.head() + 1]))?.is_null());
            ensure!(call(chain, method, json!(["newest"]))?["error"]["code"] == -32602);
            ensure!(call(chain, method, json!([]))?["error"]["code"] == -32602);
        }
        ensure!(result(chain, "ots_getBlockDetailsByHash", json!([format!("0x{}", "12".repeat(32))]))?.is_null());
    }
    Ok(())
}

#[test]
fn details_of_blocks_match_the_node() -> anyhow::Result<()> {
    let mut rewarded = 0;
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        for line in &chain.lines {
            let block = &line["block"];
            let details = result(chain, "ots_getBlockDetails", json!([quantity(&block["number"])]))?;
            ensure!(details == result(chain, "ots_getBlockDetailsByHash", json!([block["hash"]]))?);
            let read: BlockDetails = typed(&details)?;
            let transactions = block["transactions"].as_array().context("transactions")?;
            ensure!(
                read.block.transaction_count == transactions.len() && details["block"].get("transactions").is_none()
            );
            for member in ["hash", "stateRoot", "size", "uncles", "withdrawals", "extraData", "mixHash", "nonce"] {
                ensure!(details["block"].get(member) == block.get(member), "{name} {member}: {details}");
            }
            let fee = |receipt: &Value| wei(&receipt["gasUsed"]) * wei(&receipt["effectiveGasPrice"]);
            let fees: u128 = line["receipts"].as_array().into_iter().flatten().map(fee).sum();
            ensure!(wei(&details["totalFees"]) == fees, "{name} {details}");
            let of_kind = |kind: &str| -> Option<u128> {
                let rewards = line["parityRewards"].as_array()?.iter().map(|reward| &reward["action"]);
                Some(rewards.filter(|reward| reward["rewardType"] == kind).map(|reward| wei(&reward["value"])).sum())
            };
            let is_free = block["difficulty"] == "0x0" || block["number"] == "0x0";
            let expected = if is_free { Some((0, 0)) } else { of_kind("block").zip(of_kind("uncle")) };
            let found = |member: &str| Some(&details["issuance"][member]).filter(|one| !one.is_null()).map(wei);
            ensure!(
                found("blockReward").zip(found("uncleReward")) == expected,
                "{name} {details}, expected {expected:?}"
            );
            ensure!(found("issuance") == expected.map(|(block, uncles)| block + uncles), "{name} {details}");
            rewarded += usize::from(expected.is_some_and(|expected| expected.0 > 0));
        }
    }
    ensure!(rewarded > 20, "only {rewarded} blocks have rewards");
    Ok(())
}

#[test]
fn transactions_of_blocks_are_pages_from_the_end() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let mut lines: Vec<&Value> = chain.lines.iter().collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line["block"]["transactions"].as_array().map_or(0, Vec::len)));
        let by_hash: BTreeMap<&str, NodeTransaction<'_>> =
            node_transactions(chain).into_iter().map(|tx| (tx.hash(), tx)).collect();
        for (line, size) in lines.into_iter().take(3).chain(&chain.lines[..2]).zip([25, 7, 100, 3, 25]) {
            let expected = line["block"]["transactions"].as_array().context("transactions")?;
            let (number, mut found) = (&line["block"]["number"], Vec::new());
            for page in 0.. {
                let answer = result(chain, "ots_getBlockTransactions", json!([number, page, size]))?;
                let read: OtsBlockTransactions = typed(&answer)?;
                ensure!(read.fullblock.transaction_count == expected.len());
                let transactions = answer["fullblock"]["transactions"].as_array().context("transactions")?;
                ensure!(transactions.len() == read.receipts.len() && transactions.len() <= size);
                if transactions.is_empty() {
                    break;
                }
                for (transaction, receipt) in
                    transactions.iter().zip(answer["receipts"].as_array().context("receipts")?)
                {
                    ensure!(receipt["transactionHash"] == transaction["hash"]);
                    ensure!(receipt["logs"].is_null() && receipt["logsBloom"].is_null());
                    let status = by_hash[transaction["hash"].as_str().unwrap_or_default()].status();
                    ensure!(
                        receipt["status"] == status && receipt.get("root").is_none(),
                        "{receipt}, expected {status}"
                    );
                }
                found.splice(0..0, transactions.iter().cloned());
            }
            ensure!(found.len() == expected.len(), "{name} {number}: {} of {}", found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                let input = expected["input"].as_str().unwrap_or_default();
                ensure!(found["input"] == input[..input.len().min(10)], "{found}");
                ensure!(found["hash"] == expected["hash"] && found["from"] == expected["from"], "{found}");
            }
        }
        for wrong in [json!([1, 0, 0]), json!([1, 0, 101]), json!([1, -1, 25]), json!([1, 0])] {
            ensure!(call(chain, "ots_getBlockTransactions", wrong)?["error"]["code"] == -32602);
        }
    }
    Ok(())
}

/// Whether a frame failed, or one of the others around it.
fn is_undone(frame: &Value, frames: &[Value]) -> bool {
    let path = |frame: &Value| frame["traceAddress"].as_array().cloned().unwrap_or_default();
    frames.iter().any(|other| other["error"].is_string() && path(frame).starts_with(&path(other)))
}

/// What a frame did, as Erigon lists it; `None` if it is not listed.
fn operation(frame: &Value) -> Option<Value> {
    let (action, made) = (&frame["action"], &frame["result"]["address"]);
    match (frame["type"].as_str()?, action["callType"].as_str().or(action["creationMethod"].as_str())) {
        ("call", Some("call")) if action["value"] != "0x0" => {
            Some(json!({"type": 0, "from": action["from"], "to": action["to"], "value": action["value"]}))
        }
        ("suicide", _) => Some(
            json!({"type": 1, "from": action["address"], "to": action["refundAddress"], "value": action["balance"]}),
        ),
        ("create", method) if frame["error"].is_null() => {
            let kind = if method == Some("create2") { 3 } else { 2 };
            Some(json!({"type": kind, "from": action["from"], "to": made, "value": action["value"]}))
        }
        _ => None,
    }
}

#[test]
fn operations_and_traces_are_the_frames_of_the_node() -> anyhow::Result<()> {
    let mut kinds = BTreeSet::new();
    let mut names = BTreeSet::new();
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        for tx in traced(chain, |frames| frames.len() > 1) {
            let frames = tx.frames.context("frames")?;
            let found = result(chain, "ots_getInternalOperations", json!([tx.hash()]))?;
            let lasting = frames[1..].iter().filter(|frame| !is_undone(frame, frames));
            let expected: Vec<Value> = lasting.filter_map(operation).collect();
            ensure!(found == json!(expected), "{name} {}: {found}, expected {expected:?}", tx.hash());
            let read: Vec<InternalOperation> = typed(&found)?;
            kinds.extend(read.iter().map(|operation| operation.r#type as u8));
            let trace = result(chain, "ots_traceTransaction", json!([tx.hash()]))?;
            let read: Vec<TraceEntry> = typed(&trace)?;
            ensure!(read.len() == frames.len(), "{name} {}: {} frames", tx.hash(), read.len());
            for (position, (entry, frame)) in trace.as_array().context("a list")?.iter().zip(frames).enumerate() {
                same_frame(entry, frame, &tx, position)?;
            }
            names.extend(read.into_iter().map(|entry| entry.r#type));
        }
    }
    ensure!(kinds.len() == 4 && names.len() == 7, "{kinds:?} {names:?}");
    Ok(())
}

fn same_frame(entry: &Value, frame: &Value, tx: &NodeTransaction<'_>, position: usize) -> anyhow::Result<()> {
    let action = &frame["action"];
    let kind = frame["type"].as_str().context("a type")?;
    let name = action["callType"].as_str().or(action["creationMethod"].as_str()).unwrap_or("selfdestruct");
    ensure!(entry["type"] == name.to_uppercase(), "{entry}, expected {frame}");
    ensure!(entry["depth"] == frame["traceAddress"].as_array().context("a path")?.len(), "{entry}, expected {frame}");
    let (from, to, value, input) = match kind {
        "suicide" => (&action["address"], &action["refundAddress"], &action["balance"], &json!("0x")),
        "create" => (&action["from"], &frame["result"]["address"], &action["value"], &action["init"]),
        _ => (&action["from"], &action["to"], &action["value"], &action["input"]),
    };
    ensure!(entry["from"] == *from && entry["input"] == *input, "{entry}, expected {frame}");
    let shared = matches!(name, "staticcall" | "delegatecall");
    ensure!(entry["value"] == if shared { &Value::Null } else { value }.clone(), "{entry}, expected {frame}");
    if kind != "create" || frame["error"].is_null() {
        ensure!(entry["to"] == *to, "{entry}, expected {frame}");
    } else {
        // Of a creation that failed only the outermost has an address that is known.
        let expected = if position == 0 { &tx.receipt["contractAddress"] } else { &Value::Null };
        ensure!(entry["to"] == *expected, "{entry}, expected {frame}");
    }
    if frame["error"].is_null() && kind != "suicide" {
        let output = frame["result"].get("output").or(frame["result"].get("code"));
        ensure!(Some(&entry["output"]) == output, "{entry}, expected {frame}");
    }
    Ok(())
}

#[test]
fn errors_are_what_reverted_transactions_returned() -> anyhow::Result<()> {
    let mut reverted = 0;
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        for tx in traced(chain, |frames| frames[0]["error"].is_string()) {
            let frame = tx.frames.and_then(|frames| frames.first()).context("a frame")?;
            let found = result(chain, "ots_getTransactionError", json!([tx.hash()]))?;
            let returned = frame["result"].get("output").or(frame["result"].get("code")).or(tx.geth.get("output"));
            let expected = match frame["error"].as_str() {
                Some("Reverted") => returned.cloned().unwrap_or(json!("0x")),
                _ => json!("0x"),
            };
            ensure!(found == expected, "{name} {}: {found}, expected {frame}", tx.hash());
            reverted += usize::from(expected != "0x");
        }
    }
    ensure!(reverted > 10, "only {reverted} returned something");
    Ok(())
}

#[test]
fn what_is_not_traced_is_refused() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let all = node_transactions(chain);
    let failed = |tx: &&NodeTransaction<'_>| tx.frames.is_none() && tx.receipt["status"] == "0x0";
    let untraced = all.iter().find(failed).context("a transaction without frames")?;
    for method in ["ots_getInternalOperations", "ots_traceTransaction", "ots_getTransactionError"] {
        let error = &call(chain, method, json!([untraced.hash()]))?["error"];
        let text = format!("Traces of block {} are not indexed", untraced.block());
        ensure!(error["code"] == -32002 && error["message"] == text, "{method}: {error}");
        ensure!(result(chain, method, json!([format!("0x{}", "12".repeat(32))]))?.is_null());
        ensure!(call(chain, method, json!(["0x12"]))?["error"]["code"] == -32602);
    }
    let fine = all.iter().find(|tx| tx.frames.is_none() && tx.receipt["status"] == "0x1").context("a success")?;
    ensure!(result(chain, "ots_getTransactionError", json!([fine.hash()]))? == "0x");
    Ok(())
}
