//! `module=contract`: ABIs against the files that were loaded, creators against the node's words.

use std::collections::HashMap;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::{http, workspace};

use super::ask;
use super::fields::ensure_fields;
use super::transactions::lower;
use crate::chains::{chain, dump, quantity};
use crate::env;

#[test]
fn abis_of_api_are_those_that_were_loaded() -> anyhow::Result<()> {
    let database = "etherscan_verified";
    let _database = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain")]), 0)?;
    let file = workspace::fixture("labels/abis.json");
    env::run(env::ingest(database, &["labels", &file.display().to_string()]), 0)?;
    let api = env::start_api(database, &[])?;
    let loaded: Value = serde_json::from_slice(&std::fs::read(&file)?)?;
    for (address, artifact) in loaded.as_object().context("contracts by address")? {
        let answer = ask(&api.url, &format!("module=contract&action=getabi&address={address}"))?;
        let abi: Value = serde_json::from_str(answer["result"].as_str().context("JSON text")?)?;
        ensure!(answer["status"] == "1" && abi == artifact["abi"], "{address}: {answer}");
        let raw = format!("{}/api?module=contract&action=getabi&address={address}&format=raw&tag=latest", api.url);
        ensure!(http::get(&http::agent(), &raw)?.json()? == artifact["abi"], "{raw}");
        let source = ask(&api.url, &format!("module=contract&action=getsourcecode&address={address}"))?;
        let source = &source["result"][0];
        ensure!(source["ContractName"] == artifact["contractName"] && source["SourceCode"] == "", "{source}");
        ensure!(source["ABI"] == answer["result"] && source["CompilerVersion"] == "", "{source}");
        let page = http::get(&http::agent(), &format!("{}/api/v2/smart-contracts/{address}", api.url))?.json()?;
        let implementation = lower(&page["implementations"][0]["address_hash"]);
        ensure!(source["Proxy"] == if page["proxy_type"].is_null() { "0" } else { "1" }, "{source}, {page}");
        ensure!(source["Implementation"] == implementation, "{source}, {page}");
        ensure!(source["Runs"] == "0" && source["OptimizationUsed"] == "0", "{source}");
    }
    ensure_listed(&api.url, &loaded)?;
    api.stop()?;
    Ok(())
}

/// All contracts that were loaded, in pages.
fn ensure_listed(api: &str, loaded: &Value) -> anyhow::Result<()> {
    let mut due: Vec<String> =
        loaded.as_object().into_iter().flatten().map(|(address, _)| address.to_lowercase()).collect();
    due.sort();
    let mut found = Vec::new();
    for page in 1..=due.len() + 1 {
        let list = ask(api, &format!("module=contract&action=listcontracts&filter=verified&page={page}&offset=1"))?;
        if page > due.len() {
            ensure!(list == json!({"status": "0", "message": "No records found", "result": []}), "{list}");
            continue;
        }
        ensure_fields("listcontracts", &list)?;
        found.push(lower(&list["result"][0]["Address"]));
    }
    ensure!(found == due, "{found:?}, due {due:?}");
    let all = ask(api, "module=contract&action=listcontracts&filter=1")?;
    ensure!(all["result"].as_array().map(Vec::len) == Some(due.len().min(10)), "{all}");
    for contract in &due {
        for action in ["getabi", "getsourcecode"] {
            ensure_fields(action, &ask(api, &format!("module=contract&action={action}&address={contract}"))?)?;
        }
    }
    for query in ["", "&filter=decompiled", "&filter=verified&offset=101"] {
        let refused = ask(api, &format!("module=contract&action=listcontracts{query}"))?;
        ensure!(refused["status"] == "0" && refused["result"].is_null(), "{query}: {refused}");
    }
    Ok(())
}

#[test]
fn contracts_without_an_abi_are_not_verified_and_none_is_verified_here() -> anyhow::Result<()> {
    let api = &chain("hive").api;
    let address = format!("0x{}", "12".repeat(20));
    for action in ["getabi", "getsourcecode"] {
        let refused = ask(api, &format!("module=contract&action={action}&address={address}"))?;
        let due = json!({"status": "0", "message": "Contract source code not verified", "result": null});
        ensure!(refused == due, "{action}: {refused}");
    }
    for action in ["verifysourcecode", "checkverifystatus", "verifyproxycontract"] {
        let refused = ask(api, &format!("module=contract&action={action}"))?;
        ensure!(refused["status"] == "0", "{refused}");
        ensure!(lower(&refused["message"]).starts_with("contracts are not verified here"), "{refused}");
        // Clients show what the result begins with.
        ensure!(refused["result"] == refused["message"], "{refused}");
    }
    Ok(())
}

/// Etherscan has a result without a source, Blockscout a refusal; and both a sentence as the raw ABI.
#[test]
fn a_contract_that_is_not_verified_has_a_result_without_a_source() -> anyhow::Result<()> {
    let api = &chain("hive").api;
    let address = format!("0x{}", "12".repeat(20));
    let sentence = "Contract source code not verified";
    for path in ["/v2/api?", "/api?chainid=1&", "/v2/api?chainid=1&"] {
        let get = |query: &str| http::get(&http::agent(), &format!("{api}{path}module=contract&{query}"));
        let source = get(&format!("action=getsourcecode&address={address}"))?.json()?;
        ensure!(source["status"] == "1" && source["message"] == "OK", "{path}: {source}");
        ensure_fields("getsourcecode", &source)?;
        let item = &source["result"][0];
        ensure!(item["ABI"] == sentence && item["SourceCode"] == "" && item["ContractName"] == "", "{source}");
        ensure!(item["Proxy"] == "0" && item["Implementation"] == "" && item["CompilerVersion"] == "", "{source}");
        let abi = get(&format!("action=getabi&address={address}"))?.json()?;
        ensure!(abi == json!({"status": "0", "message": "NOTOK", "result": sentence}), "{path}: {abi}");
    }
    for path in ["/v2/api", "/api"] {
        let raw = format!("{api}{path}?module=contract&action=getabi&address={address}&format=raw");
        let raw = http::get(&http::agent(), &raw)?;
        ensure!(raw.status == 200 && raw.text() == sentence, "{path}: {}", raw.text());
        ensure!(raw.header("content-type").starts_with("text/plain"), "{raw:?}");
    }
    Ok(())
}

/// Those of the genesis file have the words of Etherscan; Blockscout has no data on them.
#[test]
fn contracts_of_the_genesis_are_told_to_clients_of_etherscan() -> anyhow::Result<()> {
    let api = &chain("hive").api;
    let genesis: Value = serde_json::from_slice(&std::fs::read(workspace::fixture("hive/genesis.json"))?)?;
    let accounts = genesis["alloc"].as_object().context("accounts")?;
    let contracts = accounts.iter().filter(|(_, account)| account["code"].as_str().is_some_and(|code| code.len() > 2));
    let mut count = 0;
    for (contract, _) in contracts {
        let digits = contract.trim_start_matches("0x").to_lowercase();
        let query = format!("module=contract&action=getcontractcreation&contractaddresses=0x{digits}");
        let due = json!({
            "contractAddress": format!("0x{digits}"),
            "contractCreator": "GENESIS",
            "txHash": format!("GENESIS_{digits}"),
            "blockNumber": "0",
            "timeStamp": "",
            "timestamp": "",
            "contractFactory": "",
            "creationBytecode": "",
        });
        let found = ask(api, &format!("{query}&chainid=1"))?;
        ensure!(found == json!({"status": "1", "message": "OK", "result": [due]}), "{found}");
        let none = ask(api, &query)?;
        ensure!(none == json!({"status": "0", "message": "No data found", "result": null}), "{none}");
        count += 1;
    }
    ensure!(count > 0, "no contract in the genesis file");
    Ok(())
}

/// Contracts that are made in a transaction, by the node's trace of it.
fn made(frame: &Value, made_by: &mut Vec<(String, String, String)>) {
    if frame["error"].is_string() {
        return;
    }
    if lower(&frame["type"]).starts_with("create") {
        made_by.push((lower(&frame["to"]), lower(&frame["from"]), lower(&frame["input"])));
    }
    frame["calls"].as_array().into_iter().flatten().for_each(|below| made(below, made_by));
}

#[test]
fn contracts_are_created_by_the_account_that_signed() -> anyhow::Result<()> {
    for name in ["hive", "devchain"] {
        let chain = chain(name);
        let mut newest = HashMap::new();
        for line in &chain.lines {
            let transactions = line["block"]["transactions"].as_array().cloned().unwrap_or_default();
            for (transaction, trace) in transactions.iter().zip(line["traces"].as_array().into_iter().flatten()) {
                let mut contracts = Vec::new();
                made(&trace["result"], &mut contracts);
                let (sender, hash) = (lower(&transaction["from"]), lower(&transaction["hash"]));
                let number = quantity(&line["block"]["number"]).to_string();
                let time = quantity(&line["block"]["timestamp"]).to_string();
                for (contract, creator, code) in contracts {
                    let factory = if creator == sender { String::new() } else { creator };
                    let creation = json!({
                        "contractAddress": contract,
                        "contractCreator": sender,
                        "txHash": hash,
                        "blockNumber": number,
                        "timestamp": time,
                        "timeStamp": time,
                        "contractFactory": factory,
                        "creationBytecode": code,
                    });
                    newest.insert(contract, creation);
                }
            }
        }
        ensure!(newest.len() > 3, "{name}: {}", newest.len());
        ensure!(
            name == "hive" || newest.values().any(|creation| creation["contractFactory"] != ""),
            "{name}: no factory"
        );
        for (contract, creation) in &newest {
            let query = format!("module=contract&action=getcontractcreation&contractaddresses={contract}");
            let found = ask(&chain.api, &query)?;
            ensure!(found == json!({"status": "1", "message": "OK", "result": [creation]}), "{found}, due {creation}");
        }
        let several = newest.keys().take(3).cloned().collect::<Vec<_>>().join(",");
        let query = format!("module=contract&action=getcontractcreation&contractaddresses={several}");
        ensure!(ask(&chain.api, &query)?["result"].as_array().map(Vec::len) == Some(3));
    }
    let query = format!("module=contract&action=getcontractcreation&contractaddresses=0x{}", "12".repeat(20));
    let none = ask(&chain("hive").api, &query)?;
    ensure!(none == json!({"status": "0", "message": "No data found", "result": null}), "{none}");
    let missing = ask(&chain("mainnet").api, &query)?;
    ensure!(missing["status"] == "2" && missing["result"].is_null(), "{missing}");
    Ok(())
}
