//! Balances of accounts over time, against what another EVM reported as the state after each block.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_core::primitives::{Address, BlockRange, U256};
use trawl_query::addresses::coin_balances::{balances, credits};
use xtask::{http, workspace};

use crate::chains::{Chain, chain, dump, lines, lines_of, quantity};
use crate::env;
use crate::ingest::follow::{Follower, hashes, reaches, tip};
use crate::ingest::node::Node;
use crate::pages::{get, walk};
use crate::plans::explain_in;

/// Balances by account, ascending: block and wei, where it differs from the one before.
type ExpectedHistories = BTreeMap<String, Vec<(u64, U256)>>;

/// What the other EVM reported as the balances after each block.
fn expected_histories(lines: &[Value]) -> anyhow::Result<ExpectedHistories> {
    let mut histories = ExpectedHistories::new();
    for line in lines {
        let number = quantity(&line["block"]["number"]);
        for (address, account) in line["stateDiff"].as_object().context("accounts")? {
            let Some(balance) = account["balance"].as_str() else { continue };
            let changes = histories.entry(address.to_lowercase()).or_default();
            let wei = balance.parse()?;
            if changes.last().map_or(U256::ZERO, |last| last.1) != wei {
                changes.push((number, wei));
            }
        }
    }
    histories.retain(|_, changes| !changes.is_empty());
    Ok(histories)
}

fn signed(before: U256, after: U256) -> String {
    if after >= before { (after - before).to_string() } else { format!("-{}", before - after) }
}

/// The changes that a list tells, newest first; its items are right by themselves.
fn changes(items: &[Value], times: impl Fn(u64) -> Option<Value>) -> anyhow::Result<Vec<(u64, U256)>> {
    let mut changes = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let number = item["block_number"].as_u64().context("a height")?;
        let value: U256 = item["value"].as_str().context("a value")?.parse()?;
        let before = items.get(at + 1).map_or(Ok(U256::ZERO), |item| item["value"].as_str().unwrap_or("?").parse())?;
        ensure!(
            item["delta"] == signed(before, value) && item["transaction_hash"].is_null(),
            "{item}, before {before}"
        );
        if let Some(time) = times(number) {
            ensure!(item["block_timestamp"] == time, "{item}, expected {time}");
        }
        if value != before {
            changes.push((number, value));
        }
    }
    Ok(changes)
}

/// The time of a block as REST writes it.
fn time(chain: &Chain, number: u64) -> Option<Value> {
    let line = chain.lines.get(usize::try_from(number).ok()?)?;
    let seconds = quantity(&line["block"]["timestamp"]);
    // The recording is of one hour of 1970.
    Some(format!("1970-01-01T00:{:02}:{:02}.000000Z", seconds / 60, seconds % 60).into())
}

#[test]
fn match_another_evm() -> anyhow::Result<()> {
    let hive = chain("hive");
    let histories = expected_histories(&hive.lines)?;
    let (mut seen, mut falls) = (0, 0);
    for (address, expected) in &histories {
        let all = walk(hive, &format!("addresses/{address}/coin-balance-history"), 100)?;
        let mut found = changes(&all, |number| time(hive, number))?;
        found.reverse();
        ensure!(found == *expected, "{address}: {found:?}, expected {expected:?}");
        for size in [1, 7] {
            let walked = walk(hive, &format!("addresses/{address}/coin-balance-history"), size)?;
            ensure!(walked == all, "{address} in pages of {size}");
        }
        seen += found.len();
        falls += all.iter().filter(|item| item["delta"].as_str().is_some_and(|delta| delta.starts_with('-'))).count();
    }
    ensure!(
        histories.len() > 20 && seen > 200 && falls > 40,
        "{} accounts, {seen} changes, {falls} falls",
        histories.len()
    );
    let unknown = format!("0x{}", "9e".repeat(20));
    ensure!(walk(hive, &format!("addresses/{unknown}/coin-balance-history"), 5)?.is_empty());
    Ok(())
}

/// The last balance of each of the last 30 days that changed it.
fn by_day(changes: &[(u64, U256)], day_of: impl Fn(u64) -> u64, newest: u64) -> Vec<(u64, U256)> {
    let mut ends: BTreeMap<u64, U256> = BTreeMap::new();
    ends.extend(changes.iter().map(|(block, value)| (day_of(*block), *value)));
    let mut before = U256::ZERO;
    let mut days = Vec::new();
    for (day, value) in ends {
        if value != before && day + 30 > newest {
            days.push((day, value));
        }
        before = value;
    }
    days
}

/// The chain's own hour of 1970, and its blocks spread over more days than are shown.
#[test]
fn by_day_are_the_last_of_each_day() -> anyhow::Result<()> {
    let database = "coin_balances_days";
    let _database = env::migrate(database)?;
    let genesis = workspace::fixture("hive/genesis.json").display().to_string();
    env::run(env::ingest(database, &["load", "--dump", &dump("hive"), "--genesis", &genesis]), 0)?;
    let spread =
        "ALTER TABLE blocks UPDATE timestamp = fromUnixTimestamp64Micro(toInt64(block_number) * 72000000000, 'UTC')
                  WHERE 1 SETTINGS mutations_sync = 2";
    env::sql(database, spread)?;
    let api = env::start_api(database, &[])?;
    let histories = expected_histories(&lines("hive")?)?;
    // 20 hours a block.
    let day_of = |block: u64| block * 20 / 24;
    let mut shown = 0;
    for (address, changes) in histories.iter().step_by(3) {
        let path = format!("{}/api/v2/addresses/{address}/coin-balance-history-by-day", api.url);
        let answer = http::get(&http::agent(), &path)?.json()?;
        let expected = by_day(changes, day_of, day_of(54));
        let expected: Vec<Value> =
            expected.iter().map(|(day, value)| json!({"date": date(*day), "value": value.to_string()})).collect();
        ensure!(
            answer["days"] == 30 && answer["items"] == Value::from(expected.clone()),
            "{address}: {answer}, {expected:?}"
        );
        shown += expected.len();
    }
    ensure!(shown > 50, "{shown} days");
    api.stop()?;
    let one_day = get(chain("hive"), &format!("addresses/0x{}/coin-balance-history-by-day", "0".repeat(40)))?;
    let last = histories[&format!("0x{}", "0".repeat(40))].last().context("a change")?.1;
    ensure!(one_day["items"] == json!([{"date": "1970-01-01", "value": last.to_string()}]), "{one_day}");
    Ok(())
}

/// A day of the first months of 1970.
fn date(day: u64) -> String {
    match day {
        0..31 => format!("1970-01-{:02}", day + 1),
        _ => format!("1970-02-{:02}", day - 30),
    }
}

/// Both parts of the history are a range of the account, newest first.
fn read_by_key(database: &str) -> anyhow::Result<()> {
    let blocks = vec![BlockRange::new(0, 20).context("ordered")?].into();
    for (table, reads) in [
        ("balance_history", explain_in(database, &balances(&Address::ZERO, &blocks, Some(15), 51))?),
        ("balance_credits", explain_in(database, &credits(&Address::ZERO, &blocks, Some(15), 51))?),
    ] {
        ensure!(reads.len() == 1 && reads[0].table == table && reads[0].kind == "InReverseOrder", "{reads:?}");
        ensure!(reads[0].keys == ["address", "block_number"], "{reads:?}");
    }
    Ok(())
}

/// Blocks that are not settled count, and those that were orphaned do not.
#[test]
fn follow_the_chain_through_reorganisations() -> anyhow::Result<()> {
    let database = "coin_balances_followed";
    let genesis = workspace::fixture("hive/genesis.json").display().to_string();
    let node = Node::start("hive", &["--head", "30", "--finality", "24"])?;
    let _database = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--rpc-url", &node.url, "--to", "20", "--genesis", &genesis]), 0)?;
    read_by_key(database)?;
    let follower = Follower::start(database, &node.url, &["--genesis", &genesis])?;
    let apis = [env::start_api(database, &[])?, env::start_api(database, &["--hot-memory", "0"])?];
    for (branch, head, control) in [
        ("main", 30, json!({"head": 30})),
        ("main", 54, json!({"head": 54})),
        ("depth17", u64::MAX, json!({"branch": "depth17"})),
        ("main", u64::MAX, json!({"branch": "main"})),
    ] {
        node.control(&control)?;
        let chain = hashes(branch)?;
        let newest = if head == 30 { chain[&30].as_str() } else { tip(&chain) };
        let mut all = lines("hive")?;
        if branch != "main" {
            let own = lines_of(&workspace::fixture(&format!("hive/branch-{branch}.ndjson.gz")))?;
            all.truncate(usize::try_from(quantity(&own[0]["block"]["number"]))?);
            all.extend(own);
        }
        all.retain(|line| quantity(&line["block"]["number"]) <= head);
        let histories = expected_histories(&all)?;
        for api in &apis {
            reaches(&api.url, newest)?;
            for (address, expected) in histories.iter().rev().filter(|(_, changes)| changes.len() > 1).take(12) {
                let path = format!("{}/api/v2/addresses/{address}/coin-balance-history?items_count=100", api.url);
                let answer = http::get(&http::agent(), &path)?;
                ensure!(answer.status == 200, "{}", answer.text());
                let mut found = changes(answer.json()?["items"].as_array().context("items")?, |_| None)?;
                found.reverse();
                let last: Vec<_> = expected.iter().rev().take(100).rev().copied().collect();
                ensure!(found == last, "{branch} {head} {address}: {found:?}, expected {last:?}");
            }
        }
    }
    follower.stop()
}

#[test]
fn of_a_chain_without_its_state_are_refused() -> anyhow::Result<()> {
    let address = format!("0x{}", "9e".repeat(20));
    for name in ["mainnet", "devchain"] {
        for list in ["coin-balance-history", "coin-balance-history-by-day"] {
            let path = format!("{}/api/v2/addresses/{address}/{list}", chain(name).api);
            let answer = http::get(&http::agent(), &path)?;
            ensure!(
                answer.status == 501 && answer.text().contains("historical state is not available"),
                "{}",
                answer.text()
            );
            ensure!(answer.json()?["data"]["missing"].is_array());
        }
    }
    for path in ["0x12/coin-balance-history", "{a}/coin-balance-history?index=1", "{a}/coin-balance-history-by-day?x=1"]
    {
        let path = format!("{}/api/v2/addresses/{}", chain("hive").api, path.replace("{a}", &address));
        let answer = http::get(&http::agent(), &path)?;
        ensure!(answer.status == 422, "{path}: {} {}", answer.status, answer.text());
    }
    Ok(())
}
