//! What commits say is exact, and a chain that grows is never taken for a damaged one.

use std::process::Stdio;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_core::schema::{BLOCK_TABLES, OPTIONAL_TABLES};
use xtask::process;

use crate::chains::{chain, dump};
use crate::env;

/// No commit was replaced by another.
const STANDS: &str = "(first_block, last_block, run) NOT IN \
    (SELECT each.1, each.2, each.3 FROM (SELECT arrayJoin(replaced) AS each FROM ingest_commits))";

/// Every table has as many rows as commits count; what `verify` adds to verdicts, and topics that are there twice, come
/// on top.
pub fn ensure_counted(database: &str) -> anyhow::Result<()> {
    let left_out = env::sql(database, "SELECT DISTINCT name FROM left_out_tables")?;
    let is_there = |table: &&str| left_out.lines().all(|name| name != *table);
    let tables = BLOCK_TABLES.iter().chain(&OPTIONAL_TABLES).map(|(table, _)| *table).filter(is_there);
    let counts = tables.map(|table| {
        format!(
            "SELECT '{table}', (SELECT count() FROM {table}), \
             (SELECT sum(arraySum(each -> if(each.1 = '{table}', each.2, 0), rows)) FROM ingest_commits WHERE {STANDS})"
        )
    });
    let counts = env::sql(database, &counts.collect::<Vec<_>>().join("\nUNION ALL\n"))?;
    let mut all = 0;
    for line in counts.lines() {
        let [table, found, committed] = line.split('\t').collect::<Vec<_>>()[..] else { anyhow::bail!("{line}") };
        let (found, committed): (u64, u64) = (found.parse()?, committed.parse()?);
        let may_be_more = table == "block_verdicts" || OPTIONAL_TABLES.iter().any(|(optional, _)| *optional == table);
        ensure!(found == committed || (may_be_more && found > committed), "{database}.{table}: {line}");
        all += committed;
    }
    ensure!(all > 0, "{database}: {counts}");
    Ok(())
}

#[test]
fn commits_count_what_they_write() -> anyhow::Result<()> {
    ["hive", "mainnet", "devchain"].iter().try_for_each(|name| ensure_counted(chain(name).name))
}

fn damaged(database: &str) -> anyhow::Result<Value> {
    let output = env::run(env::ingest(database, &["status", "--json"]), 0)?;
    let mut status: Value = serde_json::from_slice(&output.stdout).context("a status")?;
    Ok(status["damaged"].take())
}

/// Batches in progress, killed loads, removed rows and merges change the sizes of tables all the time.
#[test]
fn a_load_that_goes_on_is_no_damage() -> anyhow::Result<()> {
    let database = &env::migrate("damage_live")?;
    let mut looks = 0;
    for round in 0..env::amount(2, 4) {
        let mut command = env::ingest(database, &["load", "--dump", &dump("devchain"), "--batch-blocks", "10"]);
        let mut load = command.stderr(Stdio::null()).spawn()?;
        for _ in 0..6 + round {
            let found = damaged(database)?;
            ensure!(found == json!([]), "{found}");
            looks += usize::from(load.try_wait()?.is_none());
        }
        load.kill()?;
        process::wait_within(&mut load, env::LONGEST)?;
        env::sql(database, "OPTIMIZE TABLE logs")?;
    }
    ensure!(looks > env::amount(1, 3), "only {looks} looks at a load that went on");
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain")]), 0)?;
    env::sql(database, "OPTIMIZE TABLE logs FINAL")?;
    ensure!(damaged(database)? == json!([]));
    ensure_counted(database)?;
    Ok(())
}
