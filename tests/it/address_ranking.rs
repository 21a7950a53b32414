//! The list of all accounts, against balances that JSON-RPC tells and against the transactions of the recorded chains.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use crate::chains::{Chain, chain, quantity};
use crate::env;
use crate::pages::get;

/// All items of a list, page by page, and the block that its amounts are of.
fn walked(api: &Chain, query: &str, size: usize) -> anyhow::Result<(Vec<Value>, u64)> {
    let (mut items, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = get(api, &format!("addresses?{query}&items_count={size}{cursor}"))?;
        let found = page["items"].as_array().context("items")?;
        items.extend(found.iter().cloned());
        let block = page["block_number"].as_u64().context("a block")?;
        let Some(next) = page["next_page_params"].as_object() else { return Ok((items, block)) };
        ensure!(found.len() == size, "{page}");
        cursor = next
            .iter()
            .filter(|(name, _)| *name != "items_count")
            .map(|(name, value)| format!("&{name}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
            .collect();
    }
}

fn lower(value: &Value) -> Option<String> {
    value.as_str().map(str::to_lowercase)
}

/// An amount in decimal text, as a number that is compared.
fn amount(item: &Value, name: &str) -> anyhow::Result<u128> {
    item[name].as_str().and_then(|text| text.parse().ok()).with_context(|| format!("{name}: {item}"))
}

/// Items in the order of an amount; of equal ones the lower address comes first.
fn ensure_sorted(items: &[Value], name: &str, is_ascending: bool) -> anyhow::Result<()> {
    let keys = items.iter().map(|item| Ok((amount(item, name)?, lower(&item["hash"]).context("a hash")?)));
    let keys = keys.collect::<anyhow::Result<Vec<(u128, String)>>>()?;
    let is_behind = |pair: &[(u128, String)]| match pair[0].0.cmp(&pair[1].0) {
        std::cmp::Ordering::Equal => pair[0].1 < pair[1].1,
        order => (order == std::cmp::Ordering::Less) == is_ascending,
    };
    ensure!(keys.windows(2).all(is_behind), "{name}: {keys:?}");
    Ok(())
}

#[test]
fn balances_are_those_that_nodes_tell() -> anyhow::Result<()> {
    let chain = chain("hive");
    let (items, block) = walked(chain, "sort=balance", 7)?;
    ensure!(block == chain.head() && items.len() > 20, "{} accounts after block {block}", items.len());
    ensure_sorted(&items, "coin_balance", false)?;
    let balance = |address: &str| -> anyhow::Result<u128> {
        let answer =
            http::rpc(&http::agent(), &chain.rpc(), "eth_getBalance", &json!([address, format!("0x{block:x}")]))?;
        Ok(u128::from_str_radix(answer["result"].as_str().context("a balance")?.trim_start_matches("0x"), 16)?)
    };
    let mut listed = BTreeSet::new();
    for item in &items {
        let address = lower(&item["hash"]).context("a hash")?;
        ensure!(amount(item, "coin_balance")? == balance(&address)?, "{item}");
        listed.insert(address);
    }
    ensure!(listed.len() == items.len(), "an account came twice");
    // No account that has anything is left out: senders, recipients, who made blocks and who got withdrawals.
    for address in named(chain) {
        ensure!(listed.contains(&address) == (balance(&address)? > 0), "{address}");
    }
    let mut reversed = walked(chain, "sort=balance&order=asc", 100)?.0;
    ensure_sorted(&reversed, "coin_balance", true)?;
    reversed.sort_by_key(|item| lower(&item["hash"]));
    let mut items = items;
    items.sort_by_key(|item| lower(&item["hash"]));
    ensure!(reversed == items, "{} and {} accounts", reversed.len(), items.len());
    ensure_counts(chain, &items)
}

/// Everybody that a block names.
fn named(chain: &Chain) -> BTreeSet<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut named = BTreeSet::new();
    for line in &chain.lines {
        named.extend(lower(&line["block"]["miner"]));
        named.extend(list(&line["block"]["withdrawals"]).iter().filter_map(|one| lower(&one["address"])));
        for transaction in list(&line["block"]["transactions"]) {
            named.extend([&transaction["from"], &transaction["to"]].into_iter().filter_map(lower));
        }
    }
    named
}

/// How many transactions each address takes part in, as the blocks and receipts say.
fn participations(chain: &Chain) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for line in &chain.lines {
        for receipt in line["receipts"].as_array().into_iter().flatten() {
            let sides = ["from", "to", "contractAddress"].map(|name| lower(&receipt[name]));
            for address in sides.into_iter().flatten().collect::<BTreeSet<String>>() {
                *counts.entry(address).or_default() += 1;
            }
        }
    }
    counts
}

fn ensure_counts(chain: &Chain, items: &[Value]) -> anyhow::Result<()> {
    let counts = participations(chain);
    for item in items {
        let expected = lower(&item["hash"]).and_then(|address| counts.get(&address).copied()).unwrap_or(0);
        ensure!(amount(item, "transactions_count")? == u128::from(expected), "{item}, not {expected}");
    }
    Ok(())
}

#[test]
fn transactions_are_counted_for_everybody() -> anyhow::Result<()> {
    for name in ["hive", "devchain"] {
        let chain = chain(name);
        let (items, block) = walked(chain, "sort=transactions_count", 9)?;
        let last = chain.lines.last().context("a block")?;
        ensure!(block == quantity(&last["block"]["number"]), "{name}: {block}");
        ensure_sorted(&items, "transactions_count", false)?;
        ensure_counts(chain, &items)?;
        ensure!(items.len() == participations(chain).len(), "{name}: {} accounts", items.len());
        // What they have is known where state is.
        ensure!(items.iter().all(|item| item["coin_balance"].is_null() == (name == "devchain")), "{name}: {items:?}");
    }
    Ok(())
}

#[test]
fn what_is_not_known_is_refused() -> anyhow::Result<()> {
    let status = |api: &str, query: &str| -> anyhow::Result<(u16, String)> {
        let answer = http::get(&http::agent(), &format!("{api}/api/v2/addresses{query}"))?;
        Ok((answer.status, answer.text()))
    };
    let (hive, mainnet) = (&chain("hive").api, &chain("mainnet").api);
    let (unknown, text) = status(mainnet, "")?;
    ensure!(unknown == 501 && text.contains("missing"), "{unknown}: {text}");
    // What is missing ends where the chain does, not at the block up to which accounts are ranked.
    let newest = chain("mainnet").head().to_string();
    ensure!(text.contains(&newest), "{text} without {newest}");
    let (missing, text) = status(mainnet, "?sort=transactions_count")?;
    ensure!(missing == 404, "{missing}: {text}");
    for query in [
        "?sort=name",
        "?order=up",
        "?hash=0x12",
        "?hash=0x1212121212121212121212121212121212121212",
        "?fetched_coin_balance=5",
        "?fetched_coin_balance=-5&hash=0x1212121212121212121212121212121212121212",
        "?sort=transactions_count&fetched_coin_balance=5&hash=0x1212121212121212121212121212121212121212",
        "?items_count=101",
    ] {
        let (wrong, text) = status(hive, query)?;
        ensure!(wrong == 422, "{query}: {wrong} {text}");
    }
    let database = "address_ranking_left_out";
    let _database = env::database(database);
    env::run(env::ingest(database, &["migrate", "--without", "transactions_by_address"]), 0)?;
    env::run(env::ingest(database, &["load", "--dump", &crate::chains::dump("devchain")]), 0)?;
    let api = env::start_api(database, &[])?;
    let (left_out, text) = status(&api.url, "?sort=transactions_count")?;
    ensure!(left_out == 501 && text.contains("transactions_by_address"), "{left_out}: {text}");
    api.stop()?;
    Ok(())
}
