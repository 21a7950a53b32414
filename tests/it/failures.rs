//! Why transactions failed, against receipts and traces of the nodes.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_core::primitives::U256;

use crate::activity::{list, text, wide};
use crate::chains::{Chain, chain};
use crate::pages::get;
use crate::transactions::node_transactions;

/// Contract, method, error, first four bytes of the output, and the text in it; each as JSON.
type Kind = [String; 5];

/// How many, their gas and fees.
type Sums = (u64, U256, U256);

/// What the node reported for the outermost call of a transaction.
struct OutermostCall {
    error: Value,
    /// In hexadecimal digits.
    output: String,
}

impl OutermostCall {
    fn revert_id(&self) -> Option<&str> {
        self.output.get(..10)
    }

    /// The text of `Error(string)`, or what go-ethereum calls the number of `Panic(uint256)`.
    fn message(&self) -> Option<String> {
        if let Some(code) = self.output.strip_prefix("0x4e487b71") {
            let name = match code.get(62..64)? {
                "01" => "assert(false)",
                "11" => "arithmetic underflow or overflow",
                "12" => "division or modulo by zero",
                "32" => "out-of-bounds access of an array or bytesN",
                other => return Some(other.to_owned()),
            };
            return Some(name.to_owned());
        }
        let words = self.output.strip_prefix("0x08c379a0")?;
        let length = usize::from_str_radix(words.get(112..128)?, 16).ok()?;
        String::from_utf8(alloy_primitives::hex::decode(words.get(128..128 + 2 * length)?).ok()?).ok()
    }
}

/// Those of the transactions that were traced, by hash.
fn outermost(chain: &Chain) -> BTreeMap<String, OutermostCall> {
    let mut outputs = BTreeMap::new();
    for line in &chain.lines {
        let transactions = list(&line["block"]["transactions"]);
        for (at, transaction) in transactions.iter().enumerate() {
            let frame = line["parityTraces"].get(at).map_or(&Value::Null, |frames| &frames[0]);
            let tree = line["traces"].get(at).map_or(&Value::Null, |tree| tree.get("result").unwrap_or(tree));
            if frame.is_object() {
                let call = OutermostCall { error: frame["error"].clone(), output: text(&tree["output"]) };
                outputs.insert(text(&transaction["hash"]), call);
            }
        }
    }
    outputs
}

fn ensure_same(name: &str, answer: &Value, expected: &BTreeMap<Kind, Sums>) -> anyhow::Result<()> {
    let items = list(&answer["items"]);
    ensure!(
        answer["items_in_all"] == expected.len() && items.len() == expected.len(),
        "{name}: {answer:#}, not {expected:#?}"
    );
    let mut last = u64::MAX;
    for item in &items {
        let contract = item["contract"]["hash"].as_str().map(str::to_lowercase);
        let [method, error, id, message] = ["method_id", "error", "revert_id", "message"].map(|key| item[key].clone());
        let kind = [json!(contract), method, error, id, message];
        let kind = kind.map(|value| value.to_string());
        let (count, gas, fees) = expected.get(&kind).with_context(|| format!("{name}: {item}, not {expected:#?}"))?;
        let same = item["transactions_count"] == *count
            && item["gas_used"] == json!(gas.to_string())
            && item["fees"] == json!(fees.to_string());
        ensure!(same && *count <= last, "{name}: {item}, not {count} {gas} {fees}");
        last = *count;
    }
    Ok(())
}

fn expected_failures(chain: &Chain, contract: Option<&str>) -> (BTreeMap<Kind, Sums>, bool) {
    let outermost = outermost(chain);
    let (mut expected, mut is_known) = (BTreeMap::<Kind, Sums>::new(), true);
    for tx in node_transactions(chain).values() {
        let to = tx.transaction["to"].as_str().map(str::to_lowercase);
        if contract.is_some_and(|contract| to.as_deref() != Some(contract)) {
            continue;
        }
        is_known &= tx.receipt["status"].is_string();
        if tx.receipt["status"] != "0x0" {
            continue;
        }
        let input = text(&tx.transaction["input"]);
        let method = (to.is_some() && input.len() >= 10).then(|| input[..10].to_owned());
        let call = outermost.get(&text(&tx.transaction["hash"]));
        let error = call.map_or(Value::Null, |call| call.error.clone());
        let id = json!(call.and_then(OutermostCall::revert_id));
        let kind = [json!(to), json!(method), error, id, json!(call.and_then(OutermostCall::message))];
        let sums = expected.entry(kind.map(|value| value.to_string())).or_default();
        let gas = wide(&tx.receipt["gasUsed"]);
        *sums = (sums.0 + 1, sums.1 + gas, sums.2 + gas * wide(&tx.receipt["effectiveGasPrice"]));
    }
    (expected, is_known)
}

#[test]
fn are_those_of_receipts_and_traces() -> anyhow::Result<()> {
    for name in ["hive", "devchain"] {
        let chain = chain(name);
        let (expected_of_all, is_known) = expected_failures(chain, None);
        let answer = get(chain, "stats/activity/failures")?;
        ensure_same(name, &answer, &expected_of_all)?;
        ensure!(!expected_of_all.is_empty(), "{name}");
        ensure!(answer["block_number"] == chain.head() && answer["is_complete"] == is_known, "{name}: {answer}");
        let mut contracts: Vec<String> =
            expected_of_all.keys().filter_map(|kind| serde_json::from_str(&kind[0]).ok()).collect();
        contracts.dedup();
        for contract in contracts {
            let (of_contract, is_known) = expected_failures(chain, Some(&contract));
            let answer = get(chain, &format!("addresses/{contract}/activity/failures"))?;
            ensure_same(&contract, &answer, &of_contract)?;
            ensure!(answer["is_complete"] == is_known && !of_contract.is_empty(), "{answer}");
        }
    }
    Ok(())
}

/// Of mainnet only three blocks have frames: where there are none, the reason of a failure is unknown.
#[test]
fn without_frames_no_reason_is_given() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let answer = get(chain, "stats/activity/failures")?;
    let items = list(&answer["items"]);
    let all: u64 = expected_failures(chain, None).0.values().map(|sums| sums.0).sum();
    let shown: u64 = items.iter().filter_map(|item| item["transactions_count"].as_u64()).sum();
    ensure!(shown <= all && shown > 0 && answer["is_complete"] == false, "{shown} of {all}: {answer}");
    let without = items.iter().filter(|item| item["error"].is_null());
    ensure!(
        without.clone().count() > 10
            && without.clone().all(|item| item["message"].is_null() && item["revert_id"].is_null())
    );
    Ok(())
}

#[test]
fn messages_are_read() -> anyhow::Result<()> {
    let answer = get(chain("devchain"), "stats/activity/failures")?;
    let items = list(&answer["items"]);
    let texts: Vec<&str> = items.iter().filter_map(|item| item["message"].as_str()).collect();
    ensure!(texts.len() > 1 && texts.iter().all(|text| !text.is_empty()), "{answer:#}");
    for item in items.iter().filter(|item| item["message"].is_string()) {
        ensure!(item["revert_id"] == "0x08c379a0" || item["revert_id"] == "0x4e487b71", "{item}");
    }
    Ok(())
}
