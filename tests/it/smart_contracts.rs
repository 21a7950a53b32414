//! Contracts of REST: code against what the nodes reported, ABIs against the files that were loaded.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_query::contracts::list::list;
use xtask::{http, workspace};

use crate::chains::{Chain, chain, dump};
use crate::env;
use crate::plans::explain_in;

fn get(api: &str, path: &str) -> anyhow::Result<Value> {
    let answer = http::get(&http::agent(), &format!("{api}/api/v2/{path}"))?;
    ensure!(answer.status == 200, "{path}: {} {}", answer.status, answer.text());
    answer.json()
}

/// Address, transaction and input of contracts that transactions created, as the node reported them.
fn created(chain: &Chain) -> Vec<(String, String, Value)> {
    let mut created = Vec::new();
    for line in &chain.lines {
        let (transactions, receipts) = (&line["block"]["transactions"], &line["receipts"]);
        let receipts = receipts.as_array().into_iter().flatten();
        for (transaction, receipt) in transactions.as_array().into_iter().flatten().zip(receipts) {
            if let (Some(contract), true) = (receipt["contractAddress"].as_str(), receipt["status"] != "0x0") {
                let hash = transaction["hash"].as_str().unwrap_or_default();
                created.push((contract.to_lowercase(), hash.to_owned(), transaction["input"].clone()));
            }
        }
    }
    created
}

#[test]
fn code_is_what_the_node_created() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let created = created(chain);
        ensure!(!created.is_empty(), "{name}");
        let mut compared = 0;
        for (address, transaction, input) in created.iter().step_by((created.len() / 8).max(1)) {
            if get(&chain.api, &format!("addresses/{address}"))?["is_contract"] == false {
                // Its constructor left no code, or destroyed it: `lifecycle` has each such case.
                let answer = http::get(&http::agent(), &format!("{}/api/v2/smart-contracts/{address}", chain.api))?;
                ensure!(answer.status == 404, "{name} {address}: {}", answer.text());
                continue;
            }
            let contract = get(&chain.api, &format!("smart-contracts/{address}"))?;
            ensure!(contract["creation_bytecode"] == *input, "{name} {address}: {contract}");
            ensure!(contract["is_verified"] == false && contract["abi"].is_null(), "{contract}");
            let trace =
                http::get(&http::agent(), &format!("{}/api/v2/transactions/{transaction}/raw-trace", chain.api))?;
            if trace.status == 200 {
                let code = &trace.json()?[0]["result"]["code"];
                ensure!(contract["deployed_bytecode"] == *code, "{name} {address}: {contract}, traced {code}");
                compared += 1;
            }
        }
        ensure!(compared > 0, "{name}: no code of {} was traced", created.len());
    }
    Ok(())
}

#[test]
fn an_account_is_no_contract_where_that_is_known() -> anyhow::Result<()> {
    let path = format!("smart-contracts/0x{}", "9e".repeat(20));
    let hive = http::get(&http::agent(), &format!("{}/api/v2/{path}", chain("hive").api))?;
    ensure!(hive.status == 404, "{}", hive.text());
    let mainnet = get(&chain("mainnet").api, &path)?;
    ensure!(mainnet["deployed_bytecode"].is_null() && mainnet["creation_status"].is_null(), "{mainnet}");
    // Clients put the address instead of a name that is not there, and take null for one.
    ensure!(mainnet.get("name").is_none() && mainnet.get("certified").is_none(), "{mainnet}");
    let wrong = http::get(&http::agent(), &format!("{}/api/v2/smart-contracts/0x12", chain("hive").api))?;
    ensure!(wrong.status == 422, "{}", wrong.text());
    Ok(())
}

#[test]
fn abis_are_those_that_were_loaded() -> anyhow::Result<()> {
    let database = "smart_contracts_verified";
    let _database = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain")]), 0)?;
    let file = workspace::fixture("labels/abis.json");
    env::run(env::ingest(database, &["labels", &file.display().to_string()]), 0)?;
    let api = env::start_api(database, &[])?;
    let loaded: Value = serde_json::from_slice(&std::fs::read(&file)?)?;
    for (address, artifact) in loaded.as_object().context("contracts by address")? {
        let contract = get(&api.url, &format!("smart-contracts/{address}"))?;
        ensure!(contract["is_verified"] == true && contract["name"] == artifact["contractName"], "{contract}");
        ensure!(contract["certified"] == false, "{contract}");
        ensure!(contract["abi"] == artifact["abi"], "{address}: {}, not {}", contract["abi"], artifact["abi"]);
        ensure!(contract["source_code"].is_null() && contract["additional_sources"] == json!([]), "{contract}");
    }
    let proxy = get(&api.url, "smart-contracts/0x9A676e781A523b5d0C0e43731313A708CB607508")?;
    ensure!(proxy["proxy_type"] == "eip1967" && proxy["implementations"][0]["address_hash"].is_string(), "{proxy}");
    let mut known: Vec<&String> = loaded.as_object().context("contracts by address")?.keys().collect();
    known.sort_by_key(|address| address.to_lowercase());
    ensure_listed(&api.url, &known, &loaded)?;
    let counters = get(&api.url, "smart-contracts/counters")?;
    ensure!(counters["verified_smart_contracts"] == json!(known.len().to_string()), "{counters}");
    ensure!(counters["smart_contracts"].is_null() && counters["new_smart_contracts_24h"].is_null(), "{counters}");
    // A page reads on from its cursor, in the order of the key.
    let cursor = known[0].parse()?;
    let reads = explain_in(database, &list(None, Some(&cursor), 51))?;
    let read = reads.iter().find(|read| read.table == "contract_abis").context("a read")?;
    ensure!(read.keys[0] == "address" && read.kind == "InOrder", "{reads:?}");
    api.stop()?;
    Ok(())
}

/// The list has the contracts of the file, in the order of their addresses, whatever the size of its pages.
fn ensure_listed(api: &str, known: &[&String], loaded: &Value) -> anyhow::Result<()> {
    let address = |item: &Value| item["address"]["hash"].as_str().unwrap_or_default().to_lowercase();
    for size in [1, 2, 50] {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = get(api, &format!("smart-contracts?items_count={size}{cursor}"))?;
            found.extend(page["items"].as_array().context("items")?.iter().map(address));
            let Some(next) = page["next_page_params"]["hash"].as_str() else { break };
            cursor = format!("&hash={next}");
        }
        let expected: Vec<String> = known.iter().map(|address| address.to_lowercase()).collect();
        ensure!(found == expected, "{found:?}, not {expected:?}");
    }
    let first = &get(api, "smart-contracts/?items_count=1")?["items"][0];
    ensure!(first["address"]["name"] == loaded[known[0]]["contractName"], "{first}");
    ensure!(first["address"]["is_verified"] == true && first["compiler_version"].is_null(), "{first}");
    let named = get(api, "smart-contracts?q=counterv")?;
    let named: Vec<String> = named["items"].as_array().context("items")?.iter().map(address).collect();
    let of_name = |address: &&&String| {
        loaded[**address]["contractName"].as_str().is_some_and(|name| name.starts_with("CounterV"))
    };
    let expected: Vec<String> = known.iter().filter(of_name).map(|address| address.to_lowercase()).collect();
    ensure!(named.len() == 2 && named == expected, "{named:?}, not {expected:?}");
    ensure!(get(api, "smart-contracts?q=nothing+of+this+name")?["items"] == json!([]));
    for query in ["sort=balance", "filter=solidity", "hash=0x12"] {
        let answer = http::get(&http::agent(), &format!("{api}/api/v2/smart-contracts?{query}"))?;
        ensure!(answer.status == 422, "{query}: {}", answer.text());
    }
    Ok(())
}
