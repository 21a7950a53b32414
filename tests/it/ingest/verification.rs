//! Verification: what is proven of real chains, what is refused and by which name, and what the tables say of it.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::node::Node;
use super::{load, write_dump};
use crate::chains::{self, chain, dump};
use crate::env;

#[test]
fn verdicts_of_real_chains() -> anyhow::Result<()> {
    for (name, expected) in [("hive", "verified\t55"), ("devchain", "verified\t92")] {
        let found = env::sql(
            chain(name).name,
            "SELECT verdict, count() FROM block_verdicts WHERE source != 'tables' GROUP BY ALL",
        )?;
        ensure!(found == expected, "{name}: {found}");
    }
    // The mainnet blocks lie apart, so of some the sum of difficulties has no block below to be compared with; no hash
    // commits to it, and what could not be checked is named.
    let found = env::sql(
        chain("mainnet").name,
        "SELECT countIf(verdict = 'verified'), countIf(verdict = 'partial'), \
         countIf(has(not_checkable.check, 'total difficulty')), arraySort(groupUniqArrayArray(not_checkable.check)) FROM block_verdicts WHERE source != 'tables'",
    )?;
    ensure!(found.starts_with("58\t0\t8\t") && found.contains("'parent hash'"), "{found}");
    // Every check ran somewhere, and those of every block everywhere.
    let ran = env::sql("hive", "SELECT arraySort(groupUniqArrayArray(checked)) FROM block_verdicts")?;
    for check in
        ["withdrawals root", "uncles hash", "hash of an uncle", "blob gas price", "requests hash", "logs bloom"]
    {
        ensure!(ran.contains(check), "{check}: {ran}");
    }
    let everywhere = "SELECT count() FROM block_verdicts WHERE NOT hasAll(checked, ['header hash', 'sender', 'transactions root', 'receipts root', 'logs bloom'])";
    for name in ["hive", "devchain", "mainnet"] {
        ensure!(env::sql(name, everywhere)? == "0", "{name}");
    }
    Ok(())
}

type Change = (&'static str, fn(&mut Value));

/// A height of the scenario chain with several transactions and logs.
const HEIGHT: usize = 5;

#[test]
fn what_a_hash_commits_to_is_recomputed() -> anyhow::Result<()> {
    let changes: [Change; 14] = [
        ("header hash", |line| line["block"]["extraData"] = json!("0x00")),
        ("header hash", |line| line["block"]["stateRoot"] = json!(format!("0x{}", "12".repeat(32)))),
        ("transaction hash", |line| line["block"]["transactions"][1]["value"] = json!("0x123")),
        ("transaction hash", |line| line["block"]["transactions"][0]["input"] = json!("0x1234")),
        ("sender", |line| line["block"]["transactions"][0]["from"] = json!(format!("0x{}", "12".repeat(20)))),
        ("receipts root", |line| flip(line, "/receipts/0/status")),
        ("receipts root", |line| with_logs(line, |log| log["data"] = json!("0x12"))),
        ("receipts root", |line| with_logs(line, |log| log["address"] = json!(format!("0x{}", "12".repeat(20))))),
        ("receipts root", |line| with_logs(line, |log| log["topics"][0] = json!(format!("0x{}", "12".repeat(32))))),
        ("receipts root", |line| line["receipts"][0]["logsBloom"] = json!(format!("0x{}", "12".repeat(256)))),
        ("effective gas price", |line| line["receipts"][0]["effectiveGasPrice"] = json!("0x1")),
        ("effective gas price", |line| line["block"]["transactions"][0]["gasPrice"] = json!("0x1")),
        ("contract address", |line| {
            let is_null = line["receipts"][0]["contractAddress"].is_null();
            line["receipts"][0]["contractAddress"] =
                if is_null { json!(format!("0x{}", "12".repeat(20))) } else { Value::Null };
        }),
        ("withdrawals root", |line| {
            line["block"]["withdrawals"] = json!([{"index": "0x0", "validatorIndex": "0x0", "address": format!("0x{}", "12".repeat(20)), "amount": "0x1"}]);
        }),
    ];
    let lines = chains::lines("devchain")?;
    // Each load goes on where the one before was refused.
    let database = env::migrate("verify_changed")?;
    for (position, (check, change)) in changes.into_iter().enumerate() {
        let mut lines = lines[..HEIGHT + 2].to_vec();
        let before = lines[HEIGHT].clone();
        change(&mut lines[HEIGHT]);
        ensure!(before != lines[HEIGHT], "{position} changes nothing");
        let file = write_dump(&lines)?;
        let text = load(&database, &file.path().display().to_string(), &[], 3)?;
        let named = text.contains(&format!("block {HEIGHT} is refused: {check}: expected"))
            || (check == "effective gas price" && text.contains("transaction hash: expected"));
        ensure!(named, "{position}, {check}: {text}");
        let there =
            env::sql(&database, "SELECT max(last_block), (SELECT max(block_number) FROM blocks) FROM ingest_commits")?;
        ensure!(there == "4\t4", "{check}: {there}");
    }
    Ok(())
}

fn flip(line: &mut Value, pointer: &str) {
    if let Some(value) = line.pointer_mut(pointer) {
        *value = if *value == "0x1" { json!("0x0") } else { json!("0x1") };
    }
}

fn with_logs(line: &mut Value, change: fn(&mut Value)) {
    let mut logs =
        line["receipts"].as_array_mut().into_iter().flatten().filter_map(|receipt| receipt["logs"].as_array_mut());
    if let Some(log) = logs.find(|logs| !logs.is_empty()).and_then(|logs| logs.first_mut()) {
        change(log);
    }
}

#[test]
fn a_quarantined_block_is_a_gap_with_a_reason() -> anyhow::Result<()> {
    let database = &env::migrate("verify_quarantine")?;
    let mut lines = chains::lines("devchain")?;
    with_logs(&mut lines[HEIGHT], |log| log["data"] = json!("0x12"));
    lines[40]["block"]["hash"] = json!(format!("0x{}", "12".repeat(32)));
    // One that cannot even be read, as far as its number.
    lines[60]["block"]["transactions"][0]["gas"] = json!("many");
    let file = write_dump(&lines)?;
    let text = load(database, &file.path().display().to_string(), &["--quarantine", "--batch-blocks", "10"], 0)?;
    ensure!(text.contains("3 blocks are quarantined") && text.contains("89 verified, 0 in part"), "{text}");
    let status = env::run(env::ingest(database, &["status", "--json"]), 0)?;
    let status: Value = serde_json::from_slice(&status.stdout)?;
    ensure!(status["gaps"] == json!([[5, 5], [40, 40], [60, 60]]), "{status}");
    ensure!(status["verdicts"] == json!({"refused": 3, "verified": 89}), "{status}");
    let refused = env::sql(
        database,
        "SELECT block_number, failed_check, expected != '', found != '' FROM block_verdicts WHERE verdict = 'refused' ORDER BY 1",
    )?;
    ensure!(refused == "5\treceipts root\t1\t1\n40\tblock hash of a receipt\t1\t1\n60\tdecoding\t1\t1", "{refused}");
    ensure!(env::sql(database, "SELECT count() FROM blocks WHERE block_number IN (5, 40, 60)")? == "0");
    ensure!(env::sql(database, "SELECT count() FROM logs WHERE block_number = 5")? == "0");
    // The good blocks fill the gaps later, and must fit what surrounds them.
    load(database, &dump("devchain"), &[], 0)?;
    ensure!(env::sql(database, "SELECT count() FROM blocks")? == "92");
    Ok(())
}

#[test]
fn depths_of_verification() -> anyhow::Result<()> {
    let mut lines = chains::lines("devchain")?;
    with_logs(&mut lines[HEIGHT], |log| log["data"] = json!("0x12"));
    let file = write_dump(&lines)?;
    let path = file.path().display().to_string();
    for (depth, expected) in [("header", "partial"), ("off", "unverified")] {
        let database = format!("verify_{depth}");
        let _database = env::migrate(&database)?;
        let text = load(&database, &path, &["--verify", depth], 0)?;
        ensure!((depth == "header") == text.contains("0 verified, 92 in part"), "{depth}: {text}");
        ensure!((depth == "header") == text.contains("lacks data to verify these blocks fully"), "{depth}: {text}");
        let verdicts = env::sql(&database, "SELECT verdict, count() FROM block_verdicts GROUP BY ALL")?;
        ensure!(verdicts == format!("{expected}\t92"), "{depth}: {verdicts}");
        // What was let in unseen is found when the tables are proven.
        let output = env::run(env::ingest(&database, &["verify"]), 3)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(text.contains("block 5 is refused: receipts root"), "{depth}: {text}");
    }
    lines[HEIGHT]["block"]["stateRoot"] = json!(format!("0x{}", "12".repeat(32)));
    let file = write_dump(&lines)?;
    let _database = env::migrate("verify_header_hash")?;
    let text = load("verify_header_hash", &file.path().display().to_string(), &["--verify", "header"], 3)?;
    ensure!(text.contains("block 5 is refused: header hash"), "{text}");
    Ok(())
}

#[test]
fn verify_proves_the_tables() -> anyhow::Result<()> {
    for (name, words) in
        [("hive", "55 blocks: 55 verified, 0 in part"), ("devchain", "92 blocks: 92 verified, 0 in part")]
    {
        let output = env::run(env::ingest(chain(name).name, &["verify"]), 0)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(text.trim() == words, "{name}: {text}");
        let rows = "SELECT count() >= 1, countIf(verdict != 'verified') FROM block_verdicts WHERE source = 'tables'";
        ensure!(env::sql(name, rows)? == "1\t0", "{name}");
    }
    let output = env::run(env::ingest(chain("mainnet").name, &["verify"]), 0)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(text.trim() == "58 blocks: 58 verified, 0 in part", "{text}");
    // The block below the first one is looked at for its link.
    let output = env::run(env::ingest("hive", &["verify", "--from", "10", "--to", "12"]), 0)?;
    ensure!(String::from_utf8_lossy(&output.stdout).starts_with("3 blocks: 3 verified"));
    let output = env::run(env::ingest("hive", &["verify", "--from", "50", "--to", "latest"]), 0)?;
    ensure!(String::from_utf8_lossy(&output.stdout).starts_with("5 blocks: 5 verified"));
    let links = "SELECT countIf(has(checked, 'parent hash')), countIf(has(checked, 'total difficulty')), count() FROM block_verdicts \
                 WHERE block_number = 10 AND source = 'tables'";
    let links = env::sql("hive", links)?;
    let [parents, sums, all] = links.split('\t').collect::<Vec<_>>()[..] else { anyhow::bail!("{links}") };
    ensure!(parents == all && sums == all, "{links}");
    Ok(())
}

/// One value of one row of each table, changed behind the program's back.
#[test]
fn verify_finds_what_was_changed() -> anyhow::Result<()> {
    let changes = [
        ("ALTER TABLE blocks UPDATE gas_used = gas_used + 1 WHERE block_number = 20", "block 20 is refused: gas used"),
        (
            "ALTER TABLE blocks UPDATE state_root = parent_hash WHERE block_number = 20",
            "block 20 is refused: header hash",
        ),
        ("ALTER TABLE blocks DELETE WHERE block_number = 20", "a row of block 20 was expected, and 21 came next"),
        (
            "INSERT INTO blocks SELECT * FROM blocks WHERE block_number = 20",
            "a row of block 21 was expected, and 20 came next",
        ),
        (
            "ALTER TABLE transactions UPDATE value = value + 1 WHERE block_number = 20",
            "block 20 is refused: transaction hash",
        ),
        (
            "ALTER TABLE transactions UPDATE from_address = unhex(repeat('12', 20)) WHERE block_number = 20",
            "block 20 is refused: sender",
        ),
        ("ALTER TABLE transactions DELETE WHERE block_number = 20 AND transaction_index = 0", "block 20 is refused: "),
        (
            "INSERT INTO transactions SELECT * FROM transactions WHERE block_number = 20",
            "block 20 is refused: transaction index",
        ),
        ("ALTER TABLE logs_by_block UPDATE data = 'x' WHERE block_number = 5", "block 5 is refused: receipts root"),
        ("ALTER TABLE logs DELETE WHERE block_number = 5", "`logs_by_block` and `logs` should hold the same rows"),
        (
            "ALTER TABLE logs UPDATE topic1 = topic0 WHERE block_number = 5",
            "`logs_by_block` and `logs` should hold the same rows",
        ),
        (
            "ALTER TABLE log_topics DELETE WHERE block_number = 5 AND topic_position = 0",
            "`logs_by_block` and `log_topics` should",
        ),
        (
            "ALTER TABLE transactions_by_hash DELETE WHERE block_number = 5",
            "`transactions` and `transactions_by_hash` should",
        ),
        ("ALTER TABLE transactions_by_address UPDATE sides = 3 WHERE 1", "`transactions_by_address` should"),
        ("ALTER TABLE blocks_by_hash DELETE WHERE block_number = 5", "`blocks` and `blocks_by_hash` should"),
        ("ALTER TABLE blocks_by_miner DELETE WHERE block_number = 5", "`blocks` and `blocks_by_miner` should"),
        ("INSERT INTO listed_internal_transactions VALUES (5, 0, 77)", "`listed_internal_transactions` should"),
    ];
    let (whole, database) = (&env::migrate("verify_whole")?, &env::migrate("verify_found")?);
    for database in [whole, database] {
        load(database, &dump("devchain"), &["--to", "24"], 0)?;
    }
    for (change, words) in changes {
        let settings = if change.starts_with("ALTER") { " SETTINGS mutations_sync = 2" } else { "" };
        env::sql(database, &format!("{change}{settings}"))?;
        let output = env::run(env::ingest(database, &["verify"]), 3)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(text.contains(words), "{change}: {text}");
        // The table as it was: its parts, as rows would go through the views that read it.
        let table = change.split([' ', '(']).nth(2).context("ALTER TABLE or INSERT INTO a table")?;
        env::sql(database, &format!("TRUNCATE TABLE {table}"))?;
        env::sql(database, &format!("ALTER TABLE {table} ATTACH PARTITION ALL FROM {whole}.{table}"))?;
    }
    env::run(env::ingest(database, &["verify"]), 0).map(drop)
}

/// A statement that changes the rows of a block, `{}`, which is one that `among` selects; and what names it.
struct Loss {
    among: &'static str,
    change: &'static str,
    words: &'static str,
}

const fn loss(among: &'static str, change: &'static str, words: &'static str) -> Loss {
    Loss { among, change, words }
}

const BLOBS: &str = "FROM transactions WHERE transaction_type = 3";
const TRANSFERS: &str = "FROM token_transfers_by_block WHERE block_number <= 60";
const FRAMES: &str = "FROM internal_transactions WHERE frame_index > 0 AND block_number <= 60";

/// Rows that are lost, and values that follow from others: each on a block of its own, all of them in one go.
#[test]
fn verify_finds_what_no_root_covers() -> anyhow::Result<()> {
    let rows = "refused: stored rows: expected";
    let hive = [
        loss(
            "FROM uncles",
            "ALTER TABLE uncles DELETE WHERE nephew_block_number = {}",
            "refused: number of uncle headers",
        ),
        loss("FROM uncles", "ALTER TABLE uncles UPDATE uncle_index = 7 WHERE nephew_block_number = {}", rows),
        loss(BLOBS, "ALTER TABLE transactions UPDATE blob_gas_used = NULL WHERE block_number = {}", rows),
        loss(BLOBS, "ALTER TABLE blocks UPDATE blob_transactions_count = 0 WHERE block_number = {}", rows),
        loss("FROM withdrawals", "ALTER TABLE blocks UPDATE withdrawals_count = 0 WHERE block_number = {}", rows),
        loss("FROM logs", "ALTER TABLE blocks UPDATE logs_count = NULL WHERE block_number = {}", rows),
        loss("FROM logs", "ALTER TABLE transactions UPDATE logs_count = 99 WHERE block_number = {}", rows),
        loss(
            "FROM logs",
            "INSERT INTO logs_by_block SELECT * REPLACE (transaction_index + 9999 AS transaction_index, log_index + 9999 AS log_index) FROM logs_by_block WHERE block_number = {}",
            rows,
        ),
        loss(
            "FROM logs",
            "ALTER TABLE logs_by_block UPDATE transaction_hash = block_hash WHERE block_number = {}",
            rows,
        ),
        loss(
            "FROM transactions",
            "ALTER TABLE transactions UPDATE has_receipt = 0 WHERE block_number = {}",
            "refused: number of receipts",
        ),
        loss(
            "FROM transactions",
            "ALTER TABLE transactions UPDATE block_timestamp = block_timestamp + 1 WHERE block_number = {}",
            rows,
        ),
        loss("FROM transactions", "ALTER TABLE blocks UPDATE transactions_count = 0 WHERE block_number = {}", rows),
        loss("FROM transactions", "ALTER TABLE blocks UPDATE transaction_fees = NULL WHERE block_number = {}", rows),
        loss("FROM transactions", "ALTER TABLE blocks UPDATE priority_fees = 123 WHERE block_number = {}", rows),
    ];
    let devchain = [
        loss(TRANSFERS, "ALTER TABLE token_transfers_by_block DELETE WHERE block_number = {}", rows),
        loss(TRANSFERS, "ALTER TABLE token_transfers_by_block UPDATE value = value + 1 WHERE block_number = {}", rows),
        loss(
            TRANSFERS,
            "ALTER TABLE token_transfers_by_direction DELETE WHERE block_number = {}",
            "`token_transfers_by_block` and `token_transfers_by_direction` should hold the same rows",
        ),
        loss(
            FRAMES,
            "ALTER TABLE internal_transactions_by_address UPDATE value = value + 1 WHERE block_number = {}",
            "`internal_transactions` and `internal_transactions_by_address` should hold the same rows",
        ),
        loss(
            FRAMES,
            "ALTER TABLE internal_transactions_by_direction DELETE WHERE block_number = {}",
            "`internal_transactions` and `internal_transactions_by_direction` should hold the same rows",
        ),
    ];
    for (name, losses) in [("hive", &hive[..]), ("devchain", &devchain[..])] {
        let (source, database) = (chain(name).name, format!("verify_lost_{name}"));
        let _database = env::migrate(&database)?;
        load(&database, &dump(name), &[], 0)?;
        let mut taken = vec!["0".to_owned()];
        for loss in losses {
            let column = if loss.among.contains("uncles") { "nephew_block_number" } else { "block_number" };
            let height = format!(
                "SELECT max({column}) FROM (SELECT {column} {}) WHERE {column} NOT IN ({})",
                loss.among,
                taken.join(",")
            );
            let height = env::sql(source, &height)?;
            let settings = if loss.change.starts_with("ALTER") { " SETTINGS mutations_sync = 2" } else { "" };
            env::sql(&database, &format!("{}{settings}", loss.change.replace("{}", &height)))?;
            taken.push(height);
        }
        let output = env::run(env::ingest(&database, &["verify"]), 3)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        for (loss, height) in losses.iter().zip(&taken[1..]) {
            let named = |line: &str| {
                line.contains(loss.words)
                    && (loss.words.starts_with('`') || line.contains(&format!("block {height} is refused")))
            };
            ensure!(text.lines().any(named), "{} at {height}: {text}", loss.change);
        }
    }
    Ok(())
}

#[test]
fn a_node_that_forges_is_refused() -> anyhow::Result<()> {
    // Each load goes on where the one before was refused.
    let database = env::migrate("verify_forged")?;
    for (flags, check) in [
        (["--tamper-parent", "31"], ""),
        (["--tamper-log", "31:0:0:data"], "receipts root"),
        (["--tamper-log", "31:0:0:topic"], "receipts root"),
        (["--tamper-log", "31:0:0:address"], "receipts root"),
        (["--tamper-status", "31:0"], "receipts root"),
        (["--tamper-tx", "31"], "transaction"),
        (["--tamper-bloom", "31"], "header hash"),
    ] {
        let node = Node::start("hive", &flags)?;
        let output = env::run(env::ingest(&database, &["load", "--rpc-url", &node.url]), 3)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(text.contains("block 31 is refused: ") && text.contains(check), "{flags:?}: {text}");
        let head =
            env::sql(&database, "SELECT max(last_block), (SELECT max(block_number) FROM blocks) FROM ingest_commits")?;
        ensure!(head == "30\t30", "{flags:?}: {head}");
    }
    Ok(())
}
