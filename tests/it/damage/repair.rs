//! What was lost is loaded again, however often the repair is killed.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::json;
use xtask::process;

use super::{DATABASE, engine, lose, status, stored};
use crate::chains::dump;
use crate::env;
use crate::ingest::proxy::{Phase, Proxy};

fn repair(store: &str) -> Command {
    env::ingest_at(store, DATABASE, &["repair", "--dump", &dump("devchain")])
}

fn output_of(command: Command, code: i32) -> anyhow::Result<String> {
    let output = env::run(command, code)?;
    Ok(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// The store without the part of a table that was written `nth`, as ClickHouse leaves it that finds it broken.
fn broken(folder: &Path, table: &str, nth: usize) -> anyhow::Result<()> {
    let part = super::part(folder, table, nth)?;
    std::fs::write(part.join("checksums.txt"), "broken")?;
    Ok(())
}

#[test]
fn lost_blocks_are_loaded_again() -> anyhow::Result<()> {
    let folder = stored()?;
    let whole = engine(folder.path())?;
    let before = env::contents(&whole.url, DATABASE)?;
    ensure!(output_of(repair(&whole.url), 0)?.contains("nothing is damaged"));
    whole.stop()?;
    for (table, nth) in [("logs", 0), ("storage_history", 1), ("log_topics", 1), ("transactions_by_address", 0)] {
        lose(folder.path(), table, nth)?;
    }
    // ClickHouse would load a part whose number of rows was altered, and answer by it.
    std::fs::write(super::part(folder.path(), "token_transfers", 0)?.join("count.txt"), "9")?;
    env::run(super::start(folder.path())?, 8)?;
    let damaged = engine(folder.path())?;
    ensure!(env::contents(&damaged.url, DATABASE)? != before);
    let output = output_of(env::ingest_at(&damaged.url, DATABASE, &["repair"]), 2)?;
    ensure!(output.contains("no source"), "{output}");
    let output = output_of(repair(&damaged.url), 0)?;
    ensure!(output.contains("`logs` lost") && output.contains("repaired"), "{output}");
    ensure!(env::contents(&damaged.url, DATABASE)? == before);
    ensure!(status(&damaged.url)?["damaged"] == json!([]));
    env::run(env::ingest_at(&damaged.url, DATABASE, &["verify"]), 0)?;
    damaged.stop()?;
    let mended = env::start_engine(folder.path(), 0, &[]).context("nothing is broken any more")?;
    ensure!(env::contents(&mended.url, DATABASE)? == before);
    mended.stop()?;
    Ok(())
}

/// Without its commits nobody knows what counts: nothing is written until it is repaired.
#[test]
fn lost_commits_are_made_again() -> anyhow::Result<()> {
    let folder = stored()?;
    let whole = engine(folder.path())?;
    let before = env::contents(&whole.url, DATABASE)?;
    whole.stop()?;
    broken(folder.path(), "ingest_commits", 0)?;
    let damaged = engine(folder.path())?;
    ensure!(status(&damaged.url)?["damaged"][0]["table"] == "ingest_commits");
    let output = output_of(env::ingest_at(&damaged.url, DATABASE, &["load", "--dump", &dump("devchain")]), 8)?;
    ensure!(output.contains("`ingest_commits` lost rows") && output.contains("trawl-ingest repair"), "{output}");
    let api = super::api(&damaged.url)?;
    let answer = super::rpc(&api, "eth_blockNumber", json!([]))?;
    ensure!(answer["error"]["code"] == -32002, "{answer}");
    api.stop()?;
    output_of(repair(&damaged.url), 0)?;
    ensure!(env::contents(&damaged.url, DATABASE)? == before);
    ensure!(status(&damaged.url)?["damaged"] == json!([]));
    damaged.stop()?;
    Ok(())
}

/// The steps of a repair, by what they say to ClickHouse.
const STEPS: [&str; 8] = [
    "INTO ingest_intents",
    "DELETE FROM ingest_commits",
    "DELETE FROM blocks",
    "DELETE FROM logs",
    "DELETE FROM ingest_intents",
    "INTO blocks",
    "INTO ingest_commits",
    "DROP DETACHED",
];

#[test]
fn killed_at_every_step_a_repair_ends_clean() -> anyhow::Result<()> {
    let folder = stored()?;
    let whole = engine(folder.path())?;
    let before = env::contents(&whole.url, DATABASE)?;
    whole.stop()?;
    broken(folder.path(), "logs", 0)?;
    broken(folder.path(), "transactions", 1)?;
    let damaged = engine(folder.path())?;
    let mut killed = 0;
    for (turn, step) in STEPS.into_iter().enumerate() {
        let phases = [Phase::Before, Phase::After];
        for phase in if env::is_slow_run() { &phases[..] } else { &phases[turn % 2..][..1] } {
            let proxy = Proxy::start(&damaged.url)?;
            let child = repair(&proxy.url).stderr(Stdio::null()).stdout(Stdio::null()).spawn()?;
            let process = child.id();
            proxy.at(step, 1, *phase, move || drop(process::signal(process, libc::SIGKILL)));
            killed += usize::from(process::output_within(child, env::LONGEST)?.status.code().is_none());
        }
    }
    ensure!(killed > STEPS.len() / env::amount(2, 1), "only {killed} were killed");
    output_of(repair(&damaged.url), 0)?;
    ensure!(env::contents(&damaged.url, DATABASE)? == before);
    let commits = "SELECT sum(last_block - first_block + 1) FROM ingest_commits";
    ensure!(env::sql_at(&damaged.url, DATABASE, commits)? == "92");
    ensure!(status(&damaged.url)?["damaged"] == json!([]));
    damaged.stop()?;
    Ok(())
}
