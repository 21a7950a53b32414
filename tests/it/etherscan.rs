//! `/api?module=…&action=…`: the envelope, what is answered and what is refused.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use crate::chains::chain;

mod blocks;
mod contracts;
mod days;
mod examples;
pub mod fields;
mod frames;
pub mod histories;
mod logs;
mod parameters;
mod proxy;
mod sides;
mod stats;
mod tokens;
mod transactions;
mod transfers;

pub fn ask(api: &str, query: &str) -> anyhow::Result<Value> {
    let answer = http::get(&http::agent(), &format!("{api}/api?{query}"))?;
    ensure!(answer.status == 200, "{query}: {} {}", answer.status, answer.text());
    answer.json()
}

/// Balances are what the state after the newest block says, which `golden` and `rpc` hold against nodes.
#[test]
fn balances_are_those_of_the_newest_block() -> anyhow::Result<()> {
    let chain = chain("hive");
    let transactions = chain.lines.iter().filter_map(|line| line["block"]["transactions"].as_array()).flatten();
    let mut accounts: Vec<&str> =
        transactions.flat_map(|one| [one["from"].as_str(), one["to"].as_str()]).flatten().collect();
    accounts.sort_unstable();
    accounts.dedup();
    accounts.truncate(20);
    let of = |account: &str| -> anyhow::Result<String> {
        let found = http::rpc(&http::agent(), &chain.rpc(), "eth_getBalance", &json!([account, "latest"]))?;
        let digits = found["result"]
            .as_str()
            .with_context(|| format!("{account}: {found}"))?
            .trim_start_matches("0x")
            .to_owned();
        Ok(u128::from_str_radix(&digits, 16)?.to_string())
    };
    let mut expected = Vec::new();
    for account in &accounts {
        let alone = ask(&chain.api, &format!("module=account&action=balance&address={account}&apikey=x&chainid=1"))?;
        ensure!(alone == json!({"status": "1", "message": "OK", "result": of(account)?}), "{account}: {alone}");
        expected.push(of(account)?);
    }
    let query = format!("module=Account&action=balanceMulti&address={}", accounts.join(","));
    let many = ask(&chain.api, &query)?;
    let found: Vec<&str> =
        many["result"].as_array().into_iter().flatten().filter_map(|one| one["balance"].as_str()).collect();
    ensure!(many["status"] == "1" && found == expected && found.len() > 2, "{many}");
    let posted = http::post(&http::agent(), &format!("{}/v2/api", chain.api), query.as_bytes())?;
    ensure!(posted.status == 200 && posted.json()? == many, "{}", posted.text());
    Ok(())
}

#[test]
fn what_is_not_served_is_refused_in_a_sentence() -> anyhow::Result<()> {
    let api = &chain("hive").api;
    let address = format!("0x{}", "12".repeat(20));
    for (query, message) in [
        ("".to_owned(), "Unknown module"),
        ("module=accounts&action=balance".into(), "Unknown module"),
        ("module=account&action=balances".into(), "Unknown action"),
        ("module=account&action=txlist".into(), ""),
        (format!("module=account&action=txlist&address={address}&sort=up"), "Invalid sort"),
        (format!("module=account&action=txlist&address={address}&startblock=x"), "Invalid startblock"),
        (format!("module=account&action=txlist&address={address}&offset=10001"), "Invalid offset"),
        (format!("module=account&action=txlist&address={address}&filterby=me"), "Invalid filterby"),
        ("module=account&action=txlistinternal".into(), "Query parameter"),
        ("module=account&action=txlistinternal&txhash=0x12".into(), "Invalid txhash"),
        ("module=account&action=tokentx".into(), "Query parameter"),
        (format!("module=account&action=tokennfttx&address={address}&contractaddress=me"), "Invalid contractaddress"),
        ("module=account&action=balance".into(), ""),
        ("module=account&action=balance&address=0x12".into(), ""),
        (format!("module=account&action=balance&address={address}&tag=newest"), "Invalid tag"),
        (format!("module=account&action=balancemulti&address={}", [address.as_str(); 21].join(",")), ""),
    ] {
        let refused = ask(api, &query)?;
        ensure!(refused["status"] == "0" && refused["result"].is_null(), "{query}: {refused}");
        let text = refused["message"].as_str().unwrap_or_default();
        ensure!(!text.is_empty() && text.starts_with(message), "{query}: {refused}");
    }
    // These chains are loaded without state: it is missing, not zero.
    for name in ["mainnet", "devchain"] {
        let missing = ask(&chain(name).api, &format!("module=account&action=balance&address={address}"))?;
        ensure!(missing["status"] == "2" && missing["result"].is_null(), "{missing}");
    }
    Ok(())
}
