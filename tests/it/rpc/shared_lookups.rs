//! Clients that ask for state at the same time share the statements that read it.

use std::sync::{Arc, Barrier};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::result;
use crate::chains::{chain, dump};
use crate::env;

const DATABASE: &str = "shared_lookups";
const CLIENTS: usize = 64;

/// Balances of as many accounts of the chain as there are clients, or slots.
fn questions() -> Vec<(&'static str, Value)> {
    let transactions = |line: &Value| line["block"]["transactions"].as_array().cloned().unwrap_or_default();
    let all: Vec<Value> = chain("hive").lines.iter().flat_map(transactions).collect();
    let mut accounts: Vec<&str> =
        all.iter().flat_map(|one| [one["from"].as_str(), one["to"].as_str()]).flatten().collect();
    accounts.sort_unstable();
    accounts.dedup();
    let balances = accounts.iter().map(|account| ("eth_getBalance", json!([account, "latest"])));
    let slots = accounts.iter().map(|account| ("eth_getStorageAt", json!([account, "0x0", "latest"])));
    let unused = (0..).map(|number| ("eth_getBalance", json!([format!("0x{number:040x}"), "latest"])));
    balances.take(CLIENTS / 3).chain(slots.take(CLIENTS / 3)).chain(unused).take(CLIENTS).collect()
}

#[test]
fn of_state_are_few_statements() -> anyhow::Result<()> {
    let data = env::directory()?;
    let engine = env::start_engine(data.path(), 0, &[])?;
    env::sql_at(&engine.url, "default", &format!("CREATE DATABASE {DATABASE}"))?;
    env::run(env::ingest_at(&engine.url, DATABASE, &["migrate"]), 0)?;
    env::run(env::ingest_at(&engine.url, DATABASE, &["load", "--dump", &dump("hive")]), 0)?;
    let api = env::start_api_at(&engine.url, DATABASE, &[])?;
    let calls = || -> anyhow::Result<f64> {
        let metrics = http::get(&http::agent(), &format!("{}/metrics", engine.url))?.text();
        let name = "trawl_engine_statements_total{workload=\"call\"} ";
        let number = metrics.lines().find_map(|line| line.strip_prefix(name)?.parse().ok());
        number.context("statements of calls")
    };
    let before = calls()?;
    let barrier = Arc::new(Barrier::new(CLIENTS));
    let ask = |(method, params): (&'static str, Value)| {
        let (barrier, url) = (Arc::clone(&barrier), format!("{}/api/eth-rpc", api.url));
        std::thread::spawn(move || {
            let agent = http::agent();
            let connected = http::rpc(&agent, &url, "eth_chainId", &json!([]));
            // Also after an error: the others wait for all.
            barrier.wait();
            connected?;
            http::rpc(&agent, &url, method, &params)
        })
    };
    let requests: Vec<_> = questions().into_iter().map(ask).collect();
    for ((method, params), answer) in questions().into_iter().zip(requests) {
        let answer = answer.join().map_err(|_| anyhow::anyhow!("the thread panicked"))??;
        let alone = result(chain("hive"), method, params.clone())?;
        ensure!(answer["result"] == alone && alone.is_string(), "{method} {params}: {answer}, alone {alone}");
    }
    let statements = calls()? - before;
    ensure!((1.0..CLIENTS as f64 / 2.0).contains(&statements), "{statements} statements");
    Ok(())
}
