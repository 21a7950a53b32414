//! One run at a time writes, and no block is written twice, whoever is killed, stopped, or started twice.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::json;
use xtask::process::{self, signal};

use super::follow::{Follower, loaded, visible};
use super::node::Node;
use super::{clean, load, write_dump};
use crate::chains::{self, dump};
use crate::env;

/// A load of the scenario chain in many batches, so that it takes its time.
fn spawn(database: &str) -> anyhow::Result<Child> {
    let mut command = env::ingest(database, &["load", "--dump", &dump("devchain"), "--batch-blocks", "6"]);
    Ok(command.stderr(Stdio::piped()).spawn()?)
}

fn ensure_clean(database: &str) -> anyhow::Result<()> {
    ensure!(env::contents(env::store(), database)? == clean()?, "{database} differs from a clean load");
    let committed = env::sql(database, "SELECT sum(last_block - first_block + 1) FROM ingest_commits")?;
    ensure!(committed == "92", "{committed} blocks are committed");
    Ok(())
}

fn committed(database: &str, blocks: u32) -> anyhow::Result<()> {
    let sql = format!("SELECT sum(last_block - first_block + 1) >= {blocks} FROM ingest_commits");
    env::eventually(Duration::from_secs(30), || Ok(env::sql(database, &sql)? == "1"))
}

#[test]
fn loads_at_once_write_every_row_once() -> anyhow::Result<()> {
    let database = &env::migrate("exclusive_at_once")?;
    let loads: Vec<Child> = (0..4).map(|_| spawn(database)).collect::<anyhow::Result<_>>()?;
    for load in loads {
        let output = process::output_within(load, env::LONGEST)?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    ensure_clean(database)
}

/// A process of this machine that lives may go on any time, so no other process takes over, however long it is silent.
#[test]
fn a_stopped_holder_is_waited_for() -> anyhow::Result<()> {
    let database = &env::migrate("exclusive_stopped")?;
    let first = spawn(database)?;
    committed(database, 2)?;
    signal(first.id(), libc::SIGSTOP)?;
    // The claim of this run is old by now.
    env::sql(
        database,
        "INSERT INTO ingest_leases (lease, event, host, place, process, at) SELECT lease, event, 'aged', place, process, at - 70 FROM ingest_leases",
    )?;
    env::sql(database, "ALTER TABLE ingest_leases DELETE WHERE host != 'aged' SETTINGS mutations_sync = 1")?;
    let silence = "SELECT dateDiff('second', max(at), now64(6)) >= 70 FROM ingest_leases";
    ensure!(env::sql(database, silence)? == "1", "the claim is not old");
    let before = env::contents(env::store(), database)?;
    let mut second = spawn(database)?;
    std::thread::sleep(Duration::from_secs(2));
    ensure!(second.try_wait()?.is_none(), "the second load did not wait");
    ensure!(before == env::contents(env::store(), database)?, "the second load wrote");
    signal(first.id(), libc::SIGCONT)?;
    for load in [first, second] {
        let output = process::output_within(load, env::LONGEST)?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    ensure_clean(database)
}

#[test]
fn a_holder_elsewhere_is_named_and_waited_for() -> anyhow::Result<()> {
    let database = &env::migrate("exclusive_elsewhere")?;
    env::sql(
        database,
        "INSERT INTO ingest_leases (lease, event, host, place, process) VALUES ('theirs/1', 'claimed', 'faraway', 'another boot', '77:1')",
    )?;
    let waiting = spawn(database)?;
    std::thread::sleep(Duration::from_secs(2));
    signal(waiting.id(), libc::SIGINT)?;
    let output = process::output_within(waiting, env::LONGEST)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.code() == Some(130), "{} {text}", output.status);
    ensure!(text.contains("another run of trawl-ingest is writing") && text.contains("faraway"), "{text}");
    ensure!(env::sql(database, "SELECT count() FROM blocks")? == "0");
    // A minute of silence from elsewhere, and the lease is taken away; its holder may not know it for 20 seconds.
    env::sql(database, "ALTER TABLE ingest_leases DELETE WHERE lease = 'theirs/1' SETTINGS mutations_sync = 1")?;
    env::sql(
        database,
        "INSERT INTO ingest_leases (lease, event, host, place, process, at) VALUES ('theirs/1', 'claimed', 'faraway', 'another boot', '77:1', now64(6) - 70)",
    )?;
    let fenced = "SELECT count() FROM ingest_leases WHERE lease = 'theirs/1' AND event = 'fenced'";
    for _ in 0..2 {
        let waiting = spawn(database)?;
        env::eventually(Duration::from_secs(10), || Ok(env::sql(database, fenced)? == "1"))?;
        std::thread::sleep(Duration::from_secs(2));
        // The second of these did not take it away, and waits all the same.
        signal(waiting.id(), libc::SIGINT)?;
        let output = process::output_within(waiting, env::LONGEST)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.code() == Some(130) && text.contains("until it can no longer write"), "{text}");
    }
    ensure!(env::sql(database, "SELECT count() FROM blocks")? == "0");
    // Had it been 18 seconds ago, two would be left.
    env::sql(
        database,
        "INSERT INTO ingest_leases (lease, event, host, place, process, at) VALUES ('theirs/1', 'fenced', 'faraway', 'another boot', '77:1', now64(6) - 18)",
    )?;
    let started = Instant::now();
    load(database, &dump("devchain"), &[], 0)?;
    ensure!(started.elapsed() > Duration::from_secs(1), "{:?}", started.elapsed());
    ensure!(env::sql(database, fenced)? == "2");
    ensure_clean(database)
}

/// Of a holder in another process namespace nothing can be seen but its silence: a minute of it, and 20 seconds in
/// which the holder may not know.
#[test]
#[ignore = "minutes: runs with `cargo xtask test --slow`"]
fn a_holder_elsewhere_that_is_killed_is_replaced() -> anyhow::Result<()> {
    let database = &env::migrate("exclusive_takeover")?;
    let node = Node::start("devchain", &["--latency", "200"])?;
    let arguments = ["load", "--rpc-url", &node.url, "--batch-blocks", "1", "--concurrency", "1"];
    let load = env::ingest(database, &arguments);
    let mut elsewhere = Command::new("unshare");
    elsewhere.args(["--user", "--map-root-user", "--pid", "--fork", "--kill-child=KILL"]);
    let mut holder = elsewhere.arg(load.get_program()).args(load.get_args()).stdin(Stdio::null()).spawn()?;
    committed(database, 3)?;
    holder.kill()?;
    process::wait_within(&mut holder, env::LONGEST)?;
    let silent_since = Instant::now();
    let namespaces = "SELECT uniqExact(place) FROM ingest_leases";
    let second = spawn(database)?;
    let output = process::output_within(second, env::LONGEST)?;
    let (text, took) = (String::from_utf8_lossy(&output.stderr).into_owned(), silent_since.elapsed());
    ensure!(output.status.success() && text.contains("waiting for its end"), "{text}");
    ensure!(env::sql(database, namespaces)? == "2", "{text}");
    // The last heartbeat may have been 8 seconds before.
    ensure!((Duration::from_secs(70)..Duration::from_secs(100)).contains(&took), "{took:?}\n{text}");
    let blocks = "SELECT count(), uniqExact(block_number) FROM blocks";
    ensure!(env::sql(database, blocks)? == "92\t92", "{}", env::sql(database, blocks)?);
    Ok(())
}

#[test]
fn a_lease_that_was_taken_away_ends_the_load() -> anyhow::Result<()> {
    let database = &env::migrate("exclusive_fenced")?;
    let node = Node::start("devchain", &["--latency", "200"])?;
    let arguments = ["load", "--rpc-url", &node.url, "--batch-blocks", "1", "--concurrency", "1"];
    let child = env::ingest(database, &arguments).stderr(Stdio::piped()).spawn()?;
    committed(database, 1)?;
    let fence = "INSERT INTO ingest_leases (lease, event, host, place, process) SELECT DISTINCT lease, 'fenced', host, place, process FROM ingest_leases";
    env::sql(database, fence)?;
    let output = process::output_within(child, env::LONGEST)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.code() == Some(1) && text.contains("took over"), "{} {text}", output.status);
    load(database, &dump("devchain"), &[], 0)?;
    let blocks = "SELECT count(), uniqExact(block_number) FROM blocks";
    ensure!(env::sql(database, blocks)? == "92\t92", "{}", env::sql(database, blocks)?);
    Ok(())
}

/// With `--take-over` a holder that lives writes nothing more, and what both wrote is there once.
#[test]
fn a_lease_is_taken_over_from_a_holder_that_lives() -> anyhow::Result<()> {
    let database = &env::migrate("exclusive_taken")?;
    let [slow, node] = [Node::start("devchain", &["--latency", "200"])?, Node::start("devchain", &[])?];
    let arguments = ["load", "--rpc-url", &slow.url, "--batch-blocks", "1", "--concurrency", "1"];
    let holder = env::ingest(database, &arguments).stderr(Stdio::piped()).spawn()?;
    committed(database, 2)?;
    let output = env::run(env::ingest(database, &["load", "--rpc-url", &node.url, "--take-over"]), 0)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(text.contains("taking over the lease of another run"), "{text}");
    let output = process::output_within(holder, env::LONGEST)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.code() == Some(1) && text.contains("another run of trawl-ingest took over"), "{text}");
    let whole = &env::migrate("exclusive_not_taken")?;
    env::run(env::ingest(whole, &["load", "--rpc-url", &node.url]), 0)?;
    ensure!(env::contents(env::store(), database)? == env::contents(env::store(), whole)?, "rows differ");
    Ok(())
}

/// A `follow` that lives ends when another run takes its lease; what all of them wrote is what a load writes.
#[test]
#[ignore = "half a minute: runs with `cargo xtask test --slow`"]
fn a_lease_of_follow_is_taken_over_by_follow_and_by_repair() -> anyhow::Result<()> {
    let database = &env::migrate("exclusive_follow")?;
    let node = Node::start("hive", &["--head", "30", "--finality", "8"])?;
    let reaches = |head: u64| {
        node.control(&json!({"head": head}))?;
        let newest = "SELECT argMax(head_block, sequence) FROM ingest_heads";
        env::eventually(Duration::from_secs(60), || Ok(env::sql(database, newest)? == head.to_string()))
    };
    let ends = |follower: Follower| -> anyhow::Result<()> {
        let (code, text) = follower.end()?;
        ensure!(code == Some(1) && text.contains("another run of trawl-ingest took over"), "{code:?}: {text}");
        Ok(())
    };
    let first = Follower::start(database, &node.url, &[])?;
    reaches(30)?;
    let second = Follower::start(database, &node.url, &["--take-over"])?;
    ends(first)?;
    reaches(40)?;
    env::run(env::ingest(database, &["repair", "--take-over"]), 0)?;
    ends(second)?;
    let third = Follower::start(database, &node.url, &[])?;
    reaches(54)?;
    third.stop()?;
    ensure!(visible(database)? == loaded(&node, "exclusive_follow_loaded")?, "rows differ");
    Ok(())
}

/// Of a holder elsewhere it is not known whether it saw that: it is waited for as long as it may write without.
#[test]
fn a_lease_is_taken_over_from_elsewhere_at_once_and_used_when_its_holder_surely_knows() -> anyhow::Result<()> {
    let database = &env::migrate("exclusive_taken_elsewhere")?;
    env::sql(
        database,
        "INSERT INTO ingest_leases (lease, event, host, place, process) VALUES
         ('theirs/1', 'claimed', 'faraway', 'another boot', '77:1')",
    )?;
    let arguments = ["load", "--dump", &dump("devchain"), "--take-over"];
    let started = Instant::now();
    let load = env::ingest(database, &arguments).stderr(Stdio::piped()).spawn()?;
    let fenced = "SELECT count() FROM ingest_leases WHERE lease = 'theirs/1' AND event = 'fenced'";
    env::eventually(Duration::from_secs(10), || Ok(env::sql(database, fenced)? == "1"))?;
    std::thread::sleep(Duration::from_secs(2));
    ensure!(env::sql(database, "SELECT count() FROM blocks")? == "0", "it did not wait");
    // Had it been 18 seconds ago, two would be left.
    env::sql(
        database,
        "INSERT INTO ingest_leases (lease, event, host, place, process, at) VALUES
         ('theirs/1', 'fenced', 'faraway', 'another boot', '77:1', now64(6) - 18)",
    )?;
    let output = process::output_within(load, env::LONGEST)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success() && text.contains("until it can no longer write"), "{text}");
    ensure!(started.elapsed() > Duration::from_secs(3), "{:?}", started.elapsed());
    ensure_clean(database)
}

/// A process that is stopped may be about to send rows, and would do so before it looks at its lease.
#[test]
fn a_lease_of_a_stopped_process_is_not_taken_over() -> anyhow::Result<()> {
    let database = &env::migrate("exclusive_taken_stopped")?;
    let holder = spawn(database)?;
    committed(database, 2)?;
    signal(holder.id(), libc::SIGSTOP)?;
    let text = load(database, &dump("devchain"), &["--take-over"], 1)?;
    ensure!(text.contains(&format!("kill -KILL {}", holder.id())), "{text}");
    signal(holder.id(), libc::SIGCONT)?;
    let output = process::output_within(holder, env::LONGEST)?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    ensure_clean(database)
}

#[test]
fn files_that_overlap_are_written_once() -> anyhow::Result<()> {
    let database = &env::migrate("exclusive_overlap")?;
    let lines = chains::lines("devchain")?;
    let (low, high) = (write_dump(&lines[..60])?, write_dump(&lines[30..])?);
    let (low, high) = (low.path().display().to_string(), high.path().display().to_string());
    env::run(env::ingest(database, &["load", "--dump", &low, &high, &low, "--batch-blocks", "7"]), 0)?;
    ensure_clean(database)
}

#[test]
fn lists_the_header_speaks_of_must_be_there() -> anyhow::Result<()> {
    let lines = chains::lines("hive")?;
    for (list, field) in [("withdrawals", "withdrawals"), ("uncles", "uncles")] {
        let database = format!("exclusive_without_{list}");
        let _database = env::migrate(&database)?;
        let mut lines = lines.clone();
        let is_full = |line: &serde_json::Value| line["block"][list].as_array().is_some_and(|items| !items.is_empty());
        let height = lines.iter().position(is_full).unwrap_or_default();
        if let Some(block) = lines[height]["block"].as_object_mut() {
            block.remove(list);
        }
        let file = write_dump(&lines)?;
        let text = load(&database, &file.path().display().to_string(), &[], 3)?;
        ensure!(text.contains(&format!("body of block {height} has no `{field}`")), "{text}");
    }
    Ok(())
}

/// A node that switches branch between two calls gives receipts of another block; that is no reason to refuse it.
#[test]
fn receipts_of_another_branch_are_requested_again() -> anyhow::Result<()> {
    let database = &env::migrate("exclusive_receipts")?;
    let node = Node::start("devchain", &["--missing-receipt", "31:0"])?;
    let child = env::ingest(database, &["load", "--rpc-url", &node.url]).stderr(Stdio::piped()).spawn()?;
    env::eventually(Duration::from_secs(20), || {
        Ok(node.control(&json!({}))?["calls"]["eth_getBlockReceipts"].as_u64() > Some(32))
    })?;
    node.control(&json!({"missing_receipt": ""}))?;
    let output = process::output_within(child, env::LONGEST)?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    ensure!(env::sql(database, "SELECT count() FROM transactions WHERE status IS NULL")? == "0");
    Ok(())
}
