//! Rows that are lost are missed: what they belong to is refused, and everything else is answered as before.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use xtask::http;
use xtask::process::Server;

use crate::chains::dump;
use crate::env;

mod flips;
pub mod live;
pub mod questions;
mod repair;
mod restarts;

use questions::{Answer, ask};

const DATABASE: &str = "damaged";

/// An engine over a folder that may be damaged.
fn engine(folder: &Path) -> anyhow::Result<Server> {
    let mut command = start(folder)?;
    command.arg("--allow-damaged");
    Server::start(command)
}

/// An engine over a folder that does not start if it is damaged.
fn start(folder: &Path) -> anyhow::Result<Command> {
    let mut command = Command::new(env::program("trawl-engine"));
    command.arg("--data-dir").arg(folder).arg("--library").arg(xtask::engine_library::ensure()?);
    command.args(["--listen", "127.0.0.1:0"]).stderr(Stdio::null());
    Ok(command)
}

/// A store in a folder, whose engine has stopped: the dev chain in two loads, parts of tables not merged.
fn stored() -> anyhow::Result<TempDir> {
    let folder = env::directory()?;
    let engine = env::start_engine(folder.path(), 0, &[])?;
    env::run(env::ingest_at(&engine.url, DATABASE, &["migrate"]), 0)?;
    let file = dump("devchain");
    for arguments in [&["--to", "40"][..], &[]] {
        let load = [&["load", "--merge", "off", "--dump", &file], arguments].concat();
        env::run(env::ingest_at(&engine.url, DATABASE, &load), 0)?;
    }
    engine.stop()?;
    Ok(folder)
}

/// An API that may not become ready, once it has looked at the database.
fn api(store: &str) -> anyhow::Result<Server> {
    let mut command = env::api_at(store, DATABASE, &[]);
    command.stderr(Stdio::null());
    let api = Server::start(command)?;
    let agent = http::agent();
    // A database that cannot be read at all is not waited for longer.
    let looked = || Ok(!http::get(&agent, &format!("{}/api/v2/blocks", api.url))?.text().contains("has not answered"));
    let _ = env::eventually(std::time::Duration::from_secs(10), looked);
    Ok(api)
}

fn rpc(api: &Server, method: &str, params: Value) -> anyhow::Result<Value> {
    http::rpc(&http::agent(), &format!("{}/api/eth-rpc", api.url), method, &params)
}

fn status(store: &str) -> anyhow::Result<Value> {
    let output = env::run(env::ingest_at(store, DATABASE, &["status", "--json"]), 0)?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The folder of the part of a table that was written `nth`; the engine has stopped.
fn part(folder: &Path, table: &str, nth: usize) -> anyhow::Result<PathBuf> {
    let engine = engine(folder)?;
    let parts = format!(
        "SELECT path FROM system.parts WHERE database = '{DATABASE}' AND table = '{table}' AND active ORDER BY min_block_number"
    );
    let paths = env::sql_at(&engine.url, DATABASE, &parts)?;
    engine.stop()?;
    let path = paths.lines().nth(nth).with_context(|| format!("part {nth} of {table}: {paths}"))?;
    Ok(folder.join(path))
}

/// Removes a part, as a disk does that forgets a folder.
fn lose(folder: &Path, table: &str, nth: usize) -> anyhow::Result<()> {
    let path = part(folder, table, nth)?;
    std::fs::remove_dir_all(&path).with_context(|| path.display().to_string())
}

/// Blocks 1 to 40 are one commit, the others another.
#[test]
fn what_lost_rows_belong_to_is_refused_and_the_rest_answered() -> anyhow::Result<()> {
    let folder = stored()?;
    let logs = |api: &Server, first: u64, last: u64| {
        rpc(api, "eth_getLogs", json!([{"fromBlock": format!("{first:#x}"), "toBlock": format!("{last:#x}")}]))
    };
    let whole = engine(folder.path())?;
    let before = api(&whole.url)?;
    ensure!(status(&whole.url)?["damaged"] == json!([]));
    let (expected, block) = (logs(&before, 41, 91)?, rpc(&before, "eth_getBlockByNumber", json!(["0x5", true]))?);
    ensure!(expected["result"].as_array().is_some_and(|logs| !logs.is_empty()), "{expected}");
    before.stop()?;
    whole.stop()?;

    lose(folder.path(), "logs_by_block", 0)?;
    let engine = engine(folder.path())?;
    let after = api(&engine.url)?;
    ensure!(logs(&after, 41, 91)? == expected, "above the damage");
    ensure!(rpc(&after, "eth_getBlockByNumber", json!(["0x5", true]))? == block, "logs are no part of a block");
    let refused = logs(&after, 40, 91)?;
    ensure!(refused["error"]["code"] == -32002, "{refused}");
    ensure!(refused["error"]["data"]["missing"] == json!([{"fromBlock": "0x28", "toBlock": "0x28"}]), "{refused}");
    let agent = http::agent();
    let list = http::get(&agent, &format!("{}/api/v2/blocks", after.url))?;
    ensure!(list.status == 404 && list.text().contains("blocks 1-40 are not indexed"), "{}", list.text());
    let scan = |range: &str| http::get(&agent, &format!("{}/api/v2/scan/logs?{range}", after.url));
    ensure!(scan("fromBlock=41&toBlock=91")?.status == 200 && scan("fromBlock=0&toBlock=91")?.status == 404);
    let health = http::get(&agent, &format!("{}/api/health", after.url))?;
    let body = health.json()?;
    ensure!(health.status == 503 && body["state"] == "damaged", "{body}");
    ensure!(
        body["damage"].as_str().is_some_and(|text| text.contains("`logs_by_block`") && text.contains("blocks 1-40")),
        "{body}"
    );
    let damaged = status(&engine.url)?["damaged"].take();
    ensure!(damaged[0]["table"] == "logs_by_block" && damaged[0]["blocks"] == json!([[1, 40]]), "{damaged}");
    after.stop()?;
    engine.stop()?;
    Ok(())
}

/// Rows that an API has in memory are of no use once their table has lost some: it goes on over the engine's restart.
#[test]
fn cached_answers_are_refused_once_rows_are_lost() -> anyhow::Result<()> {
    let (folder, port) = (stored()?, env::free_port()?);
    let whole = env::start_engine(folder.path(), port, &["--allow-damaged"])?;
    let api = api(&whole.url)?;
    let ask = |method: &str| rpc(&api, method, json!(["0x5"]));
    let (receipts, above) = (ask("eth_getBlockReceipts")?, rpc(&api, "eth_getBlockReceipts", json!(["0x32"]))?);
    ensure!(receipts["result"].is_array() && ask("eth_getBlockReceipts")? == receipts, "{receipts}");
    whole.stop()?;
    lose(folder.path(), "logs_by_block", 0)?;
    let damaged = env::start_engine(folder.path(), port, &["--allow-damaged"])?;
    let mut last = Value::Null;
    env::eventually(env::SOON, || {
        last = ask("eth_getBlockReceipts")?;
        Ok(last["error"]["code"] == -32002 && last.to_string().contains("Receipts"))
    })
    .with_context(|| last.to_string())?;
    ensure!(rpc(&api, "eth_getBlockReceipts", json!(["0x32"]))? == above, "above the damage");
    api.stop()?;
    damaged.stop()?;
    Ok(())
}

#[test]
fn a_database_without_blocks_is_not_ready() -> anyhow::Result<()> {
    let database = &env::migrate("damage_empty")?;
    let api = Server::start(env::api_at(env::store(), database, &[]))?;
    let agent = http::agent();
    let get = |path: &str| http::get(&agent, &format!("{}{path}", api.url));
    env::eventually(env::SOON, || Ok(get("/health/ready")?.text().contains("no block is committed yet")))?;
    ensure!(get("/health/ready")?.status == 503);
    for path in ["/api/v2/blocks", "/api/v2/blocks?type=uncle", "/api/v2/scan/logs?fromBlock=0", "/api/health"] {
        let answer = get(path)?;
        ensure!(answer.status == 503, "{path}: {} {}", answer.status, answer.text());
    }
    for (method, params) in [
        ("eth_getLogs", json!([{"fromBlock": "0x0"}])),
        ("eth_chainId", json!([])),
        ("eth_blockNumber", json!([])),
        ("eth_getBlockByNumber", json!(["latest", false])),
    ] {
        let answer = rpc(&api, method, params)?;
        ensure!(answer["error"]["code"] == -32002, "{method}: {answer}");
    }
    let output = env::run(env::ingest(database, &["verify"]), 1)?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(stderr.contains("nothing to verify"), "{stderr}");
    Ok(())
}

/// Whether an answer is right: the same as before, or none.
fn is_right(before: &Answer, after: &Answer) -> bool {
    after.is_error() || before == after
}
