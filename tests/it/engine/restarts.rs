//! What is no damage is not taken for it: an engine starts again over parts of every kind, and over broken ones of
//! which no row is missing; and it ends in time though its storage is away.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use xtask::http;
use xtask::process::Server;

use crate::env;

/// What changes a table's parts in ways of which its definition says nothing, or says something else.
const CHANGES: [&str; 17] = [
    "OPTIMIZE TABLE made.{table} FINAL",
    "DELETE FROM made.{table} WHERE k = 5",
    "UPDATE made.{table} SET v = 'updated' WHERE k = 7",
    "ALTER TABLE made.{table} UPDATE v = 'mutated' WHERE k = 8",
    "ALTER TABLE made.{table} RENAME COLUMN renamed TO `a ``new`` name`",
    "ALTER TABLE made.{table} DROP COLUMN dropped",
    "ALTER TABLE made.{table} ADD COLUMN added UInt8 DEFAULT 3",
    "ALTER TABLE made.{table} MATERIALIZE COLUMN added",
    "ALTER TABLE made.{table} MODIFY COLUMN e Enum8('a' = 1, 'b' = 2)",
    "ALTER TABLE made.{table} MODIFY COLUMN n Nullable(UInt16)",
    "ALTER TABLE made.{table} ADD PROJECTION by_value (SELECT v, count() GROUP BY v)",
    "ALTER TABLE made.{table} MATERIALIZE PROJECTION by_value",
    "INSERT INTO made.{table} (k, v) VALUES (1000, 'later')",
    "ALTER TABLE made.{table} DETACH PARTITION tuple()",
    "ALTER TABLE made.{table} ATTACH PARTITION tuple()",
    // One bit apart from what the parts have, and no mutation.
    "ALTER TABLE made.{table} MODIFY COLUMN e Enum8('a' = 1, 'c' = 2)",
    "ALTER TABLE made.{table} DELETE WHERE k = 9",
];

fn ask(engine: &Server, sql: &str) -> anyhow::Result<String> {
    let url = format!("{}/?mutations_sync=2", engine.url);
    let answer = http::post(&http::agent(), &url, sql.as_bytes())?;
    ensure!(answer.status == 200, "{sql}: {}", answer.text());
    Ok(answer.text().trim_end().to_owned())
}

#[test]
fn parts_that_statements_made_are_no_damage() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let engine = env::start_engine(folder.path(), 0, &[])?;
    ask(&engine, "CREATE DATABASE made")?;
    let tables = ["wide", "compact"];
    for (table, wide_from) in tables.into_iter().zip([0, 1_000_000_000]) {
        let columns = "k UInt64, v String, n Nullable(UInt8), e Enum8('a' = 1), renamed UInt8, dropped Array(String), \
                       d DateTime64(6, 'UTC'), nested Nested(p UInt8, q String)";
        let settings = "enable_block_number_column = 1, enable_block_offset_column = 1";
        ask(
            &engine,
            &format!(
                "CREATE TABLE made.{table} ({columns}) ORDER BY k SETTINGS min_bytes_for_wide_part = {wide_from}, {settings}"
            ),
        )?;
        for _ in 0..2 {
            ask(&engine, &format!("INSERT INTO made.{table} (k, v, e) SELECT number, 'x', 'a' FROM numbers(100)"))?;
        }
        for change in CHANGES {
            ask(&engine, &change.replace("{table}", table))?;
        }
    }
    let rows = tables.map(|table| {
        format!("SELECT count(), countIf(v = 'updated'), sum(added), sum(cityHash64(*)) FROM made.{table}")
    });
    let before = rows.iter().map(|sql| ask(&engine, sql)).collect::<anyhow::Result<Vec<_>>>()?;
    ensure!(before.iter().all(|row| row.starts_with("197\t2\t591\t")), "{before:?}");
    ensure!(engine.stop()?.success());
    let engine = env::start_engine(folder.path(), 0, &[])?;
    let after = rows.iter().map(|sql| ask(&engine, sql)).collect::<anyhow::Result<Vec<_>>>()?;
    ensure!(before == after, "{before:?} {after:?}");
    engine.stop()?;
    Ok(())
}

/// Any user of an engine who may create tables can make these.
#[test]
fn tables_of_any_name_and_tables_that_come_and_go_are_no_damage() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let engine = env::start_engine(folder.path(), 0, &[])?;
    ask(&engine, "CREATE DATABASE made")?;
    let names = ["`a\nb`", "`a\tb`", "`a``b\\\\c'd`"];
    for name in names {
        ask(&engine, &format!("CREATE TABLE made.{name} (k UInt64, `c\nd` UInt8) ORDER BY k"))?;
        ask(&engine, &format!("INSERT INTO made.{name} (k) SELECT number FROM numbers(100)"))?;
        ask(&engine, &format!("DELETE FROM made.{name} WHERE k = 5"))?;
    }
    for view in 0..4 {
        let refreshed =
            format!("CREATE MATERIALIZED VIEW made.refreshed_{view} REFRESH EVERY 1 SECOND ENGINE = MergeTree");
        ask(&engine, &format!("{refreshed} ORDER BY n AS SELECT number AS n FROM numbers(1000)"))?;
    }
    engine.kill()?;
    for _ in 0..3 {
        let engine = env::start_engine(folder.path(), 0, &[])?;
        for name in names {
            ensure!(ask(&engine, &format!("SELECT count() FROM made.{name}"))? == "99", "{name}");
        }
        ensure!(engine.stop()?.success());
    }
    Ok(())
}

/// The folder of a part of `made.t`, in use or not.
fn part(engine: &Server, name: &str) -> anyhow::Result<PathBuf> {
    let path = ask(engine, &format!("SELECT path FROM system.parts WHERE table = 't' AND name = '{name}'"))?;
    ensure!(!path.is_empty(), "there is no part {name}");
    Ok(path.into())
}

fn spoil(part: &Path) -> anyhow::Result<()> {
    std::fs::write(part.join("checksums.txt"), "broken").with_context(|| part.display().to_string())
}

/// A kill, or a loss of power, leaves parts half written or half removed.
#[test]
fn a_broken_part_whose_rows_are_in_others_is_no_damage() -> anyhow::Result<()> {
    const COUNT: &str = "SELECT count(), sum(k) FROM made.t";
    let folder = env::directory()?;
    let engine = env::start_engine(folder.path(), 0, &[])?;
    ask(&engine, "CREATE DATABASE made")?;
    ask(&engine, "CREATE TABLE made.t (k UInt64) ORDER BY k SETTINGS old_parts_lifetime = 600")?;
    for first in [0, 100, 200] {
        ask(&engine, &format!("INSERT INTO made.t SELECT number + {first} FROM numbers(100)"))?;
    }
    ask(&engine, "OPTIMIZE TABLE made.t FINAL")?;
    let before = ask(&engine, COUNT)?;
    let replaced = part(&engine, "all_2_2_0")?;
    // Parts have the time of a second, and what replaces another is older than the kill.
    std::thread::sleep(Duration::from_millis(1100));
    engine.kill()?;
    spoil(&replaced)?;
    let engine = env::start_engine(folder.path(), 0, &[])?;
    let set_aside = "SELECT count() FROM system.detached_parts";
    ensure!(ask(&engine, COUNT)? == before && ask(&engine, set_aside)? == "0");
    ask(&engine, "INSERT INTO made.t SELECT number + 300 FROM numbers(100)")?;
    let inserted = part(&engine, "all_4_4_0")?;
    ask(&engine, "DELETE FROM made.t WHERE k = 310")?;
    let (deleted, mutated) = (ask(&engine, COUNT)?, part(&engine, "all_4_4_0_5")?);
    engine.kill()?;
    spoil(&mutated)?;
    let engine = env::start_engine(folder.path(), 0, &[])?;
    env::eventually(env::SOON, || Ok(ask(&engine, COUNT)? == deleted)).context("the DELETE is done again")?;
    ensure!(ask(&engine, set_aside)? == "0");
    engine.kill()?;
    // Its rows are nowhere else.
    spoil(&inserted)?;
    spoil(&mutated)?;
    let output = env::run(super::damage::start(folder.path(), &[])?, 8)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(text.contains("all_4_4_0") && !text.contains("all_2_2_0") && !text.contains("DROP"), "{text}");
    Ok(())
}

/// What a full disk leaves of a definition, or of what a DELETE was to do.
#[test]
fn an_empty_definition_is_named_and_an_empty_mutation_removed() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let engine = env::start_engine(folder.path(), 0, &[])?;
    ask(&engine, "CREATE DATABASE made")?;
    ask(&engine, "CREATE TABLE made.t (k UInt64) ORDER BY k")?;
    ask(&engine, "INSERT INTO made.t SELECT number FROM numbers(100)")?;
    let inserted = part(&engine, "all_1_1_0")?;
    let path = ask(&engine, "SELECT metadata_path FROM system.tables WHERE database = 'made' AND name = 't'")?;
    ensure!(engine.stop()?.success());
    let (definition, mutation) = (folder.path().join(path), inserted.with_file_name("mutation_2.txt"));
    let text = std::fs::read(&definition)?;
    std::fs::write(&definition, "")?;
    std::fs::write(&mutation, "")?;
    let output = env::run(super::damage::start(folder.path(), &[])?, 8)?;
    let refused = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(refused.contains("/t.sql have no content") && refused.contains("a full disk"), "{refused}");
    std::fs::write(&definition, text)?;
    let engine = env::start_engine(folder.path(), 0, &[])?;
    ensure!(ask(&engine, "SELECT count() FROM made.t")? == "100" && !mutation.exists());
    engine.stop().map(drop)
}

/// A server that takes connections and never answers: object storage that is away.
fn silent_server() -> anyhow::Result<String> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || listener.incoming().collect::<Vec<_>>());
    Ok(format!("http://{address}/bucket/"))
}

#[test]
fn an_engine_whose_storage_is_away_ends_in_time() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let engine = env::start_engine(folder.path(), 0, &["--stop-timeout", "5s"])?;
    let (url, storage) = (engine.url.clone(), silent_server()?);
    let create = format!(
        "CREATE TABLE away (k UInt64) ORDER BY k SETTINGS disk = disk(type = s3, endpoint = '{storage}', \
         access_key_id = 'a', secret_access_key = 'b', skip_access_check = 1)"
    );
    std::thread::spawn(move || http::post(&http::agent(), &url, create.as_bytes()));
    env::eventually(env::SOON, || {
        Ok(ask(&engine, "SELECT count() FROM system.processes WHERE query LIKE 'CREATE TABLE away%'")? == "1")
    })?;
    std::thread::sleep(Duration::from_millis(500));
    let started = Instant::now();
    engine.stop()?;
    ensure!(started.elapsed() < Duration::from_secs(7), "{:?}", started.elapsed());
    let engine = env::start_engine(folder.path(), 0, &[])?;
    ensure!(ask(&engine, "SELECT 1")? == "1");
    engine.stop()?;
    Ok(())
}

/// The flag's bounds are stated.
#[test]
fn no_time_to_end_is_wrong_usage() -> anyhow::Result<()> {
    let mut command = Command::new(env::program("trawl-engine"));
    command.args(["--data-dir", "/nowhere", "--stop-timeout", "0s"]);
    env::run(command, 2).map(drop)
}
