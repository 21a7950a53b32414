//! Pages of addresses that many clients request at once: some are read by one statement, and all are the answers that
//! one client gets alone.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, ensure};
use serde_json::Value;
use xtask::http;
use xtask::process::Server;

use crate::env;

/// Contracts; each emitted a log in every block.
const CONTRACTS: u64 = 40;
/// Blocks, so that the logs of a contract are three granules.
const BLOCKS: u64 = 24_000;
/// Clients at the same time: those whose reads go on alone, two a processor, and a crowd that waits.
fn clients() -> usize {
    2 * std::thread::available_parallelism().map_or(1, usize::from) + 44
}

/// Logs of all contracts in all blocks, in two parts; one in 9,000 blocks has a topic of its own.
fn fill(database: &str) -> anyhow::Result<()> {
    for parity in [0, 1] {
        let rows = format!(
            "INSERT INTO logs (address, block_number, log_index, transaction_index, transaction_hash, block_hash,
                 block_timestamp, topics_count, topic0, data)
             SELECT SHA1(toString(number % {CONTRACTS})), intDiv(number, {CONTRACTS}), number % {CONTRACTS}, 0,
                 SHA256(toString(number)), SHA256(toString(intDiv(number, {CONTRACTS}))),
                 toDateTime(1600000000 + intDiv(number, {CONTRACTS})), 1,
                 SHA256(if(intDiv(number, {CONTRACTS}) % 9000 = 7, 'rare', 'common')), toString(number)
             FROM numbers({}) WHERE intDiv(number, {CONTRACTS}) % 2 = {parity}",
            CONTRACTS * BLOCKS
        );
        env::sql(database, &rows)?;
    }
    env::commit(database, BLOCKS - 1)
}

/// First pages, pages from the middle, and those of a rare topic, of every contract.
fn paths(database: &str) -> anyhow::Result<Vec<String>> {
    let addresses = env::sql(
        database,
        &format!("SELECT concat('0x', lower(hex(SHA1(toString(number))))) FROM numbers({CONTRACTS})"),
    )?;
    let rare = env::sql(database, "SELECT concat('0x', lower(hex(SHA256('rare'))))")?;
    let mut paths = Vec::new();
    for (number, address) in addresses.lines().enumerate() {
        let list = format!("/api/v2/addresses/{address}/logs");
        paths.push(list.clone());
        paths.push(format!("{list}?items_count=50&block_number={}&index=0", 500 * number + 900));
        paths.push(format!("{list}?topic={}", rare.trim()));
        paths.push(format!(
            "/api?module=logs&action=getLogs&address={address}&fromBlock={}&page=1&offset=100",
            BLOCKS as usize - 100 * number - 50,
        ));
    }
    Ok(paths)
}

fn start(database: &str, max_pages: &str) -> anyhow::Result<Server> {
    env::start_api(database, &["--cache-size", "0", "--settled-cache-size", "0", "--max-coalesced-pages", max_pages])
}

fn items(api: &Server, path: &str) -> anyhow::Result<Value> {
    let answer = http::get(&http::agent(), &format!("{}{path}", api.url))?;
    ensure!(answer.status == 200, "{path}: {} {}", answer.status, answer.text());
    answer.json()
}

/// How many pages were read so.
fn pages_read(api: &Server, how: &str) -> anyhow::Result<f64> {
    let text = http::get(&http::agent(), &format!("{}/metrics", api.url))?.text();
    let name = format!("trawl_address_pages_total{{read=\"{how}\"}} ");
    let line = text.lines().find_map(|line| line.strip_prefix(&name)).with_context(|| name.clone())?;
    Ok(line.trim().parse()?)
}

#[test]
fn get_together_what_each_gets_alone() -> anyhow::Result<()> {
    let database = env::migrate("crowds")?;
    fill(&database)?;
    let (alone, crowd) = (start(&database, "1")?, start(&database, "16")?);
    let paths = paths(&database)?;
    let expected: Vec<Value> = paths.iter().map(|path| items(&alone, path)).collect::<Result<_, _>>()?;
    ensure!(expected[0]["items"].as_array().is_some_and(|items| items.len() == 50), "{}", expected[0]);
    ensure!(expected[2]["items"].as_array().is_some_and(|items| items.len() == 3), "{}", expected[2]);
    ensure!(expected[3]["result"].as_array().is_some_and(|logs| logs.len() == 50), "{}", expected[3]);
    for path in &paths[..8] {
        items(&crowd, path)?;
    }
    ensure!(pages_read(&crowd, "together")? < 1.0, "one client waited for others");
    // The keys of the table are read when the first pages wait.
    let mut rounds = 0;
    while pages_read(&crowd, "together")? < (env::amount(1, 2) * paths.len()) as f64 {
        rounds += 1;
        ensure!(rounds <= 40, "only {} pages were read together", pages_read(&crowd, "together")?);
        all_at_once(&crowd, &paths, &expected)?;
    }
    ensure!(pages_read(&alone, "together")? < 1.0, "a server that reads each page alone");
    Ok(())
}

/// Requests all paths from many clients, and compares the answers.
fn all_at_once(api: &Server, paths: &[String], expected: &[Value]) -> anyhow::Result<()> {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let client = || -> anyhow::Result<()> {
            loop {
                // Neighbours are of different lists: a step of 37 visits all of them.
                let turn = next.fetch_add(1, Ordering::Relaxed);
                if turn >= paths.len() {
                    return Ok(());
                }
                let position = turn * 37 % paths.len();
                let answer = items(api, &paths[position])?;
                ensure!(answer == expected[position], "{}: {answer}", paths[position]);
            }
        };
        let crowd: Vec<_> = (0..clients()).map(|_| scope.spawn(client)).collect();
        crowd.into_iter().try_for_each(|client| client.join().expect("a client"))
    })
}
