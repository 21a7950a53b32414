//! Nodes that answer well but for some calls: what they spoil is left out, waited for, or requested another way, and
//! nothing else suffers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::node::{Node, comparable, comparable_reference};
use super::state::covered;
use crate::chains::chain;
use crate::env;

/// What becomes of the answer to a call: it may be changed, and the whole request may be refused with a status.
type AnswerTampering = dyn Fn(&Value, &mut Value) -> Option<u16> + Send + Sync;

/// An address that gives what `node` answers, spoiled.
pub(super) fn spoiled(
    node: &Node,
    spoil: impl Fn(&Value, &mut Value) -> Option<u16> + Send + Sync + 'static,
) -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    let (node, spoil): (String, Arc<AnswerTampering>) = (node.url.clone(), Arc::new(spoil));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (node, spoil) = (node.clone(), Arc::clone(&spoil));
            // Whatever ends a connection ends it for the client too.
            std::thread::spawn(move || drop(serve(stream, &node, &*spoil)));
        }
    });
    Ok(url)
}

fn serve(stream: TcpStream, node: &str, spoil: &AnswerTampering) -> anyhow::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let calls: Vec<Value> = serde_json::from_slice(&body)?;
    let mut answers = http::post(&http::agent(), node, &body)?.json()?;
    let mut status = 200;
    for (call, answer) in calls.iter().zip(answers.as_array_mut().context("a batch")?) {
        status = spoil(call, answer).unwrap_or(status);
    }
    let text = answers.to_string();
    let mut stream = stream;
    write!(stream, "HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}", text.len())?;
    Ok(())
}

fn load(database: &str, url: &str) -> anyhow::Result<()> {
    env::create_tables(database)?;
    env::run(env::ingest(database, &["load", "--rpc-url", url]), 0)?;
    Ok(())
}

/// Whether `call` asks for call frames.
fn is_trace(call: &Value) -> bool {
    call["method"] == "trace_block" || call["params"][1]["tracer"] == "callTracer"
}

#[test]
fn traces_that_are_not_sold_are_missing() -> anyhow::Result<()> {
    let node = Node::start("hive", &[])?;
    let errors = [
        None,
        Some(json!({"code": -32600, "message": "trace_block is not available on the Free tier"})),
        Some(json!({"code": -32602, "message": "not part of what was bought"})),
    ];
    for (position, error) in errors.into_iter().enumerate() {
        let url = spoiled(&node, move |call, answer| {
            if !is_trace(call) {
                return None;
            }
            if let Some(error) = &error {
                *answer = json!({"jsonrpc": "2.0", "id": call["id"], "error": error});
            }
            error.is_none().then_some(403)
        })?;
        let database = format!("spoiled_not_sold_{position}");
        let _database = env::database(&database);
        load(&database, &url)?;
        let counts = (covered(&database, "blocks")?, covered(&database, "traces")?, covered(&database, "receipts")?);
        // The genesis has none to ask for.
        ensure!(counts.0 == 55 && counts.1 <= 1 && counts.2 == 55, "{position}: {counts:?}");
        ensure!(covered(&database, "state_transactions")? == 54, "{position}: state");
    }
    Ok(())
}

/// As when a key expires: what a gateway denies then is not taken for what it does not offer.
#[test]
fn a_gateway_that_denies_everything_costs_no_traces() -> anyhow::Result<()> {
    let (node, database) = (Node::start("hive", &[])?, "spoiled_denied");
    let is_denied = AtomicBool::new(false);
    let url = spoiled(&node, move |call, _| {
        if is_trace(call) && call["params"][0] == "0x1e" {
            is_denied.store(true, Ordering::Relaxed);
        }
        is_denied.load(Ordering::Relaxed).then_some(403)
    })?;
    let _database = env::database(database);
    env::create_tables(database)?;
    let output = env::run(env::ingest(database, &["load", "--rpc-url", &url]), 1)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(text.contains("HTTP 403: check its address, and the key"), "{text}");
    ensure!(covered(database, "traces")? == covered(database, "blocks")?, "blocks are there without their traces");
    env::run(env::ingest(database, &["load", "--rpc-url", &node.url]), 0)?;
    ensure!(covered(database, "traces")? == 55 && covered(database, "blocks")? == 55);
    Ok(())
}

#[test]
fn traces_that_are_too_large_are_missing_of_that_block() -> anyhow::Result<()> {
    let node = Node::start("hive", &[])?;
    let hash = chain("hive").lines[20]["block"]["hash"].clone();
    let url = spoiled(&node, move |call, answer| {
        let of = &call["params"][0];
        if is_trace(call) && (*of == "0x14" || *of == hash) {
            let error = json!({"code": -32008, "message": "Response is too big", "data": "Exceeded max limit"});
            *answer = json!({"jsonrpc": "2.0", "id": call["id"], "error": error});
        }
        None
    })?;
    let _database = env::database("spoiled_too_large");
    load("spoiled_too_large", &url)?;
    ensure!(covered("spoiled_too_large", "traces")? == 54 && covered("spoiled_too_large", "blocks")? == 55);
    ensure!(env::sql("spoiled_too_large", "SELECT count() FROM internal_transactions WHERE block_number = 20")? == "0");
    Ok(())
}

/// As behind a balancer whose nodes stand on different branches for some seconds.
#[test]
fn branches_that_mix_for_seconds_are_waited_for() -> anyhow::Result<()> {
    let node = Node::start("hive", &[])?;
    for (method, database) in [("trace_block", "spoiled_traces_mix"), ("eth_getBlockReceipts", "spoiled_receipts_mix")]
    {
        let began: OnceLock<Instant> = OnceLock::new();
        let url = spoiled(&node, move |call, answer| {
            let is_due = call["method"] == method && call["params"][0] == "0x1e";
            if is_due && began.get_or_init(Instant::now).elapsed() < Duration::from_secs(4) {
                for entry in answer["result"].as_array_mut().into_iter().flatten() {
                    entry["blockHash"] = json!(format!("0x{}", "12".repeat(32)));
                }
            }
            None
        })?;
        let _database = env::database(database);
        load(database, &url)?;
        ensure!(comparable(database)? == comparable_reference("hive")?, "{method}");
        ensure!(covered(database, "traces")? == 55, "{method}");
    }
    Ok(())
}

#[test]
fn state_that_is_short_at_first_is_requested_again() -> anyhow::Result<()> {
    let node = Node::start("hive", &[])?;
    let spoils = AtomicU32::new(0);
    let url = spoiled(&node, move |call, answer| {
        let is_state = call["params"][1]["tracer"] == "prestateTracer";
        let diffs = answer["result"].as_array_mut().filter(|diffs| is_state && diffs.len() > 1)?;
        match spoils.fetch_add(1, Ordering::Relaxed) {
            0 => drop(diffs.pop()),
            1 => diffs[0] = json!({"txHash": diffs[0]["txHash"], "error": "execution timeout"}),
            2 => diffs[1]["txHash"] = json!(format!("0x{}", "12".repeat(32))),
            _ => {}
        }
        None
    })?;
    let _database = env::database("spoiled_state");
    load("spoiled_state", &url)?;
    ensure!(covered("spoiled_state", "state_transactions")? == 54);
    // And by the method that was called first.
    let calls = node.control(&json!({}))?["calls"]["trace_replayBlockTransactions"].as_u64().unwrap_or_default();
    ensure!(calls == 0, "{calls} calls of the second way");
    Ok(())
}
