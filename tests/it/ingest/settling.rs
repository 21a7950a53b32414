//! How final blocks leave the branch: what one commit takes, and that new blocks do not wait for it.

use std::time::Duration;

use anyhow::ensure;
use serde_json::json;

use super::follow::{Follower, loaded, visible};
use super::node::Node;
use super::proxy::{Phase, Proxy};
use crate::env;

/// Nothing is final yet; what is settles at once.
const FINALITY: [&str; 2] = ["--finality", "100"];

/// Waits until a statement gives `expected`.
fn becomes(database: &str, statement: &str, expected: &str) -> anyhow::Result<()> {
    env::eventually(Duration::from_secs(60), || Ok(env::sql(database, statement)? == expected))
}

/// A chain up to `heads`, with a run of `follow` for each, which gives the blocks that are new to it a generation of
/// their own.
fn followed(database: &str, node: &Node, runs: &[(u64, &[&str])]) -> anyhow::Result<()> {
    for (head, flags) in runs {
        node.control(&json!({"head": head}))?;
        let follower = Follower::start_at(env::store(), database, &node.url, flags)?;
        becomes(database, "SELECT argMax(head_block, sequence) FROM ingest_heads", &head.to_string())?;
        follower.stop()?;
    }
    Ok(())
}

const SETTLED: &str = "SELECT groupArray((first_block, last_block)) FROM
    (SELECT first_block, last_block FROM ingest_commits ORDER BY first_block)";

#[test]
fn blocks_of_several_generations_settle_under_one_commit() -> anyhow::Result<()> {
    let database = &env::migrate("settling_generations")?;
    let node = Node::start("hive", &[&["--head", "1"], &FINALITY[..]].concat())?;
    followed(database, &node, &[(20, &[]), (30, &[]), (40, &[]), (50, &[])])?;
    let generations = "SELECT length(argMax(segments, sequence)) FROM ingest_heads";
    ensure!(env::sql(database, generations)? == "4", "{}", env::sql(database, generations)?);
    node.control(&json!({"finality": 10}))?;
    let follower = Follower::start_at(env::store(), database, &node.url, &[])?;
    becomes(database, "SELECT max(last_block) FROM ingest_commits", "40")?;
    // There are no receipts of the genesis.
    ensure!(env::sql(database, SETTLED)? == "[(0,0),(1,40)]", "{}", env::sql(database, SETTLED)?);
    follower.stop()?;
    ensure!(visible(database)? == loaded(&node, "settling_generations_loaded")?);
    Ok(())
}

/// The rows that runs with traces and without them have alike.
fn of_both(sums: Vec<String>) -> Vec<String> {
    let is_of_both = |sum: &String| {
        ["blocks\t", "transactions\t", "logs\t", "logs_by_block\t"].iter().any(|table| sum.starts_with(table))
    };
    sums.into_iter().filter(is_of_both).collect()
}

/// Blocks of other parts are groups of their own; between two of them `follow` takes a new block. A kill among them
/// loses nothing.
#[test]
fn new_blocks_are_read_between_two_groups() -> anyhow::Result<()> {
    let database = &env::migrate("settling_between")?;
    let node = Node::start("hive", &[&["--head", "1"], &FINALITY[..]].concat())?;
    let without = ["--traces", "off"];
    followed(database, &node, &[(15, &[]), (25, &without), (35, &[])])?;
    let proxy = Proxy::start(env::store())?;
    let follower = Follower::start_at(&proxy.url, database, &node.url, &without)?;
    let process = follower.id();
    proxy.at("INTO ingest_commits", 2, Phase::After, move || drop(xtask::process::signal(process, libc::SIGKILL)));
    node.control(&json!({"head": 50, "finality": 4}))?;
    becomes(database, "SELECT max(last_block) FROM ingest_commits", "15")?;
    follower.kill()?;
    let proxy = Proxy::start(env::store())?;
    let (control, body) = (format!("{}/control", node.url), json!({"head": 54}).to_string());
    let extend = move || drop(xtask::http::post(&xtask::http::agent(), &control, body.as_bytes()));
    proxy.at("INTO ingest_commits", 1, Phase::Before, extend);
    let follower = Follower::start_at(&proxy.url, database, &node.url, &without)?;
    becomes(database, "SELECT max(last_block) FROM ingest_commits", "50")?;
    let settled = env::sql(database, SETTLED)?;
    ensure!(settled.starts_with("[(0,0),(1,15),(16,25),(26,35),(36,"), "{settled}");
    let lowest = "SELECT argMin(segments, sequence)[1].1 FROM ingest_heads WHERE head_block = 54";
    let lowest = env::sql(database, lowest)?;
    ensure!(lowest == "26", "block {lowest} is the lowest that was not settled when block 54 was read");
    follower.stop()?;
    let (found, expected) = (of_both(visible(database)?), of_both(loaded(&node, "settling_between_loaded")?));
    ensure!(found.len() == 4 && found == expected, "{found:?}\ninstead of\n{expected:?}");
    Ok(())
}
