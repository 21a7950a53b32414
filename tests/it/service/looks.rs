//! How often an API polls the tables that its head is made of: seldom, as long as the engine reports writes to them.

use std::time::{Duration, Instant};

use anyhow::ensure;
use xtask::http;

use crate::env;

const DATABASE: &str = "looks";

/// Statements that an API without requests sent to the engine: for all that a head is made of, and for the number of
/// commits.
fn looks() -> anyhow::Result<(u64, u64)> {
    env::sql_at(env::engine(), DATABASE, "SYSTEM FLUSH LOGS")?;
    let sql = "SELECT countIf(query LIKE '%AS token_steps%'), countIf(query LIKE 'SELECT count() AS commits FROM ingest_commits%') \
               FROM system.query_log WHERE current_database = currentDatabase() AND query NOT LIKE '%query_log%'";
    let counts = env::sql_at(env::engine(), DATABASE, sql)?;
    let mut counts = counts.trim().split('\t').map(str::parse);
    let mut next = || Ok::<u64, anyhow::Error>(counts.next().unwrap_or(Ok(0))?);
    Ok((next()?, next()?))
}

fn height(api: &str) -> anyhow::Result<u64> {
    let answer = http::rpc(&http::agent(), &format!("{api}/api/eth-rpc"), "eth_blockNumber", &serde_json::json!([]))?;
    let hex = answer["result"].as_str().unwrap_or("0x0").trim_start_matches("0x").to_owned();
    Ok(u64::from_str_radix(&hex, 16)?)
}

#[test]
fn a_chain_that_is_written_to_is_not_polled() -> anyhow::Result<()> {
    env::run(env::ingest_at(env::engine(), DATABASE, &["migrate"]), 0)?;
    env::commit_at(env::engine(), DATABASE, 1)?;
    let api = env::start_api_at(env::engine(), DATABASE, &["--head-interval-ms", "100"])?;
    env::eventually(env::SOON, || Ok(height(&api.url)? == 1))?;
    let (all_before, commits_before) = looks()?;
    let (started, mut last) = (Instant::now(), 1);
    while started.elapsed() < Duration::from_secs(5) {
        last += 1;
        env::commit_at(env::engine(), DATABASE, last)?;
        env::eventually(Duration::from_secs(10), || Ok(height(&api.url)? == last))?;
        std::thread::sleep(Duration::from_millis(100));
    }
    let (all, commits) = looks()?;
    let (all, commits) = (all - all_before, commits - commits_before);
    // Each interval would be 50; one in sixty is one.
    ensure!(all <= 4, "{all} looks at everything");
    ensure!(commits > 0 && commits <= 3 * last, "{commits} looks at commits, of which there were {last}");
    Ok(())
}

#[test]
fn what_is_written_beside_blocks_is_seen_at_once() -> anyhow::Result<()> {
    let database = "looks_beside";
    env::run(env::ingest_at(env::engine(), database, &["migrate"]), 0)?;
    env::commit_at(env::engine(), database, 1)?;
    // An API that did not wait for reports of writes would look after an hour.
    let api = env::start_api_at(env::engine(), database, &["--head-interval-ms", "3600000"])?;
    let agent = http::agent();
    let has_label = || -> anyhow::Result<bool> {
        let address = format!("0x{}", "7b".repeat(20));
        let answer = http::get(&agent, &format!("{}/api/v2/addresses/{address}", api.url))?;
        Ok(answer.text().contains("Named beside blocks"))
    };
    ensure!(!has_label()?);
    let data = env::directory()?;
    let labels = data.path().join("labels.csv");
    std::fs::write(&labels, format!("address,name\n0x{},Named beside blocks\n", "7b".repeat(20)))?;
    env::run(env::ingest_at(env::engine(), database, &["labels", &labels.display().to_string()]), 0)?;
    env::eventually(Duration::from_secs(20), has_label)
}
