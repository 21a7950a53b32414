//! `module=token`, and what accounts have of tokens, against what the node reported by calls.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_core::primitives::U256;
use xtask::workspace;

use super::ask;
use crate::chains::chain;
use crate::holdings::expected_balances;
use crate::pages::get;

fn expected() -> anyhow::Result<Value> {
    Ok(serde_json::from_str(&std::fs::read_to_string(workspace::fixture("devchain/node/expected.json"))?)?)
}

fn amount(value: &Value) -> anyhow::Result<U256> {
    Ok(value.as_str().with_context(|| format!("{value}"))?.parse()?)
}

#[test]
fn accounts_have_what_the_node_says() -> anyhow::Result<()> {
    let api = &chain("devchain").api;
    let balances = expected_balances()?;
    let mut tokens: Vec<&String> = balances.values().flat_map(BTreeMap::keys).collect();
    tokens.sort();
    tokens.dedup();
    ensure!(tokens.len() > 4, "{tokens:?}");
    for (holder, held) in &balances {
        for token in &tokens {
            let query = format!("module=account&action=tokenbalance&address={holder}&contractaddress={token}");
            let found = ask(api, &query)?;
            let expected = held.get(*token).copied().unwrap_or_default();
            ensure!(
                found["status"] == "1" && amount(&found["result"])? == expected,
                "{query}: {found}, expected {expected}"
            );
        }
        let list = ask(api, &format!("module=account&action=tokenlist&address={holder}"))?;
        let mut found: BTreeMap<String, U256> = BTreeMap::new();
        for item in list["result"].as_array().context("a list")? {
            let token = item["contractAddress"].as_str().context("a token")?.to_owned();
            ensure!(item["type"].as_str().is_some_and(|kind| kind.starts_with("ERC-")), "{item}");
            if tokens.contains(&&token) {
                ensure!(found.insert(token, amount(&item["balance"])?).is_none(), "{list}");
            }
        }
        ensure!(&found == held && list["status"] == "1", "{holder}: {list}");
        ensure_pages(api, &format!("module=account&action=tokenlist&address={holder}"), &list)?;
    }
    let unknown = format!("0x{}", "9e".repeat(20));
    let none = ask(api, &format!("module=account&action=tokenlist&address={unknown}"))?;
    ensure!(none == json!({"status": "0", "message": "No transactions found", "result": []}), "{none}");
    let none =
        ask(api, &format!("module=account&action=tokenbalance&address={unknown}&contractaddress={}", tokens[0]))?;
    ensure!(none["result"] == "0", "{none}");
    let zero = format!("0x{}", "00".repeat(20));
    let refused =
        ask(api, &format!("module=account&action=tokenbalance&address={zero}&contractaddress={}", tokens[0]))?;
    ensure!(refused["status"] == "0" && refused["result"].is_null(), "{refused}");
    Ok(())
}

/// The pages of a list are its parts, and the one after them is empty.
fn ensure_pages(api: &str, query: &str, list: &Value) -> anyhow::Result<()> {
    let all = list["result"].as_array().context("a list")?;
    for (page, part) in (1..).zip(all.chunks(2)) {
        let found = ask(api, &format!("{query}&page={page}&offset=2"))?;
        ensure!(
            found["status"] == "1" && found["result"] == json!(part),
            "{query}, page {page}: {found}, due {part:?}"
        );
    }
    let after = ask(api, &format!("{query}&page={}&offset=2", all.len().div_ceil(2) + 1))?;
    ensure!(after == json!({"status": "0", "message": "No transactions found", "result": []}), "{query}: {after}");
    ensure!(ask(api, &format!("{query}&page=1&offset=10000"))? == *list, "{query}: one page is all");
    Ok(())
}

#[test]
fn tokens_have_the_holders_that_the_node_says() -> anyhow::Result<()> {
    let api = &chain("devchain").api;
    let mut by_token: BTreeMap<String, Vec<(String, U256)>> = BTreeMap::new();
    for (holder, held) in expected_balances()? {
        held.into_iter().for_each(|(token, amount)| by_token.entry(token).or_default().push((holder.clone(), amount)));
    }
    for (token, mut holders) in by_token {
        holders.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0)));
        for (action, names) in [
            ("getTokenHolders", ["address", "value"]),
            ("tokenholderlist", ["TokenHolderAddress", "TokenHolderQuantity"]),
        ] {
            let mut found = Vec::new();
            for page in 1.. {
                let query = format!("module=token&action={action}&contractaddress={token}&page={page}&offset=3");
                let answer = ask(api, &query)?;
                let items = answer["result"].as_array().context("a list")?;
                ensure!(answer["status"] == if items.is_empty() { "0" } else { "1" }, "{answer}");
                for item in items {
                    found.push((item[names[0]].as_str().context("a holder")?.to_owned(), amount(&item[names[1]])?));
                }
                if items.len() < 3 {
                    break;
                }
            }
            ensure!(found == holders, "{token} {action}: {found:?}, expected {holders:?}");
        }
        let wide =
            ask(api, &format!("module=token&action=getTokenHolders&contractaddress={token}&page=101&offset=100"))?;
        ensure!(wide["message"].as_str().is_some_and(|text| text.starts_with("Result window is too large")), "{wide}");
        let count = ask(api, &format!("module=token&action=tokenholdercount&contractaddress={token}"))?;
        ensure!(count["result"] == *holders.len().to_string(), "{token}: {count}");
    }
    let query = format!("module=token&action=getTokenHolders&contractaddress=0x{}", "9e".repeat(20));
    ensure!(ask(api, &query)?["message"] == "Token not found");
    Ok(())
}

/// Names come from calls at load, which the list of REST shows too.
#[test]
fn tokens_have_the_supply_that_the_node_says() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let mut supplies = 0;
    for (token, facts) in expected()?["erc20"].as_object().context("tokens")? {
        let token = token.to_lowercase();
        let found = ask(&chain.api, &format!("module=token&action=getToken&contractaddress={token}"))?;
        let item = &found["result"];
        ensure!(found["status"] == "1" && item["contractAddress"] == *token && item["type"] == "ERC-20", "{found}");
        let is_known = facts["label"] != "Wrapped";
        ensure!(!is_known || item["totalSupply"] == facts["totalSupply"], "{found}, expected {facts}");
        supplies += usize::from(is_known);
        let page = get(chain, &format!("tokens/{token}"))?;
        for name in ["name", "symbol", "decimals"] {
            ensure!(item[name] == page[name].as_str().unwrap_or_default(), "{found}, on its page {page}");
        }
        ensure!(item["cataloged"] == page["name"].is_string(), "{found}, on its page {page}");
    }
    ensure!(supplies > 1, "{supplies}");
    Ok(())
}
