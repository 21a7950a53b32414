//! What `trawl-ingest` writes over two shards: the rows of one server, whatever is killed on the way.

use std::collections::HashMap;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::cluster::Cluster;
use crate::chains::dump;
use crate::env;
use crate::ingest::proxy::{Phase, Proxy};

/// Where loads die, one after another: what they say to the first node, for which time, and whether the node heard of
/// it.
const KILLS: [(&str, u64, Phase); 8] = [
    ("INTO blocks", 1, Phase::Amid),
    ("clusterAllReplicas('trawl', system.processes)", 1, Phase::Before),
    ("DELETE FROM ingest_intents", 1, Phase::Before),
    ("INTO logs_by_block", 2, Phase::After),
    ("INTO transactions", 2, Phase::Amid),
    ("INTO ingest_commits", 2, Phase::Before),
    ("INTO logs", 2, Phase::Amid),
    ("INTO token_balance_changes", 1, Phase::After),
];

/// Loads that are killed, and one that is not.
fn load_with_kills(cluster: &Cluster) -> anyhow::Result<()> {
    for (step, nth, phase) in KILLS {
        let proxy = Proxy::start(&cluster.nodes[0].url)?;
        let mut load = cluster.ingest_by(&proxy.url, &["load", "--dump", &dump("devchain"), "--batch-blocks", "6"]);
        let child = load.stderr(Stdio::null()).stdout(Stdio::null()).spawn()?;
        let process = child.id();
        proxy.at(step, nth, phase, move || drop(xtask::process::signal(process, libc::SIGKILL)));
        let status = child.wait_with_output()?.status;
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
    proxy.at("INTO logs", 1, Phase::Amid, move || drop(xtask::process::signal(last, libc::SIGKILL)));
    env::eventually(env::SOON, || Ok(env::sql_at(&url, "default", "SELECT 1").is_err()))?;
    std::thread::sleep(Duration::from_secs(1));
    let is_waiting = load.try_wait()?.is_none();
    cluster.start_the_last()?;
    let output = load.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(is_waiting && output.status.success(), "the load did not wait for the shard: {}\n{said}", output.status);
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

/// What `migrate --print` shows, a statement each; nothing is asked of ClickHouse.
fn printed(arguments: &[&str]) -> anyhow::Result<Vec<String>> {
    let print = [&["migrate", "--print"], arguments].concat();
    let script = env::run(env::ingest_at("http://127.0.0.1:1", Cluster::PRINTED, &print), 0)?.stdout;
    let script = String::from_utf8(script)?;
    let statements: Vec<_> = script.split(";\n\n").map(str::to_owned).collect();
    ensure!(statements.len() > 100, "{} statements", statements.len());
    ensure!(statements.last().is_some_and(|next| next.contains("Then run trawl-ingest migrate")), "{script}");
    Ok(statements)
}

/// The statements of the objects of a database, on one of the nodes. Some comments have a database's name as a word;
/// those of `Distributed` tables come with `migrate`.
fn objects(cluster: &Cluster, node: usize, database: &str) -> anyhow::Result<String> {
    let objects = format!(
        "SELECT replaceRegexpAll(database || '.' || name || ' ' || if(engine = 'Distributed',
               replaceRegexpAll(create_table_query, $$ COMMENT '(\\\\'|[^'])*'$$, ''), create_table_query), '{}|{}|{}', 'chain') AS line
         FROM system.tables WHERE database IN ('{database}', '{database}_local')
           AND name NOT LIKE 'logs_by_topic%' ORDER BY line FORMAT TSVRaw",
        Cluster::PRINTED,
        Cluster::DISTRIBUTED,
        Cluster::SINGLE
    );
    cluster.sql(node, &objects)
}

/// A printed script makes the tables that `migrate` makes, each statement where it says; `migrate` then takes them as
/// its own.
fn printed_statements_make_the_tables(cluster: &Cluster) -> anyhow::Result<()> {
    for statement in printed(&["--cluster", "trawl", "--shard-blocks", "7"])? {
        let Some((target, sql)) = statement.strip_prefix("-- on ").and_then(|text| text.split_once('\n')) else {
            continue;
        };
        let (nodes, database) = target.split_once(", in ").unwrap_or_default();
        let database = if sql.starts_with("CREATE DATABASE") { "default" } else { database };
        for (index, node) in cluster.nodes.iter().enumerate() {
            let runs_here = match nodes {
                "each node" => true,
                "the nodes of the first shard" => index == 0,
                _ => index > 0,
            };
            if runs_here {
                env::sql_at(&node.url, database, sql).with_context(|| format!("on {target}: {sql}"))?;
            }
        }
    }
    let are_equal = || {
        for node in 0..cluster.nodes.len() {
            let [found, made] =
                [Cluster::PRINTED, Cluster::DISTRIBUTED].map(|database| objects(cluster, node, database));
            let (found, made) = (found?, made?);
            let differs = found.lines().zip(made.lines()).find(|(found, made)| found != made);
            ensure!(found == made, "tables of node {node}: {differs:?}");
        }
        anyhow::Ok(())
    };
    are_equal()?;
    let others: Vec<&str> = cluster.nodes[1..].iter().map(|node| node.url.as_str()).collect();
    let shards = ["migrate", "--clickhouse-shards", &others.join(",")];
    env::run(env::ingest_at(&cluster.nodes[0].url, Cluster::PRINTED, &shards), 0)?;
    are_equal()?;
    // The same for one server, whose script selects its database.
    let first = &cluster.nodes[0].url;
    for database in [Cluster::PRINTED.to_owned(), format!("{}_local", Cluster::PRINTED)] {
        for node in &cluster.nodes {
            env::sql_at(&node.url, "default", &format!("DROP DATABASE `{database}` SYNC"))?;
        }
    }
    let script = printed(&[])?;
    ensure!(script[1] == format!("USE `{}`", Cluster::PRINTED), "{}", script[1]);
    env::sql_at(first, "default", &script[0])?;
    for sql in &script[1..script.len() - 1] {
        env::sql_at(first, Cluster::PRINTED, sql).with_context(|| sql.clone())?;
    }
    ensure!(objects(cluster, 0, Cluster::PRINTED)? == objects(cluster, 0, Cluster::SINGLE)?, "tables of one server");
    env::run(env::ingest_at(first, Cluster::PRINTED, &["migrate"]), 0)?;
    Ok(())
}

/// A database is on a cluster or on one server, and a writer knows all shards or does not write.
fn other_layouts_are_refused(cluster: &Cluster) -> anyhow::Result<()> {
    if cluster.shards() > 2 {
        return Ok(());
    }
    let [first, second] = [&cluster.nodes[0].url, &cluster.nodes[1].url];
    let load = ["load", "--dump", &dump("devchain")];
    for (database, arguments, reason) in [
        (Cluster::DISTRIBUTED, &load[..], "with --clickhouse-shards URL,URL"),
        (Cluster::DISTRIBUTED, &["migrate"], "with --clickhouse-shards URL,URL"),
        (Cluster::DISTRIBUTED, &["migrate", "--clickhouse-shards", first], "is no node of shard 2 of cluster `trawl`"),
        (
            Cluster::DISTRIBUTED,
            &["migrate", "--cluster", "trawl_first", "--clickhouse-shards", second],
            "not over `trawl_first`",
        ),
        (Cluster::SINGLE, &["status", "--clickhouse-shards", second], "are those of one server"),
        (Cluster::SINGLE, &["migrate", "--cluster", "trawl", "--clickhouse-shards", second], "are those of one server"),
        ("fresh", &["migrate", "--cluster", "trawl"], "with --clickhouse-shards URL,URL"),
        ("fresh", &["migrate", "--clickhouse-shards", second], "with --cluster, or leave --clickhouse-shards out"),
        ("fresh", &["migrate", "--cluster", "absent", "--clickhouse-shards", second], "has no cluster `absent`"),
        ("fresh", &["migrate", "--cluster", "trawl_first", "--clickhouse-shards", second], "has 1 shards, and 2 nodes"),
        (
            "fresh",
            &["migrate", "--cluster", "replicas", "--clickhouse-shards", second],
            "shard 1 of cluster `replicas` has 2 replicas",
        ),
        (
            Cluster::DISTRIBUTED,
            &["migrate", "--cluster", "trawl", "--replicated", "--clickhouse-shards", second],
            "leave --replicated out",
        ),
        (
            "fresh",
            &["migrate", "--cluster", "replicas", "--replicated", "--clickhouse-replicas", second],
            "`replicas_first`, have different numbers of replicas",
        ),
        ("fresh", &["migrate", "--cluster", "a b", "--clickhouse-shards", second], "letters, digits and _"),
    ] {
        let output = env::run(env::ingest_at(first, database, arguments), 2)?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(said.contains(reason), "{arguments:?}: {said}");
    }
    let fresh = "SELECT count() FROM system.databases WHERE startsWith(name, 'fresh')";
    ensure!(cluster.sql(0, fresh)? == "0", "nothing was made");
    Ok(())
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
    env::run(cluster.ingest(&["migrate"]), 0)?;
    lost_rows_are_repaired(&cluster, &whole)?;
    other_layouts_are_refused(&cluster)?;
    printed_statements_make_the_tables(&cluster)?;
    cluster.stop()
}
