//! A client that reads slowly gets everything, though its statement runs into the limit of time.

use std::io::{BufRead, BufReader};
use std::time::Duration;

use anyhow::{Context, ensure};
use libtest_mimic::Trial;
use serde_json::Value;
use xtask::http;

use crate::{env, trial};

pub fn trials() -> Vec<Trial> {
    vec![trial("scan::a_slow_client_gets_everything", slow)]
}

const DATABASE: &str = "scan_slow";
/// Of 100 blocks each with 400 logs of a kilobyte: more than any buffer between a client and the engine holds.
const LOGS: u64 = 40_000;

fn slow() -> anyhow::Result<()> {
    env::migrate(DATABASE)?;
    env::sql(
        DATABASE,
        "INSERT INTO logs (address, block_number, log_index, topics_count, data) \
         SELECT toFixedString('slowly', 20), intDiv(number, 400), number % 400, 0, randomString(1024) FROM numbers(40000)",
    )?;
    env::commit(DATABASE, 99)?;
    let api = env::start_api(DATABASE, &["--query-timeout", "1"])?;
    let address = alloy_primitives::hex::encode_prefixed(b"slowly\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    let url = format!("{}/api/v2/logs?address={address}&fromBlock=0&toBlock=99&format=ndjson", api.url);
    let answer = http::agent().get(&url).call()?;
    let reader = BufReader::new(answer.into_body().into_with_config().limit(u64::MAX).reader());
    let (mut wanted, mut end) = (0, None);
    for line in reader.lines() {
        let line: Value = serde_json::from_str(&line?).context("a line")?;
        let Some(block) = line["blockNumber"].as_str() else {
            end = Some(line);
            continue;
        };
        ensure!(block == format!("{:#x}", wanted / 400) && line["logIndex"] == format!("{:#x}", wanted % 400));
        wanted += 1;
        if wanted % 12_000 == 1 {
            std::thread::sleep(Duration::from_secs(2));
        }
    }
    let end = end.context("no mark of the end")?;
    ensure!(wanted == LOGS && end["end"]["count"] == LOGS, "{wanted} logs, {end}");
    api.stop()?;
    Ok(())
}
