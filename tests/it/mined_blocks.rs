//! Blocks by who made them, against the headers of the nodes: lists, counts, the pages of addresses, and
//! `getminedblocks`.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use crate::chains::{Chain, chain, dump, quantity};
use crate::env;
use crate::pages::{get, walk};

/// The heights that each address made, the highest first.
fn made(chain: &Chain) -> BTreeMap<String, Vec<u64>> {
    let mut made: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for block in chain.lines.iter().map(|line| &line["block"]) {
        let miner = block["miner"].as_str().unwrap_or_default().to_lowercase();
        made.entry(miner).or_default().push(quantity(&block["number"]));
    }
    made.values_mut().for_each(|heights| heights.sort_unstable_by(|one, other| other.cmp(one)));
    made
}

const UNKNOWN: &str = "0x9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e";

#[test]
fn lists_and_counts_are_those_of_the_headers() -> anyhow::Result<()> {
    let mut longest = 0;
    for name in ["hive", "devchain", "mainnet"] {
        let (chain, is_whole) = (chain(name), name != "mainnet");
        let mut made = made(chain);
        made.insert(UNKNOWN.into(), Vec::new());
        for (miner, heights) in &made {
            let path = format!("addresses/{miner}/blocks-validated");
            for size in [3, 50] {
                let items = walk(chain, &path, size)?;
                let found: Vec<u64> = items.iter().filter_map(|item| item["height"].as_u64()).collect();
                ensure!(found == *heights, "{name} {miner}: {found:?} instead of {heights:?}");
            }
            longest = longest.max(heights.len());
            let known = |count: usize, text: Value| if is_whole || count >= 51 { text } else { Value::Null };
            let tabs = get(chain, &format!("addresses/{miner}/tabs-counters"))?;
            ensure!(
                tabs["validations_count"] == known(heights.len(), json!(heights.len().min(51))),
                "{name} {miner}: {tabs}"
            );
            let totals = get(chain, &format!("addresses/{miner}/counters"))?;
            let count = if is_whole { json!(heights.len().to_string()) } else { Value::Null };
            ensure!(totals["validations_count"] == count, "{name} {miner}: {totals}");
            let page = get(chain, &format!("addresses/{miner}"))?;
            let is_maker = if heights.is_empty() && !is_whole { Value::Null } else { json!(!heights.is_empty()) };
            ensure!(page["has_validated_blocks"] == is_maker, "{name} {miner}: {page}");
        }
    }
    ensure!(longest > 51, "{longest}");
    Ok(())
}

/// Of an uncle the block that names it, and what its miner got for it: an eighth of the block's reward less for each
/// block between (yellow paper, section 11.3), as the node's `trace_block` says where there is one.
#[test]
fn an_uncle_has_its_nephew_and_its_reward() -> anyhow::Result<()> {
    let (mut uncles, mut paid) = (0, 0);
    for name in ["hive", "mainnet"] {
        let chain = chain(name);
        for line in &chain.lines {
            let headers: Vec<&Value> = line["uncleHeaders"].as_array().into_iter().flatten().collect();
            for header in &headers {
                let hash = header["hash"].as_str().context("a hash")?;
                let page = get(chain, &format!("blocks/{hash}"))?;
                ensure!(page["type"] == "uncle" && page["hash"] == *hash, "{page}");
                let (height, nephew) = (quantity(&header["number"]), quantity(&line["block"]["number"]));
                ensure!(page["height"] == height && page["nephew_block_number"] == nephew, "{name} {nephew}: {page}");
                let same_miner = headers.iter().filter(|other| other["miner"] == header["miner"]).count();
                if let Some(reward) = page["rewards"][0]["reward"].as_number() {
                    let expected = [5_u64, 3, 2]
                        .map(|coins| (coins * 1_000_000_000_000_000_000 / 8 * (8 + height - nephew)).to_string());
                    ensure!(same_miner == 1 && expected.contains(&reward.to_string()), "{name} {nephew}: {page}");
                    paid += 1;
                }
                uncles += 1;
            }
        }
        let list = walk(chain, "blocks?type=uncle", 50)?;
        for uncle in &list {
            let hash = uncle["hash"].as_str().context("a hash")?;
            ensure!(*uncle == get(chain, &format!("blocks/{hash}"))?, "{uncle}");
        }
    }
    ensure!(uncles > 3 && paid > 0, "{uncles} uncles, {paid} with a reward");
    Ok(())
}

/// The items are those of the list of all blocks.
#[test]
fn items_are_blocks_of_the_list() -> anyhow::Result<()> {
    let chain = chain("hive");
    let (miner, heights) = made(chain).into_iter().max_by_key(|(_, heights)| heights.len()).context("a miner")?;
    let items = walk(chain, &format!("addresses/{miner}/blocks-validated"), 100)?;
    for (item, height) in items.iter().zip(&heights) {
        let listed = get(chain, &format!("blocks?block_number={}&items_count=1", height + 1))?;
        ensure!(*item == listed["items"][0], "{height}: {item}, in the list {listed}");
    }
    Ok(())
}

fn ask(api: &str, query: &str) -> anyhow::Result<Value> {
    let answer = http::get(&http::agent(), &format!("{api}/api?module=account&action=getminedblocks&{query}"))?;
    ensure!(answer.status == 200, "{query}: {} {}", answer.status, answer.text());
    answer.json()
}

/// Rewards are those of `getblockreward`, which another test holds against traces.
#[test]
fn getminedblocks_has_their_rewards() -> anyhow::Result<()> {
    let mut rows = 0;
    for name in ["hive", "devchain"] {
        let chain = chain(name);
        for (miner, heights) in made(chain) {
            let newest: Vec<String> = heights.iter().map(ToString::to_string).collect();
            let all = ask(&chain.api, &format!("address={miner}"))?;
            let found = |answer: &Value| -> Vec<String> {
                let blocks = answer["result"].as_array().into_iter().flatten();
                blocks.map(|block| block["blockNumber"].as_str().unwrap_or_default().to_owned()).collect()
            };
            ensure!(all["status"] == "1" && found(&all) == newest, "{name} {miner}: {all}");
            let page = ask(&chain.api, &format!("address={miner}&blocktype=blocks&page=2&offset=2&sort=asc"))?;
            let due: Vec<String> = newest.iter().rev().skip(2).take(2).cloned().collect();
            ensure!(found(&page) == due, "{name} {miner}: {page}, due {due:?}");
            for block in
                all["result"].as_array().into_iter().flatten().step_by(5).filter(|block| block["blockNumber"] != "0")
            {
                let number = block["blockNumber"].as_str().context("a height")?;
                let path = format!("{}/api?module=block&action=getblockreward&blockno={number}", chain.api);
                let reward = &http::get(&http::agent(), &path)?.json()?["result"];
                ensure!(block["blockReward"] == reward["blockReward"] && reward["blockReward"].is_string(), "{block}");
                ensure!(block["timeStamp"] == reward["timeStamp"], "{block} {reward}");
                rows += 1;
            }
        }
    }
    ensure!(rows > 20, "{rows} rows");
    let api = &chain("devchain").api;
    let none = ask(api, &format!("address={UNKNOWN}"))?;
    ensure!(none["status"] == "0" && none["result"] == json!([]), "{none}");
    let uncles = ask(api, &format!("address={UNKNOWN}&blocktype=uncles"))?;
    ensure!(uncles["status"] == "0" && uncles["result"].is_null(), "{uncles}");
    let gaps = ask(&chain("mainnet").api, &format!("address={UNKNOWN}"))?;
    ensure!(gaps["status"] == "2", "{gaps}");
    Ok(())
}

/// Without the tables the list is refused and counts are null; made again, they have what they had.
#[test]
fn of_addresses_are_refused_without_their_table() -> anyhow::Result<()> {
    let database = "mined_without";
    let _database = env::database(database);
    let tables = ["--without", "blocks_by_miner", "--without", "listed_internal_transactions"];
    env::run(env::ingest(database, &[&["migrate"], &tables[..]].concat()), 0)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain")]), 0)?;
    env::run(env::ingest(database, &["verify"]), 0)?;
    let api = env::start_api(database, &[])?;
    let devchain = chain("devchain");
    let (miner, heights) = made(devchain).into_iter().max_by_key(|(_, heights)| heights.len()).context("a miner")?;
    let list = format!("{}/api/v2/addresses/{miner}/blocks-validated", api.url);
    let refused = http::get(&http::agent(), &list)?;
    ensure!(refused.status == 501 && refused.text().contains("migrate --with"), "{}", refused.text());
    let refused = ask(&api.url, &format!("address={miner}"))?;
    ensure!(refused["status"] == "0" && refused["result"].is_null(), "{refused}");
    let counters = http::get(&http::agent(), &format!("{}/api/v2/addresses/{miner}/counters", api.url))?.json()?;
    ensure!(counters["validations_count"].is_null(), "{counters}");
    // Frames are found without their positions too.
    let listed = |api: &str| -> anyhow::Result<Vec<Value>> {
        let lists = ["internal-transactions?", "advanced-filters?transaction_types=contract_interaction&"];
        let list = |list: &str| http::get(&http::agent(), &format!("{api}/api/v2/{list}items_count=100"))?.json();
        lists.into_iter().map(list).collect()
    };
    ensure!(listed(&api.url)? == listed(&devchain.api)?);
    let tables = tables.map(|word| if word == "--without" { "--with" } else { word });
    env::run(env::ingest(database, &[&["migrate"], &tables[..]].concat()), 0)?;
    env::run(env::ingest(database, &["verify"]), 0)?;
    env::eventually(env::SOON, || Ok(http::get(&http::agent(), &list)?.status == 200))?;
    let found = http::get(&http::agent(), &format!("{list}?items_count=100"))?.json()?;
    ensure!(found["items"].as_array().map(Vec::len) == Some(heights.len().min(100)), "{found}");
    ensure!(listed(&api.url)? == listed(&devchain.api)?);
    api.stop()?;
    Ok(())
}

/// Blocks whose source did not say who made them may be anybody's.
#[test]
fn a_block_without_its_maker_is_named() -> anyhow::Result<()> {
    let database = &env::migrate("mined_unknown")?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain"), "--to", "20"]), 0)?;
    let row = "INSERT INTO blocks_by_miner VALUES (0, unhex(repeat('00', 20)), 7)";
    env::sql(database, row)?;
    let api = env::start_api(database, &[])?;
    let list = http::get(&http::agent(), &format!("{}/api/v2/addresses/{UNKNOWN}/blocks-validated", api.url))?;
    ensure!(list.status == 404 && list.text().contains("block 7"), "{} {}", list.status, list.text());
    let page = http::get(&http::agent(), &format!("{}/api/v2/addresses/{UNKNOWN}", api.url))?.json()?;
    ensure!(page["has_validated_blocks"].is_null(), "{page}");
    let refused = ask(&api.url, &format!("address={UNKNOWN}"))?;
    ensure!(
        refused["status"] == "0" && refused["message"].as_str().is_some_and(|text| text.contains("block 7")),
        "{refused}"
    );
    api.stop()?;
    Ok(())
}
