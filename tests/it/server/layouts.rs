//! What `trawl-ingest migrate` makes on a cluster, and which layouts it refuses.

use anyhow::{Context as _, ensure};

use super::cluster::Cluster;
use crate::chains::dump;
use crate::env;

/// What `migrate --print` shows, a statement each; nothing is sent to ClickHouse.
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
    let [first, second] = [&cluster.nodes[0].url, &cluster.nodes[1].url];
    let load = ["load", "--dump", &dump("devchain")];
    for (database, arguments, reason) in [
        (Cluster::DISTRIBUTED, &load[..], "with --clickhouse-shards URL,URL"),
        (Cluster::DISTRIBUTED, &["migrate"], "with --clickhouse-shards URL,URL"),
        (
            Cluster::DISTRIBUTED,
            &["migrate", "--clickhouse-shards", first],
            "is not a node of shard 2 of cluster `trawl`",
        ),
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
            "leave out --replicated",
        ),
        (
            "fresh",
            &["migrate", "--cluster", "replicas", "--replicated", "--clickhouse-replicas", second],
            "`replicas_first`, have different numbers of replicas",
        ),
        ("fresh", &["migrate", "--cluster", "a b", "--clickhouse-shards", second], "letters, digits and _"),
    ] {
        let output = env::run(env::ingest_at(first, database, arguments), 2)?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(stderr.contains(reason), "{arguments:?}: {stderr}");
    }
    let shards = ["migrate", "--cluster", "trawl", "--clickhouse-shards", second, "--plan"];
    let plan = String::from_utf8(env::run(env::ingest_at(first, "fresh", &shards), 0)?.stdout)?;
    ensure!(plan.contains("  on each node, in fresh: CREATE DATABASE IF NOT EXISTS `fresh_local`\n"), "{plan}");
    let cluster_flags = ["--cluster", "trawl", "--shard-blocks", "7", "--clickhouse-shards", second];
    let without = [&["migrate"], &cluster_flags[..], &["--without", "log_topics", "--plan"]].concat();
    let plan = String::from_utf8(env::run(env::ingest_at(first, Cluster::DISTRIBUTED, &without), 0)?.stdout)?;
    for database in [Cluster::DISTRIBUTED.to_owned(), format!("{}_local", Cluster::DISTRIBUTED)] {
        let drop = format!("  on each node, in {database}: DROP TABLE log_topics SYNC\n");
        ensure!(plan.contains(&drop), "no {drop} in {plan}");
    }
    let fresh = "SELECT count() FROM system.databases WHERE startsWith(name, 'fresh')";
    ensure!(cluster.sql(0, fresh)? == "0", "nothing was made");
    Ok(())
}

#[test]
fn printed_statements_make_the_tables_and_other_layouts_are_refused() -> anyhow::Result<()> {
    let cluster = Cluster::start(2)?;
    env::run(env::ingest_at(&cluster.nodes[0].url, Cluster::SINGLE, &["migrate"]), 0)?;
    cluster.migrate()?;
    other_layouts_are_refused(&cluster)?;
    printed_statements_make_the_tables(&cluster)?;
    cluster.stop()
}
