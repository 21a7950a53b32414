//! Ingest: what a source holds becomes rows exactly once, whatever is killed, and nothing before its commit is seen.

use std::collections::HashMap;
use std::io::Write;
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use xtask::{http, process};

use crate::chains::{self, chain, dump};
use crate::env;

mod backups;
mod chain_calls;
mod chain_family;
mod deposits;
mod doctor;
mod empty_branch;
mod era1;
mod exclusive;
mod failover;
mod families;
mod family_clients;
mod family_facts;
mod faults;
pub mod follow;
mod grouped;
mod home_page;
mod in_memory;
mod kills;
mod merging;
mod messages;
pub mod node;
mod object_storage;
mod other_chains;
pub mod outages;
mod programs;
pub mod proxy;
mod pruned;
mod reader_account;
mod recognised_chains;
mod rollup_fees;
mod rollup_state;
mod settled_cache;
mod settling;
mod several_apis;
mod short_headers;
mod slices;
mod sources;
mod spoiled;
mod standing;
mod state;
mod statistics;
mod tokens;
mod traces;
mod transaction_totals;
mod transfers;
mod verification;
mod walks;

fn load(database: &str, file: &str, more: &[&str], code: i32) -> anyhow::Result<String> {
    let arguments = [&["load", "--dump", file][..], more].concat();
    let output = env::run(env::ingest(database, &arguments), code)?;
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Rows of a clean load of the scenario chain.
fn clean() -> anyhow::Result<HashMap<String, String>> {
    static CLEAN: OnceLock<HashMap<String, String>> = OnceLock::new();
    if let Some(clean) = CLEAN.get() {
        return Ok(clean.clone());
    }
    let clean = env::contents(env::store(), chain("devchain").name)?;
    Ok(CLEAN.get_or_init(|| clean).clone())
}

/// Lines as a dump file.
fn write_dump(lines: &[Value]) -> anyhow::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::NamedTempFile::new()?;
    let mut packer = GzEncoder::new(file.as_file_mut(), Compression::fast());
    for line in lines {
        writeln!(packer, "{line}")?;
    }
    packer.finish()?;
    Ok(file)
}

#[test]
fn counts_equal_the_source() -> anyhow::Result<()> {
    for name in ["hive", "mainnet", "devchain"] {
        let chain = chain(name);
        let items = |path: &[&str]| -> usize {
            chain
                .lines
                .iter()
                .map(|line| path.iter().fold(line, |value, key| &value[*key]).as_array().map_or(0, Vec::len))
                .sum()
        };
        let logs: usize = chain
            .lines
            .iter()
            .flat_map(|line| line["receipts"].as_array().into_iter().flatten())
            .map(|receipt| receipt["logs"].as_array().map_or(0, Vec::len))
            .sum();
        let expected = [
            ("blocks", chain.lines.len()),
            ("transactions", items(&["block", "transactions"])),
            ("transactions_by_hash", items(&["block", "transactions"])),
            ("logs", logs),
            ("logs_by_block", logs),
            ("withdrawals", items(&["block", "withdrawals"])),
            ("withdrawals_by_block", items(&["block", "withdrawals"])),
            ("uncles", items(&["uncleHeaders"])),
        ];
        for (table, expected) in expected {
            let found = env::sql(name, &format!("SELECT count() FROM {table}"))?;
            ensure!(found == expected.to_string(), "{name}.{table} has {found} rows instead of {expected}");
        }
        // Both orders hold the same rows.
        for (one, other) in [("logs", "logs_by_block"), ("withdrawals", "withdrawals_by_block")] {
            let sum = |table: &str| {
                env::sql(name, &format!("SELECT sum(cityHash64(formatRowNoNewline('TSV', *))) FROM {table}"))
            };
            ensure!(sum(one)? == sum(other)?, "{name}: {one} and {other}");
        }
    }
    Ok(())
}

#[test]
fn loading_again_changes_nothing() -> anyhow::Result<()> {
    let _database = env::migrate("ingest_again")?;
    load("ingest_again", &dump("devchain"), &["--to", "40"], 0)?;
    load("ingest_again", &dump("devchain"), &[], 0)?;
    let text = load("ingest_again", &dump("devchain"), &["--batch-blocks", "3"], 0)?;
    ensure!(text.contains("committed 0 blocks"), "{text}");
    ensure!(env::contents(env::store(), "ingest_again")? == clean()?);
    Ok(())
}

#[test]
fn ctrl_c_commits_the_batch_in_hand() -> anyhow::Result<()> {
    let _database = env::migrate("ingest_stopped")?;
    let mut command = env::ingest("ingest_stopped", &["load", "--dump", &dump("devchain"), "--batch-blocks", "6"]);
    let child = command.stderr(Stdio::null()).spawn()?;
    env::eventually(Duration::from_secs(20), || {
        Ok(env::sql("ingest_stopped", "SELECT count() FROM ingest_commits")? != "0")
    })?;
    process::signal(child.id(), libc::SIGINT)?;
    let output = process::output_within(child, env::LONGEST)?;
    ensure!(output.status.code() == Some(130), "{}", output.status);
    let sums = "SELECT (SELECT sum(last_block - first_block + 1) FROM ingest_commits) = (SELECT count() FROM blocks)";
    ensure!(env::sql("ingest_stopped", sums)? == "1", "rows without a commit");
    load("ingest_stopped", &dump("devchain"), &[], 0)?;
    ensure!(env::contents(env::store(), "ingest_stopped")? == clean()?);
    Ok(())
}

/// Rows of a batch that is being written lie above the head, or in a hole below it.
#[test]
fn uncommitted_rows_are_invisible() -> anyhow::Result<()> {
    let (source, database) = (chain("hive").name, "ingest_invisible");
    let _database = env::migrate(database)?;
    load(database, &dump("hive"), &["--to", "38"], 0)?;
    load(database, &dump("hive"), &["--from", "41", "--to", "50"], 0)?;
    for (table, column) in trawl_core::schema::BLOCK_TABLES {
        let copy = format!("INSERT INTO {table} SELECT * FROM {source}.{table} WHERE {column} IN (39, 40, 53)");
        env::sql(database, &copy)?;
    }
    let api = env::start_api(database, &[])?;
    let agent = http::agent();
    let rpc = |method: &str, params: Value| http::rpc(&agent, &format!("{}/api/eth-rpc", api.url), method, &params);
    ensure!(rpc("eth_blockNumber", json!([]))?["result"] == "0x32");
    let page = http::get(&agent, &format!("{}/api/v2/blocks?items_count=15", api.url))?.json()?;
    let heights: Vec<u64> =
        page["items"].as_array().context("items")?.iter().filter_map(|item| item["height"].as_u64()).collect();
    ensure!(heights == [50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 38, 37, 36, 35, 34], "{heights:?}");
    for height in [39, 40, 53] {
        let line = &chain("hive").lines[height];
        let number = format!("{height:#x}");
        ensure!(rpc("eth_getBlockByNumber", json!([number, false]))?["result"].is_null());
        ensure!(rpc("eth_getBlockByHash", json!([line["block"]["hash"], false]))?["result"].is_null());
        let transaction = &line["block"]["transactions"][0]["hash"];
        ensure!(rpc("eth_getTransactionByHash", json!([transaction]))?["result"].is_null());
        ensure!(rpc("eth_getTransactionReceipt", json!([transaction]))?["result"].is_null());
        let path = format!("{}/api/v2/blocks/{height}/withdrawals", api.url);
        ensure!(http::get(&agent, &path)?.status == 404);
        for withdrawal in line["block"]["withdrawals"].as_array().into_iter().flatten() {
            let path = format!(
                "{}/api/v2/addresses/{}/withdrawals",
                api.url,
                withdrawal["address"].as_str().unwrap_or_default()
            );
            let list = http::get(&agent, &path)?.json()?;
            let numbers: Vec<u64> = list["items"]
                .as_array()
                .context("items")?
                .iter()
                .filter_map(|item| item["block_number"].as_u64())
                .collect();
            ensure!(!numbers.contains(&(height as u64)), "{list}");
        }
    }
    // What `docs/explain/guarantees.md` gives to those who read the tables themselves.
    let visible = "WITH (SELECT groupArray((first_block, last_block)) FROM ingest_commits) AS committed \
                   SELECT count() FROM blocks WHERE arrayExists(range -> block_number BETWEEN range.1 AND range.2, committed)";
    ensure!(env::sql(database, visible)? == "49");
    let refused = rpc("eth_getLogs", json!([{"fromBlock": "0x20", "toBlock": "0x2a"}]))?;
    ensure!(refused["error"]["data"]["missing"] == json!([{"fromBlock": "0x27", "toBlock": "0x28"}]), "{refused}");
    api.stop()?;
    Ok(())
}

#[test]
fn leftovers_of_a_killed_run_are_removed() -> anyhow::Result<()> {
    let database = &env::migrate("ingest_leftovers")?;
    load(database, &dump("devchain"), &["--to", "50"], 0)?;
    env::sql(database, "INSERT INTO ingest_intents (run, first_block, last_block) VALUES ('gone', 51, 60)")?;
    for (table, column) in trawl_core::schema::BLOCK_TABLES {
        let copy = format!(
            "INSERT INTO {table} SELECT * FROM {}.{table} WHERE {column} BETWEEN 51 AND 55",
            chain("devchain").name
        );
        env::sql(database, &copy)?;
    }
    let text = load(database, &dump("devchain"), &[], 0)?;
    ensure!(text.contains("removing rows of an interrupted run"), "{text}");
    ensure!(env::contents(env::store(), database)? == clean()?);
    Ok(())
}

/// The check that must refuse, and what is done to a line of a dump.
type Forgery = (&'static str, fn(&mut Value));

/// Every kind of contradiction, each in a block of its own; nothing of that block may be visible afterwards.
#[test]
fn inconsistent_blocks_are_refused_by_name() -> anyhow::Result<()> {
    let lines = chains::lines("devchain")?;
    let tampered: [Forgery; 9] = [
        ("header hash", |line| line["block"]["parentHash"] = json!(format!("0x{}", "12".repeat(32)))),
        ("number of receipts", |line| drop(line["receipts"].as_array_mut().map(Vec::pop))),
        ("transaction hash of a receipt", |line| {
            line["receipts"][1]["transactionHash"] = json!(format!("0x{}", "12".repeat(32)));
        }),
        ("block hash of a receipt", |line| line["receipts"][1]["blockHash"] = json!(format!("0x{}", "12".repeat(32)))),
        ("cumulative gas of a receipt", |line| line["receipts"][1]["gasUsed"] = json!("0x1")),
        ("gas used", |line| line["block"]["gasUsed"] = json!("0x1")),
        ("transaction index", |line| line["block"]["transactions"][1]["transactionIndex"] = json!("0x7")),
        ("number of uncle headers", |line| line["uncleHeaders"] = json!([line["block"]])),
        ("log index", |line| {
            let with_logs =
                line["receipts"].as_array_mut().into_iter().flatten().find(|receipt| receipt["logs"][0].is_object());
            if let Some(receipt) = with_logs {
                receipt["logs"][0]["logIndex"] = json!("0x99");
            }
        }),
    ];
    let block = 5;
    ensure!(lines[block]["receipts"].as_array().map_or(0, Vec::len) > 2);
    // Each load goes on where the one before was refused.
    let database = env::migrate("ingest_tampered")?;
    for (check, tamper) in tampered {
        let mut lines = lines[..20].to_vec();
        tamper(&mut lines[block]);
        let file = write_dump(&lines)?;
        let text = load(&database, &file.path().display().to_string(), &[], 3)?;
        ensure!(text.contains(&format!("block {block} is refused: {check}: expected")), "{check}: {text}");
        let committed =
            env::sql(&database, "SELECT max(last_block), (SELECT max(block_number) FROM blocks) FROM ingest_commits")?;
        ensure!(committed == "4\t4", "{check}: {committed}");
    }
    let database = env::migrate("ingest_broken")?;
    for (broken, message) in
        [("{}", "cannot be read"), ("{\"block\":{\"number\":\"0x1\"}}", "cannot be read"), ("no json", "line 1")]
    {
        let mut file = tempfile::NamedTempFile::new()?;
        writeln!(file, "{broken}")?;
        let arguments = ["load", "--dump", &file.path().display().to_string()];
        let output = env::ingest(&database, &arguments).output()?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(
            matches!(output.status.code(), Some(1 | 3)) && text.contains(message),
            "{broken}: {} {text}",
            output.status
        );
    }
    Ok(())
}

#[test]
fn blocks_must_link_to_what_is_committed() -> anyhow::Result<()> {
    let lines = chains::lines("devchain")?;
    let other = json!(format!("0x{}", "12".repeat(32)));
    let database = &env::migrate("ingest_links")?;
    load(database, &dump("devchain"), &["--from", "10", "--to", "20"], 0)?;
    let mut above = lines[21].clone();
    above["block"]["parentHash"] = other.clone();
    let file = write_dump(&[above])?;
    let text = load(database, &file.path().display().to_string(), &["--verify", "off"], 3)?;
    ensure!(text.contains("block 21 is refused: parent hash: expected"), "{text}");
    let mut below = lines[9].clone();
    below["block"]["hash"] = other.clone();
    for receipt in below["receipts"].as_array_mut().into_iter().flatten() {
        receipt["blockHash"] = other.clone();
    }
    // They name the block too.
    below.as_object_mut().into_iter().for_each(|line| line.retain(|part, _| !part.starts_with("parity")));
    let file = write_dump(&[below])?;
    let text = load(database, &file.path().display().to_string(), &["--verify", "off"], 3)?;
    ensure!(text.contains("block 9 is refused: hash known to the block above: expected"), "{text}");
    load(database, &dump("devchain"), &[], 0)?;
    // Verdicts differ from those of a clean load: the block below a gap was not there at first.
    let (mut found, mut expected) = (env::contents(env::store(), database)?, clean()?);
    found.remove("block_verdicts");
    expected.remove("block_verdicts");
    ensure!(found == expected, "{found:?} {expected:?}");
    Ok(())
}

#[test]
fn another_chain_is_refused() -> anyhow::Result<()> {
    let database = &env::migrate("ingest_other_chain")?;
    load(database, &dump("devchain"), &["--to", "5"], 0)?;
    let alone = tempfile::NamedTempFile::with_suffix(".gz")?;
    std::fs::copy(dump("hive"), alone.path())?;
    let text = load(database, &alone.path().display().to_string(), &["--from", "22"], 3)?;
    ensure!(text.contains("belongs to chain 3503995874084926 and the database holds chain 31337"), "{text}");
    // Blocks without transactions say nothing; the file beside them and the flag do.
    let beside = env::directory()?;
    std::fs::copy(dump("hive"), beside.path().join("chain.gz"))?;
    std::fs::write(beside.path().join("meta.json"), r#"{"chainId": "0xc72dd9d5e883e"}"#)?;
    let beside = beside.path().join("chain.gz").display().to_string();
    let text = load(database, &beside, &["--from", "6", "--to", "6"], 3)?;
    ensure!(text.contains("the source's chain is 3503995874084926 and the database holds chain 31337"), "{text}");
    load(database, &dump("devchain"), &["--chain-id", "1"], 3)?;
    ensure!(env::sql(database, "SELECT max(last_block) FROM ingest_commits")? == "5");
    Ok(())
}

#[test]
fn missing_receipts_are_recorded_as_missing() -> anyhow::Result<()> {
    let database = &env::migrate("ingest_bare")?;
    let mut lines = chains::lines("hive")?;
    for line in &mut lines[10..20] {
        line.as_object_mut().context("an object")?.remove("receipts");
    }
    let file = write_dump(&lines)?;
    load(database, &file.path().display().to_string(), &["--chain-id", "3503995874084926"], 0)?;
    let status = env::run(env::ingest(database, &["status", "--json"]), 0)?;
    let status: Value = serde_json::from_slice(&status.stdout)?;
    ensure!(status["ranges"] == json!([[0, 54]]) && status["without_receipts"] == json!([[10, 19]]), "{status}");
    let api = env::start_api(database, &[])?;
    let agent = http::agent();
    let rpc = |method: &str, params: Value| http::rpc(&agent, &format!("{}/api/eth-rpc", api.url), method, &params);
    let transaction = &lines[12]["block"]["transactions"][0]["hash"];
    ensure!(rpc("eth_getTransactionByHash", json!([transaction]))?["result"]["hash"] == *transaction);
    let receipt = rpc("eth_getTransactionReceipt", json!([transaction]))?;
    ensure!(receipt["error"]["code"] == -32002, "{receipt}");
    let logs = rpc("eth_getLogs", json!([{"fromBlock": "0x9", "toBlock": "0x15"}]))?;
    ensure!(logs["error"]["data"]["missing"] == json!([{"fromBlock": "0xa", "toBlock": "0x13"}]), "{logs}");
    let path = format!("{}/api/v2/transactions/{}/logs", api.url, transaction.as_str().unwrap_or_default());
    let answer = http::get(&agent, &path)?;
    ensure!(
        answer.status == 404 && answer.text().contains("Receipts of block 12 are not indexed"),
        "{}",
        answer.text()
    );
    let page = http::get(&agent, &format!("{}/api/v2/blocks?block_number=13&items_count=1", api.url))?.json()?;
    ensure!(page["items"][0]["height"] == 12 && page["items"][0]["transaction_fees"].is_null(), "{page}");
    api.stop()?;
    Ok(())
}
