//! A client that reads slowly gets everything, though its statement runs into the limit of time; one that leaves ends
//! its statement.

use std::io::{BufRead, BufReader};
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::Value;
use xtask::http;
use xtask::process::Server;

use crate::env::{self, Database};

/// Of 100 blocks each with 400 logs of a kilobyte: more than any buffer between a client and the engine holds.
const LOGS: u64 = 40_000;

/// An API over them, and what asks for all.
pub fn serving(database: &str, arguments: &[&str]) -> anyhow::Result<(Database, Server, String)> {
    let guard = env::migrate(database)?;
    env::sql(
        database,
        "INSERT INTO logs (address, block_number, log_index, topics_count, data) \
         SELECT toFixedString('slowly', 20), intDiv(number, 400), number % 400, 0, randomString(1024) FROM numbers(40000)",
    )?;
    env::commit(database, 99)?;
    let api = env::start_api(database, arguments)?;
    let address = alloy_primitives::hex::encode_prefixed(b"slowly\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    let url = format!("{}/api/v2/scan/logs?address={address}&fromBlock=0&toBlock=99&format=ndjson", api.url);
    Ok((guard, api, url))
}

#[test]
fn a_slow_client_gets_everything() -> anyhow::Result<()> {
    let (_database, api, url) = serving("scan_slow", &["--query-timeout", "1"])?;
    let answer = http::agent().get(&url).call()?;
    let reader = BufReader::new(answer.into_body().into_with_config().limit(u64::MAX).reader());
    let (mut count, mut end) = (0, None);
    for line in reader.lines() {
        let line: Value = serde_json::from_str(&line?).context("a line")?;
        let Some(block) = line["blockNumber"].as_str() else {
            end = Some(line);
            continue;
        };
        ensure!(block == format!("{:#x}", count / 400) && line["logIndex"] == format!("{:#x}", count % 400));
        count += 1;
        // Longer than a statement may take, and than the API waits for one.
        if count % 20_000 == 1 {
            std::thread::sleep(Duration::from_secs(5));
        }
    }
    let end = end.context("no mark of the end")?;
    ensure!(count == LOGS && end["end"]["count"] == LOGS, "{count} logs, {end}");
    api.stop()?;
    Ok(())
}

/// Whether it leaves between rows, or while it takes none.
#[test]
fn a_client_that_leaves_ends_its_statement() -> anyhow::Result<()> {
    const DATABASE: &str = "scan_leaving";
    let (_database, api, url) = serving(DATABASE, &[])?;
    // The API asks for the head all the while.
    let count = format!(
        "SELECT count() FROM processes WHERE current_database = '{DATABASE}' AND position(query, 'FROM logs') > 0"
    );
    let running = || env::sql("system", &count);
    for pause in [Duration::ZERO, Duration::from_secs(1)] {
        let answer = http::agent().get(&url).call()?;
        let mut line = String::new();
        let mut reader = BufReader::new(answer.into_body().into_with_config().limit(u64::MAX).reader());
        reader.read_line(&mut line)?;
        std::thread::sleep(pause);
        ensure!(line.contains("blockNumber") && running()? == "1", "the statement is over before its rows are");
        drop(reader);
        env::eventually(Duration::from_secs(20), || Ok(running()? == "0"))?;
    }
    api.stop()?;
    Ok(())
}
