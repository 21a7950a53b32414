//! Proxies that no record of a changed slot or code shows: what their state says, and what they and their beacons
//! answer.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::anvil::{Anvil, Call};
use super::puppets::{Answer, REVERTS, answers, creation, delegates, sets};
use super::scene::genesis;
use crate::env;

/// The slots of EIP-1967 and of OpenZeppelin before it.
const BEACON: &str = "a3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50";
const ZEPPELIN_OS: &str = "7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3";

const IMPLEMENTATION: &str = "5c60da1b";
const PROXY_TYPE: &str = "4555d5c9";
const MASTER_COPY: &str = "a619486e";
const FACETS: &str = "52ef6b2c";
const GET_IMPLEMENTATION: &str = "aaf10f42";
const COMPTROLLER: &str = "bb82aa5e";
/// Selector of `setName(bytes32)`.
const SET_NAME: &str = "5ac801fe";

struct Proxies {
    node: Anvil,
    addresses: BTreeMap<&'static str, String>,
    with_state: String,
    without_state: String,
}

/// What each contract is, and which others run its calls.
const KINDS: [(&str, Option<&str>, &[&str]); 13] = [
    ("beacon proxy", Some("eip1967_beacon"), &["logic"]),
    ("safe", Some("master_copy"), &["logic"]),
    ("diamond", Some("eip2535"), &["logic", "facet"]),
    ("zeppelin", Some("eip1967_oz"), &["logic"]),
    ("says so", Some("eip897"), &["logic"]),
    // They are of no standard, and run what they name.
    ("names it", Some("basic_implementation"), &["logic"]),
    ("gets it", Some("basic_get_implementation"), &["logic"]),
    ("comptroller", Some("comptroller"), &["logic"]),
    ("names another", None, &[]),
    // It names an implementation and runs none: so do a beacon and a factory.
    ("beacon", None, &[]),
    // It runs others' code, and has an owner in its first slot.
    ("owned", None, &[]),
    ("facet", None, &[]),
    ("logic", None, &[]),
];

/// Transactions by what they call.
const CALLS: [(&str, &str); 3] =
    [("calls the safe", "safe"), ("calls the beacon proxy", "beacon proxy"), ("calls the comptroller", "comptroller")];

fn chain() -> &'static Proxies {
    static PROXIES: OnceLock<Proxies> = OnceLock::new();
    PROXIES.get_or_init(|| start().unwrap_or_else(|error| panic!("the chain: {error:?}")))
}

fn start() -> anyhow::Result<Proxies> {
    let mut node = Anvil::start("prague")?;
    let create = |node: &mut Anvil, name, first: &str, runtime: &str| {
        node.send(name, Call { data: creation(first, runtime), ..Call::default() })
    };
    let logic = answers(&[(SET_NAME, Answer::Sets(7))], REVERTS);
    create(&mut node, "logic", "", &logic)?;
    create(&mut node, "facet", "", &answers(&[], REVERTS))?;
    node.mine()?;
    let (logic, facet) = (node.contract("logic")?, node.contract("facet")?);
    create(&mut node, "beacon", &sets("3", &logic), &answers(&[(IMPLEMENTATION, Answer::Slot(3))], REVERTS))?;
    node.mine()?;
    let beacon = node.contract("beacon")?;
    create(&mut node, "beacon proxy", &sets(BEACON, &beacon), &delegates("3"))?;
    let safe = answers(&[(MASTER_COPY, Answer::Slot(0))], &delegates("0"));
    create(&mut node, "safe", &sets("0", &logic), &safe)?;
    let facets = ["20", "2", &logic, &facet];
    create(&mut node, "diamond", "", &answers(&[(FACETS, Answer::Words(&facets))], &delegates("9")))?;
    create(&mut node, "zeppelin", &sets(ZEPPELIN_OS, &logic), &delegates(ZEPPELIN_OS))?;
    let says = answers(&[(PROXY_TYPE, Answer::Words(&["2"])), (IMPLEMENTATION, Answer::Slot(3))], &delegates("3"));
    create(&mut node, "says so", &sets("3", &logic), &says)?;
    for (name, getter) in [("names it", IMPLEMENTATION), ("gets it", GET_IMPLEMENTATION), ("comptroller", COMPTROLLER)]
    {
        create(&mut node, name, &sets("3", &logic), &answers(&[(getter, Answer::Slot(3))], &delegates("3")))?;
    }
    let named = [facet.as_str()];
    let runtime = answers(&[(IMPLEMENTATION, Answer::Words(&named))], &delegates("3"));
    create(&mut node, "names another", &sets("3", &logic), &runtime)?;
    let owner = node.accounts[0].clone();
    create(&mut node, "owned", &sets("0", &owner), &answers(&[], &delegates("9")))?;
    node.mine()?;
    let addresses: BTreeMap<&'static str, String> =
        node.hashes.keys().map(|name| Ok((*name, node.contract(name)?))).collect::<anyhow::Result<_>>()?;
    let data = format!("0x{SET_NAME}{:0>64}", "41");
    for (name, called) in CALLS {
        node.send(name, Call { to: Some(&addresses[called]), data: data.clone(), ..Call::default() })?;
    }
    node.mine()?;
    let genesis = genesis("prague")?;
    let path = genesis.path().display().to_string();
    let load = |database: &str, state: [&str; 2]| -> anyhow::Result<()> {
        env::create_tables(database)?;
        env::run(env::ingest(database, &["load", "--rpc-url", &node.url, state[0], state[1]]), 0).map(drop)
    };
    load("lifecycle_proxies", ["--genesis", &path])?;
    let abi = json!([{"type": "function", "name": "setName", "stateMutability": "nonpayable", "outputs": [],
                      "inputs": [{"name": "named", "type": "bytes32"}]}]);
    let labels = tempfile::Builder::new().suffix(".json").tempfile()?;
    let logic = &addresses["logic"];
    std::fs::write(labels.path(), json!({logic: {"contractName": "Logic", "abi": abi}}).to_string())?;
    env::run(env::ingest("lifecycle_proxies", &["labels", &labels.path().display().to_string()]), 0)?;
    load("lifecycle_proxies_stateless", ["--state", "off"])?;
    let with_state = env::start_shared_api("lifecycle_proxies")?;
    let without_state = env::start_shared_api("lifecycle_proxies_stateless")?;
    Ok(Proxies { node, addresses, with_state, without_state })
}

fn get(api: &str, path: &str) -> anyhow::Result<Value> {
    let answer = http::get(&http::agent(), &format!("{api}/{path}"))?;
    ensure!(answer.status == 200, "{path}: {} {}", answer.status, answer.text());
    answer.json()
}

#[test]
fn what_state_shows_runs_their_calls() -> anyhow::Result<()> {
    let chain = chain();
    for (name, kind, implementations) in KINDS {
        let address = &chain.addresses[name];
        let expected: Vec<&String> = implementations.iter().map(|name| &chain.addresses[name]).collect();
        for page in ["smart-contracts", "addresses"] {
            let page = get(&chain.with_state, &format!("api/v2/{page}/{address}"))?;
            ensure!(page["proxy_type"] == json!(kind), "{name}: {page}");
            let found: Vec<String> = page["implementations"]
                .as_array()
                .context("a list")?
                .iter()
                .map(|item| item["address_hash"].as_str().unwrap_or_default().to_lowercase())
                .collect();
            ensure!(found.iter().eq(expected.iter().copied()), "{name}: {page}");
            ensure!(expected.is_empty() || page["implementations"][0]["name"] == "Logic", "{name}: {page}");
        }
        let page = get(&chain.without_state, &format!("api/v2/addresses/{address}"))?;
        ensure!(page["implementations"] == json!([]) && page["proxy_type"].is_null(), "{name} without state: {page}");
    }
    Ok(())
}

#[test]
fn what_state_shows_decodes_their_calls() -> anyhow::Result<()> {
    let chain = chain();
    for (name, _) in CALLS {
        let page = get(&chain.with_state, &format!("api/v2/transactions/{}", chain.node.hashes[name]))?;
        let decoded = &page["decoded_input"];
        ensure!(page["method"] == "setName" && decoded["method_call"] == "setName(bytes32 named)", "{name}: {page}");
        ensure!(decoded["parameters"][0]["value"] == format!("0x{:0>64}", "41"), "{name}: {page}");
    }
    Ok(())
}
