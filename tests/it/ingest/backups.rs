//! `trawl-ingest backup` and `restore`: what is copied while `follow` goes on is, once restored, the database at a
//! commit.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;
use xtask::process::{self, Server};

use super::follow::{Follower, hashes, reaches, tip};
use super::node::Node;
use super::proxy::{Phase, Proxy};
use crate::chains::{dump, quantity};
use crate::env;

const DATABASE: &str = "chain";

/// Runs `trawl-ingest` over a database of that engine; returns its output.
fn run(store: &str, database: &str, arguments: &[&str], code: i32) -> anyhow::Result<String> {
    let output = env::run(env::ingest_at(store, database, arguments), code)?;
    Ok(format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
}

/// An engine that may write backups to `backups`.
fn engine(data: &Path, backups: &Path) -> anyhow::Result<Server> {
    env::start_engine(data, 0, &["--backup-dir", &backups.display().to_string()])
}

fn settled_through(store: &str, database: &str) -> anyhow::Result<u64> {
    Ok(env::sql_at(store, database, "SELECT max(last_block) FROM ingest_commits")?.parse()?)
}

fn call(api: &str, method: &str, params: &Value) -> anyhow::Result<Value> {
    let answer = http::rpc(&http::agent(), &format!("{api}/rpc"), method, params)?;
    ensure!(answer["error"].is_null(), "{method}: {answer}");
    Ok(answer["result"].clone())
}

fn logs_through(api: &str, block: u64) -> anyhow::Result<Value> {
    call(api, "eth_getLogs", &json!([{"fromBlock": "0x0", "toBlock": format!("{block:#x}")}]))
}

/// Checks that all blocks that an API has are of one of the branches, in the ordinary run those above where they part.
fn ensure_one_chain(api: &str, branches: &[BTreeMap<u64, String>]) -> anyhow::Result<u64> {
    let newest = quantity(&call(api, "eth_blockNumber", &json!([]))?);
    let mut blocks = Vec::new();
    for number in (0..=newest).rev().take(env::amount(24, usize::MAX)) {
        let block = call(api, "eth_getBlockByNumber", &json!([format!("{number:#x}"), false]))?;
        blocks.push((number, block["hash"].as_str().unwrap_or_default().to_owned()));
    }
    let is_of = |chain: &BTreeMap<u64, String>| blocks.iter().all(|(number, hash)| chain.get(number) == Some(hash));
    ensure!(branches.iter().any(is_of), "a mixture: {blocks:?}");
    Ok(newest)
}

/// A chain that is followed in an engine with a folder for backups.
struct FollowedChain {
    node: Node,
    engine: Server,
    api: Server,
    _follower: Follower,
    backups: tempfile::TempDir,
    _data: tempfile::TempDir,
}

impl FollowedChain {
    fn start() -> anyhow::Result<Self> {
        let (data, backups) = (env::directory()?, env::directory()?);
        let engine = engine(data.path(), backups.path())?;
        run(&engine.url, DATABASE, &["migrate"], 0)?;
        let node = Node::start("hive", &["--head", "30", "--finality", "8"])?;
        let follower = Follower::start_at(&engine.url, DATABASE, &node.url, &["--hot-tables-interval", "20ms"])?;
        let api = env::start_api_at(&engine.url, DATABASE, &[])?;
        reaches(&api.url, &hashes("main")?[&30])?;
        env::eventually(env::SOON, || Ok(settled_through(&engine.url, DATABASE)? == 22))?;
        Ok(Self { node, engine, api, _follower: follower, backups, _data: data })
    }

    fn path(&self, name: &str) -> String {
        self.backups.path().join(name).display().to_string()
    }

    /// Restores a backup into an engine of its own, where it must be the database as it was at a commit from `least`
    /// on, and be followed beside the original.
    fn ensure_restored(&self, name: &str, least: u64) -> anyhow::Result<()> {
        let branches = [hashes("main")?, hashes("depth6")?];
        let data = env::directory()?;
        let copy = engine(data.path(), self.backups.path())?;
        let output = run(&copy.url, DATABASE, &["restore", &self.path(name)], 0)?;
        let through = settled_through(&copy.url, DATABASE)?;
        ensure!(through >= least && output.contains(&format!("{} verified", through + 1)), "{through}: {output}");
        let original = env::contents_below(&self.engine.url, DATABASE, through + 1)?;
        let restored = env::contents(&copy.url, DATABASE)?;
        ensure!(restored == original, "{name}: {restored:?}\ninstead of\n{original:?}");
        let status: Value = serde_json::from_str(&run(&copy.url, DATABASE, &["status", "--json"], 0)?)?;
        ensure!(status["damaged"] == json!([]), "{status}");
        let api = env::start_api_at(&copy.url, DATABASE, &[])?;
        ensure!(ensure_one_chain(&api.url, &branches)? >= through);
        ensure!(logs_through(&api.url, through)? == logs_through(&self.api.url, through)?, "{name}");
        if env::is_slow_run() || name == "fourth" {
            self.ensure_followed(&copy, &api, name)?;
        }
        copy.stop().map(drop)
    }

    /// Follows the chain into a restored copy, beside the original.
    fn ensure_followed(&self, copy: &Server, api: &Server, name: &str) -> anyhow::Result<()> {
        // The original's `follow` runs on this machine, and its lease is not the copy's.
        let follower = Follower::start_at(&copy.url, DATABASE, &self.node.url, &["--hot-tables-interval", "20ms"])?;
        let newest = call(&self.api.url, "eth_getBlockByNumber", &json!(["latest", false]))?;
        reaches(&api.url, newest["hash"].as_str().unwrap_or_default())?;
        ensure_one_chain(&api.url, &[hashes("main")?, hashes("depth6")?])?;
        follower.stop()?;
        let through = settled_through(&copy.url, DATABASE)?;
        let original = env::contents_below(&self.engine.url, DATABASE, through + 1)?;
        ensure!(env::contents(&copy.url, DATABASE)? == original, "{name} after it was followed");
        run(&copy.url, DATABASE, &["verify"], 0).map(drop)
    }
}

/// The chain grows, settles and changes its branch between the statements of each backup.
#[test]
fn beside_follow_it_is_the_database_at_a_commit() -> anyhow::Result<()> {
    let followed = FollowedChain::start()?;
    let (main, depth6) = (hashes("main")?, hashes("depth6")?);
    let proxy = Proxy::start(&followed.engine.url)?;
    // A backup, what it builds on, and between which of its statements the node has which head, on which branch.
    let rounds = [
        ("full", None, ("BACKUP TABLE", 2), (40, "main")),
        ("second", Some("full"), ("BACKUP TABLE", 3), (48, "main")),
        ("third", Some("second"), ("EXCEPT TABLES", 1), (54, "main")),
        ("fourth", None, ("EXCEPT TABLES", 1), (54, "depth6")),
    ];
    for (name, base, (step, nth), (head, branch)) in rounds {
        let least = settled_through(&followed.engine.url, DATABASE)?;
        let (control, api) = (format!("{}/control", followed.node.url), followed.api.url.clone());
        let change = if branch == "main" { json!({"head": head}) } else { json!({"branch": branch}) };
        let newest = if branch == "main" { main[&head].clone() } else { tip(&depth6).to_owned() };
        let (sender, grown) = std::sync::mpsc::channel();
        let store = followed.engine.url.clone();
        proxy.at(step, nth, Phase::Before, move || {
            let grow = || {
                http::post(&http::agent(), &control, change.to_string().as_bytes())?;
                reaches(&api, &newest)?;
                env::eventually(env::SOON, || Ok(branch != "main" || settled_through(&store, DATABASE)? > least))
            };
            // The test waits for it.
            let _ = sender.send(grow());
        });
        let base = base.map(|base| followed.path(base));
        let mut arguments = vec!["backup".to_owned(), followed.path(name)];
        arguments.extend(base.into_iter().flat_map(|base| ["--base".to_owned(), base]));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        run(&proxy.url, DATABASE, &arguments, 0)?;
        grown.recv_timeout(env::SOON).context("the chain did not grow meanwhile")??;
        if env::is_slow_run() || ["third", "fourth"].contains(&name) {
            followed.ensure_restored(name, least).with_context(|| name.to_owned())?;
        }
    }
    let listed = run(&followed.engine.url, DATABASE, &["backups", &followed.path("")], 0)?;
    ensure!(listed.lines().count() == 4 && listed.matches("builds on").count() == 2, "{listed}");
    run(&followed.engine.url, DATABASE, &["backups", &followed.path(""), "--keep", "2"], 0)?;
    ensure!(Path::new(&followed.path("full")).exists(), "the third builds on the second, and that on the first");
    let pruned = run(&followed.engine.url, DATABASE, &["backups", &followed.path(""), "--keep", "1"], 0)?;
    ensure!(pruned.matches("removed").count() == 3 && !Path::new(&followed.path("full")).exists(), "{pruned}");
    ensure!(Path::new(&followed.path("fourth/backup.json")).exists());
    Ok(())
}

/// Kills `trawl-ingest` at a request; whether it was running then.
fn killed_at(store: &str, database: &str, arguments: &[&str], at: (&'static str, u64, Phase)) -> anyhow::Result<bool> {
    let proxy = Proxy::start(store)?;
    let mut command = env::ingest_at(&proxy.url, database, arguments);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let process = child.id();
    let (step, nth, phase) = at;
    proxy.at(step, nth, phase, move || drop(process::signal(process, libc::SIGKILL)));
    Ok(process::output_within(child, env::LONGEST)?.status.code().is_none())
}

#[test]
fn killed_at_any_step_both_are_done_again() -> anyhow::Result<()> {
    let (data, backups) = (env::directory()?, env::directory()?);
    let engine = engine(data.path(), backups.path())?;
    let store = engine.url.as_str();
    run(store, DATABASE, &["migrate"], 0)?;
    run(store, DATABASE, &["load", "--dump", &dump("hive")], 0)?;
    let to = backups.path().join("one").display().to_string();
    for at in [
        ("CLONE AS", 3, Phase::Before),
        ("BACKUP DATABASE", 1, Phase::After),
        ("BACKUP TABLE", 2, Phase::Before),
        ("EXCEPT TABLES", 1, Phase::Before),
        ("EXCEPT TABLES", 1, Phase::Amid),
        ("BACKUP TABLE", 4, Phase::After),
    ] {
        ensure!(killed_at(store, DATABASE, &["backup", &to], at)?, "{at:?}: it was not killed");
        ensure!(!Path::new(&to).join("backup.json").exists(), "{at:?}");
        let refused = run(store, "copy", &["restore", &to], 1)?;
        ensure!(refused.contains("is not a backup"), "{at:?}: {refused}");
    }
    let listed = run(store, DATABASE, &["backups", &backups.path().display().to_string()], 0)?;
    ensure!(listed.contains("incomplete"), "{listed}");
    run(store, DATABASE, &["backup", &to], 0)?;
    ensure!(env::sql_at(store, "default", "SHOW DATABASES LIKE '%backup'")?.is_empty(), "clones stayed");
    for at in [
        ("RESTORE DATABASE", 1, Phase::Before),
        ("RESTORE TABLE", 2, Phase::After),
        ("RESTORE DATABASE", 2, Phase::Before),
        ("RESTORE DATABASE", 2, Phase::Amid),
        ("RESTORE DATABASE", 2, Phase::After),
        ("INTO ingest_leases", 1, Phase::After),
    ] {
        ensure!(killed_at(store, "copy", &["restore", &to], at)?, "{at:?}: it was not killed");
        let refused = run(store, "copy", &["migrate"], 1)?;
        ensure!(refused.contains("run `trawl-ingest restore` again"), "{at:?}: {refused}");
        run(store, "copy", &["status"], 1)?;
    }
    for pause in [300, 600, 900] {
        let mut child = env::ingest_at(store, "copy", &["restore", &to]).stdout(Stdio::null()).spawn()?;
        std::thread::sleep(Duration::from_millis(pause));
        child.kill()?;
        process::wait_within(&mut child, env::LONGEST)?;
        if env::ingest_at(store, "copy", &["status"]).output()?.status.success() {
            // It was quicker than the pause, or killed after its last step.
            env::sql_at(store, "default", "DROP DATABASE copy")?;
        }
    }
    killed_at(store, "copy", &["restore", &to], ("RESTORE TABLE", 5, Phase::After))?;
    run(store, "copy", &["restore", &to], 0)?;
    ensure!(env::contents(store, "copy")? == env::contents(store, DATABASE)?);
    let refused = run(store, "copy", &["restore", &to], 1)?;
    ensure!(refused.contains("database `copy` has tables"), "{refused}");
    engine.stop().map(drop)
}

#[test]
fn what_cannot_be_done_is_refused_by_name() -> anyhow::Result<()> {
    let (data, backups, other) = (env::directory()?, env::directory()?, env::directory()?);
    let engine = engine(data.path(), backups.path())?;
    let store = engine.url.as_str();
    let in_backups = |name: &str| backups.path().join(name).display().to_string();
    run(store, DATABASE, &["migrate"], 0)?;
    let refused = |arguments: &[&str], code: i32, words: &str| {
        let output = run(store, DATABASE, arguments, code)?;
        ensure!(output.contains(words), "{arguments:?}: {output}");
        anyhow::Ok(())
    };
    refused(&["backup", &in_backups("none")], 1, "nothing is loaded")?;
    run(store, DATABASE, &["load", "--dump", &dump("hive"), "--to", "20"], 0)?;
    let outside = other.path().join("backup").display().to_string();
    refused(&["backup", &outside], 1, "start trawl-engine with --backup-dir")?;
    refused(&["restore", &outside], 1, "is not a backup")?;
    fs::create_dir(backups.path().join("photos"))?;
    fs::write(backups.path().join("photos/a.jpg"), "a")?;
    refused(&["backup", &in_backups("photos")], 1, "exists and is not a backup")?;
    refused(&["backup", &in_backups("one"), "--base", &in_backups("gone")], 1, "is not a backup")?;
    run(store, DATABASE, &["backup", &in_backups("one")], 0)?;
    refused(&["backup", &in_backups("one")], 1, "is already a backup")?;
    refused(&["restore", &in_backups("one")], 1, "database `chain` has tables")?;
    run(store, DATABASE, &["backup", &in_backups("two"), "--base", &in_backups("one")], 0)?;
    run(store, "second", &["migrate"], 0)?;
    run(store, "second", &["load", "--dump", &dump("devchain"), "--to", "5"], 0)?;
    let output = run(store, "second", &["backup", &in_backups("three"), "--base", &in_backups("one")], 3)?;
    ensure!(output.contains("is a backup of chain 3503995874084926"), "{output}");
    // A file that is cut off, as a full disk leaves it, and then a base that is gone.
    let list = backups.path().join("one/rows/.backup");
    let text = fs::read(&list)?;
    fs::write(&list, "")?;
    let output = run(store, "copy", &["restore", &in_backups("one")], 1)?;
    ensure!(output.contains("is truncated or missing"), "{output}");
    fs::write(&list, text)?;
    fs::rename(backups.path().join("one"), backups.path().join("moved"))?;
    let output = run(store, "copy", &["restore", &in_backups("two")], 1)?;
    ensure!(output.contains("builds on") && output.contains(&in_backups("one")), "{output}");
    fs::rename(backups.path().join("moved"), backups.path().join("one"))?;
    run(store, "copy", &["restore", &in_backups("two")], 0)?;
    // A repair that was killed holds back a backup: what it took back would be missing.
    let claim = "INSERT INTO ingest_leases (lease, event, host, place, process) VALUES ('repair-1/1', 'claimed', \
    'h', 'p', '1:1')";
    env::sql_at(store, DATABASE, claim)?;
    refused(&["backup", &in_backups("four")], 1, "is removing commits")?;
    engine.stop().map(drop)
}
