//! `log_topics`: it has each log under each of its topics, rare topics are found by it, and without it answers are the
//! same.

mod accounts;

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_core::primitives::{B256, BlockRange, LogFilter};
use trawl_query::logs::LogPage;
use trawl_query::logs::topics::{FIRST_POSITIONS, Search, TopicKey, TopicOccurrences, positions};
use xtask::http;

use crate::chains::{Chain, chain, dump, quantity};
use crate::env;
use crate::plans::explain_in;

/// `(topic, position, block, index)` of every log, as the node reported.
fn expected_topics(chain: &Chain) -> Vec<(String, usize, u64, u64)> {
    let receipts = chain.lines.iter().flat_map(|line| line["receipts"].as_array().into_iter().flatten());
    let logs = receipts.flat_map(|receipt| receipt["logs"].as_array().into_iter().flatten());
    logs.flat_map(|log| {
        let of_log = (quantity(&log["blockNumber"]), quantity(&log["logIndex"]));
        let topics = log["topics"].as_array().into_iter().flatten().enumerate();
        topics
            .map(move |(position, topic)| (topic.as_str().unwrap_or_default().to_owned(), position, of_log.0, of_log.1))
    })
    .collect()
}

#[test]
fn every_log_is_there_under_each_of_its_topics() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let mut expected = expected_topics(chain(name));
        let stored = env::sql(
            name,
            "SELECT DISTINCT concat('0x', lower(hex(topic))), topic_position, block_number, log_index FROM log_topics",
        )?;
        let row = |line: &str| -> Option<(String, usize, u64, u64)> {
            let mut cells = line.split('\t');
            let topic = cells.next()?.to_owned();
            Some((topic, cells.next()?.parse().ok()?, cells.next()?.parse().ok()?, cells.next()?.parse().ok()?))
        };
        let mut found: Vec<_> = stored.lines().filter_map(row).collect();
        expected.sort_unstable();
        found.sort_unstable();
        ensure!(!expected.is_empty() && expected == found, "{name}: {} instead of {}", found.len(), expected.len());
    }
    Ok(())
}

fn filter(topic: &str, position: usize) -> anyhow::Result<LogFilter> {
    let mut topics = vec![Vec::new(); position];
    topics.push(vec![topic.parse::<B256>().context("a topic")?]);
    Ok(LogFilter { addresses: Vec::new(), topics })
}

/// Both statements use the key to its end: a granule or two of positions, and a granule or two for each.
#[test]
fn rare_ones_are_looked_up_by_key() -> anyhow::Result<()> {
    let topics = expected_topics(chain("mainnet"));
    let mut counts: BTreeMap<(&str, usize), Vec<u64>> = BTreeMap::new();
    for (topic, position, block, _) in &topics {
        counts.entry((topic, *position)).or_default().push(*block);
    }
    let everything = BlockRange::new(0, 30_000_000).context("ordered")?;
    for index in 0..4 {
        let rare = counts.iter().find(|((_, position), blocks)| *position == index && blocks.len() == 1);
        let ((topic, position), blocks) = rare.context("a rare topic")?;
        let page = LogPage::new(filter(topic, *position)?, vec![everything], 1000);
        let keys: Vec<TopicKey> = page.keys();
        let [read] =
            explain_in("mainnet", &positions(&keys, everything, None, 100))?.try_into().ok().context("one read")?;
        ensure!(read.table == "log_topics" && read.by_key.0 <= 2 && read.by_key.1 > 20, "{read:?}");
        ensure!(read.keys == ["topic", "topic_position", "block_number"], "{read:?}");
        let row = TopicOccurrences {
            topic_position: *position as u8,
            logs: 1,
            first_block: blocks[0],
            last_block: blocks[0],
        };
        let page = page.found_by(&Search::choose(&keys, &[row], FIRST_POSITIONS));
        let reads = explain_in("mainnet", &page.statement())?;
        let logs = reads.iter().find(|read| read.table == "logs_by_block").context("the logs are read")?;
        ensure!(logs.by_key.0 <= 2 && logs.by_key.1 > 10, "{reads:?}");
    }
    Ok(())
}

fn ask(api: &str, filter: &Value) -> anyhow::Result<Value> {
    let answer = http::rpc(&http::agent(), &format!("{api}/api/eth-rpc"), "eth_getLogs", &json!([filter]))?;
    Ok(answer["result"].clone())
}

/// A chain of 40,000 blocks, of which every ninth has a log with the topic: too rare to be read through, and more than
/// the first window has. Its rows are made by the engine.
#[test]
fn many_logs_are_fetched_window_by_window() -> anyhow::Result<()> {
    let database = &env::migrate("topics_windows")?;
    env::sql(
        database,
        "INSERT INTO logs_by_block (block_number, log_index, topics_count, topic0, topic1) \
         SELECT number, 3, 2, toFixedString('common', 32), if(number % 9 = 4, toFixedString('rare', 32), toFixedString(toString(number), 32)) \
         FROM numbers(40000)",
    )?;
    env::commit(database, 39999)?;
    let word = |text: &str| format!("0x{:0<64}", alloy_primitives::hex::encode(text));
    let uncapped = env::start_api(database, &["--max-logs", "0"])?;
    let filter = json!({"fromBlock": "0x0", "toBlock": "0x9c3f", "topics": [word("common"), word("rare")]});
    let heights = |logs: &Value| -> Vec<u64> {
        logs.as_array().into_iter().flatten().map(|log| quantity(&log["blockNumber"])).collect()
    };
    let expected: Vec<u64> = (0..40_000).filter(|number| number % 9 == 4).collect();
    ensure!(expected.len() as u64 > FIRST_POSITIONS);
    let found = heights(&ask(&uncapped.url, &filter)?);
    ensure!(found == expected, "{} logs instead of {}", found.len(), expected.len());
    // Common topics are read through.
    let common = json!({"fromBlock": "0x0", "toBlock": "0x9c3f", "topics": [word("common")]});
    ensure!(heights(&ask(&uncapped.url, &common)?).len() == 40_000);
    uncapped.stop()?;
    // Pages of a cap, one after another.
    let capped = env::start_api(database, &[])?;
    let (mut found, mut page) = (Vec::new(), filter);
    loop {
        let logs = ask(&capped.url, &page)?;
        let Some(last) = logs.as_array().and_then(|logs| logs.last()) else { break };
        page["paging_options"] = json!({"blockNumber": last["blockNumber"], "logIndex": last["logIndex"]});
        found.extend(heights(&logs));
    }
    ensure!(found == expected, "{} logs instead of {}", found.len(), expected.len());
    capped.stop()?;
    Ok(())
}

#[test]
fn answers_are_the_same_without_the_table() -> anyhow::Result<()> {
    let (database, whole) = ("topics_without", chain("devchain"));
    let _database = env::database(database);
    env::run(env::ingest(database, &["migrate", "--without", "log_topics"]), 0)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain")]), 0)?;
    let tables = || {
        env::sql(
            database,
            "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name LIKE 'log_topics%'",
        )
    };
    ensure!(tables()? == "0");
    let api = env::start_api(database, &[])?;
    let rare = expected_topics(whole).into_iter().find(|(_, position, ..)| *position == 1).context("a topic")?.0;
    let plan = || -> anyhow::Result<String> {
        let url = format!("{}/api/v2/scan/logs?fromBlock=0&toBlock={}&topic1={rare}", api.url, whole.head());
        let answer = ureq::get(&url).header("x-trawl-plan", "1").call()?;
        Ok(answer.headers()["x-trawl-plan"].to_str()?.to_owned())
    };
    let same = || -> anyhow::Result<()> {
        for (topic, position, ..) in expected_topics(whole).iter().step_by(env::amount(211, 29)) {
            let mut topics = vec![Value::Null; *position];
            topics.push(json!([topic, B256::repeat_byte(7)]));
            let filter = json!({"fromBlock": "0x0", "toBlock": format!("{:#x}", whole.head()), "topics": topics});
            let (found, expected) = (ask(&api.url, &filter)?, ask(&whole.api, &filter)?);
            ensure!(found == expected && expected.as_array().is_some_and(|logs| !logs.is_empty()), "{filter}");
        }
        Ok(())
    };
    ensure!(plan()?.starts_with("table=logs_by_block "), "{}", plan()?);
    same()?;
    // It stays left out, and comes back with all rows.
    env::create_tables(database)?;
    ensure!(tables()? == "0");
    env::run(env::ingest(database, &["migrate", "--with", "log_topics"]), 0)?;
    env::eventually(env::SOON, || Ok(plan()?.starts_with("table=log_topics,logs_by_block topic1=1 ")))?;
    same()?;
    // An API that uses it sees in time that it is gone.
    env::run(env::ingest(database, &["migrate", "--without", "log_topics"]), 0)?;
    same()?;
    ensure!(env::run(env::ingest(database, &["migrate", "--without", "logs_by_block"]), 2).is_ok());
    api.stop()?;
    Ok(())
}
