//! `eth_newFilter` and its like at `/rpc`: what is new since the last poll, while a node moves on behind
//! `follow`.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::{http, workspace};

use super::api_with;
use super::filters::emitted;
use super::subscriptions::logs_of;
use crate::chains::{chain, dump, lines, lines_of, quantity};
use crate::env;
use crate::ingest::follow::{hashes, reaches, started, tip};

fn ask(api: &str, method: &str, params: Value) -> anyhow::Result<Value> {
    http::rpc(&http::agent(), &format!("{api}/rpc"), method, &params)
}

fn made(api: &str, method: &str, params: Value) -> anyhow::Result<Value> {
    let mut answer = ask(api, method, params)?;
    ensure!(answer["result"].as_str().is_some_and(|id| id.starts_with("0x") && id.len() == 34), "{answer}");
    Ok(answer["result"].take())
}

fn changes(api: &str, id: &Value) -> anyhow::Result<Value> {
    let mut answer = ask(api, "eth_getFilterChanges", json!([id]))?;
    ensure!(answer.get("error").is_none(), "{answer}");
    Ok(answer["result"].take())
}

/// The next changes, which come within a second.
fn some_changes(api: &str, id: &Value) -> anyhow::Result<Value> {
    for _ in 0..20 {
        let found = changes(api, id)?;
        if found != json!([]) {
            return Ok(found);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(json!([]))
}

#[test]
fn tell_what_is_new_once() -> anyhow::Result<()> {
    let (_database, node, follower, api) = started("kept_filters", &["--head", "40", "--finality", "8"])?;
    let (main, chain) = (hashes("main")?, lines("hive")?);
    reaches(&api.url, &main[&40])?;
    let everything = logs_of(&chain[41..]);
    let address = &everything[0]["address"];
    let blocks = made(&api.url, "eth_newBlockFilter", json!([]))?;
    let pending = made(&api.url, "eth_newPendingTransactionFilter", json!([true]))?;
    let logs = made(&api.url, "eth_newFilter", json!([{}]))?;
    let some = made(&api.url, "eth_newFilter", json!([{"address": address, "fromBlock": "0x1", "toBlock": "0x2f"}]))?;
    ensure!(changes(&api.url, &blocks)? == json!([]) && changes(&api.url, &logs)? == json!([]));
    let (mut of_blocks, mut of_logs, mut of_some) = (Vec::new(), Vec::new(), Vec::new());
    for head in [41, 42, 47, 54] {
        node.control(&json!({"head": head}))?;
        reaches(&api.url, &main[&head])?;
        for (found, id) in [(&mut of_blocks, &blocks), (&mut of_logs, &logs), (&mut of_some, &some)] {
            found.extend(changes(&api.url, id)?.as_array().context("a list")?.clone());
            ensure!(changes(&api.url, id)? == json!([]), "reported twice");
        }
        ensure!(changes(&api.url, &pending)? == json!([]));
    }
    ensure!(ask(&api.url, "eth_newPendingTransactionFilter", json!([1]))?["error"]["code"] == -32602);
    ensure!(ask(&api.url, "eth_uninstallFilter", json!([pending]))?["result"] == true);
    let expected: Vec<&Value> = chain[41..].iter().map(|line| &line["block"]["hash"]).collect();
    ensure!(json!(of_blocks) == json!(expected), "{of_blocks:?}");
    ensure!(of_logs == everything, "{of_logs:?}");
    let is_expected = |log: &&Value| log["address"] == *address && quantity(&log["blockNumber"]) <= 0x2f;
    let expected: Vec<Value> = everything.iter().filter(is_expected).cloned().collect();
    ensure!(!expected.is_empty() && of_some == expected, "{of_some:?}");
    follower.stop()
}

/// A client that fell behind gets what fits, answer by answer, and loses nothing.
#[test]
fn with_more_than_fits_go_on_after_it() -> anyhow::Result<()> {
    let database = "polling_filters_in_parts";
    let _database = env::migrate(database)?;
    let load = |last: &str| env::run(env::ingest(database, &["load", "--dump", &dump("devchain"), "--to", last]), 0);
    load("10")?;
    let api = env::start_api(database, &["--rpc-max-logs", "40", "--max-unfiltered-blocks", "25"])?;
    let chain = chain("devchain");
    let logs: Vec<Value> = logs_of(&chain.lines[11..]);
    let address = &logs.iter().max_by_key(|log| logs.iter().filter(|one| one["address"] == log["address"]).count());
    let address = &address.context("a log")?["address"];
    let of_address = made(&api.url, "eth_newFilter", json!([{"address": address}]))?;
    let (of_all, blocks) =
        (made(&api.url, "eth_newFilter", json!([{}]))?, made(&api.url, "eth_newBlockFilter", json!([]))?);
    load("90")?;
    reaches(&api.url, chain.lines[90]["block"]["hash"].as_str().context("a hash")?)?;
    let hashes: Vec<Value> = chain.lines[11..=90].iter().map(|line| line["block"]["hash"].clone()).collect();
    let is_of = |log: &&Value| log["address"] == *address;
    for (id, due) in
        [(&of_address, logs.iter().filter(is_of).cloned().collect()), (&of_all, logs.clone()), (&blocks, hashes)]
    {
        let (mut found, mut answers) = (Vec::new(), 0);
        loop {
            let more = changes(&api.url, id)?.as_array().context("a list")?.clone();
            answers += 1;
            if more.is_empty() && found.len() >= due.len() {
                break;
            }
            ensure!(answers < 99, "{} of {} after 99 answers", found.len(), due.len());
            found.extend(more);
        }
        ensure!(found == due, "{} of {}", found.len(), due.len());
        ensure!(answers > 2, "all in one answer: the limits were not reached");
    }
    api.stop()?;
    Ok(())
}

/// A chain of the fixtures with one of its branches, from genesis on.
pub fn chain_with(branch: &str) -> anyhow::Result<Vec<Value>> {
    let joined = lines_of(&workspace::fixture(&format!("hive/branch-{branch}.ndjson.gz")))?;
    let mut chain = lines("hive")?;
    chain.truncate(usize::try_from(quantity(&joined[0]["block"]["number"]))?);
    chain.extend(joined);
    Ok(chain)
}

/// The logs that a reorganisation removes, from the last to the first, and those that it brings.
fn logs_of_step(before: &[Value], after: &[Value]) -> (Vec<Value>, usize) {
    let fork = before.iter().zip(after).take_while(|(one, other)| one["block"] == other["block"]).count();
    let mut logs = logs_of(&before[fork..]);
    logs.reverse();
    logs.iter_mut().for_each(|log| log["removed"] = json!(true));
    logs.extend(logs_of(&after[fork..]));
    (logs, fork)
}

/// As nodes do: orphaned logs again with `removed`, then the logs and blocks of the new branch.
#[test]
fn report_what_a_reorganisation_removes() -> anyhow::Result<()> {
    let (_database, node, follower, api) = started("kept_filters_reorganised", &["--head", "54", "--finality", "30"])?;
    reaches(&api.url, &hashes("main")?[&54])?;
    let mut before = lines("hive")?;
    before.truncate(55);
    let address = &logs_of(&before[40..])[0]["address"];
    let blocks = made(&api.url, "eth_newBlockFilter", json!([]))?;
    let all = made(&api.url, "eth_newFilter", json!([{"fromBlock": "0x0"}]))?;
    let some = made(&api.url, "eth_newFilter", json!([{"address": address, "fromBlock": "0x1", "toBlock": "0x33"}]))?;
    let rare = made(&api.url, "eth_newFilter", json!([{}]))?;
    let (start, is_of) =
        (before.clone(), |log: &&Value| log["address"] == *address && quantity(&log["blockNumber"]) <= 0x33);
    for branch in ["depth1", "depth6", "depth17"] {
        node.control(&json!({"branch": branch}))?;
        reaches(&api.url, tip(&hashes(branch)?))?;
        let after = chain_with(branch)?;
        let (due, fork) = logs_of_step(&before, &after);
        let found = some_changes(&api.url, &all)?;
        ensure!(found == json!(due), "{branch}: {found}\ninstead of\n{due:?}");
        let of_some: Vec<&Value> = due.iter().filter(is_of).collect();
        ensure!(changes(&api.url, &some)? == json!(of_some), "{branch}");
        let of_blocks: Vec<&Value> = after[fork..].iter().map(|line| &line["block"]["hash"]).collect();
        ensure!(changes(&api.url, &blocks)? == json!(of_blocks), "{branch}");
        for id in [&all, &some, &blocks] {
            ensure!(changes(&api.url, id)? == json!([]), "{branch}: reported twice");
        }
        before = after;
    }
    // A client that polls seldom knows nothing of the branches in between.
    let (due, _) = logs_of_step(&start, &before);
    let found = changes(&api.url, &rare)?;
    ensure!(found == json!(due), "{found}\ninstead of\n{due:?}");
    follower.stop()
}

#[test]
fn answer_all_their_logs_and_are_forgotten() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let api = api_with(chain, &[])?;
    let expected = emitted(chain);
    let logs = made(&api.url, "eth_newFilter", json!([{"fromBlock": "0x0", "toBlock": "latest"}]))?;
    let blocks = made(&api.url, "eth_newBlockFilter", json!([]))?;
    let all = |id: &Value| ask(&api.url, "eth_getFilterLogs", json!([id]));
    ensure!(all(&logs)?["result"] == json!(expected));
    ensure!(changes(&api.url, &logs)? == json!([]), "old logs are no change");
    for id in [&blocks, &json!("0x1")] {
        ensure!(all(id)?["error"]["code"] == -32000, "{id}");
    }
    for removed in [true, false] {
        ensure!(ask(&api.url, "eth_uninstallFilter", json!([logs]))?["result"] == removed);
    }
    ensure!(all(&logs)?["error"] == json!({"code": -32000, "message": "filter not found"}));
    for (method, params) in [
        ("eth_newFilter", json!([{"topics": ["0x12"]}])),
        ("eth_newFilter", json!([])),
        ("eth_getFilterChanges", json!([7])),
    ] {
        ensure!(ask(&api.url, method, params)?["error"]["code"] == -32602, "{method}");
    }
    let elsewhere = http::rpc(&http::agent(), &format!("{}/api/eth-rpc", api.url), "eth_newFilter", &json!([{}]))?;
    ensure!(elsewhere["error"]["code"] == -32601, "{elsewhere}");
    api.stop()?;
    Ok(())
}

/// As many block filters as one batch may make, for a client that a proxy names: how many were created, and a refusal.
fn made_by(api: &str, client: &str) -> anyhow::Result<(usize, Option<Value>)> {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_newBlockFilter", "params": []});
    let calls = serde_json::to_vec(&vec![call; 50])?;
    let request = http::agent().post(&format!("{api}/rpc")).header("x-real-ip", client);
    let answers: Vec<Value> = serde_json::from_slice(&request.send(&calls[..])?.body_mut().read_to_vec()?)?;
    let created = answers.iter().filter(|answer| answer["result"].is_string()).count();
    ensure!(answers.len() == 50, "{answers:?}");
    Ok((created, answers.into_iter().find(|answer| answer.get("error").is_some())))
}

#[test]
fn of_one_client_leave_the_places_of_others() -> anyhow::Result<()> {
    let api = api_with(chain("devchain"), &["--client-header", "X-Real-IP"])?;
    let first = made(&api.url, "eth_newBlockFilter", json!([]))?;
    let (mut created, mut refused) = (0, None);
    for _ in 0..26 {
        let (more, problem) = made_by(&api.url, "10.0.0.1")?;
        created += more;
        refused = refused.or(problem);
    }
    let refused = refused.context("nothing was refused")?;
    ensure!(created == 1_249, "{created}");
    ensure!(
        refused["error"]["code"] == -32005 && refused["error"]["data"] == json!({"retryAfterSeconds": 300}),
        "{refused}"
    );
    ensure!(made_by(&api.url, "10.0.0.2")?.0 == 50, "another client has its own");
    ensure!(changes(&api.url, &first)? == json!([]), "and keeps what it has");
    api.stop()?;
    Ok(())
}
