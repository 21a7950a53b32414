//! The search: what the nodes reported is found by number, hash and address; names by their words.

use std::collections::BTreeSet;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_core::primitives::Address;
use trawl_query::search::{beginning_with, terms};
use xtask::http;
use xtask::process::Server;

use crate::chains::{chain, dump};
use crate::env::{self, Database};
use crate::pages::get;
use crate::plans::explain_in;

/// The only item of a search, which the quick search gives too.
fn only(chain: &crate::chains::Chain, text: &str) -> anyhow::Result<Value> {
    let list = get(chain, &format!("search?q={text}"))?;
    let quick = get(chain, &format!("search/quick?q={text}"))?;
    ensure!(list["items"] == quick && list["next_page_params"].is_null(), "{text}: {list}, quick {quick}");
    let [item] = quick.as_array().map_or(&[][..], Vec::as_slice) else { anyhow::bail!("{text}: {quick}") };
    Ok(item.clone())
}

#[test]
fn blocks_transactions_and_addresses_are_found_by_what_names_them() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        for line in chain.lines.iter().step_by((chain.lines.len() / 4).max(1)) {
            let block = &line["block"];
            let (hash, number) = (block["hash"].as_str().context("hash")?, crate::chains::quantity(&block["number"]));
            for text in [number.to_string(), hash.into(), hash.to_uppercase().replacen("0X", "0x", 1)] {
                let item = only(chain, &text)?;
                ensure!(item["type"] == "block" && item["block_type"] == "block", "{item}");
                ensure!(item["block_hash"] == hash && item["block_number"] == number, "{item}");
                let redirect = get(chain, &format!("search/check-redirect?q={text}"))?;
                ensure!(redirect == json!({"redirect": true, "type": "block", "parameter": hash}), "{redirect}");
            }
            let Some(transaction) = block["transactions"].as_array().and_then(|all| all.last()) else { continue };
            let hash = transaction["hash"].as_str().context("hash")?;
            let item = only(chain, hash)?;
            ensure!(item["type"] == "transaction" && item["transaction_hash"] == hash, "{item}");
            let alone = get(chain, &format!("transactions/{hash}"))?;
            ensure!(item["timestamp"] == alone["timestamp"], "{item}");
            let redirect = get(chain, &format!("search/check-redirect?q={hash}"))?;
            ensure!(redirect["type"] == "transaction" && redirect["parameter"] == hash, "{redirect}");
            let sender = transaction["from"].as_str().context("sender")?;
            let item = only(chain, sender)?;
            ensure!(item["address_hash"] == alone["from"]["hash"] && item["type"] != "token", "{item}");
            let redirect = get(chain, &format!("search/check-redirect?q={sender}"))?;
            ensure!(redirect["type"] == "address" && redirect["parameter"] == item["address_hash"], "{redirect}");
            // Without their prefix they are found too.
            for (text, found) in
                [(block["hash"].as_str().context("hash")?, "block"), (hash, "transaction"), (sender, "address")]
            {
                let digits = text.trim_start_matches("0x");
                let redirect = get(chain, &format!("search/check-redirect?q={digits}"))?;
                let named = get(chain, &format!("search/check-redirect?q={text}"))?;
                ensure!(redirect == named && redirect["type"] == found, "{digits}: {redirect}");
                ensure!(only(chain, digits)? == only(chain, text)?, "{digits}");
            }
        }
        // Any address is one; a hash of nothing and a height above the head are not.
        ensure!(only(chain, &format!("0x{}", "9e".repeat(20)))?["type"] == "address");
        for nothing in
            [format!("0x{}", "9e".repeat(32)), "99999999999".into(), "9".repeat(40), String::new(), "%00".into()]
        {
            let list = get(chain, &format!("search?q={nothing}"))?;
            ensure!(list == json!({"items": [], "next_page_params": null}), "{nothing}: {list}");
            let redirect = get(chain, &format!("search/check-redirect?q={nothing}"))?;
            ensure!(redirect == json!({"redirect": false, "type": null, "parameter": null}), "{redirect}");
        }
        ensure!(get(chain, "search/quick")? == json!([]));
    }
    Ok(())
}

fn token(database: &str, number: u8, (height, name, symbol): (u64, &str, &str)) -> anyhow::Result<()> {
    let insert = format!(
        "INSERT INTO tokens VALUES (unhex('{}'), {height}, 'ERC-20', '{name}', '{symbol}', 6, 5)",
        format!("{number:02x}").repeat(20)
    );
    env::sql(database, &insert).map(drop)
}

/// Some blocks, tokens and labels in a database of the test's own.
fn named(database: &str) -> anyhow::Result<Database> {
    let guard = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain"), "--to", "20"]), 0)?;
    token(database, 1, (1, "USD Coin", "USDC"))?;
    token(database, 2, (1, "Tether USD", "USDT"))?;
    token(database, 3, (1, "Old Dollar", "OUSD"))?;
    token(database, 3, (2, "Gold\\\\N", "GLD"))?;
    token(database, 4, (1, "USD Coin", "USDC"))?;
    token(database, 5, (1, "Ünïcode ΟΔΟΣ", "ÜC"))?;
    token(database, 8, (1, "Odd\\nLi\u{200b}ne\u{a0}\\tBreaks", "ODD"))?;
    let folder = env::directory()?;
    let file = folder.path().join("labels.csv");
    let rows = [
        "Address,Name Tag,Tags,ENS name",
        "0x0606060606060606060606060606060606060606,USD Router,exchange;Usd house,usd.eth",
        "0x0101010101010101010101010101010101010101,The coin of dollars,,",
    ];
    std::fs::write(&file, rows.join("\n"))?;
    env::run(env::ingest(database, &["labels", &file.display().to_string()]), 0)?;
    Ok(guard)
}

fn ask(api: &Server, path: &str) -> anyhow::Result<Value> {
    let answer = http::get(&http::agent(), &format!("{}/api/v2/{path}", api.url))?;
    ensure!(answer.status == 200, "{path}: {} {}", answer.status, answer.text());
    answer.json()
}

/// The first digits of the addresses that a search finds, in pages of `size`.
fn found(api: &Server, text: &str, size: u64) -> anyhow::Result<Vec<String>> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = ask(api, &format!("search?q={text}&items_count={size}{cursor}"))?;
        let items = page["items"].as_array().context("items")?;
        ensure!(items.len() as u64 <= size, "{page}");
        all.extend(items.iter().filter_map(|item| Some(item["address_hash"].as_str()?[2..4].to_owned())));
        let Some(next) = page["next_page_params"].as_object() else { return Ok(all) };
        let encoded = |text: &Value| text.as_str().unwrap_or_default().replace(' ', "%20");
        cursor = format!("&term={}&address_hash={}", encoded(&next["term"]), encoded(&next["address_hash"]));
    }
}

#[test]
fn names_are_found_once_by_their_words_and_no_longer_when_replaced() -> anyhow::Result<()> {
    let database = "search_names";
    let _database = named(database)?;
    let api = env::start_api(database, &[])?;
    for size in [1, 2, 3, 100] {
        let search = |text: &str| found(&api, text, size);
        // In the order of the words from where the text is found: "usd" (Tether), "usd coin", "usd house".
        ensure!(search("usd")? == ["02", "01", "04", "06"], "{:?}", search("usd")?);
        ensure!(search("USD%20%20Co")? == ["01", "04"] && search("usdc")? == ["01", "04"]);
        ensure!(search("coin")? == ["01", "04"], "{:?}", search("coin")?);
        ensure!(search("coin%20of")? == ["01"] && search("usd.e")? == ["06"] && search("EXCH")? == ["06"]);
        ensure!(search("dollars")? == ["01"] && search("ROUTER")? == ["06"]);
        // Renamed.
        ensure!(search("old")?.is_empty() && search("ousd")?.is_empty() && search("gld")? == ["03"]);
        ensure!(search("gold%5CN")? == ["03"] && search("%C3%BCn%C3%AF")? == ["05"]);
        ensure!(search("odd%20line")? == ["08"] && search("odd%0Aline%20br")? == ["08"] && search("breaks")? == ["08"]);
        ensure!(search("%25")?.is_empty() && search("_")?.is_empty() && search("'%20OR%201")?.is_empty());
    }
    let items = ask(&api, "search?q=usdc")?["items"].clone();
    ensure!(items[0]["type"] == "token" && items[0]["symbol"] == "USDC" && items[0]["total_supply"] == "5", "{items}");
    let router = ask(&api, "search?q=usd%20ro")?["items"][0].clone();
    ensure!(router["type"] == "address" && router["name"] == "USD Router", "{router}");
    ensure!(router["ens_info"]["name"] == "usd.eth", "{router}");
    // A token by its address is one.
    let by_address = ask(&api, &format!("search/quick?q=0x{}", "01".repeat(20)))?;
    ensure!(by_address[0]["type"] == "token" && by_address[0]["name"] == "USD Coin", "{by_address}");
    ensure!(ask(&api, "search/check-redirect?q=usdc")?["redirect"] == false);
    for bad in ["q=a&term=b", &format!("q=a&address_hash=0x{}", "12".repeat(20)), "q=a&page=2", "items_count=101"] {
        let refused = http::get(&http::agent(), &format!("{}/api/v2/search?{bad}", api.url))?;
        ensure!(refused.status == 422, "{bad}: {}", refused.text());
    }
    // The number of a block is also the beginning of names, and comes first.
    token(database, 7, (1, "1 inch", "1INCH"))?;
    env::eventually(env::SOON, || Ok(ask(&api, "search?q=1")?["items"].as_array().is_some_and(|all| all.len() == 2)))?;
    ensure!(ask(&api, "search/quick?q=1")?[0]["type"] == "block");
    api.stop()?;
    Ok(())
}

/// What the views write is what the API takes for the terms of a name.
#[test]
fn terms_are_made_alike_by_views_and_program() -> anyhow::Result<()> {
    let database = "search_terms_alike";
    let _database = named(database)?;
    let names =
        ["USD Coin", "USDC", "Tether USD", "USDT", "Old Dollar", "OUSD", "Gold\\N", "GLD", "Ünïcode ΟΔΟΣ", "ÜC"];
    let odd = ["Odd\nLi\u{200b}ne\u{a0}\tBreaks", "ODD"];
    let labels = ["USD Router", "exchange", "Usd house", "usd.eth", "The coin of dollars"];
    let long = format!("{} {}", "É".repeat(130), "w ".repeat(12));
    token(database, 9, (1, &long, ""))?;
    let all = names.into_iter().chain(odd).chain(labels).chain([long.as_str()]);
    let expected: BTreeSet<String> = all.flat_map(terms).collect();
    let stored = env::sql(database, "SELECT DISTINCT term FROM search_terms FORMAT JSONCompactColumns")?;
    let [stored]: [BTreeSet<String>; 1] = serde_json::from_str(&stored)?;
    ensure!(stored == expected, "{:?}", stored.symmetric_difference(&expected).collect::<Vec<_>>());
    Ok(())
}

/// A beginning of names is one range of the key, however far a page is into it.
#[test]
fn names_are_read_as_a_range() -> anyhow::Result<()> {
    let database = "search_plan";
    let _database = named(database)?;
    env::sql(
        database,
        "INSERT INTO search_terms SELECT 'word ' || toString(number), toFixedString(unhex(leftPad(hex(number), 40, '0')), 20) FROM numbers(100000)",
    )?;
    for after in [None, Some(("word 50000", &Address::ZERO))] {
        let reads = explain_in(database, &beginning_with("word 5", after, 51))?;
        let [read] = reads.as_slice() else { anyhow::bail!("{reads:?}") };
        ensure!(read.table == "search_terms" && read.kind == "InOrder" && read.keys[0] == "term", "{read:?}");
        ensure!(read.by_key.0 * 5 < read.by_key.1, "{read:?}");
    }
    Ok(())
}
