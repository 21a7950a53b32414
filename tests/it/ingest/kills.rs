//! Exactly once: `kill -9` at every step of a load, and at any moment, leaves what a clean load leaves.
//!
//! A proxy between `trawl-ingest` and ClickHouse sees every step as a request, and kills before the request goes on,
//! in the middle of it, or when ClickHouse has done it and the program does not know yet.

use std::process::Stdio;
use std::time::Duration;

use anyhow::ensure;
use xtask::process;

use super::proxy::{Phase, Proxy};
use super::{clean, load};
use crate::chains::dump;
use crate::dice::Dice;
use crate::env;

/// Kills the load at growing moments until one run gets through; every row must be there once, also after a restart of
/// the engine: what was removed between runs left parts with deleted rows.
#[test]
fn a_killed_load_goes_on_to_the_same_rows() -> anyhow::Result<()> {
    const DATABASE: &str = "killed_loads";
    let (folder, devchain) = (env::directory()?, dump("devchain"));
    let engine = env::start_engine(folder.path(), 0, &[])?;
    env::run(env::ingest_at(&engine.url, DATABASE, &["migrate"]), 0)?;
    let rounds = if env::is_slow_run() { 60 } else { 12 };
    let mut killed = 0;
    for round in 0..rounds {
        let arguments = ["load", "--dump", &devchain, "--batch-blocks", "8"];
        let mut child = env::ingest_at(&engine.url, DATABASE, &arguments).stderr(Stdio::null()).spawn()?;
        std::thread::sleep(Duration::from_millis(30 + 37 * (round % 7)));
        if child.try_wait()?.is_none() {
            child.kill()?;
            killed += 1;
        }
        process::wait_within(&mut child, env::LONGEST)?;
    }
    ensure!(killed > 1, "only {killed} loads were killed before their end");
    env::run(env::ingest_at(&engine.url, DATABASE, &["load", "--dump", &devchain]), 0)?;
    ensure!(engine.stop()?.success());
    let engine = env::start_engine(folder.path(), 0, &[])?;
    ensure!(env::contents(&engine.url, DATABASE)? == clean()?);
    let commits = "SELECT sum(last_block - first_block + 1), min(first_block), max(last_block) FROM ingest_commits";
    let commits = env::sql_at(&engine.url, DATABASE, commits)?;
    ensure!(commits == "92\t0\t91", "{commits}");
    engine.stop()?;
    Ok(())
}

#[test]
fn a_killed_engine_does_not_lose_or_repeat_rows() -> anyhow::Result<()> {
    let data = env::directory()?;
    let port = env::free_port()?;
    let mut engine = env::start_engine(data.path(), port, &[])?;
    let url = engine.url.clone();
    env::run(env::ingest_at(&url, "killed", &["migrate"]), 0)?;
    let mut command = env::ingest_at(&url, "killed", &["load", "--dump", &dump("devchain"), "--batch-blocks", "8"]);
    let mut child = command.stderr(Stdio::null()).spawn()?;
    // A load whose ClickHouse is away from the start ends with exit code 5; this one has begun.
    let commits = || env::sql_at(&url, "killed", "SELECT count() FROM ingest_commits");
    env::eventually(Duration::from_secs(30), || Ok(commits()? != "0"))?;
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(100));
        engine.kill()?;
        engine = env::start_engine(data.path(), port, &[])?;
    }
    let status = process::wait_within(&mut child, env::LONGEST)?;
    ensure!(status.success(), "the load did not wait for the engine: {status}");
    ensure!(env::contents(&url, "killed")? == clean()?);
    engine.stop()?;
    Ok(())
}

/// What a step of a load is called in its request: what it says to ClickHouse.
const STEPS: [&str; 16] = [
    "INSERT INTO ingest_leases",
    "FROM ingest_leases",
    "FROM system.processes",
    "FROM ingest_commits",
    "FROM ingest_intents",
    "DELETE FROM logs",
    "DELETE FROM ingest_intents",
    "INTO ingest_intents",
    "INTO blocks",
    "INTO blocks_by_hash",
    "INTO transactions",
    "INTO logs",
    "INTO logs_by_block",
    "INTO block_verdicts",
    "INTO ingest_commits",
    "INTO uncles",
];

/// One load after another over the same tables, each killed at its own step; the last one runs through.
#[test]
fn killed_at_every_step_a_load_ends_clean() -> anyhow::Result<()> {
    let mut dice = Dice(7);
    let rounds = env::amount(5, 150);
    // The ordinary run kills only at steps that write rows.
    let steps: Vec<&str> = STEPS.into_iter().filter(|step| env::is_slow_run() || step.starts_with("INTO ")).collect();
    let mut plan: Vec<(&str, Phase)> =
        steps.iter().flat_map(|step| [Phase::Before, Phase::Amid, Phase::After].map(|phase| (*step, phase))).collect();
    let mut killed = 0;
    for round in 0.. {
        let database = format!("kills_{round}");
        let _database = env::migrate(&database)?;
        let mut survived = 0;
        // As many kills as the chain lasts for; then the next set of tables.
        while killed < rounds && survived < 6 {
            if plan.is_empty() {
                plan = steps.iter().flat_map(|step| [(*step, Phase::Before), (*step, Phase::After)]).collect();
            }
            let (step, phase) = plan.swap_remove(dice.roll(plan.len()));
            if kill_at(&database, step, phase, 1 + dice.roll(3) as u64)? {
                killed += 1;
            } else {
                survived += 1;
            }
        }
        load(&database, &dump("devchain"), &[], 0)?;
        ensure_clean(&database)?;
        if killed >= rounds {
            break;
        }
    }
    Ok(())
}

/// Runs a load that dies at the `nth` request of this step; false if it ended before.
fn kill_at(database: &str, step: &'static str, phase: Phase, nth: u64) -> anyhow::Result<bool> {
    let proxy = Proxy::start(env::store())?;
    let arguments = ["load", "--dump", &dump("devchain"), "--batch-blocks", "10"];
    let child = env::ingest_at(&proxy.url, database, &arguments).stderr(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let process = child.id();
    proxy.at(step, nth, phase, move || drop(process::signal(process, libc::SIGKILL)));
    let output = process::output_within(child, env::LONGEST)?;
    Ok(output.status.code().is_none())
}

#[test]
fn killed_at_any_moment_a_load_ends_clean() -> anyhow::Result<()> {
    let mut dice = Dice(11);
    let rounds = if env::is_slow_run() { 50 } else { 6 };
    let (mut killed, mut last) = (0, None::<env::Database>);
    for set in 0.. {
        if let Some(database) = last.take() {
            load(&database, &dump("devchain"), &[], 0)?;
            ensure_clean(&database)?;
        }
        if killed == rounds {
            break;
        }
        let database = last.insert(env::migrate(&format!("kills_any_moment_{set}"))?);
        // Until a load runs through; then the next set of tables.
        while killed < rounds && kill_after(database, 20 + dice.roll(500) as u64)? {
            killed += 1;
        }
    }
    Ok(())
}

/// Kills a load of many batches after this time; false if it had ended.
fn kill_after(database: &str, pause_ms: u64) -> anyhow::Result<bool> {
    let mut command = env::ingest(database, &["load", "--dump", &dump("devchain"), "--batch-blocks", "6"]);
    let mut child = command.stderr(Stdio::null()).spawn()?;
    std::thread::sleep(Duration::from_millis(pause_ms));
    child.kill()?;
    Ok(process::wait_within(&mut child, env::LONGEST)?.code().is_none())
}

/// The load lives on and says every step again until the engine is back.
#[test]
fn an_engine_killed_at_any_step_loses_nothing() -> anyhow::Result<()> {
    let mut dice = Dice(13);
    let data = env::directory()?;
    let port = env::free_port()?;
    let mut engine = env::start_engine(data.path(), port, &[])?;
    let url = engine.url.clone();
    env::run(env::ingest_at(&url, "killed", &["migrate"]), 0)?;
    let proxy = Proxy::start(&url)?;
    let arguments = ["load", "--dump", &dump("devchain"), "--batch-blocks", "10"];
    let mut child = env::ingest_at(&proxy.url, "killed", &arguments).stderr(Stdio::null()).spawn()?;
    let rounds = if env::is_slow_run() { 12 } else { 3 };
    for _ in 0..rounds {
        let step = *dice.pick(&["INTO blocks", "INTO logs", "INTO transactions", "INTO ingest_commits"]);
        let phase = *dice.pick(&[Phase::Before, Phase::Amid, Phase::After]);
        let (sender, reached) = std::sync::mpsc::channel();
        let process = engine.id();
        proxy.at(step, 1, phase, move || {
            drop(process::signal(process, libc::SIGKILL));
            // Nobody waits any more if the test has failed.
            let _ = sender.send(());
        });
        let is_reached = reached.recv_timeout(Duration::from_secs(60)).is_ok();
        if !is_reached || child.try_wait()?.is_some() {
            break;
        }
        engine.kill()?;
        engine = env::start_engine(data.path(), port, &[])?;
    }
    let status = process::wait_within(&mut child, env::LONGEST)?;
    ensure!(status.success(), "the load did not wait for the engine: {status}");
    ensure!(env::contents(&url, "killed")? == clean()?, "the rows differ from a clean load");
    engine.stop()?;
    Ok(())
}

fn ensure_clean(database: &str) -> anyhow::Result<()> {
    let (found, expected) = (env::contents(env::store(), database)?, clean()?);
    ensure!(found == expected, "{database}: {found:?}\ninstead of\n{expected:?}");
    let commits = env::sql(
        database,
        "SELECT sum(last_block - first_block + 1), min(first_block), max(last_block) FROM ingest_commits",
    )?;
    ensure!(commits == "92\t0\t91", "{database}: {commits}");
    Ok(())
}
