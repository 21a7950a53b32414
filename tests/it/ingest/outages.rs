//! Outages of ClickHouse: no room on its disk, tables or users that may not write, restarts. A load waits for what may
//! pass and ends with the reason for what does not; nothing of it is half visible, and the next one ends clean.

use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use tempfile::NamedTempFile;
use xtask::http;
use xtask::process::{self, Server, signal};

use super::proxy::{Phase, Proxy};
use super::{clean, load};
use crate::chains::{chain, dump};
use crate::dice::Dice;
use crate::env;

pub mod disk;
pub mod injection;

use disk::SmallDisk;

/// A running load with its log in a file, so that it can be looked at while it runs.
struct Load {
    child: Child,
    log: NamedTempFile,
}

impl Load {
    fn start(store: &str, database: &str, more: &[&str]) -> anyhow::Result<Self> {
        let log = NamedTempFile::new()?;
        let file = dump("devchain");
        let arguments = [&["load", "--dump", &file][..], more].concat();
        let child = env::ingest_at(store, database, &arguments).stderr(Stdio::from(log.reopen()?)).spawn()?;
        Ok(Self { child, log })
    }

    fn text(&self) -> anyhow::Result<String> {
        Ok(std::fs::read_to_string(self.log.path())?)
    }

    /// Waits until the log has these words.
    fn says(&mut self, words: &str) -> anyhow::Result<()> {
        env::eventually(Duration::from_secs(60), || {
            ensure!(self.child.try_wait()?.is_none(), "it ended without {words:?}: {}", self.text()?);
            Ok(self.text()?.contains(words))
        })
    }

    /// Its log, once it has ended with this code.
    fn ends(mut self, code: i32) -> anyhow::Result<String> {
        let status = process::wait_within(&mut self.child, env::LONGEST)?;
        let text = self.text()?;
        ensure!(status.code() == Some(code), "it ended with {status} instead of {code}: {text}");
        Ok(text)
    }
}

/// What readers see is blocks from 0 on, whole as in a clean load. Gives the number of blocks.
fn ensure_whole(store: &str, database: &str) -> anyhow::Result<u64> {
    let sql = "SELECT sum(last_block - first_block + 1), count() = 0 OR max(last_block) + 1 = sum(last_block - first_block + 1) FROM ingest_commits";
    let committed = env::sql_at(store, database, sql)?;
    let (blocks, is_from_zero) = committed.split_once('\t').context("two numbers")?;
    ensure!(is_from_zero == "1", "{committed}");
    let found = env::contents_below(store, database, blocks.parse()?)?;
    let expected = env::contents_below(env::store(), chain("devchain").name, blocks.parse()?)?;
    ensure!(found == expected, "{blocks} blocks: {found:?}\ninstead of\n{expected:?}");
    Ok(blocks.parse()?)
}

fn ensure_clean(store: &str, database: &str) -> anyhow::Result<()> {
    let (found, expected) = (env::contents(store, database)?, clean()?);
    ensure!(found == expected, "{database}: {found:?}\ninstead of\n{expected:?}");
    ensure!(ensure_whole(store, database)? == 92);
    Ok(())
}

/// The disk fills up in the middle of a load.
#[test]
fn a_full_disk_is_waited_for() -> anyhow::Result<()> {
    let mut disk = SmallDisk::start("full")?;
    let proxy = Proxy::start(disk.url())?;
    let (sender, reached) = mpsc::channel();
    let (go, gone) = mpsc::channel::<()>();
    proxy.at("INTO ingest_commits", 3, Phase::After, move || {
        // Nobody waits any more if the test has failed.
        let _ = sender.send(());
        let _ = gone.recv();
    });
    let mut load = Load::start(&proxy.url, "full", &["--batch-blocks", "10"])?;
    reached.recv_timeout(Duration::from_secs(60)).context("the third commit")?;
    disk.fill()?;
    go.send(())?;
    load.says("NOT_ENOUGH_SPACE")?;
    std::thread::sleep(Duration::from_millis(500));
    let visible = ensure_whole(disk.url(), "full")?;
    ensure!((1..92).contains(&visible), "{visible} blocks are visible");
    disk.free()?;
    load.ends(0)?;
    ensure_clean(disk.url(), "full")?;
    env::run(env::ingest_at(disk.url(), "full", &["verify"]), 0)?;
    disk.stop()
}

/// A removal needs room too. ClickHouse does not answer before there is some.
#[test]
fn leftovers_wait_for_room_on_the_disk() -> anyhow::Result<()> {
    let mut disk = SmallDisk::start("leftovers")?;
    let url = disk.url().to_owned();
    Load::start(&url, "leftovers", &["--to", "50"])?.ends(0)?;
    let intent = "INSERT INTO ingest_intents (run, first_block, last_block) VALUES ('gone', 51, 60)";
    env::sql_at(&url, "leftovers", intent)?;
    for table in ["blocks", "transactions", "logs"] {
        let copy = format!(
            "INSERT INTO {table} SELECT * REPLACE (block_number + 15 AS block_number) FROM (SELECT * FROM {table} WHERE block_number BETWEEN 38 AND 42)"
        );
        env::sql_at(&url, "leftovers", &copy)?;
    }
    disk.fill()?;
    let mut load = Load::start(&url, "leftovers", &[])?;
    std::thread::sleep(Duration::from_secs(3));
    ensure!(ensure_whole(&url, "leftovers")? >= 51, "what was committed is no longer visible");
    if disk.is_full_for_removals() {
        ensure!(load.child.try_wait()?.is_none(), "it did not wait: {}", load.text()?);
    }
    disk.free()?;
    load.ends(0)?;
    ensure_clean(&url, "leftovers")?;
    disk.stop()
}

/// ClickHouse refuses inserts below a threshold of its own (`min_free_disk_bytes_to_perform_insert`).
#[test]
fn reserved_disk_space_is_waited_for() -> anyhow::Result<()> {
    for table in ["logs", "ingest_commits"] {
        let database = format!("outage_threshold_{table}");
        let _database = env::migrate(&database)?;
        load(&database, &dump("devchain"), &["--to", "20"], 0)?;
        disk::keep_free(env::store(), &database, table, u64::MAX)?;
        let mut load = Load::start(env::store(), &database, &["--batch-blocks", "10"])?;
        load.says("NOT_ENOUGH_SPACE")?;
        ensure!(ensure_whole(env::store(), &database)? == 21);
        disk::keep_free(env::store(), &database, table, 0)?;
        load.ends(0)?;
        ensure_clean(env::store(), &database)?;
    }
    Ok(())
}

/// The library would write them as empty files, report success, and never open the store again.
#[test]
fn a_full_disk_takes_no_definitions() -> anyhow::Result<()> {
    let mut disk = SmallDisk::start("definitions")?;
    if !disk.is_full_for_removals() {
        return disk.stop();
    }
    let statements = [
        "CREATE DATABASE another",
        "CREATE TABLE another_table (k UInt8) ORDER BY k",
        "ALTER TABLE blocks MODIFY COMMENT 'another'",
        "DELETE FROM blocks WHERE block_number = 7",
        "ALTER TABLE blocks DELETE WHERE block_number = 7",
        "CREATE OR REPLACE VIEW v_schema AS SELECT 1",
    ];
    let url = format!("{}/?database=definitions", disk.url());
    disk.fill()?;
    for statement in statements {
        let answer = http::post(&http::agent(), &url, statement.as_bytes())?.text();
        ensure!(answer.contains("NOT_ENOUGH_SPACE"), "{statement}: {answer}");
    }
    ensure!(env::sql_at(disk.url(), "definitions", "SELECT count() FROM blocks")? == "0");
    env::sql_at(disk.url(), "definitions", "DROP TABLE follow_reports SYNC")?;
    disk.free()?;
    statements.iter().try_for_each(|statement| env::sql_at(disk.url(), "definitions", statement).map(drop))?;
    disk.stop()
}

#[test]
fn a_full_disk_fails_a_migration_by_name() -> anyhow::Result<()> {
    let database = &env::migrate("outage_migration")?;
    // The last step is pending again; the table of its mark has no room.
    let last = "DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations)";
    env::sql(database, last)?;
    disk::keep_free(env::store(), database, "schema_migrations", u64::MAX)?;
    let output = env::run(env::ingest(database, &["migrate"]), 1)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(text.contains("migration 00") && text.contains("NOT_ENOUGH_SPACE"), "{text}");
    let text = load(database, &dump("devchain"), &[], 1)?;
    ensure!(text.contains("run `trawl-ingest migrate`"), "{text}");
    disk::keep_free(env::store(), database, "schema_migrations", 0)?;
    env::create_tables(database)?;
    load(database, &dump("devchain"), &[], 0)?;
    ensure_clean(env::store(), database)
}

/// Nobody makes a table writable again by waiting.
#[test]
fn a_table_that_is_read_only_ends_the_load() -> anyhow::Result<()> {
    let database = &env::migrate("outage_read_only")?;
    for (last, table) in [(20, "logs"), (40, "ingest_commits"), (50, "block_verdicts"), (60, "ingest_leases")] {
        load(database, &dump("devchain"), &["--to", &last.to_string()], 0)?;
        read_only(database, table, 1)?;
        let started = Instant::now();
        let text = load(database, &dump("devchain"), &["--batch-blocks", "12"], 1)?;
        ensure!(text.contains("TABLE_IS_PERMANENTLY_READ_ONLY"), "{table}: {text}");
        ensure!(started.elapsed() < Duration::from_secs(20), "{table}: it was tried again and again");
        ensure!(ensure_whole(env::store(), database)? == last + 1, "{table}");
        if table == "block_verdicts" {
            let output = env::run(env::ingest(database, &["verify"]), 1)?;
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            ensure!(text.contains("TABLE_IS_PERMANENTLY_READ_ONLY"), "{text}");
        }
        read_only(database, table, 0)?;
    }
    load(database, &dump("devchain"), &[], 0)?;
    ensure_clean(env::store(), database)
}

fn read_only(database: &str, table: &str, value: u8) -> anyhow::Result<()> {
    env::sql(database, &format!("ALTER TABLE {table} MODIFY SETTING table_readonly = {value}")).map(drop)
}

/// A replica refuses writes while it has no Keeper. Where `logs` was, there is one for a while.
#[test]
fn a_replica_without_its_keeper_is_waited_for() -> anyhow::Result<()> {
    let database = &env::migrate("outage_replica")?;
    load(database, &dump("devchain"), &["--to", "20"], 0)?;
    let table = "SELECT create_table_query FROM system.tables WHERE database = currentDatabase() AND name = 'logs' FORMAT TSVRaw";
    let replica = env::sql(database, table)?
        .replacen(
            "CREATE TABLE outage_replica.logs",
            "ATTACH TABLE replica UUID '11111111-2222-4333-8444-555555555555'",
            1,
        )
        .replacen("ENGINE = MergeTree", "ENGINE = ReplicatedMergeTree('/outage', 'one')", 1)
        .replace("non_replicated_deduplication_window = 1000, ", "");
    env::sql(database, &replica)?;
    env::sql(database, "EXCHANGE TABLES logs AND replica")?;
    let mut load = Load::start(env::store(), database, &["--batch-blocks", "10"])?;
    load.says("NOT_INITIALIZED")?;
    env::sql(database, "EXCHANGE TABLES logs AND replica")?;
    load.ends(0)?;
    env::sql(database, "DROP TABLE replica")?;
    ensure_clean(env::store(), database)
}

#[test]
fn a_read_only_user_ends_the_load() -> anyhow::Result<()> {
    let data = env::directory()?;
    let reader = ["--reader-user", "analyst", "--reader-password", "secret", "--reader-databases", "readers"];
    let engine = env::start_engine(data.path(), 0, &reader)?;
    env::run(env::ingest_at(&engine.url, "readers", &["migrate"]), 0)?;
    let file = dump("devchain");
    for (arguments, database) in [(&["load", "--dump", &file][..], "readers"), (&["migrate"], "another")] {
        let mut command = env::ingest_at(&engine.url, database, arguments);
        command.env("CLICKHOUSE_USER", "analyst").env("CLICKHOUSE_PASSWORD", "secret");
        let output = env::run(command, 1)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(
            text.contains("the ClickHouse user lacks the rights for this") && text.contains("(READONLY)"),
            "{text}"
        );
        ensure!(!text.contains("secret"), "{text}");
    }
    ensure!(env::sql_at(&engine.url, "default", "SELECT count() FROM system.databases WHERE name = 'another'")? == "0");
    Load::start(&engine.url, "readers", &[])?.ends(0)?;
    ensure_clean(&engine.url, "readers")?;
    engine.stop()?;
    Ok(())
}

/// An orderly restart, requested while an insert has arrived by half.
#[test]
fn an_engine_restarted_in_mid_insert_loses_nothing() -> anyhow::Result<()> {
    let mut dice = Dice(17);
    let data = env::directory()?;
    let port = env::free_port()?;
    let mut engine = env::start_engine(data.path(), port, &[])?;
    let url = engine.url.clone();
    env::run(env::ingest_at(&url, "restarted", &["migrate"]), 0)?;
    let proxy = Proxy::start(&url)?;
    let mut load = Load::start(&proxy.url, "restarted", &["--batch-blocks", "10"])?;
    for step in ["INTO blocks", "INTO logs", "INTO ingest_intents", "INTO ingest_commits"] {
        let phase = *dice.pick(&[Phase::Amid, Phase::Amid, Phase::After]);
        let (sender, reached) = mpsc::channel();
        let process = engine.id();
        proxy.at(step, 1, phase, move || {
            drop(signal(process, libc::SIGTERM));
            // As above.
            let _ = sender.send(());
        });
        signal(load.child.id(), libc::SIGCONT)?;
        reached.recv_timeout(Duration::from_secs(60)).with_context(|| format!("{step}: {:?}", load.text()))?;
        ensure!(load.child.try_wait()?.is_none(), "{step}: it did not wait: {}", load.text()?);
        engine.stop()?;
        // It shall not be through before the next step is watched for.
        signal(load.child.id(), libc::SIGSTOP)?;
        engine = env::start_engine(data.path(), port, &[])?;
        ensure_whole(&url, "restarted")?;
    }
    signal(load.child.id(), libc::SIGCONT)?;
    load.ends(0)?;
    ensure_clean(&url, "restarted")?;
    engine.stop()?;
    Ok(())
}

#[test]
#[ignore = "minutes: runs with `cargo xtask test --slow`"]
fn a_disk_that_stays_full_ends_the_load() -> anyhow::Result<()> {
    let mut disk = SmallDisk::start("stays_full")?;
    let url = disk.url().to_owned();
    Load::start(&url, "stays_full", &["--to", "20"])?.ends(0)?;
    disk.fill()?;
    let text = Load::start(&url, "stays_full", &[])?.ends(1)?;
    ensure!(text.lines().last().is_some_and(|line| line.contains("NOT_ENOUGH_SPACE")), "{text}");
    ensure!(ensure_whole(&url, "stays_full")? == 21);
    disk.free()?;
    Load::start(&url, "stays_full", &[])?.ends(0)?;
    ensure_clean(&url, "stays_full")?;
    disk.stop()
}

/// ClickHouse never answers a removal for which there is no room: what ends it is that signs of life are not taken.
#[test]
#[ignore = "minutes: runs with `cargo xtask test --slow`"]
fn a_disk_that_stays_full_ends_a_removal() -> anyhow::Result<()> {
    let mut disk = SmallDisk::start("removal")?;
    let url = disk.url().to_owned();
    Load::start(&url, "removal", &["--to", "20"])?.ends(0)?;
    let intent = "INSERT INTO ingest_intents (run, first_block, last_block) VALUES ('gone', 21, 60)";
    env::sql_at(&url, "removal", intent)?;
    let proxy = Proxy::start(&url)?;
    let (sender, reached) = mpsc::channel();
    let (go, gone) = mpsc::channel::<()>();
    proxy.at("DELETE FROM blocks", 1, Phase::Before, move || {
        // As above.
        let _ = sender.send(());
        let _ = gone.recv();
    });
    let load = Load::start(&proxy.url, "removal", &[])?;
    reached.recv_timeout(Duration::from_secs(60))?;
    disk.fill()?;
    go.send(())?;
    if disk.is_full_for_removals() {
        let text = load.ends(1)?;
        ensure!(text.lines().last().is_some_and(|line| line.contains("NOT_ENOUGH_SPACE")), "{text}");
    }
    disk.free()?;
    Load::start(&url, "removal", &[])?.ends(0)?;
    ensure_clean(&url, "removal")?;
    disk.stop()
}

/// A load of some blocks at a time, and the engine it writes to, which has taken some.
fn half_loaded(database: &str) -> anyhow::Result<(tempfile::TempDir, u16, Server, Load)> {
    let data = env::directory()?;
    let port = env::free_port()?;
    let engine = env::start_engine(data.path(), port, &[])?;
    env::run(env::ingest_at(&engine.url, database, &["migrate"]), 0)?;
    let load = Load::start(&engine.url, database, &["--batch-blocks", "1"])?;
    env::eventually(Duration::from_secs(30), || {
        Ok(env::sql_at(&engine.url, database, "SELECT count() > 2 FROM ingest_commits")? == "1")
    })?;
    Ok((data, port, engine, load))
}

#[test]
#[ignore = "minutes: runs with `cargo xtask test --slow`"]
fn an_engine_that_stays_away_ends_the_load() -> anyhow::Result<()> {
    let (data, port, engine, load) = half_loaded("away")?;
    engine.kill()?;
    let text = load.ends(5)?;
    ensure!(text.lines().last().is_some_and(|line| line.contains("ClickHouse cannot be reached")), "{text}");
    let engine = env::start_engine(data.path(), port, &[])?;
    ensure_whole(&engine.url, "away")?;
    Load::start(&engine.url, "away", &[])?.ends(0)?;
    ensure_clean(&engine.url, "away")?;
    engine.stop()?;
    Ok(())
}

/// It takes connections and says nothing.
#[test]
#[ignore = "minutes: runs with `cargo xtask test --slow`"]
fn an_engine_that_hangs_ends_the_load() -> anyhow::Result<()> {
    let (_data, _, engine, load) = half_loaded("hangs")?;
    signal(engine.id(), libc::SIGSTOP)?;
    let ended = load.ends(5);
    signal(engine.id(), libc::SIGCONT)?;
    let text = ended?;
    ensure!(text.lines().last().is_some_and(|line| line.contains("ClickHouse cannot be reached")), "{text}");
    Load::start(&engine.url, "hangs", &[])?.ends(0)?;
    ensure_clean(&engine.url, "hangs")?;
    engine.stop()?;
    Ok(())
}
