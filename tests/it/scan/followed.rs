//! On a followed chain settled logs stream and the newest are held: both come, in order, also where blocks settle or go
//! meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::ensure;
use xtask::http;
use xtask::process::Server;

use crate::chains::quantity;
use crate::env::{self, Database};
use crate::ingest::proxy::{Phase, Proxy};

/// In 100 settled blocks of 200: more than fit into pages that are held.
const SETTLED: u64 = 20_000;
/// In blocks 100 to 102.
const NEWEST: u64 = 600;

/// A followed chain, and what serves it.
struct FollowedChain {
    database: &'static str,
    proxy: Proxy,
    api: Server,
    _guard: Database,
}

/// The logs from number `first` on, in their blocks.
fn logs(first: u64, count: u64) -> String {
    format!("SELECT toFixedString('followed', 20), intDiv(number, 200), number % 200, 0 FROM numbers({first}, {count})")
}

/// Blocks 100 to 102 of a branch.
fn newest(generation: u64, hash: &str) -> [String; 3] {
    let blocks = format!("toFixedString('{hash}', 32), {generation}");
    [
        format!(
            "hot_logs (address, block_number, log_index, topics_count, generation) \
             SELECT *, {generation} FROM ({})",
            logs(SETTLED, NEWEST)
        ),
        format!("hot_blocks (block_number, hash, generation) SELECT number, {blocks} FROM numbers(100, 3)"),
        format!(
            "ingest_heads (sequence, segments, head_block, node_block, tables_through) \
             VALUES ({generation}, [(100, 102, {generation}, ['blocks', 'receipts'])], 102, 102, 102)"
        ),
    ]
}

fn insert(database: &str, what: &[String]) -> anyhow::Result<()> {
    what.iter().try_for_each(|what| env::sql(database, &format!("INSERT INTO {what}")).map(drop))
}

impl FollowedChain {
    fn start(database: &'static str) -> anyhow::Result<Self> {
        let guard = env::migrate(database)?;
        let blocks = "blocks (block_number, hash) SELECT number, toFixedString('settled', 32) FROM numbers(100)";
        let settled = format!("logs (address, block_number, log_index, topics_count) {}", logs(0, SETTLED));
        insert(database, &[settled, blocks.into()])?;
        insert(database, &newest(1, "newest"))?;
        env::commit(database, 99)?;
        let proxy = Proxy::start(env::store())?;
        let api = env::start_api_at(&proxy.url, database, &[])?;
        Ok(Self { database, proxy, api, _guard: guard })
    }

    /// Positions of the logs, block and index, of an answer that is whole.
    fn rows(&self, parameters: &str) -> anyhow::Result<Vec<(u64, u64)>> {
        let address = alloy_primitives::hex::encode_prefixed(b"followed\0\0\0\0\0\0\0\0\0\0\0\0");
        let url = format!("{}/api/v2/scan/logs?address={address}&{parameters}", self.api.url);
        let answer = http::get(&http::agent(), &url)?.json()?;
        ensure!(answer["end"]["complete"] == true, "{}", answer["end"]);
        let position = |row: &serde_json::Value| (quantity(&row["blockNumber"]), quantity(&row["logIndex"]));
        Ok(answer["items"].as_array().map_or_else(Vec::new, |rows| rows.iter().map(position).collect()))
    }

    /// The logs as a file, if the transfer of it ends as one of a whole file does.
    fn export(&self) -> anyhow::Result<String> {
        let address = alloy_primitives::hex::encode_prefixed(b"followed\0\0\0\0\0\0\0\0\0\0\0\0");
        let answer = http::get(&http::agent(), &format!("{}/api/v2/addresses/{address}/logs/csv", self.api.url))?;
        ensure!(answer.status == 200, "{}", answer.text());
        Ok(answer.text())
    }

    /// Does something when the settled logs are read and the newest are not.
    fn between(&self, action: impl FnOnce(&str) -> anyhow::Result<()> + Send + 'static) {
        let database = self.database;
        self.proxy.at("FROM logs", 1, Phase::After, move || action(database).expect("done"));
    }
}

fn all() -> Vec<(u64, u64)> {
    (0..SETTLED + NEWEST).map(|number| (number / 200, number % 200)).collect()
}

#[test]
fn settled_logs_below_the_newest_are_one_statement() -> anyhow::Result<()> {
    let chain = FollowedChain::start("scan_followed")?;
    let again = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&again);
    chain.proxy.at("FROM logs", 2, Phase::Before, move || seen.store(true, Ordering::Relaxed));
    ensure!(chain.rows("fromBlock=0")? == all(), "not all logs, or not in order");
    ensure!(!again.load(Ordering::Relaxed), "settled logs were read in several pages");
    ensure!(chain.rows("fromBlock=0&limit=20300")? == all()[..20_300], "a limit among the newest");
    ensure!(chain.rows("fromBlock=3&limit=20000")? == all()[600..20_600], "a limit at the end");
    chain.api.stop()?;
    Ok(())
}

/// They are read where they are then.
#[test]
fn logs_that_settle_meanwhile_are_found() -> anyhow::Result<()> {
    let chain = FollowedChain::start("scan_settling")?;
    chain.between(|database| {
        let columns = "address, block_number, log_index, topics_count";
        let rows = format!("logs ({columns}) SELECT {columns} FROM hot_logs");
        let blocks = "blocks (block_number, hash) SELECT block_number, hash FROM hot_blocks";
        insert(database, &[rows, blocks.into()])?;
        env::commit(database, 102)?;
        insert(
            database,
            &["ingest_heads (sequence, segments, head_block, node_block, tables_through) VALUES (2, [], 102, 102, 102)".into()],
        )?;
        env::sql(database, "TRUNCATE TABLE hot_logs")?;
        env::sql(database, "TRUNCATE TABLE hot_blocks").map(drop)
    });
    ensure!(chain.rows("fromBlock=0")? == all(), "not all logs, or not in order");
    ensure!(env::sql(chain.database, "SELECT count() FROM hot_logs")? == "0", "nothing settled meanwhile");
    chain.api.stop()?;
    Ok(())
}

/// The mark of the end would name a head that is none any more.
#[test]
fn a_branch_that_goes_meanwhile_breaks_the_answer_off() -> anyhow::Result<()> {
    let chain = FollowedChain::start("scan_reorganised")?;
    chain.between(|database| insert(database, &newest(2, "another")));
    ensure!(chain.rows("fromBlock=0").is_err(), "an answer with logs of two branches passes for a whole one");
    ensure!(env::sql(chain.database, "SELECT max(sequence) FROM ingest_heads")? == "2", "nothing went meanwhile");
    chain.between(|database| insert(database, &newest(3, "a third")));
    ensure!(chain.export().is_err(), "an export with logs of two branches passes for a whole one");
    // Asked again, it has all logs, as soon as the API knows the new head.
    env::eventually(env::SOON, || Ok(chain.rows("fromBlock=0").is_ok_and(|rows| rows == all())))?;
    let whole = chain.export()?;
    ensure!(whole.lines().count() as u64 == SETTLED + NEWEST + 1, "{} lines and the header", whole.lines().count());
    chain.api.stop()?;
    Ok(())
}
