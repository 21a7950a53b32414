//! Tokens that do not keep to one standard: logs that index other parameters, and movements that two kinds of logs
//! tell. What a holder has is what the contract says by `balanceOf`, where state is loaded, else what its logs tell
//! beyond doubt.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::anvil::{Anvil, Call};
use super::puppets::{Answer, REVERTS, answers, creation, logs};
use super::scene::{genesis, with_and_without_state};
use crate::env;

const TRANSFER: &str = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const TRANSFER_SINGLE: &str = "c3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62";
const APPROVAL: &str = "8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925";
const BALANCE_OF: &str = "70a08231";
const HOLDER: &str = "0x00000000000000000000000000000000000e0b00";

/// The tokens, by name, and APIs over their chain.
struct Tokens {
    node: Anvil,
    addresses: BTreeMap<&'static str, String>,
    with_state: String,
    without_state: String,
}

/// What a token logs while it is created, and what `balanceOf` says.
fn tokens() -> [(&'static str, String, &'static str); 5] {
    let erc20 = logs(&[TRANSFER, "0", HOLDER], &["46"]);
    let erc1155 = |amount| logs(&[TRANSFER_SINGLE, HOLDER, "0", HOLDER], &["5", amount]);
    [
        ("nothing indexed", logs(&[TRANSFER], &["0", HOLDER, "7"]) + &logs(&[APPROVAL], &[HOLDER, "1", "7"]), "1"),
        ("one address indexed", logs(&[TRANSFER, "0"], &[HOLDER, "46"]), "46"),
        ("two kinds of logs", erc20.clone() + &erc1155("46"), "46"),
        ("two kinds that differ", erc20 + &erc1155("28"), "46"),
        ("one id", erc1155("46"), ""),
    ]
}

fn chain() -> &'static Tokens {
    static TOKENS: OnceLock<Tokens> = OnceLock::new();
    TOKENS.get_or_init(|| start().unwrap_or_else(|error| panic!("the chain: {error:?}")))
}

fn start() -> anyhow::Result<Tokens> {
    let mut node = Anvil::start("prague")?;
    for (name, logged, balance) in tokens() {
        let balance = [balance];
        let answered = if balance[0].is_empty() { vec![] } else { vec![(BALANCE_OF, Answer::Words(&balance))] };
        node.send(name, Call { data: creation(&logged, &answers(&answered, REVERTS)), ..Call::default() })?;
    }
    node.mine()?;
    let addresses = node.hashes.keys().map(|name| Ok((*name, node.contract(name)?))).collect::<anyhow::Result<_>>()?;
    let [with_state, without_state] = with_and_without_state(&node, "lifecycle_tokens")?;
    Ok(Tokens { addresses, with_state, without_state, node })
}

fn get(api: &str, path: &str) -> anyhow::Result<Value> {
    let answer = http::get(&http::agent(), &format!("{api}/{path}"))?;
    ensure!(answer.status == 200, "{path}: {} {}", answer.status, answer.text());
    answer.json()
}

/// The number that the node returns to `balanceOf`, in decimal digits.
fn balance_of(node: &Anvil, token: &str) -> anyhow::Result<Value> {
    let data = format!("0x{BALANCE_OF}{:0>64}", HOLDER.trim_start_matches("0x"));
    let answer = node.ask("eth_call", &json!([{"to": token, "data": data}, "latest"]))?;
    let number = u64::from_str_radix(answer.as_str().context("a word")?.trim_start_matches("0x"), 16)?;
    Ok(json!(number.to_string()))
}

#[test]
fn a_balance_is_what_the_contract_says_or_unknown() -> anyhow::Result<()> {
    let chain = chain();
    for (name, _, balance) in tokens() {
        let token = &chain.addresses[name];
        let query = format!("api?module=account&action=tokenbalance&address={HOLDER}&contractaddress={token}");
        // Units of an id have no `balanceOf(address)`: their logs tell them.
        let balance = if balance.is_empty() { json!("70") } else { balance_of(&chain.node, token)? };
        let found = get(&chain.with_state, &query)?;
        ensure!(found["result"] == balance && found["status"] == "1", "{name}: {found}, the node says {balance}");
        let found = get(&chain.without_state, &query)?;
        let expected = if ["two kinds of logs", "one id"].contains(&name) { json!("70") } else { Value::Null };
        ensure!(found["result"] == expected, "{name}: {found} instead of {expected}");
    }
    Ok(())
}

#[test]
fn a_movement_that_tells_no_standard_is_that_of_a_token() -> anyhow::Result<()> {
    let chain = chain();
    for (name, calls) in [
        (
            "nothing indexed",
            &[
                "Transfer(address from, address to, uint256 arg2)",
                "Approval(address owner, address arg1, uint256 arg2)",
            ][..],
        ),
        ("one address indexed", &["Transfer(address indexed from, address to, uint256 arg2)"][..]),
    ] {
        let token = &chain.addresses[name];
        for api in [&chain.with_state, &chain.without_state] {
            let page = get(api, &format!("api/v2/tokens/{token}"))?;
            ensure!(page["type"].is_null() && page["holders_count"].is_null(), "{name}: {page}");
            let logs = get(api, &format!("api/v2/transactions/{}/logs", chain.node.hashes[name]))?;
            let decoded: Vec<&Value> =
                logs["items"].as_array().context("logs")?.iter().map(|log| &log["decoded"]).collect();
            for (call, log) in calls.iter().zip(&decoded) {
                ensure!(log["method_call"] == *call, "{name}: {logs}");
            }
            ensure!(decoded.len() == calls.len(), "{name}: {logs}");
        }
    }
    Ok(())
}

#[test]
fn a_token_of_two_standards_has_a_balance_by_each() -> anyhow::Result<()> {
    let chain = chain();
    for (name, units) in [("two kinds of logs", "70"), ("two kinds that differ", "40")] {
        let token = &chain.addresses[name];
        for api in [&chain.with_state, &chain.without_state] {
            let held = get(api, &format!("api/v2/addresses/{HOLDER}/token-balances"))?;
            let mut found: Vec<(String, String)> = Vec::new();
            for item in held.as_array().context("a list")? {
                if item["token"]["address_hash"].as_str().map(str::to_lowercase).as_ref() == Some(token) {
                    found.push((item["token"]["type"].to_string(), item["value"].to_string()));
                }
            }
            found.sort();
            let text = |text: &str| format!("\"{text}\"");
            ensure!(found == [(text("ERC-1155"), text(units)), (text("ERC-20"), text("70"))], "{name}: {held}");
            for standard in ["ERC-20", "ERC-1155"] {
                let list = get(api, &format!("api/v2/tokens?type={standard}"))?;
                let items = list["items"].as_array().context("a list")?;
                let is_own =
                    |item: &&Value| item["address_hash"].as_str().map(str::to_lowercase).as_ref() == Some(token);
                let types: Vec<&Value> = items.iter().filter(is_own).map(|item| &item["type"]).collect();
                ensure!(types == [standard], "{name}: {list}");
            }
            let ids = get(api, &format!("api/v2/tokens/{token}/instances"))?;
            ensure!(ids["items"][0]["id"] == "5" && ids["items"][0]["token_type"] == "ERC-1155", "{name}: {ids}");
            let held = get(api, &format!("api/v2/addresses/{HOLDER}/nft"))?;
            let mut items = held["items"].as_array().context("a list")?.iter();
            let own = items
                .find(|item| item["token"]["address_hash"].as_str().map(str::to_lowercase).as_ref() == Some(token));
            ensure!(own.is_some_and(|item| item["id"] == "5" && item["value"] == units), "{name}: {held}");
        }
    }
    Ok(())
}

/// `name()` and `symbol()` are slots, as words of text; a call sets them.
const NAME: &str = "06fdde03";
const SYMBOL: &str = "95d89b41";
const DECIMALS: &str = "313ce567";
const SET_NAME: &str = "c47f0027";
const SET_SYMBOL: &str = "b84c8246";

/// Contracts are named after their first transfer, and renamed (EIPs#2415, blockscout#14574).
#[test]
fn a_token_is_called_what_its_contract_says_now() -> anyhow::Result<()> {
    let mut node = Anvil::start("prague")?;
    let answered = [
        (NAME, Answer::Slot(1)),
        (SYMBOL, Answer::Slot(2)),
        (DECIMALS, Answer::Words(&["6"])),
        (SET_NAME, Answer::Sets(1)),
        (SET_SYMBOL, Answer::Sets(2)),
    ];
    let minted = logs(&[TRANSFER, "0", HOLDER], &["46"]);
    node.send("token", Call { data: creation(&minted, &answers(&answered, REVERTS)), ..Call::default() })?;
    node.mine()?;
    let (token, genesis, database) = (node.contract("token")?, genesis("prague")?, "lifecycle_renamed");
    let path = genesis.path().display().to_string();
    env::create_tables(database)?;
    let load = |url: &str| env::run(env::ingest(database, &["load", "--rpc-url", url, "--genesis", &path]), 0);
    load(&node.url)?;
    let api = env::start_shared_api(database)?;
    let facts = || -> anyhow::Result<Value> {
        let page = get(&api, &format!("api/v2/tokens/{token}"))?;
        let of_etherscan = get(&api, &format!("api?module=token&action=getToken&contractaddress={token}"))?;
        ensure!(page["name"].is_null() || of_etherscan["result"]["name"] == page["name"], "{of_etherscan}, {page}");
        Ok(json!([page["name"], page["symbol"], page["decimals"]]))
    };
    let unnamed = facts()?;
    ensure!(unnamed == json!([null, null, "6"]), "{unnamed}");
    for (name, symbol) in [("Late Coin", "LATE"), ("Renamed", "NEW")] {
        for (function, text) in [(SET_NAME, name), (SET_SYMBOL, symbol)] {
            let word: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
            node.send("call", Call { to: Some(&token), data: format!("0x{function}{word:0<64}"), ..Call::default() })?;
        }
        node.mine()?;
        load(&node.url)?;
        let expected = json!([name, symbol, "6"]);
        env::eventually(env::SOON, || Ok(facts()? == expected))?;
    }
    Ok(())
}
