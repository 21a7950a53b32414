//! What following costs ClickHouse: statements and parts are counted. Kills between the steps of a group.

use std::time::Duration;

use anyhow::ensure;
use serde_json::json;
use trawl_core::store::{Compression, Reader, StoreAddress, Writer};

use super::follow::{Follower, hashes, loaded, tip, visible};
use super::node::Node;
use super::proxy::{Phase, Proxy};
use crate::chains::dump;
use crate::env;

/// Waits until the newest head of a database is this block.
fn named(database: &str, block: u64) -> anyhow::Result<()> {
    let head = "SELECT argMax(head_block, sequence) FROM ingest_heads";
    env::eventually(Duration::from_secs(60), || Ok(env::sql(database, head)? == block.to_string()))
}

/// Inserts: all of them, and those that do not write blocks.
const STEPS: [&str; 4] = ["INTO", "INTO ingest_heads", "INTO ingest_leases", "INTO follow_reports"];

#[test]
fn a_new_block_is_one_insert() -> anyhow::Result<()> {
    let database = &env::migrate("grouped_inserts")?;
    let node = Node::start("hive", &["--head", "30", "--finality", "60"])?;
    let proxy = Proxy::start(env::store())?;
    let follower = Follower::start_at(&proxy.url, database, &node.url, &[])?;
    named(database, 30)?;
    let before = STEPS.map(|step| proxy.count(step));
    for head in 31..=40 {
        node.control(&json!({"head": head}))?;
        named(database, head)?;
    }
    let after = STEPS.map(|step| proxy.count(step));
    let others = |counts: [usize; 4]| counts[0] - counts[1..].iter().sum::<usize>();
    ensure!(others(after) == others(before), "{before:?} {after:?}");
    // An unchanged head is repeated after ten seconds.
    ensure!((10..=13).contains(&(after[1] - before[1])), "{before:?} {after:?}");
    node.control(&json!({"head": 54}))?;
    named(database, 54)?;
    ensure!(
        (1..=2).contains(&(proxy.count("INTO ingest_heads") - after[1])),
        "blocks that are new together are one insert"
    );
    ensure!(proxy.count("INTO hot_blocks") == 0, "the typed hot tables wait for their group");
    let through = "SELECT argMax(tables_through, sequence) FROM ingest_heads";
    ensure!(env::sql(database, through)? != "54");
    follower.stop()?;
    ensure!(proxy.count("INTO hot_blocks") == 1, "one group for all blocks");
    ensure!(env::sql(database, through)? == "54");
    ensure!(visible(database)? == loaded(&node, "grouped_inserts_loaded")?);
    Ok(())
}

/// Blocks that do not fit in a head lie apart, and are settled from there.
#[test]
fn large_blocks_are_rows_of_their_own() -> anyhow::Result<()> {
    let database = &env::migrate("grouped_large")?;
    let node = Node::start("hive", &["--head", "54", "--finality", "60"])?;
    let follower = Follower::start_at(env::store(), database, &node.url, &[])?;
    named(database, 54)?;
    let carried = "SELECT sum(length(blocks)) FROM ingest_heads";
    ensure!(env::sql(database, carried)? == "0", "{}", env::sql(database, carried)?);
    ensure!(env::sql(database, "SELECT sum(length(rows)) > 1048576, count() FROM hot_rows")? == "1\t54");
    follower.kill()?;
    let follower = Follower::start_at(env::store(), database, &node.url, &[])?;
    node.control(&json!({"finality": 10}))?;
    let settled = "SELECT max(last_block) FROM ingest_commits";
    env::eventually(Duration::from_secs(60), || Ok(env::sql(database, settled)? == "44"))?;
    follower.stop()?;
    ensure!(visible(database)? == loaded(&node, "grouped_large_loaded")?);
    Ok(())
}

/// What is dropped with old blocks: their rows and the heads that named them, and never the newest head.
#[test]
fn heads_of_settled_blocks_are_dropped_with_their_rows() -> anyhow::Result<()> {
    let database = &env::migrate("grouped_dropped")?;
    let heads = "INSERT INTO ingest_heads (sequence, head_block) VALUES (1, 511), (2, 512), (3, 1023), (4, 1024)";
    env::sql(database, heads)?;
    env::sql(database, "INSERT INTO hot_rows (generation, block_number) VALUES (1, 511), (1, 512), (1, 1024)")?;
    let address = StoreAddress {
        url: env::store().into(),
        database: database.to_string(),
        user: "default".into(),
        password: String::new(),
        compression: Compression::None,
    };
    let (reader, writer) = (Reader::new(&address, Duration::from_secs(60), 1 << 30), Writer::new(&address, "test"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(writer.forget_hot(&reader, 1022))?;
    ensure!(env::sql(database, "SELECT arraySort(groupArray(sequence)) FROM ingest_heads")? == "[2,3,4]");
    runtime.block_on(writer.forget_hot(&reader, 1023))?;
    ensure!(env::sql(database, "SELECT arraySort(groupArray(sequence)) FROM ingest_heads")? == "[4]");
    ensure!(env::sql(database, "SELECT groupArray(block_number) FROM hot_rows")? == "[1024]");
    Ok(())
}

#[test]
fn settling_writes_only_tables_that_have_rows() -> anyhow::Result<()> {
    let database = &env::migrate("grouped_settling")?;
    let node = Node::start("hive", &["--head", "10", "--finality", "4"])?;
    let proxy = Proxy::start(env::store())?;
    let flags = ["--traces", "off", "--state", "off"];
    let follower = Follower::start_at(&proxy.url, database, &node.url, &flags)?;
    named(database, 10)?;
    let before = ["INTO blocks", "INTO balance_history", "INTO storage_history"].map(|step| proxy.count(step));
    node.control(&json!({"head": 54}))?;
    let settled = "SELECT max(last_block) FROM ingest_commits";
    env::eventually(Duration::from_secs(60), || Ok(env::sql(database, settled)? == "50"))?;
    let after = ["INTO blocks", "INTO balance_history", "INTO storage_history"].map(|step| proxy.count(step));
    ensure!(after[0] > before[0] && after[1..] == before[1..], "{before:?} {after:?}");
    ensure!(proxy.count("DELETE FROM reorged_blocks") == 0, "none of these blocks was ever lost");
    ensure!(proxy.count("INTO hot_blocks") == 0, "blocks that settle soon are written once");
    follower.stop()
}

/// The tables of a database with more than one part.
fn scattered(database: &str) -> anyhow::Result<String> {
    env::sql(
        database,
        "SELECT table, count() FROM system.parts WHERE active AND rows > 0 AND database = currentDatabase()
         AND table IN ('blocks', 'transactions', 'logs', 'logs_by_block', 'token_transfers', 'balance_history')
         GROUP BY table HAVING count() > 1",
    )
}

#[test]
fn tables_stay_in_few_parts() -> anyhow::Result<()> {
    let database = &env::migrate("grouped_parts")?;
    let node = Node::start("hive", &["--head", "20", "--finality", "4"])?;
    let follower = Follower::start_at(env::store(), database, &node.url, &[])?;
    for head in (21..=54).step_by(env::amount(3, 1)) {
        node.control(&json!({"head": head}))?;
        named(database, head)?;
    }
    let settled = "SELECT max(last_block) FROM ingest_commits";
    env::eventually(Duration::from_secs(60), || Ok(env::sql(database, settled)? == "50"))?;
    env::eventually(Duration::from_secs(60), || Ok(scattered(database)?.is_empty()))?;
    follower.stop()
}

#[test]
fn a_load_ends_with_few_parts() -> anyhow::Result<()> {
    let merged = &env::migrate("grouped_merged")?;
    let arguments = ["load", "--dump", &dump("devchain"), "--batch-blocks", "10"];
    env::run(env::ingest(merged, &arguments), 0)?;
    ensure!(scattered(merged)?.is_empty(), "{}", scattered(merged)?);
    let left = &env::migrate("grouped_left")?;
    env::sql(left, "SYSTEM STOP MERGES blocks")?;
    let output = env::run(env::ingest(left, &[&arguments[..], &["--merge", "off"]].concat()), 0)?;
    ensure!(scattered(left)?.contains("blocks"), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// Killed at each step on the way of a block, `follow` goes on to the rows of a plain load.
#[test]
fn killed_between_packed_rows_and_their_tables_ends_clean() -> anyhow::Result<()> {
    let steps = [
        "INTO ingest_heads",
        "INTO ingest_heads",
        "INTO hot_blocks",
        "INTO hot_logs",
        "INTO blocks",
        "INTO ingest_commits",
    ];
    let node = Node::start("hive", &["--head", "20", "--finality", "8"])?;
    let database = &env::migrate("grouped_killed")?;
    let mut head = 20;
    for (round, step) in steps.into_iter().chain(["INTO hot_blocks"]).enumerate() {
        let proxy = Proxy::start(env::store())?;
        let follower = Follower::start_at(&proxy.url, database, &node.url, &["--hot-tables-interval", "300ms"])?;
        let (process, phase) = (follower.id(), [Phase::Before, Phase::After, Phase::Amid][round % 3]);
        proxy.at(step, 1, phase, move || drop(xtask::process::signal(process, libc::SIGKILL)));
        for _ in 0..4 {
            head += 1;
            node.control(&json!({"head": head}))?;
            std::thread::sleep(Duration::from_millis(150));
        }
        if round == 5 {
            node.control(&json!({"branch": "depth6"}))?;
        }
        std::thread::sleep(Duration::from_millis(600));
        follower.kill()?;
    }
    node.control(&json!({"branch": "depth6"}))?;
    let proxy = Proxy::start(env::store())?;
    let follower = Follower::start_at(&proxy.url, database, &node.url, &[])?;
    let chain = hashes("depth6")?;
    let tip_is = format!("SELECT lower(hex(hash)) = '{}' FROM hot_blocks", tip(&chain).trim_start_matches("0x"));
    named(database, *chain.last_key_value().map_or(&0, |(number, _)| number))?;
    follower.stop()?;
    ensure!(env::sql(database, &format!("{tip_is} ORDER BY 1 DESC LIMIT 1"))? == "1");
    let (found, expected) = (visible(database)?, loaded(&node, "grouped_killed_loaded")?);
    ensure!(found == expected, "{found:?}\ninstead of\n{expected:?}");
    Ok(())
}
