//! Tables that replicate, on two replicas of a shard and ZooKeeper: statements, parameters and structure. Rows do not
//! move between these servers, since they have no interserver port, and every such table stays read-only.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, ensure};
use tempfile::TempDir;
use xtask::process::Server;

use super::start;
use crate::env;

/// ZooKeeper, ended with this.
struct ZooKeeper {
    process: Child,
    port: u16,
    _data: TempDir,
}

impl ZooKeeper {
    /// ZooKeeper from the jars of Debian's packages; `None` on a machine that has no Java or no jars.
    fn start() -> anyhow::Result<Option<Self>> {
        let jars = std::env::var_os("TRAWL_TEST_ZOOKEEPER").map_or_else(|| "/usr/share/java".into(), PathBuf::from);
        if !jars.join("zookeeper.jar").exists() || Command::new("java").arg("-version").output().is_err() {
            return Ok(None);
        }
        let (data, port) = (env::directory()?, env::free_port()?);
        let configuration = data.path().join("zoo.cfg");
        let text = format!(
            "tickTime=2000\ndataDir={}\nclientPort={port}\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n",
            data.path().display()
        );
        fs::write(&configuration, text)?;
        let mut command = Command::new("java");
        command.arg("-cp").arg(jars.join("*")).arg("org.apache.zookeeper.server.quorum.QuorumPeerMain");
        command.arg(configuration).stdout(Stdio::null()).stderr(Stdio::null());
        let process = xtask::process::spawn(command)?;
        let started = Self { process, port, _data: data };
        env::eventually(env::SOON, || Ok(std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()))?;
        Ok(Some(started))
    }
}

impl Drop for ZooKeeper {
    fn drop(&mut self) {
        // Nothing can be done about a process that does not end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Two replicas of one shard, and the folders of their data.
struct Replicas {
    nodes: Vec<Server>,
    _data: Vec<TempDir>,
}

impl Replicas {
    fn start(keeper: &ZooKeeper) -> anyhow::Result<Self> {
        let ports = [env::free_port()?, env::free_port()?];
        let replica = |port| format!("<replica><host>127.0.0.1</host><port>{port}</port></replica>");
        let replicas: String = ports.map(replica).concat();
        let shard = format!("<shard><internal_replication>true</internal_replication>{replicas}</shard>");
        let mut nodes = Vec::new();
        let mut data = Vec::new();
        for (index, port) in ports.into_iter().enumerate() {
            let folder = env::directory()?;
            let configuration = format!(
                "<zookeeper><node><host>127.0.0.1</host><port>{}</port></node></zookeeper>
                 <macros><shard>1</shard><replica>{index}</replica></macros>
                 <remote_servers><trawl>{shard}</trawl><trawl_first>{shard}</trawl_first></remote_servers>",
                keeper.port
            );
            nodes.push(node(folder.path(), &configuration, port)?);
            data.push(folder);
        }
        Ok(Self { nodes, _data: data })
    }

    fn migrate(&self, database: &str, arguments: &[&str]) -> Command {
        let mut command = env::ingest_at(&self.nodes[0].url, database, &["migrate", "--cluster", "trawl"]);
        command.args(arguments);
        command
    }

    /// The statements of all tables with rows, and the `Distributed` ones, of a database on a node.
    fn tables(&self, node: usize, database: &str) -> anyhow::Result<String> {
        let tables = format!(
            "SELECT replaceAll(database || '.' || name || ' ' || create_table_query, '{database}', 'chain') AS line
             FROM system.tables WHERE database IN ('{database}', '{database}_local')
               AND (engine LIKE 'Replicated%' OR engine = 'Distributed') ORDER BY line FORMAT TSVRaw"
        );
        env::sql_at(&self.nodes[node].url, "default", &tables)
    }
}

fn node(folder: &Path, configuration: &str, tcp_port: u16) -> anyhow::Result<Server> {
    let file = folder.join("cluster.xml");
    fs::write(&file, configuration)?;
    let (port, config) = (tcp_port.to_string(), file.display().to_string());
    start(&folder.join("data"), &["--http-port", "0", "--tcp-port", &port, "--config", &config])
}

/// What `migrate --print --replicated` shows makes the tables of both replicas.
fn printed_statements_run_on_both(replicas: &Replicas) -> anyhow::Result<()> {
    let script = env::run(replicas.migrate("printed_chain", &["--replicated", "--print"]), 0)?.stdout;
    let script = String::from_utf8(script)?;
    let statements = script.split(";\n\n").filter_map(|text| text.strip_prefix("-- on ")?.split_once('\n'));
    for (target, sql) in statements.filter(|(_, sql)| !sql.starts_with("INSERT")) {
        let (nodes, database) = target.split_once(", in ").context("a database")?;
        let database = if sql.starts_with("CREATE DATABASE") { "default" } else { database };
        for node in replicas.nodes.iter().filter(|_| nodes != "the nodes of the other shards") {
            env::sql_at(&node.url, database, sql).with_context(|| format!("on {target}: {sql}"))?;
        }
    }
    let tables = replicas.tables(0, "printed_chain")?;
    ensure!(tables == replicas.tables(1, "printed_chain")?, "the replicas differ");
    let known = "SELECT countIf(total_replicas = 2) || ' of ' || count() FROM system.replicas";
    let known = env::sql_at(&replicas.nodes[1].url, "default", known)?;
    let plain =
        "SELECT count() FROM system.tables WHERE startsWith(database, 'printed_chain') AND endsWith(engine, 'MergeTree')
                   AND NOT startsWith(engine, 'Replicated')";
    ensure!(env::sql_at(&replicas.nodes[0].url, "default", plain)? == "0", "tables that do not replicate");
    let (both, all) = known.split_once(" of ").context("two numbers")?;
    ensure!(both == all && all.parse::<u32>()? > 70, "replicas know each other in {known}");
    Ok(())
}

/// `migrate` makes the same tables, on every server, until it has a row to write.
fn migrate_makes_the_same(replicas: &Replicas) -> anyhow::Result<()> {
    let second = replicas.nodes[1].url.as_str();
    let made = env::run(replicas.migrate("migrated_chain", &["--replicated", "--clickhouse-replicas", second]), 1)?;
    let stderr = String::from_utf8_lossy(&made.stderr);
    // An insert waits for all replicas, of which none fetches.
    ensure!(stderr.contains("less than requested quorum (2/2)"), "{stderr}");
    let made = replicas.tables(0, "migrated_chain")?;
    ensure!(made == replicas.tables(1, "migrated_chain")?, "the replicas differ");
    let printed = replicas.tables(0, "printed_chain")?;
    let left: Vec<&str> =
        made.lines().filter(|line| !printed.contains(line)).filter_map(|line| line.split(" ").next()).collect();
    ensure!(left.is_empty() && made.lines().count() > 80, "{} {left:#?}", made.lines().count());
    Ok(())
}

/// An existing database names its cluster; engines say which tables replicate. Nothing is written on either server.
fn a_plan_has_the_engines_and_writes_nothing(replicas: &Replicas) -> anyhow::Result<()> {
    let [first, second] = [0, 1].map(|node| replicas.nodes[node].url.as_str());
    let plan = |database, code| {
        let flags = ["migrate", "--plan", "--replicated", "--clickhouse-replicas", second];
        env::run(env::ingest_at(first, database, &flags), code)
    };
    let tables =
        || Ok::<_, anyhow::Error>([replicas.tables(0, "migrated_chain")?, replicas.tables(1, "migrated_chain")?]);
    let before = tables()?;
    let text = String::from_utf8(plan("migrated_chain", 0)?.stdout)?;
    let engines = text.matches("ENGINE = Replicated").count();
    ensure!(
        engines > 70 && text.contains("'/clickhouse/tables/trawl/{shard}/{database}/{table}'"),
        "{engines}: {text}"
    );
    ensure!(before == tables()?, "something was changed");
    let refused = String::from_utf8(plan("fresh", 2)?.stderr)?;
    ensure!(refused.contains("--replicated needs the cluster"), "{refused}");
    Ok(())
}

fn other_layouts_are_refused(replicas: &Replicas) -> anyhow::Result<()> {
    let [first, second] = [0, 1].map(|node| replicas.nodes[node].url.as_str());
    let refused: [(&str, &[&str], &str); 5] = [
        ("migrated_chain", &["--clickhouse-replicas", second], "replicate: add --replicated"),
        ("migrated_chain", &["--replicated"], "further replicas with --clickhouse-replicas"),
        ("fresh", &["--clickhouse-replicas", second], "shard 1 of cluster `trawl` has 2 replicas"),
        ("fresh", &["--replicated", "--clickhouse-replicas", first], "which was not named"),
        ("fresh", &["--replicated", "--clickhouse-shards", second], "has 1 shards, and 2 nodes were named"),
    ];
    for (database, arguments, reason) in refused {
        let output = env::run(replicas.migrate(database, arguments), 2)?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(stderr.contains(reason), "{arguments:?}: {stderr}");
    }
    let backup = ["backup", "/nowhere", "--clickhouse-replicas", second];
    let output = env::run(env::ingest_at(first, "migrated_chain", &backup), 2)?;
    ensure!(String::from_utf8_lossy(&output.stderr).contains("cluster"), "{output:?}");
    Ok(())
}

#[test]
fn tables_that_replicate_are_accepted_on_both_replicas() -> anyhow::Result<()> {
    if !env::is_slow_run() {
        return Ok(());
    }
    let Some(keeper) = ZooKeeper::start()? else {
        eprintln!(
            "skipped: there is no ZooKeeper (Debian: default-jre-headless, libzookeeper-java and \
             what it needs; or its jars in TRAWL_TEST_ZOOKEEPER)"
        );
        return Ok(());
    };
    let replicas = Replicas::start(&keeper)?;
    printed_statements_run_on_both(&replicas)?;
    migrate_makes_the_same(&replicas)?;
    a_plan_has_the_engines_and_writes_nothing(&replicas)?;
    other_layouts_are_refused(&replicas)?;
    replicas.nodes.into_iter().try_for_each(|node| node.stop().map(drop))
}
