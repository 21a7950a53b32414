//! A WebSocket with many calls and with long answers: it goes on reading, and no frame is longer than clients take.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tungstenite::{Bytes, Message};
use xtask::http;

use super::subscriptions::Socket;
use super::upstream::{behind, canned, raw};
use super::{api_with, result};
use crate::chains::{chain, quantity};
use crate::env;

/// Calls that wait for a node which does not answer, more than are made at a time: go-ethereum's client gives a
/// connection up whose pings are not answered within 30 seconds.
#[test]
fn pings_are_answered_while_calls_run() -> anyhow::Result<()> {
    let node = canned(&[])?;
    let api = behind(&[&node.url], &["--upstream-timeout", "4s"])?;
    let send = json!({"jsonrpc": "2.0", "id": 0, "method": "eth_sendRawTransaction", "params": raw()?});
    let sent = Socket::connect(&api.url)?.exchange(&send.to_string())?;
    ensure!(sent["result"].is_string(), "{sent}");
    node.control(&json!({"faults": {"timeout": 1}, "timeout_secs": 60}))?;
    let mut socket = Socket::connect(&api.url)?;
    for id in 0..20 {
        let mut call = send.clone();
        call["id"] = json!(id);
        socket.send(&call.to_string())?;
    }
    std::thread::sleep(Duration::from_millis(300));
    let sent = Instant::now();
    let frames = socket.frames();
    frames.send(Message::Ping(Bytes::from_static(b"here")))?;
    let (mut pong, mut ids) = (None, Vec::new());
    while ids.len() < 20 {
        match frames.read()? {
            Message::Pong(text) if text == "here" => pong = Some(sent.elapsed()),
            Message::Text(text) => {
                let answer: Value = serde_json::from_str(&text)?;
                ensure!(answer["error"]["code"].is_i64(), "{answer}");
                ids.push(answer["id"].as_u64().context("an id")?);
            }
            _ => {}
        }
    }
    ids.sort_unstable();
    ensure!(ids == (0..20).collect::<Vec<_>>(), "{ids:?}");
    ensure!(pong.is_some_and(|waited| waited < Duration::from_secs(2)), "{pong:?}");
    api.stop()?;
    Ok(())
}

/// A client with tungstenite's own limits, as alloy is: frames of at most 16 MiB.
#[test]
fn no_answer_is_longer_than_a_frame_may_be() -> anyhow::Result<()> {
    let hive = chain("hive");
    let logs = json!([{"fromBlock": "0x3", "toBlock": "latest"}]);
    let one = serde_json::to_string(&result(hive, "eth_getLogs", logs.clone())?)?.len();
    ensure!((1_000..2 << 20).contains(&one), "{one} bytes");
    let api = api_with(hive, &["--max-logs", "0", "--max-batch", "1000"])?;
    let address = api.url.trim_start_matches("http://");
    let (mut socket, _) = tungstenite::client(format!("ws://{address}/api/eth-rpc"), env::connect(address)?)?;
    let count = (16 << 20) / one + 2;
    let calls: Vec<_> =
        (0..count).map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "eth_getLogs", "params": logs})).collect();
    socket.send(Message::text(serde_json::to_string(&calls)?))?;
    let text = loop {
        if let Message::Text(text) = socket.read()? {
            break text;
        }
    };
    let answers: Vec<Value> = serde_json::from_str(&text)?;
    let (whole, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer["result"].is_array());
    ensure!(answers.len() == count && whole.len() > count / 2, "{} of {}", whole.len(), answers.len());
    ensure!(!refused.is_empty());
    for answer in refused {
        let message = answer["error"]["message"].as_str().context("a message")?;
        ensure!(answer["error"]["code"] == -32005 && message.starts_with("response is too big"), "{answer}");
    }
    ensure!(http::get(&http::agent(), &format!("{}/health/ready", api.url))?.status == 200);
    api.stop()?;
    Ok(())
}

/// An answer that is longer than a message may be names blocks whose logs fit: who follows it gets every log.
#[test]
fn too_long_answers_name_a_range_that_fits() -> anyhow::Result<()> {
    let hive = chain("hive");
    let api = api_with(hive, &["--rpc-max-logs", "0"])?;
    let over_http = |from: u64, to: u64| {
        let range = json!([{"fromBlock": format!("{from:#x}"), "toBlock": format!("{to:#x}")}]);
        http::rpc(&http::agent(), &format!("{}/rpc", api.url), "eth_getLogs", &range)
    };
    let mut socket = Socket::connect_to(&api.url, "/rpc")?;
    let (mut found, mut from, mut refusals) = (Vec::new(), 0, 0);
    while from <= hive.head() {
        let mut to = hive.head();
        let logs = loop {
            let range = json!([{"fromBlock": format!("{from:#x}"), "toBlock": format!("{to:#x}")}]);
            let mut answer = socket.call("eth_getLogs", &range)?;
            if from == to && answer["error"]["code"] == -32005 {
                // The logs of this block alone are 21 MB.
                ensure!(from == 2 && answer["error"].get("data").is_none(), "{answer}");
                answer = over_http(from, to)?;
            }
            if let Value::Array(logs) = answer["result"].take() {
                break logs;
            }
            to = quantity(&answer["error"]["data"]["to"]);
            let due = format!("query exceeds max results of this server, retry with the range {from}-{to}: ");
            let text = answer["error"]["message"].as_str().context("a message")?;
            ensure!(text.starts_with(&due) && text.contains("response is too big"), "{text}");
            refusals += 1;
        };
        found.extend(logs);
        from = to + 1;
    }
    let all = over_http(0, hive.head())?["result"].take();
    ensure!(refusals > 0 && all == Value::Array(found), "{refusals} refusals");
    api.stop()?;
    Ok(())
}
