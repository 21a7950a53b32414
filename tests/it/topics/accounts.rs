//! `logs_by_topic`: left out at first; it has each log under each topic that may be an address, logs of an account are
//! one range of it, and answers are those without it.

use std::collections::BTreeSet;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_core::primitives::{B256, BlockRange, LogFilter};
use trawl_query::logs::LogPage;

use super::ask;
use crate::chains::{chain, dump};
use crate::damage::live::ensure_counted;
use crate::env;
use crate::plans::explain_in;

/// A log under a topic: topic, position, block, index.
type Entry = (String, usize, u64, u64);

/// Twelve bytes of zeros, and not eight more.
fn is_address(topic: &str) -> bool {
    topic[2..].starts_with(&"0".repeat(24)) && !topic[2..].starts_with(&"0".repeat(40))
}

fn stored(database: &str) -> anyhow::Result<Vec<Entry>> {
    let rows = env::sql(
        database,
        "SELECT DISTINCT concat('0x', lower(hex(topic))) AS value, topic_position, block_number, log_index \
         FROM logs_by_topic ORDER BY value, topic_position, block_number, log_index",
    )?;
    let entry = |line: &str| -> Option<Entry> {
        let mut cells = line.split('\t');
        let topic = cells.next()?.to_owned();
        Some((topic, cells.next()?.parse().ok()?, cells.next()?.parse().ok()?, cells.next()?.parse().ok()?))
    };
    Ok(rows.lines().filter_map(entry).collect())
}

/// Filters by the topics of an account: alone, beside an event, among alternatives, beside another account.
fn filters(entries: &[Entry], head: u64) -> Vec<Value> {
    let accounts: BTreeSet<(&str, usize)> = entries.iter().map(|(topic, at, ..)| (topic.as_str(), *at)).collect();
    let step = env::amount(accounts.len().div_ceil(7), 1);
    let transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
    let of_account = |(topic, position): (&str, usize)| {
        let mut alone = vec![Value::Null; position];
        alone.push(json!(topic));
        let [mut with_event, mut among, mut both] = [alone.clone(), alone.clone(), alone.clone()];
        with_event[0] = json!(transfer);
        among[position] = json!([topic, B256::repeat_byte(7)]);
        both[1] = json!(topic);
        [alone, with_event, among, both]
    };
    let topics = accounts.into_iter().step_by(step).flat_map(of_account);
    topics.map(|topics| json!({"fromBlock": "0x0", "toBlock": format!("{head:#x}"), "topics": topics})).collect()
}

/// The table through its life: absent, made and filled, written by a load, with rows twice, with rows lost, dropped.
#[test]
fn answers_are_those_without_it() -> anyhow::Result<()> {
    let (database, whole) = ("topics_of_accounts", chain("devchain"));
    let _database = env::database(database);
    env::run(env::ingest(database, &["migrate"]), 0)?;
    let there = "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name LIKE 'logs_by_topic%'";
    ensure!(env::sql(database, there)? == "0");
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain"), "--to", "40"]), 0)?;
    env::run(env::ingest(database, &["migrate", "--with", "logs_by_topic"]), 0)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain")]), 0)?;
    let mut entries = super::expected_topics(whole);
    entries.retain(|(topic, position, ..)| *position > 0 && is_address(topic));
    entries.sort_unstable();
    ensure!(entries.len() > 100 && stored(database)? == entries, "{} of {}", stored(database)?.len(), entries.len());
    ensure_counted(database)?;
    // A row that the view and the filling both wrote.
    env::sql(database, "INSERT INTO logs_by_topic SELECT * FROM logs_by_topic WHERE block_number % 2 = 0")?;
    env::run(env::ingest(database, &["verify"]), 0)?;
    let api = env::start_api(database, &[])?;
    let filters = filters(&entries, whole.head());
    let same = |when: &str| -> anyhow::Result<()> {
        for filter in &filters {
            let (found, expected) = (ask(&api.url, filter)?, ask(&whole.api, filter)?);
            ensure!(found == expected && expected.is_array(), "{when}: {filter}\n{found}\ninstead of\n{expected}");
        }
        Ok(())
    };
    let plan = || -> anyhow::Result<String> {
        let (topic, position, ..) = &entries[0];
        let path = format!("/api/v2/scan/logs?fromBlock=0&toBlock={}&topic{position}={topic}", whole.head());
        let answer = ureq::get(&format!("{}{path}", api.url)).header("x-trawl-plan", "1").call()?;
        Ok(answer.headers()["x-trawl-plan"].to_str()?.to_owned())
    };
    ensure!(plan()?.starts_with("table=logs_by_topic topic"), "{}", plan()?);
    same("with it")?;
    env::run(env::ingest(database, &["migrate", "--without", "log_topics"]), 0)?;
    ensure!(plan()?.starts_with("table=logs_by_topic topic"), "{}", plan()?);
    same("without log_topics")?;
    env::sql(database, "ALTER TABLE logs_by_topic UPDATE data = 'x' WHERE 1 SETTINGS mutations_sync = 2")?;
    let verified = env::run(env::ingest(database, &["verify"]), 3)?;
    let words = "`logs_by_block` and `logs_by_topic` should";
    ensure!(format!("{verified:?}").contains(words), "{verified:?}");
    env::run(env::ingest(database, &["migrate", "--without", "logs_by_topic"]), 0)?;
    ensure!(plan()?.starts_with("table=logs_by_block "), "{}", plan()?);
    same("without both")?;
    api.stop().map(drop)
}

#[test]
fn logs_of_an_account_are_one_range() -> anyhow::Result<()> {
    let database = &env::migrate("topics_one_range")?;
    env::run(env::ingest(database, &["migrate", "--with", "logs_by_topic"]), 0)?;
    env::sql(
        database,
        "INSERT INTO logs_by_block (block_number, log_index, topics_count, topic0, topic1) \
         SELECT number, 3, 2, toFixedString('event', 32), \
                concat(unhex('000000000000000000000000'), substring(SHA256(toString(number % 500)), 1, 20)) \
         FROM numbers(40000)",
    )?;
    let topic = env::sql(database, "SELECT DISTINCT '0x' || lower(hex(topic)) FROM logs_by_topic LIMIT 1")?;
    let filter = LogFilter { addresses: Vec::new(), topics: vec![Vec::new(), vec![topic.parse()?]] };
    let blocks = BlockRange::new(0, 39_999).context("ordered")?;
    let page = LogPage::new(filter, vec![blocks], 1000);
    let keys = page.keys();
    let [read] = explain_in(database, &page.in_order_of(&keys[0]).statement())?.try_into().ok().context("one read")?;
    ensure!(read.table == "logs_by_topic" && read.by_key.0 <= 2 && read.by_key.1 > 20, "{read:?}");
    ensure!(read.keys == ["topic", "topic_position", "block_number"], "{read:?}");
    Ok(())
}
