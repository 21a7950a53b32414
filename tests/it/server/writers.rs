//! What `trawl-ingest` writes over two shards: the rows of one server, whatever is killed on the way.

use std::collections::HashMap;
use std::process::Stdio;
use std::time::Duration;

use anyhow::ensure;
use serde_json::{Value, json};
use xtask::process;

use super::cluster::Cluster;
use crate::chains::dump;
use crate::env;
use crate::ingest::proxy::{Phase, Proxy};

/// Where loads die, one after another: what they say to the first node, for which time, and whether the node heard of
/// it. The ordinary run has two of them.
const KILLS: [(&str, u64, Phase); 8] = [
    ("INTO transactions", 2, Phase::Amid),
    ("INTO blocks", 1, Phase::Amid),
    ("clusterAllReplicas('trawl', system.processes)", 1, Phase::Before),
    ("DELETE FROM ingest_intents", 1, Phase::Before),
    ("INTO logs_by_block", 2, Phase::After),
    ("INTO ingest_commits", 2, Phase::Before),
    ("INTO logs", 2, Phase::Amid),
    ("INTO token_balance_changes", 1, Phase::After),
];

/// Loads that are killed, and one that is not.
fn load_with_kills(cluster: &Cluster) -> anyhow::Result<()> {
    for (step, nth, phase) in KILLS.into_iter().skip(env::amount(1, 0)).step_by(env::amount(4, 1)) {
        let proxy = Proxy::start(&cluster.nodes[0].url)?;
        let mut load = cluster.ingest_by(&proxy.url, &["load", "--dump", &dump("devchain"), "--batch-blocks", "6"]);
        let child = load.stderr(Stdio::null()).stdout(Stdio::null()).spawn()?;
        let process = child.id();
        proxy.at(step, nth, phase, move || drop(process::signal(process, libc::SIGKILL)));
        let status = process::output_within(child, env::LONGEST)?.status;
        ensure!(status.code().is_none(), "a load ended before {step}: {status}");
    }
    Ok(())
}

/// A load in whose batch the last shard dies: it waits until the shard is back.
fn load_over_a_restart(cluster: &mut Cluster) -> anyhow::Result<()> {
    let proxy = Proxy::start(&cluster.nodes[0].url)?;
    let (last, url) = (cluster.last().id(), cluster.last().url.clone());
    let arguments = ["load", "--dump", &dump("devchain"), "--batch-blocks", "6"];
    let mut load = cluster.ingest_by(&proxy.url, &arguments).stderr(Stdio::piped()).spawn()?;
    proxy.at("INTO logs", 1, Phase::Amid, move || drop(process::signal(last, libc::SIGKILL)));
    env::eventually(env::SOON, || Ok(env::sql_at(&url, "default", "SELECT 1").is_err()))?;
    std::thread::sleep(Duration::from_secs(1));
    let is_waiting = load.try_wait()?.is_none();
    cluster.start_the_last()?;
    let output = process::output_within(load, env::LONGEST)?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(is_waiting && output.status.success(), "the load did not wait for the shard: {}\n{stderr}", output.status);
    Ok(())
}

/// Tables of token statistics are no tables of blocks; their rows are those of one server all the same.
const STATISTICS: [&str; 5] =
    ["token_statistics", "token_balances", "token_balances_by_holder", "token_id_balances", "token_id_holders"];

fn contents(cluster: &Cluster, database: &str) -> anyhow::Result<HashMap<String, String>> {
    let url = &cluster.nodes[0].url;
    let mut contents = env::contents(url, database)?;
    for table in STATISTICS {
        let sum = format!("SELECT count(), sum(cityHash64(*)) FROM (SELECT DISTINCT * FROM {table})");
        contents.insert(table.into(), env::sql_at(url, database, &sum)?);
    }
    Ok(contents)
}

fn status(cluster: &Cluster) -> anyhow::Result<Value> {
    let output = env::run(cluster.ingest(&["status", "--json"]), 0)?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Rows that the second shard lost are named, and loaded again.
fn lost_rows_are_repaired(cluster: &Cluster, whole: &HashMap<String, String>) -> anyhow::Result<()> {
    for table in ["logs", "blocks", "log_topics"] {
        let name = format!(
            "SELECT name FROM system.parts WHERE database = 'distributed_local' AND table = '{table}' AND active ORDER BY rows DESC LIMIT 1"
        );
        let part = cluster.sql(1, &name)?;
        cluster.sql(1, &format!("ALTER TABLE distributed_local.{table} DROP PART '{part}'"))?;
    }
    let damaged = status(cluster)?["damaged"].clone();
    let tables: Vec<&str> =
        damaged.as_array().into_iter().flatten().filter_map(|entry| entry["table"].as_str()).collect();
    ensure!(tables == ["blocks", "logs", "log_topics"], "{damaged}");
    env::run(cluster.ingest(&["repair", "--dump", &dump("devchain")]), 0)?;
    ensure!(contents(cluster, Cluster::DISTRIBUTED)? == *whole, "after the repair");
    ensure!(status(cluster)?["damaged"] == json!([]));
    env::run(cluster.ingest(&["verify"]), 0).map(drop)
}

#[test]
fn killed_loads_and_repairs_leave_the_rows_of_one_server() -> anyhow::Result<()> {
    let mut cluster = Cluster::start(if env::is_slow_run() { 3 } else { 2 })?;
    let first = &cluster.nodes[0].url;
    let with = ["migrate", "--with", "logs_by_topic"];
    for arguments in [&with[..], &["load", "--dump", &dump("devchain")]] {
        env::run(env::ingest_at(first, Cluster::SINGLE, arguments), 0)?;
    }
    cluster.migrate()?;
    env::run(cluster.ingest(&with), 0)?;
    load_with_kills(&cluster)?;
    load_over_a_restart(&mut cluster)?;
    let whole = contents(&cluster, Cluster::SINGLE)?;
    let found = contents(&cluster, Cluster::DISTRIBUTED)?;
    let different: Vec<_> = whole.iter().filter(|(table, sum)| found.get(*table) != Some(*sum)).collect();
    ensure!(different.is_empty(), "{different:?}\n{found:?}");
    cluster.require_rows_on_each()?;
    // What is there stays as it is.
    env::run(cluster.ingest(&["migrate", "--check"]), 0)?;
    env::run(cluster.ingest(&["migrate"]), 0)?;
    lost_rows_are_repaired(&cluster, &whole)?;
    cluster.stop()
}
