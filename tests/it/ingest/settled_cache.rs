//! A repeated request for settled data needs no statement, and its answer is never stale. Statements are counted on
//! their way to the engine; answers are compared with those of an API that caches nothing.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;
use xtask::process::Server;

use super::follow::{Follower, hashes, reaches, tip};
use super::node::Node;
use super::proxy::Proxy;
use crate::chains::{self, chain, dump, quantity};
use crate::env;
use crate::pages::busiest;

/// Nothing is cached but rows of settled blocks.
const NO_ANSWERS: [&str; 2] = ["--cache-size", "0"];
const NOTHING: [&str; 4] = ["--cache-size", "0", "--settled-cache-size", "0"];

/// Calls about blocks and their transactions.
fn calls(lines: &[Value]) -> Vec<(&'static str, Value)> {
    let mut calls = Vec::new();
    for line in lines {
        let (number, hash) = (&line["block"]["number"], &line["block"]["hash"]);
        calls.push(("eth_getBlockByNumber", json!([number, true])));
        calls.push(("eth_getBlockByNumber", json!([number, false])));
        calls.push(("eth_getBlockByHash", json!([hash, true])));
        calls.push(("eth_getBlockReceipts", json!([number])));
        calls.push(("eth_getBlockTransactionCountByHash", json!([hash])));
        calls.push(("eth_getUncleCountByBlockNumber", json!([number])));
        calls.push(("eth_getUncleByBlockNumberAndIndex", json!([number, "0x0"])));
        for transaction in line["block"]["transactions"].as_array().into_iter().flatten().take(2) {
            let (hash, index) = (&transaction["hash"], &transaction["transactionIndex"]);
            calls.push(("eth_getTransactionByHash", json!([hash])));
            calls.push(("eth_getTransactionReceipt", json!([hash])));
            calls.push(("eth_getTransactionByBlockNumberAndIndex", json!([number, index])));
        }
    }
    calls
}

/// Lists about transactions and blocks, and pages of lists that begin below a settled block.
fn paths(lines: &[Value], database: &str) -> anyhow::Result<Vec<String>> {
    let mut paths = Vec::new();
    for line in lines {
        let number = quantity(&line["block"]["number"]);
        paths.push(format!("/api/v2/blocks/{number}/withdrawals"));
        for transaction in line["block"]["transactions"].as_array().into_iter().flatten().take(1) {
            let hash = transaction["hash"].as_str().unwrap_or_default();
            for part in ["logs", "raw-trace", "summary"] {
                paths.push(format!("/api/v2/transactions/{hash}/{part}"));
            }
        }
    }
    let below = lines.iter().map(|line| quantity(&line["block"]["number"])).min().context("a line")?;
    for address in busiest(database, "token_transfers", 2)? {
        paths.push(format!("/api/v2/addresses/{address}/token-transfers?block_number={below}&index=0"));
    }
    Ok(paths)
}

/// Whether a statement is one of a request, and not of who looks for new heads.
fn is_of_request(statement: &str) -> bool {
    let looks = ["ingest_", "system.", "hot_rows", "chain_configurations", "left_out", "committed_"];
    statement.contains("FROM ") && !looks.iter().any(|name| statement.contains(name))
}

/// The answers to the calls, then those to the paths.
fn ask(api: &Server, calls: &[(&'static str, Value)], paths: &[String]) -> anyhow::Result<Vec<String>> {
    let agent = http::agent();
    let url = format!("{}/api/eth-rpc", api.url);
    let call = |(method, parameters): &(&str, Value)| Ok(http::rpc(&agent, &url, method, parameters)?.to_string());
    let get = |path: &String| {
        let answer = http::get(&agent, &format!("{}{path}", api.url))?;
        Ok(format!("{} {}", answer.status, answer.text()))
    };
    calls.iter().map(call).chain(paths.iter().map(get)).collect()
}

/// The answers and how many statements they needed.
fn counted(
    (api, proxy): (&Server, &Proxy),
    calls: &[(&'static str, Value)],
    paths: &[String],
) -> anyhow::Result<(Vec<String>, usize)> {
    let before = proxy.matching(is_of_request).len();
    let answers = ask(api, calls, paths)?;
    Ok((answers, proxy.matching(is_of_request).len() - before))
}

fn measured(api: &Server, name: &str) -> anyhow::Result<f64> {
    let text = http::get(&http::agent(), &format!("{}/metrics", api.url))?.text();
    Ok(text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap_or(0.0))
}

#[test]
fn settled_data_needs_no_statement() -> anyhow::Result<()> {
    let all = chain("hive");
    let proxy = Proxy::start(env::store())?;
    let api = env::start_api_at(&proxy.url, "hive", &NO_ANSWERS)?;
    let without = env::start_api("hive", &NOTHING)?;
    let lines: Vec<Value> = all.lines.iter().step_by(env::amount(5, 3)).cloned().collect();
    let (calls, paths) = (calls(&lines), paths(&lines[2..], "hive")?);
    let (first, statements) = counted((&api, &proxy), &calls, &paths)?;
    ensure!(statements > 60, "{statements}");
    let (again, statements) = counted((&api, &proxy), &calls, &paths)?;
    let left = || proxy.matching(is_of_request).pop().unwrap_or_default();
    ensure!(statements == 0, "{statements} statements, the last: {}", left());
    ensure!(first == again && first == ask(&without, &calls, &paths)?);
    ensure!(first.iter().filter(|answer| answer.len() > 200).count() > 60);
    ensure!(measured(&api, "trawl_settled_cache_requests_total{outcome=\"hit\"}")? > 60.0);
    ensure!(measured(&api, "trawl_settled_cache_bytes")? > 100_000.0);
    ensure!(measured(&without, "trawl_settled_cache_bytes")? == 0.0);
    Ok(())
}

/// Each question of many clients at once is one statement.
#[test]
fn concurrent_misses_are_one_statement() -> anyhow::Result<()> {
    chain("hive");
    let proxy = Proxy::start(env::store())?;
    let api = env::start_api_at(&proxy.url, "hive", &NO_ANSWERS)?;
    let calls = [("eth_getBlockReceipts", json!(["0x1e"]))];
    let before = proxy.matching(is_of_request).len();
    let answers: Vec<Vec<String>> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..12).map(|_| scope.spawn(|| ask(&api, &calls, &[]))).collect();
        let joined = clients.into_iter().map(|client| client.join());
        joined
            .map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect::<anyhow::Result<_>>()
    })?;
    ensure!(answers.iter().all(|answer| answer == &answers[0] && answer[0].len() > 200), "{answers:?}");
    let statements = proxy.matching(is_of_request).len() - before;
    ensure!(statements == 2, "{statements}: its transactions, and its logs");
    Ok(())
}

#[test]
fn its_memory_is_bounded_and_large_answers_are_not_cached() -> anyhow::Result<()> {
    let all = chain("hive");
    let proxy = Proxy::start(env::store())?;
    let api = env::start_api_at(&proxy.url, "hive", &["--cache-size", "0", "--settled-cache-size", "300KB"])?;
    let calls = calls(&all.lines[..env::amount(30, all.lines.len())]);
    for _ in 0..2 {
        ask(&api, &calls, &[])?;
        let bytes = measured(&api, "trawl_settled_cache_bytes")?;
        ensure!(bytes > 50_000.0 && bytes <= 300_000.0, "{bytes}");
    }
    let largest = all.lines.iter().max_by_key(|line| line.to_string().len()).context("a block")?;
    let large = [("eth_getBlockByNumber", json!([largest["block"]["number"], true]))];
    ask(&api, &large, &[])?;
    let (_, statements) = counted((&api, &proxy), &large, &[])?;
    ensure!(statements > 0, "more than a sixteenth is not cached");
    Ok(())
}

/// What is not there yet is found when it comes, and what is taken back is not answered from memory; loaded again it is
/// read anew.
#[test]
fn what_comes_is_found_and_what_goes_is_refused() -> anyhow::Result<()> {
    let database = &env::migrate("asked_again_taken")?;
    let load = |to: &str| env::run(env::ingest(database, &["load", "--dump", &dump("devchain"), "--to", to]), 0);
    load("40")?;
    let proxy = Proxy::start(env::store())?;
    let api = env::start_api_at(&proxy.url, database, &NO_ANSWERS)?;
    let lines = &chain("devchain").lines;
    let (old, new) = (calls(&lines[30..36]), calls(&lines[50..56]));
    let none = |answers: &[String]| answers.iter().all(|answer| answer.contains("\"result\":null"));
    let before = ask(&api, &old, &[])?;
    for _ in 0..2 {
        ensure!(none(&ask(&api, &new, &[])?), "not loaded yet");
    }
    load("91")?;
    let without = env::start_api(database, &NOTHING)?;
    let reached = |height: &str| {
        let newest = [("eth_blockNumber", json!([]))];
        env::eventually(env::SOON, || Ok(ask(&api, &newest, &[])?[0].contains(&format!("\"{height}\""))))
    };
    reached("0x5b")?;
    let after = ask(&api, &new, &[])?;
    ensure!(after == ask(&without, &new, &[])? && !none(&after));
    let (again, statements) = counted((&api, &proxy), &old, &[])?;
    ensure!(again == before && statements == 0, "{statements}: new blocks change nothing of old ones");

    let commit = "(SELECT max(first_block) FROM ingest_commits WHERE first_block <= 50)";
    env::sql(
        database,
        &format!(
            "CREATE TABLE saved_commits ENGINE = Memory AS SELECT * FROM ingest_commits WHERE first_block = {commit}"
        ),
    )?;
    env::sql(database, &format!("DELETE FROM ingest_commits WHERE first_block = {commit}"))?;
    env::eventually(env::SOON, || Ok(none(&ask(&api, &new, &[])?)))?;
    env::sql(
        database,
        "ALTER TABLE blocks UPDATE extra_data = 'told anew' WHERE block_number >= 50 SETTINGS mutations_sync = 2",
    )?;
    env::sql(database, "INSERT INTO ingest_commits SELECT * FROM saved_commits")?;
    reached("0x5b")?;
    let latest = ask(&api, &new, &[])?;
    ensure!(latest != after && latest == ask(&without, &new, &[])?, "what was loaded again is read again");
    Ok(())
}

/// Blocks come, settle and are orphaned; old blocks are answered from memory all the time, and nothing is answered
/// that is not so.
#[test]
fn beside_new_heads_settled_data_needs_no_statement() -> anyhow::Result<()> {
    let database = "asked_again_followed";
    let node = Node::start("hive", &["--head", "30", "--finality", "12"])?;
    let _database = env::migrate(database)?;
    let follower = Follower::start(database, &node.url, &[])?;
    let proxy = Proxy::start(env::store())?;
    let api = env::start_api_at(&proxy.url, database, &NO_ANSWERS)?;
    let without = env::start_api(database, &NOTHING)?;
    let main = hashes("main")?;
    reaches(&api.url, &main[&30])?;
    let settled = |block: u64| {
        let last = "SELECT max(last_block) FROM ingest_commits";
        let is_settled = || Ok(env::sql(database, last)?.parse::<u64>()? >= block);
        env::eventually(Duration::from_secs(60), is_settled)?;
        let safe = [("eth_getBlockByNumber", json!([format!("{block:#x}"), false]))];
        env::eventually(env::SOON, || Ok(!ask(&api, &safe, &[])?[0].contains("null,\"id\"")))
    };
    settled(18)?;
    // A head whose blocks are settled may be a moment away.
    std::thread::sleep(Duration::from_millis(500));
    let lines = chains::lines("hive")?;
    let old = calls(&lines[5..env::amount(9, 15)]);
    let before = ask(&api, &old, &[])?;
    let everything: Vec<_> = calls(&lines.iter().step_by(env::amount(17, 3)).cloned().collect::<Vec<_>>());
    let mut compared = 0;
    for (branch, head) in [("main", Some(34)), ("main", Some(54)), ("depth6", None), ("main", None), ("depth1", None)] {
        let chain = hashes(branch)?;
        node.control(&match head {
            Some(head) => json!({"head": head}),
            None => json!({"branch": branch}),
        })?;
        let newest = head.map_or_else(|| tip(&chain), |head| chain[&head].as_str());
        reaches(&api.url, newest)?;
        reaches(&without.url, newest)?;
        let (again, statements) = counted((&api, &proxy), &old, &[])?;
        ensure!(again == before && statements == 0, "{branch} {head:?}: {statements}");
        let due = ask(&without, &everything, &[])?;
        // Twice, so that the answers cached by the first round are compared.
        for _ in 0..2 {
            ensure!(ask(&api, &everything, &[])? == due, "{branch} {head:?}");
            compared += everything.len();
        }
    }
    ensure!(compared > 250, "{compared}");
    let settled_since = calls(&lines[25..32]);
    ask(&api, &settled_since, &[])?;
    let (_, statements) = counted((&api, &proxy), &settled_since, &[])?;
    ensure!(statements == 0, "{statements}, the last: {:?}", proxy.matching(is_of_request).pop());
    follower.stop()
}

/// The first pages of lists begin with the newest blocks and go on in settled ones, which are read once: a new block
/// costs no statement, but for what is not known of the addresses in it.
#[test]
fn a_new_block_does_not_read_the_settled_rest_of_a_page_again() -> anyhow::Result<()> {
    chain("hive");
    let database = "asked_again_pages";
    let node = Node::start("hive", &["--head", "40", "--finality", "12"])?;
    let _database = env::migrate(database)?;
    let follower = Follower::start_settling(
        env::store(),
        database,
        &node.url,
        &["--settle-blocks", "20", "--settle-interval", "1h"],
    )?;
    let proxy = Proxy::start(env::store())?;
    let api = env::start_api_at(&proxy.url, database, &NO_ANSWERS)?;
    let without = env::start_api(database, &NOTHING)?;
    let main = hashes("main")?;
    let settled = "SELECT max(last_block) FROM ingest_commits";
    env::eventually(Duration::from_secs(60), || Ok(env::sql(database, settled)?.parse::<u64>()? >= 28))?;
    // A head whose blocks are settled may be a moment away.
    std::thread::sleep(Duration::from_millis(500));
    for url in [&api.url, &without.url] {
        reaches(url, &main[&40])?;
    }
    let mut paths = vec!["/api/v2/blocks".to_owned(), "/api/v2/blocks?items_count=35".to_owned()];
    for address in busiest("hive", "transactions_by_address", 3)? {
        paths.push(format!("/api/v2/addresses/{address}/transactions"));
        paths.push(format!("/api/v2/addresses/{address}/internal-transactions"));
    }
    let (before, first) = counted((&api, &proxy), &[], &paths)?;
    ensure!(first >= paths.len(), "{first} statements for {} pages", paths.len());
    for head in 41..=46 {
        node.control(&json!({"head": head}))?;
        reaches(&api.url, &main[&head])?;
        reaches(&without.url, &main[&head])?;
        let (after, statements) = counted((&api, &proxy), &[], &paths)?;
        // What is shown beside transactions is read by positions, which a new one changes: three statements a list.
        ensure!(statements <= 9, "{head}: {statements}, the last: {:?}", proxy.matching(is_of_request).pop());
        let (blocks, statements) = counted((&api, &proxy), &[], &paths[..2])?;
        ensure!(statements == 0 && blocks == after[..2] && after != before, "{head}: {statements}");
        ensure!(after == ask(&without, &[], &paths)?, "{head}");
    }
    follower.stop()
}

/// Nobody has seen the addresses of a new page: what is known of them is one statement, whatever it is.
#[test]
fn what_is_known_of_new_addresses_is_one_statement() -> anyhow::Result<()> {
    chain("devchain");
    let proxy = Proxy::start(env::store())?;
    let api = env::start_api_at(&proxy.url, "devchain", &NOTHING)?;
    let about = |statement: &str| {
        ["contracts ", "proxy_implementations ", "tokens ", "token_statistics "]
            .iter()
            .any(|table| is_of_request(statement) && statement.contains(&format!("FROM {table}")))
    };
    let mut seen = 0;
    for address in busiest("devchain", "token_transfers", 6)? {
        let path = format!("/api/v2/addresses/{address}/token-transfers");
        let before = proxy.matching(about).len();
        ask(&api, &[], std::slice::from_ref(&path))?;
        let statements = proxy.matching(about).len() - before;
        // A second round has what proxies point to.
        ensure!(statements <= 2, "{path}: {statements}");
        seen += statements;
        let before = proxy.matching(about).len();
        ask(&api, &[], std::slice::from_ref(&path))?;
        ensure!(proxy.matching(about).len() == before, "{path}: known by now");
    }
    ensure!(seen >= 1);
    Ok(())
}
