//! The contracts that are called most, against the transactions and receipts of the nodes.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::ensure;
use serde_json::{Value, json};
use xtask::http;

use crate::chains::{Chain, chain, dump, quantity};
use crate::env;
use crate::pages::{get, walk};
use crate::transactions::node_transactions;

const SCALES: [(&str, u64); 6] =
    [("5m", 300), ("1h", 3_600), ("3h", 10_800), ("1d", 86_400), ("7d", 604_800), ("30d", 2_592_000)];

/// Rows of a page, and the order.
const WALKS: [(u64, &str); 3] = [(2, ""), (50, "&order=desc"), (3, "&order=asc")];

/// Who began a call from inside a transaction.
fn callers(frame: &Value, callers: &mut BTreeSet<String>) {
    for call in frame["calls"].as_array().into_iter().flatten() {
        callers.extend(call["from"].as_str().map(str::to_lowercase));
        self::callers(call, callers);
    }
}

/// The contracts that the node's receipts name as created or as emitters, those that its traces show as callers, and
/// those with code.
fn contracts(chain: &Chain, called: &BTreeSet<String>) -> anyhow::Result<BTreeSet<String>> {
    let mut contracts = BTreeSet::new();
    for tx in node_transactions(chain).values() {
        let created = [&tx.receipt["contractAddress"]].into_iter().filter(|_| tx.receipt["status"] != "0x0");
        let emitters = tx.receipt["logs"].as_array().into_iter().flatten().map(|log| &log["address"]);
        contracts.extend(created.chain(emitters).filter_map(Value::as_str).map(str::to_lowercase));
    }
    for trace in chain.lines.iter().filter_map(|line| line["traces"].as_array()).flatten() {
        callers(&trace["result"], &mut contracts);
    }
    // Who signs transactions is an account, though it delegated for a while and had logs then.
    let signers: BTreeSet<String> = node_transactions(chain)
        .values()
        .filter_map(|tx| tx.transaction["from"].as_str())
        .map(str::to_lowercase)
        .collect();
    contracts.retain(|address| !signers.contains(address));
    for address in called {
        let code = http::rpc(&http::agent(), &chain.rpc(), "eth_getCode", &json!([address, "latest"]))?;
        // Where state is not loaded, pages of addresses know who has delegated to code.
        let has_code = code["result"].as_str().is_some_and(|code| code.len() > 2);
        if has_code || get(chain, &format!("addresses/{address}"))?["proxy_type"] == "eip7702" {
            contracts.insert(address.clone());
        }
    }
    Ok(contracts)
}

/// Called address, transactions and gas of the blocks younger than so many seconds before the newest.
fn sums(chain: &Chain, seconds: u64) -> BTreeMap<String, (u64, u64)> {
    let time = |line: &Value| quantity(&line["block"]["timestamp"]);
    let newest = chain.lines.last().map_or(0, time);
    let young = chain.lines.iter().filter(|line| time(line) + seconds > newest);
    let heights: BTreeSet<u64> = young.map(|line| quantity(&line["block"]["number"])).collect();
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for tx in node_transactions(chain).values().filter(|tx| heights.contains(&tx.position().0)) {
        if let Some(to) = tx.transaction["to"].as_str() {
            let sum = sums.entry(to.to_lowercase()).or_default();
            *sum = (sum.0 + 1, sum.1 + quantity(&tx.receipt["gasUsed"]));
        }
    }
    sums
}

#[test]
fn sums_are_those_of_the_receipts() -> anyhow::Result<()> {
    let mut lengths = BTreeSet::new();
    for name in ["devchain", "hive"] {
        let chain = chain(name);
        // Who is called in any of these times is in the longest.
        let longest = SCALES.iter().map(|(_, seconds)| *seconds).max().unwrap_or_default();
        let contracts = contracts(chain, &sums(chain, longest).into_keys().collect())?;
        for (at, (scale, seconds)) in SCALES.into_iter().enumerate() {
            let sums = sums(chain, seconds);
            // Pages of a list end alike whatever its time: the ordinary run walks over those of two times.
            let walks = if at % 5 == 0 || env::is_slow_run() { &WALKS[..] } else { &WALKS[1..2] };
            let mut expected: Vec<(String, (u64, u64))> =
                sums.into_iter().filter(|(address, _)| contracts.contains(address)).collect();
            for (sort, by_gas) in [("transactions_count", false), ("total_gas_used", true)] {
                let key = |(address, (count, gas)): &(String, (u64, u64))| {
                    (std::cmp::Reverse(if by_gas { *gas } else { *count }), address.clone())
                };
                expected.sort_by_key(key);
                for &(size, order) in walks {
                    if order.ends_with("asc") {
                        let amount = |(count, gas): (u64, u64)| if by_gas { gas } else { count };
                        expected.sort_by_key(|(address, sums)| (amount(*sums), address.clone()));
                    }
                    let path = format!("stats/hot-smart-contracts?scale={scale}&sort={sort}{order}");
                    let found = walk(chain, &path, size)?;
                    let read = |item: &Value| {
                        let address = item["contract_address"]["hash"].as_str().unwrap_or_default().to_lowercase();
                        let number = |member: &str| item[member].as_u64().unwrap_or_default();
                        (address, (number("transactions_count"), number("total_gas_used")))
                    };
                    let found: Vec<_> = found.iter().map(read).collect();
                    ensure!(found == expected, "{name} {path}: {found:#?}, not {expected:#?}");
                }
            }
            lengths.insert(expected.len());
        }
    }
    ensure!(lengths.len() > 1 && lengths.last().is_some_and(|most| *most > 3), "{lengths:?}");
    Ok(())
}

/// A balance is what JSON-RPC says.
#[test]
fn balances_are_those_of_the_head() -> anyhow::Result<()> {
    let chain = chain("hive");
    let found = get(chain, "stats/hot-smart-contracts?scale=30d")?;
    let mut known = 0;
    for item in found["items"].as_array().into_iter().flatten() {
        let address = &item["contract_address"]["hash"];
        let balance = http::rpc(&http::agent(), &chain.rpc(), "eth_getBalance", &json!([address, "latest"]))?;
        let balance = balance["result"].as_str().map(|wei| u128::from_str_radix(wei.trim_start_matches("0x"), 16));
        let balance = balance.transpose()?.map(|wei| json!(wei.to_string()));
        ensure!(item["balance"] == balance.clone().unwrap_or_default(), "{item}, {balance:?}");
        known += usize::from(balance.is_some());
    }
    ensure!(known > 0, "{found}");
    Ok(())
}

/// More than is added up is refused, and so are gaps: neither is answered in part.
#[test]
fn what_is_too_much_or_not_there_is_refused() -> anyhow::Result<()> {
    let mainnet = format!("{}/api/v2/stats/hot-smart-contracts", chain("mainnet").api);
    let missing = http::get(&http::agent(), &format!("{mainnet}?scale=30d"))?;
    ensure!(missing.status == 404, "{} {}", missing.status, missing.text());
    for query in
        ["scale=2d", "order=up", "sort=balance", "transactions_count=3", "total_gas_used=1&transactions_count=1"]
    {
        let answer = http::get(&http::agent(), &format!("{mainnet}?{query}"))?;
        ensure!(answer.status == 422, "{query}: {} {}", answer.status, answer.text());
    }
    let database = &env::migrate("hot_too_much")?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain"), "--to", "30"]), 0)?;
    let whole_month = || -> anyhow::Result<http::Answer> {
        let api = env::start_api(database, &[])?;
        let answer = http::get(&http::agent(), &format!("{}/api/v2/stats/hot-smart-contracts?scale=30d", api.url))?;
        api.stop()?;
        Ok(answer)
    };
    let list = whole_month()?.json()?;
    let contracts = list["items"].as_array().map_or(0, Vec::len);
    let called: usize = env::sql(database, "SELECT uniqExact(to_address) FROM transactions")?.trim().parse()?;
    ensure!(0 < contracts && contracts < called, "{contracts} of {called} in {list}");
    // Where every transfer has a log, which another contract emits, accounts are no contracts still.
    env::sql(database, "ALTER TABLE transactions UPDATE logs_count = 1 WHERE 1 SETTINGS mutations_sync = 2")?;
    let same = whole_month()?.json()?;
    ensure!(same == list, "{same}, not {list}");
    let many =
        "ALTER TABLE blocks UPDATE transactions_count = 41000000 WHERE block_number = 29 SETTINGS mutations_sync = 2";
    env::sql(database, many)?;
    let refused = whole_month()?;
    ensure!(refused.status == 422 && refused.text().contains("shorter"), "{} {}", refused.status, refused.text());
    Ok(())
}
