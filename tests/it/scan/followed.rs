//! On a chain that is followed, settled logs stream and the newest are held: both come, in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::ensure;
use libtest_mimic::Trial;
use xtask::http;

use crate::chains::quantity;
use crate::ingest::proxy::{Phase, Proxy};
use crate::{env, trial};

pub fn trials() -> Vec<Trial> {
    vec![trial("scan::settled_logs_below_the_newest_are_one_statement", one_statement)]
}

const DATABASE: &str = "scan_followed";
/// In 100 settled blocks of 200: more than fit into pages that are held.
const SETTLED: u64 = 20_000;
/// In blocks 100 to 102.
const NEWEST: u64 = 600;

fn one_statement() -> anyhow::Result<()> {
    env::migrate(DATABASE)?;
    let log = "toFixedString('followed', 20), intDiv(number, 200), number % 200, 0";
    for insert in [
        &format!("logs (address, block_number, log_index, topics_count) SELECT {log} FROM numbers({SETTLED})"),
        "blocks (block_number, hash) SELECT number, toFixedString('settled', 32) FROM numbers(100)",
        &format!(
            "hot_logs (address, block_number, log_index, topics_count, generation) SELECT {log}, 1 FROM numbers({SETTLED}, {NEWEST})"
        ),
        "hot_blocks (block_number, hash, generation) SELECT number, toFixedString('newest', 32), 1 FROM numbers(100, 3)",
        "ingest_heads (sequence, segments, head_block, node_block) VALUES (1, [(100, 102, 1, ['blocks', 'receipts'])], 102, 102)",
    ] {
        env::sql(DATABASE, &format!("INSERT INTO {insert}"))?;
    }
    env::commit(DATABASE, 99)?;
    let proxy = Proxy::start(env::store())?;
    let api = env::start_api_at(&proxy.url, DATABASE, &[])?;
    let address = alloy_primitives::hex::encode_prefixed(b"followed\0\0\0\0\0\0\0\0\0\0\0\0");
    let rows = |parameters: &str| -> anyhow::Result<Vec<(u64, u64)>> {
        let url = format!("{}/api/v2/logs?address={address}&{parameters}", api.url);
        let answer = http::get(&http::agent(), &url)?.json()?;
        ensure!(answer["end"]["complete"] == true, "{}", answer["end"]);
        let place = |row: &serde_json::Value| (quantity(&row["blockNumber"]), quantity(&row["logIndex"]));
        Ok(answer["items"].as_array().map_or_else(Vec::new, |rows| rows.iter().map(place).collect()))
    };
    let all: Vec<(u64, u64)> = (0..SETTLED + NEWEST).map(|number| (number / 200, number % 200)).collect();

    let again = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&again);
    proxy.at("FROM logs", 2, Phase::Before, move || seen.store(true, Ordering::Relaxed));
    ensure!(rows("fromBlock=0")? == all, "not all logs, or not in order");
    ensure!(!again.load(Ordering::Relaxed), "settled logs were read in several pages");
    ensure!(rows("fromBlock=0&limit=20300")? == all[..20_300], "a limit among the newest");
    ensure!(rows("fromBlock=3&limit=20000")? == all[600..20_600], "a limit at the end");
    api.stop()?;
    Ok(())
}
