//! Data that no code read is no call: transactions, sentences, lists and filters, against what ran on the node.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::scene::{RECEIVER, Scene, prague, shanghai};

fn get(api: &str, path: &str) -> anyhow::Result<Value> {
    let answer = http::get(&http::agent(), &format!("{api}/{path}"))?;
    ensure!(answer.status == 200, "{path}: {} {}", answer.status, answer.text());
    answer.json()
}

/// The transactions that brought data to an address, and whether code ran: it used gas on the node, or failed.
fn deliveries(scene: &Scene) -> anyhow::Result<BTreeMap<&'static str, bool>> {
    let named = scene.node.hashes.iter().filter(|(name, _)| {
        ["transfer to", "message to", "call of"].iter().any(|beginning| name.starts_with(beginning))
    });
    let ran = |(name, hash): (&&'static str, &String)| {
        let frames = scene.node.ask("trace_transaction", &json!([hash]))?;
        let ran = frames[0]["error"].is_string() || frames[0]["result"]["gasUsed"] != "0x0";
        // The names are what the rules of the EVM say.
        let is_plain = !name.starts_with("call of") && !name.ends_with("precompile");
        ensure!(ran != is_plain || name.ends_with("may be destroyed"), "{name}: {frames}");
        Ok((*name, ran))
    };
    named.map(ran).collect()
}

#[test]
fn a_transaction_that_ran_no_code_calls_nothing() -> anyhow::Result<()> {
    for scene in [prague(), shanghai()] {
        let deliveries = deliveries(scene)?;
        ensure!(deliveries.values().filter(|ran| !**ran).count() > 4, "{deliveries:?}");
        for api in [Some(&scene.api), scene.frames_only.as_ref()].into_iter().flatten() {
            for (name, ran) in &deliveries {
                ensure_call_is_listed(api, &scene.node.hashes[name], *ran).with_context(|| format!("{name}, {api}"))?;
            }
            let coins = get(api, &format!("api/v2/transactions/{}", scene.node.hashes["coins to a later contract"]))?;
            ensure!(coins["transaction_types"] == json!(["coin_transfer"]), "{coins}");
        }
    }
    Ok(())
}

fn ensure_call_is_listed(api: &str, hash: &str, ran: bool) -> anyhow::Result<()> {
    let item = get(api, &format!("api/v2/transactions/{hash}"))?;
    let types = item["transaction_types"].as_array().context("types")?;
    ensure!(types.iter().any(|one| one == "contract_call") == ran, "{item}");
    ensure!(item["decoded_input"].is_object() == ran && item["method"].is_string() == ran, "{item}");
    let list = get(api, &format!("api/v2/blocks/{}/transactions", item["block_number"]))?;
    let listed = list["items"].as_array().into_iter().flatten().find(|one| one["hash"] == hash).context("listed")?;
    for member in ["transaction_types", "decoded_input", "method"] {
        ensure!(listed[member] == item[member], "{member}: {listed}, not {item}");
    }
    let summary = get(api, &format!("api/v2/transactions/{hash}/summary"))?.to_string();
    ensure!(summary.contains("Called") == (ran && item["status"] == "ok"), "{summary}");
    let sender = item["from"]["hash"].as_str().context("sender")?;
    let block = &item["block_number"];
    let query = format!("api?module=account&action=txlist&address={sender}&startblock={block}&endblock={block}");
    let list = get(api, &query)?;
    let row = list["result"].as_array().into_iter().flatten().find(|one| one["hash"] == hash).context("a row")?;
    let selector = item["raw_input"].as_str().unwrap_or_default()[..10].to_owned();
    ensure!((row["functionName"] != "") == ran && row["methodId"] == json!(selector), "{row}");
    ensure_call_is_exported(api, sender, hash, ran)
}

/// In the files of both forms, and in the tree of calls.
fn ensure_call_is_exported(api: &str, sender: &str, hash: &str, ran: bool) -> anyhow::Result<()> {
    for (columns, method) in [("", "MethodName"), ("&columns=accounting", "Method")] {
        let path = format!("{api}/api/v2/addresses/{sender}/transactions/csv?from_period=2023-01-01{columns}");
        let file = http::get(&http::agent(), &path)?.text();
        let cells = |line: &str| line.trim_end().split(',').map(str::to_owned).collect::<Vec<String>>();
        let mut lines = file.lines();
        let head = cells(lines.next().context("a head")?);
        let at = head.iter().position(|name| name == method).with_context(|| format!("{head:?}"))?;
        let line = cells(lines.find(|line| line.contains(hash)).with_context(|| format!("{hash}: {file}"))?);
        ensure!(line[at].is_empty() != ran, "{line:?}");
    }
    let calls = get(api, &format!("api/v2/transactions/{hash}/calls"))?;
    ensure!(calls["decoded"][0]["method"].is_string() == ran, "{calls}");
    Ok(())
}

/// The list of everything has the kind and the method of each, and finds by them.
#[test]
fn filters_find_calls_and_transfers() -> anyhow::Result<()> {
    let scene = prague();
    let deliveries = deliveries(scene)?;
    let to_receiver = format!("api/v2/advanced-filters?to_address_hashes_to_include={RECEIVER}");
    for api in [Some(&scene.api), scene.frames_only.as_ref()].into_iter().flatten() {
        for filter in ["transaction_types=contract_interaction", "methods=0xa9059cbb"] {
            let found = get(api, &format!("{to_receiver}&{filter}"))?;
            let of_transactions = |item: &&Value| item["internal_transaction_index"].is_null();
            ensure!(found["items"].as_array().context("items")?.iter().find(of_transactions).is_none(), "{found}");
        }
        let found = get(api, &format!("{to_receiver}&transaction_types=coin_transfer&items_count=100"))?;
        let message = found["items"]
            .as_array()
            .context("items")?
            .iter()
            .find(|item| item["hash"] == scene.node.hashes["message to an account"].as_str());
        ensure!(message.is_some_and(|item| item["method"].is_null() && item["type"] == "coin_transfer"), "{found}");
        let created = &scene.addresses["created"];
        let calls =
            get(api, &format!("api/v2/advanced-filters?to_address_hashes_to_include={created}&methods=0xa9059cbb"))?;
        let call = &calls["items"][0];
        ensure!(call["type"] == "contract_interaction" && call["method"] == "transfer", "{calls}");
    }
    ensure!(deliveries["call of a contract"]);
    let methods = |name: &str| get(&scene.api, &format!("api/v2/addresses/{}/activity/methods", scene.addresses[name]));
    let (account, contract) = (methods("receiver")?, methods("created")?);
    ensure!(
        !account.to_string().contains("a9059cbb") && contract.to_string().contains("a9059cbb"),
        "{account} {contract}"
    );
    Ok(())
}
