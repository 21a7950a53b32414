//! JSON-RPC over a WebSocket: the same answers as over HTTP, and news of blocks and logs as the head moves.

use std::collections::VecDeque;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Message, WebSocket};
use xtask::{http, workspace};

use super::api_with;
use crate::chains::{chain, lines, lines_of, quantity};
use crate::env;
use crate::ingest::follow::{hashes, reaches, started, tip};

/// How long a connection may bring nothing but pings, which come as often as a read may take.
const SILENCE: Duration = Duration::from_secs(90);

/// A connection, and what arrived on it while something else was waited for.
pub struct Socket {
    socket: WebSocket<TcpStream>,
    news: VecDeque<Value>,
    calls: u64,
}

impl Socket {
    pub fn connect(api: &str) -> anyhow::Result<Self> {
        Self::connect_to(api, "/api/eth-rpc")
    }

    pub fn connect_to(api: &str, path: &str) -> anyhow::Result<Self> {
        let address = api.strip_prefix("http://").context("an HTTP address")?;
        let stream = env::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        let limits = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let url = format!("ws://{address}{path}");
        let (socket, _) = tungstenite::client::client_with_config(url, stream, Some(limits))?;
        Ok(Self { socket, news: VecDeque::new(), calls: 0 })
    }

    /// The connection itself, to send and read frames other than calls.
    pub fn frames(&mut self) -> &mut WebSocket<TcpStream> {
        &mut self.socket
    }

    pub fn send(&mut self, text: &str) -> anyhow::Result<()> {
        Ok(self.socket.send(Message::text(text))?)
    }

    fn read(&mut self) -> anyhow::Result<Value> {
        let deadline = Instant::now() + SILENCE;
        loop {
            ensure!(Instant::now() < deadline, "nothing but pings");
            match self.socket.read()? {
                Message::Text(text) => return Ok(serde_json::from_str(&text)?),
                Message::Close(frame) => bail!("closed: {frame:?}"),
                _ => {}
            }
        }
    }

    /// Reads until the server ends it, and gives its reason.
    fn reason(&mut self) -> anyhow::Result<(CloseCode, String)> {
        let deadline = Instant::now() + SILENCE;
        loop {
            ensure!(Instant::now() < deadline, "it is not closed");
            if let Message::Close(Some(frame)) = self.socket.read()? {
                return Ok((frame.code, frame.reason.to_string()));
            }
        }
    }

    pub fn exchange(&mut self, text: &str) -> anyhow::Result<Value> {
        self.send(text)?;
        loop {
            let message = self.read()?;
            if message["method"] != "eth_subscription" {
                return Ok(message);
            }
            self.news.push_back(message);
        }
    }

    pub fn call(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.calls += 1;
        let answer = self
            .exchange(&json!({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}).to_string())?;
        ensure!(answer["id"] == self.calls, "{answer}");
        Ok(answer)
    }

    fn subscribe(&mut self, params: &Value) -> anyhow::Result<String> {
        let answer = self.call("eth_subscribe", params)?;
        Ok(answer["result"].as_str().with_context(|| answer.to_string())?.to_owned())
    }

    /// The next piece of news: the subscription and what it tells.
    fn next(&mut self) -> anyhow::Result<(String, Value)> {
        let mut message = match self.news.pop_front() {
            Some(message) => message,
            None => self.read()?,
        };
        ensure!(message["method"] == "eth_subscription", "{message}");
        let id = message["params"]["subscription"].as_str().context("an id")?.to_owned();
        Ok((id, message["params"]["result"].take()))
    }

    /// As many pieces of news of one subscription, in the order in which they came; the others wait.
    fn take(&mut self, id: &str, count: usize) -> anyhow::Result<Vec<Value>> {
        let (mut own, mut others) = (Vec::new(), VecDeque::new());
        while own.len() < count {
            let (from, result) =
                self.next().with_context(|| format!("{} of {count} pieces of news came", own.len()))?;
            match from == id {
                true => own.push(result),
                false => others.push_back(
                    json!({"method": "eth_subscription", "params": {"subscription": from, "result": result}}),
                ),
            }
        }
        others.append(&mut self.news);
        self.news = others;
        Ok(own)
    }
}

/// `syncing` tells when the tables begin to lag the node and when they no longer do; no transaction is ever pending
/// here.
#[test]
fn lag_is_reported_and_nothing_is_pending() -> anyhow::Result<()> {
    const DATABASE: &str = "subscriptions_of_lag";
    let _database = env::migrate(DATABASE)?;
    let blocks = "SELECT number, toFixedString('settled', 32) FROM numbers(10)";
    env::sql(DATABASE, &format!("INSERT INTO blocks (block_number, hash) {blocks}"))?;
    env::commit(DATABASE, 9)?;
    let node_at = |sequence: u64, height: u64| {
        let row = format!("({sequence}, [], 9, {height}, 9)");
        let columns = "(sequence, segments, head_block, node_block, tables_through)";
        env::sql(DATABASE, &format!("INSERT INTO ingest_heads {columns} VALUES {row}"))
    };
    node_at(1, 9)?;
    let api = env::start_api(DATABASE, &[])?;
    let mut socket = Socket::connect(&api.url)?;
    let lag = socket.subscribe(&json!(["syncing"]))?;
    let pending = socket.subscribe(&json!(["newPendingTransactions"]))?;
    node_at(2, 500)?;
    let status = json!({"startingBlock": "0x0", "currentBlock": "0x9", "highestBlock": "0x1f4"});
    ensure!(socket.take(&lag, 1)? == [json!({"syncing": true, "status": status})]);
    ensure!(socket.call("eth_syncing", &json!([]))?["result"] == status);
    node_at(3, 9)?;
    ensure!(socket.take(&lag, 1)? == [json!(false)]);
    ensure!(socket.news.is_empty(), "{:?}", socket.news);
    for id in [lag, pending] {
        ensure!(socket.call("eth_unsubscribe", &json!([id]))?["result"] == true);
    }
    api.stop()?;
    Ok(())
}

#[test]
fn methods_answer_as_over_http() -> anyhow::Result<()> {
    let chain = chain("hive");
    let mut socket = Socket::connect(&chain.api)?;
    let calls = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber"}),
        json!({"jsonrpc": "2.0", "id": "a\"b", "method": "eth_chainId", "params": []}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "eth_getLogs", "params": [{"fromBlock": "0x3", "toBlock": "latest"}]}),
        json!({"jsonrpc": "2.0", "id": 4, "method": "eth_getBlockByNumber", "params": ["0x2a", true]}),
        json!({"jsonrpc": "2.0", "id": 5, "method": "eth_getBlockReceipts", "params": ["0x2a"]}),
        json!({"jsonrpc": "2.0", "id": 6, "method": "eth_feeHistory", "params": ["0x5", "latest", [50]]}),
        json!({"jsonrpc": "2.0", "id": 7, "method": "eth_nothing", "params": []}),
        json!({"jsonrpc": "2.0", "method": "eth_chainId"}),
        json!([]),
        json!([{"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber"}, 7, {"jsonrpc": "2.0", "id": 2, "method": "eth_gasPrice"}]),
    ];
    for call in calls {
        let text = call.to_string();
        let over_http = http::post(&http::agent(), &chain.rpc(), text.as_bytes())?.json()?;
        ensure!(socket.exchange(&text)? == over_http, "{call}");
    }
    let file = workspace::fixture("execution-apis/eth_getBlockByNumber/get-latest.io");
    let text = std::fs::read_to_string(file)?;
    let line = |mark| text.lines().find_map(|line| line.strip_prefix(mark)).context("a line");
    ensure!(socket.exchange(line(">>")?)? == serde_json::from_str::<Value>(line("<<")?)?);
    Ok(())
}

#[test]
fn wrong_messages_get_the_ruled_errors() -> anyhow::Result<()> {
    let mut socket = Socket::connect(&chain("hive").api)?;
    let broken = socket.exchange("{")?;
    ensure!(broken["error"]["code"] == -32700 && broken["id"].is_null(), "{broken}");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber"});
    let many = socket.exchange(&json!(vec![call; 101]).to_string())?;
    ensure!(many["error"]["message"] == "Payload Too Large. Max batch size is 100", "{many}");
    for (params, code, text) in [
        (json!([]), -32602, "Incorrect number of params"),
        (json!(["pending"]), -32601, "no \"pending\" subscription in eth namespace"),
        (json!(["logs", {"topics": ["0x12"]}]), -32602, "invalid topics"),
        (json!(["logs", {"address": 5}]), -32602, "invalid address"),
        (json!(["logs", 5]), -32602, "Invalid params. The filter must be an object."),
    ] {
        let refused = socket.call("eth_subscribe", &params)?;
        ensure!(refused["error"] == json!({"code": code, "message": text}), "{params}: {refused}");
    }
    let unknown = socket.call("eth_unsubscribe", &json!(["0x1"]))?;
    ensure!(unknown["error"] == json!({"code": -32602, "message": "subscription not found"}), "{unknown}");
    let plain = http::get(&http::agent(), &chain("hive").rpc())?;
    ensure!(plain.status == 405, "{}", plain.status);
    Ok(())
}

/// The members of a header that nodes tell in `newHeads`.
const OF_A_HEADER: [&str; 16] = [
    "number",
    "hash",
    "parentHash",
    "sha3Uncles",
    "miner",
    "stateRoot",
    "transactionsRoot",
    "receiptsRoot",
    "logsBloom",
    "difficulty",
    "gasLimit",
    "gasUsed",
    "timestamp",
    "extraData",
    "mixHash",
    "nonce",
];

fn is_header_of(header: &Value, line: &Value) -> anyhow::Result<()> {
    let block = &line["block"];
    let object = header.as_object().context("a header")?;
    for key in OF_A_HEADER {
        ensure!(object.get(key) == block.get(key), "{key} of block {}: {header}", block["number"]);
    }
    for (key, value) in object {
        ensure!(block.get(key) == Some(value), "{key} of block {}: {header}", block["number"]);
    }
    for key in ["transactions", "uncles", "size", "withdrawals"] {
        ensure!(!object.contains_key(key), "{key} is no part of a header: {header}");
    }
    Ok(())
}

/// The logs of blocks as the node emitted them.
pub fn logs_of<'l>(lines: impl IntoIterator<Item = &'l Value>) -> Vec<Value> {
    let mut logs = Vec::new();
    for line in lines {
        for receipt in line["receipts"].as_array().into_iter().flatten() {
            for log in receipt["logs"].as_array().into_iter().flatten() {
                let mut log = log.clone();
                log["blockTimestamp"] = line["block"]["timestamp"].clone();
                log["removed"] = json!(false);
                logs.push(log);
            }
        }
    }
    logs
}

#[test]
fn new_heads_and_logs_follow_the_head() -> anyhow::Result<()> {
    let (_database, node, follower, api) = started("subscriptions_follow", &["--head", "40", "--finality", "8"])?;
    let (main, chain) = (hashes("main")?, lines("hive")?);
    reaches(&api.url, &main[&40])?;
    let mut socket = Socket::connect(&api.url)?;
    let emitted = logs_of(&chain[41..]);
    let (address, topic) = (&emitted[0]["address"], &emitted[emitted.len() - 1]["topics"][0]);
    let heads = socket.subscribe(&json!(["newHeads"]))?;
    let all = socket.subscribe(&json!(["logs", {}]))?;
    let some = socket.subscribe(&json!(["logs", {"address": [address], "topics": []}]))?;
    let other = socket.subscribe(&json!(["logs", {"topics": [[topic, format!("0x{}", "12".repeat(32))]]}]))?;
    for head in [41, 42, 47, 54] {
        node.control(&json!({"head": head}))?;
        reaches(&api.url, &main[&head])?;
    }
    for (header, line) in socket.take(&heads, 14)?.iter().zip(&chain[41..]) {
        is_header_of(header, line)?;
    }
    let found = socket.take(&all, emitted.len())?;
    ensure!(found == emitted, "{found:?}\ninstead of\n{emitted:?}");
    let of_one: Vec<Value> = emitted.iter().filter(|log| log["address"] == *address).cloned().collect();
    ensure!(socket.take(&some, of_one.len())? == of_one);
    let of_topic: Vec<Value> = emitted.iter().filter(|log| log["topics"][0] == *topic).cloned().collect();
    ensure!(socket.take(&other, of_topic.len())? == of_topic);
    ensure!(socket.call("eth_unsubscribe", &json!([heads]))?["result"] == true);
    ensure!(socket.call("eth_unsubscribe", &json!([heads]))?["error"]["message"] == "subscription not found");
    ensure!(socket.news.is_empty(), "reported twice: {:?}", socket.news);
    // Blocks that are not settled are read in pages too.
    let open = env::start_api("subscriptions_follow", &["--max-logs", "0"])?;
    let filter = json!([{"fromBlock": "0x29", "toBlock": "latest"}]);
    let found = http::rpc(&http::agent(), &format!("{}/api/eth-rpc", open.url), "eth_getLogs", &filter)?;
    ensure!(found["result"] == json!(emitted), "{found}");
    open.stop()?;
    follower.stop()
}

#[test]
fn reorganisations_remove_logs() -> anyhow::Result<()> {
    let (_database, node, follower, api) = started("subscriptions_reorganised", &["--head", "54", "--finality", "30"])?;
    let mut before = lines("hive")?;
    reaches(&api.url, tip(&hashes("main")?))?;
    let mut socket = Socket::connect(&api.url)?;
    let logs = socket.subscribe(&json!(["logs"]))?;
    let heads = socket.subscribe(&json!(["newHeads"]))?;
    for branch in ["depth1", "depth6", "depth17"] {
        node.control(&json!({"branch": branch}))?;
        reaches(&api.url, tip(&hashes(branch)?))?;
        let joined = lines_of(&workspace::fixture(&format!("hive/branch-{branch}.ndjson.gz")))?;
        let mut after = lines("hive")?;
        after.truncate(usize::try_from(quantity(&joined[0]["block"]["number"]))?);
        after.extend(joined);
        let fork = before.iter().zip(&after).take_while(|(one, other)| one["block"] == other["block"]).count();
        let mut expected = logs_of(&before[fork..]);
        expected.reverse();
        expected.iter_mut().for_each(|log| log["removed"] = json!(true));
        expected.extend(logs_of(&after[fork..]));
        let found = socket.take(&logs, expected.len())?;
        ensure!(found == expected, "{branch}: {found:?}\ninstead of\n{expected:?}");
        for (header, line) in socket.take(&heads, after.len() - fork)?.iter().zip(&after[fork..]) {
            is_header_of(header, line)?;
        }
        before = after;
    }
    follower.stop()
}

#[test]
fn have_limits() -> anyhow::Result<()> {
    let api = api_with(chain("hive"), &["--max-subscriptions", "2", "--max-websockets", "1"])?;
    let mut socket = Socket::connect(&api.url)?;
    let first = socket.subscribe(&json!(["newHeads"]))?;
    socket.subscribe(&json!(["logs"]))?;
    let third = socket.call("eth_subscribe", &json!(["newHeads"]))?;
    ensure!(third["error"]["message"] == "too many subscriptions on this connection: at most 2", "{third}");
    ensure!(socket.call("eth_unsubscribe", &json!([first]))?["result"] == true);
    socket.subscribe(&json!(["newHeads"]))?;
    let address = api.url.trim_start_matches("http://");
    let refused = tungstenite::client(format!("ws://{address}/api/eth-rpc"), env::connect(address)?);
    ensure!(refused.is_err_and(|error| error.to_string().contains("503")));
    drop(socket);
    env::eventually(Duration::from_secs(10), || Ok(Socket::connect(&api.url).is_ok()))?;
    api.stop()?;
    Ok(())
}

/// The logs of the chain again and again, to a client that has stopped reading: more than the machine's buffers take.
#[test]
fn clients_that_do_not_read_are_disconnected() -> anyhow::Result<()> {
    let api = api_with(chain("hive"), &["--max-logs", "0"])?;
    let mut socket = Socket::connect(&api.url)?;
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [{"fromBlock": "0x3", "toBlock": "latest"}]});
    let calls = json!(vec![call; 20]).to_string();
    for _ in 0..60 {
        socket.send(&calls)?;
    }
    std::thread::sleep(Duration::from_secs(25));
    let mut answers = 0;
    let end = loop {
        match socket.read() {
            Ok(_) => answers += 1,
            Err(error) => break error.to_string(),
        }
    };
    ensure!(answers < 60, "all of it was sent");
    ensure!(!end.contains("Resource temporarily unavailable"), "{end}");
    ensure!(Socket::connect(&api.url)?.call("eth_blockNumber", &json!([]))?["result"] == "0x36");
    api.stop()?;
    Ok(())
}

#[test]
fn the_server_says_goodbye() -> anyhow::Result<()> {
    let api = api_with(chain("hive"), &[])?;
    let mut socket = Socket::connect(&api.url)?;
    socket.subscribe(&json!(["newHeads"]))?;
    let stopping = std::thread::spawn(move || api.stop().map(drop).map_err(|error| error.to_string()));
    let (code, reason) = socket.reason()?;
    ensure!(code == CloseCode::Away && reason == "the server is shutting down", "{code:?} {reason}");
    let stopped = stopping.join().map_err(|_| anyhow::anyhow!("a panic"))?;
    ensure!(stopped.is_ok(), "{stopped:?}");
    Ok(())
}
