//! Tokens: what contracts answer is stored, whatever they answer; and nothing they do keeps blocks from being loaded.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::{http, process};

use super::node::Node;
use crate::env;

/// What a contract answers to a call: the data, or the node's error object.
type Contract = fn(call: &str) -> Result<Vec<u8>, Value>;

/// How the calls of a node end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Answers,
    Fails,
    Hangs,
}

/// A node that answers `eth_call` as `contracts` do and leaves everything else to a replay node.
struct TokenNode {
    url: String,
    calls: Arc<AtomicUsize>,
    mode: Arc<Mutex<Mode>>,
    _replay: Node,
}

impl TokenNode {
    fn start(mode: Mode) -> anyhow::Result<Self> {
        let replay = Node::start("devchain", &[])?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        let calls = Arc::new(AtomicUsize::new(0));
        let mode = Arc::new(Mutex::new(mode));
        let (behind, counted, modes) = (replay.url.clone(), Arc::clone(&calls), Arc::clone(&mode));
        // Ends with the process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (behind, counted, modes) = (behind.clone(), Arc::clone(&counted), Arc::clone(&modes));
                std::thread::spawn(move || serve(stream, &behind, &modes, &counted));
            }
        });
        Ok(Self { url, calls, mode, _replay: replay })
    }

    fn becomes(&self, mode: Mode) {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = mode;
    }
}

/// One request of one connection; a client that goes away is no error.
fn serve(mut stream: TcpStream, behind: &str, mode: &Mutex<Mode>, calls: &AtomicUsize) -> anyhow::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let requests: Vec<Value> = serde_json::from_slice(&body)?;
    if requests.iter().any(|request| request["method"] != "eth_call") {
        let answer = http::post(&http::agent(), behind, &body)?;
        return respond(&mut stream, "200 OK", answer.text().as_bytes());
    }
    calls.fetch_add(requests.len(), Ordering::Relaxed);
    let mode = *mode.lock().unwrap_or_else(PoisonError::into_inner);
    match mode {
        Mode::Fails => respond(&mut stream, "500 Internal Server Error", b""),
        Mode::Hangs => {
            std::thread::sleep(Duration::from_secs(600));
            Ok(())
        }
        Mode::Answers => {
            let answers: Vec<Value> = requests.iter().map(answer).collect();
            respond(&mut stream, "200 OK", json!(answers).to_string().as_bytes())
        }
    }
}

fn respond(stream: &mut TcpStream, status: &str, body: &[u8]) -> anyhow::Result<()> {
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len())?;
    stream.write_all(body)?;
    Ok(())
}

fn answer(request: &Value) -> Value {
    let address = request["params"][0]["to"].as_str().unwrap_or_default().to_lowercase();
    let call = request["params"][0]["data"].as_str().unwrap_or_default();
    let contract = contracts().get(address.as_str()).copied().unwrap_or(nobody as Contract);
    match contract(call) {
        Ok(data) => json!({"jsonrpc": "2.0", "id": request["id"], "result": format!("0x{}", hex(&data))}),
        Err(error) => json!({"jsonrpc": "2.0", "id": request["id"], "error": error}),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

const NAME: &str = "0x06fdde03";
const SYMBOL: &str = "0x95d89b41";
const DECIMALS: &str = "0x313ce567";

fn word(number: u64) -> Vec<u8> {
    [&[0; 24][..], &number.to_be_bytes()].concat()
}

fn string(text: &[u8]) -> Vec<u8> {
    let filling = vec![0; text.len().next_multiple_of(32) - text.len()];
    [word(32), word(text.len() as u64), text.to_vec(), filling].concat()
}

fn bytes32(text: &[u8]) -> Vec<u8> {
    [text, &vec![0; 32 - text.len()]].concat()
}

fn reverted() -> Value {
    json!({"code": 3, "message": "execution reverted: no name", "data": "0x08c379a0"})
}

fn nobody(_: &str) -> Result<Vec<u8>, Value> {
    Ok(Vec::new())
}

/// Addresses of the scenario, by its labels.
fn contracts() -> HashMap<&'static str, Contract> {
    HashMap::from([
        // DUSD: as it should be.
        (
            "0x5fbdb2315678afecb367f032d93f642f64180aa3",
            (|call| {
                Ok(match call {
                    NAME => string(b"Dev Dollar"),
                    SYMBOL => string(b"DUSD"),
                    DECIMALS => word(6),
                    _ => word(1_000_000_123_456_782),
                })
            }) as Contract,
        ),
        // OldCoin: words instead of strings.
        ("0x8464135c8f25da09e49bc8782676a84730c318bc", |call| {
            Ok(match call {
                NAME => bytes32(b"Old Coin"),
                SYMBOL => bytes32(b"OLD"),
                DECIMALS => word(18),
                _ => word(1000),
            })
        }),
        // OddMeta0: NUL, bytes that are no UTF-8, markup.
        ("0x663f3ad617193148711d28f5334ee4ed07016602", |call| {
            Ok(match call {
                NAME => string(&[0, 0x61, 0x62, 0, 0xff]),
                SYMBOL => string("🚀'\n<b>\"\\\0".as_bytes()),
                DECIMALS => word(77),
                _ => vec![0xff; 32],
            })
        }),
        // OddMeta1: everything reverts but the supply.
        ("0x2e983a1ba5e8b38aaaec4b440b9ddcfbf72e15d1", |call| match call {
            NAME | SYMBOL | DECIMALS => Err(reverted()),
            _ => Ok(vec![0xff; 32]),
        }),
        // OddMeta2: a megabyte, nothing, and decimals that are none.
        ("0x8438ad1c834623cff278ab6829a248e37c2d7e3f", |call| {
            Ok(match call {
                NAME => string(&vec![b'x'; 1 << 20]),
                SYMBOL => string(b""),
                _ => vec![0xff; 32],
            })
        }),
        // Art: more than anybody wants to read, beside what is fine.
        ("0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0", |call| match call {
            NAME => Ok(string(&vec![b'y'; 5 << 20])),
            SYMBOL => Ok(string(b"ART")),
            DECIMALS => Err(json!({"code": -32000, "message": "invalid opcode: INVALID"})),
            _ => Ok(word(40)),
        }),
        // Vault: every answer is of another type.
        ("0x5fc8d32690cc91d4c39d9d3abcbd16989f875707", |call| {
            Ok(match call {
                NAME => word(7),
                SYMBOL => [word(32), word(u64::MAX)].concat(),
                DECIMALS => string(b"eighteen"),
                _ => vec![1; 31],
            })
        }),
        // GLD: the node has trouble with it, and with nobody else.
        ("0xe7f1725e7734ce288f8367e1bb143e90bb3f0512", |_| Err(json!({"code": -32000, "message": "header not found"}))),
    ])
}

fn run(database: &str, node: &str) -> anyhow::Result<String> {
    let output = env::run(env::ingest(database, &["load", "--rpc-url", node, "--state", "off"]), 0)?;
    ensure!(env::sql(database, "SELECT sum(last_block - first_block + 1) FROM ingest_commits")? == "92");
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn say_what_they_are_once() -> anyhow::Result<()> {
    let database = &env::migrate("tokens_told")?;
    let node = TokenNode::start(Mode::Answers)?;
    run(database, &node.url)?;
    let sql = "SELECT token_type, block_number, if(length(name) < 100, name, toString(lengthUTF8(name))), symbol, decimals, toString(total_supply)
               FROM tokens WHERE address = unhex('";
    let max = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    for (address, expected) in [
        (
            "5fbdb2315678afecb367f032d93f642f64180aa3",
            json!(["ERC-20", 91, "Dev Dollar", "DUSD", 6, "1000000123456782"]),
        ),
        ("8464135c8f25da09e49bc8782676a84730c318bc", json!(["ERC-20", 91, "Old Coin", "OLD", 18, "1000"])),
        ("663f3ad617193148711d28f5334ee4ed07016602", json!(["ERC-20", 91, "ab\u{fffd}", "🚀'\n<b>\"\\", 77, max])),
        ("2e983a1ba5e8b38aaaec4b440b9ddcfbf72e15d1", json!(["ERC-20", 91, null, null, null, max])),
        ("8438ad1c834623cff278ab6829a248e37c2d7e3f", json!(["ERC-20", 91, "1000", "", null, max])),
        ("9fe46736679d2d9a65f0992f2272de9f3c7fa6e0", json!(["ERC-721", 91, null, "ART", null, "40"])),
        ("5fc8d32690cc91d4c39d9d3abcbd16989f875707", json!(["ERC-20", 91, null, null, null, null])),
        ("cf7ed3acca5a467e9e704c703e8d87f634fb0fc9", json!(["ERC-1155", 91, null, null, null, null])),
    ] {
        let sql =
            format!("{sql}{address}') FORMAT JSONCompactEachRow SETTINGS output_format_json_quote_64bit_integers = 0");
        let found: Value = serde_json::from_str(&env::sql(database, &sql)?).with_context(|| address.to_owned())?;
        // Wide integers are quoted or not, as the server likes.
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        let same = |one: &Value, other: &Value| one.is_null() == other.is_null() && text(one) == text(other);
        let (found, expected) = (found.as_array().context("a row")?, expected.as_array().context("a row")?.clone());
        ensure!(
            found.iter().zip(&expected).all(|(one, other)| same(one, other)),
            "{address}: {found:?} instead of {expected:?}"
        );
    }
    // One row for every contract with a transfer but the one the node had trouble with.
    let counts = "SELECT count(), uniqExact(address),
                      (SELECT uniqExact(token_address) FROM token_transfers_by_block) FROM tokens";
    let counts = env::sql(database, counts)?;
    let counts: Vec<u64> = counts.split('\t').map(str::parse).collect::<Result<_, _>>()?;
    ensure!(counts[0] == counts[1] && counts[0] + 1 == counts[2] && counts[2] > 9, "{counts:?}");
    // The next run calls that one only: four calls.
    let before = node.calls.load(Ordering::Relaxed);
    run(database, &node.url)?;
    ensure!((1..=16).contains(&(node.calls.load(Ordering::Relaxed) - before)), "called again");
    Ok(())
}

#[test]
fn that_cannot_be_called_are_called_by_the_next_run() -> anyhow::Result<()> {
    let database = &env::migrate("tokens_later")?;
    let text = run(database, &TokenNode::start(Mode::Fails)?.url)?;
    ensure!(text.matches("cannot fetch token metadata").count() == 1, "{text}");
    ensure!(env::sql(database, "SELECT count() FROM tokens")? == "0");
    run(database, &TokenNode::start(Mode::Answers)?.url)?;
    ensure!(env::sql(database, "SELECT count() > 9 FROM tokens")? == "1");
    Ok(())
}

#[test]
fn of_a_node_without_calls_do_not_fail_the_load() -> anyhow::Result<()> {
    let database = &env::migrate("tokens_no_calls")?;
    let text = run(database, &Node::start("devchain", &[])?.url)?;
    ensure!(text.matches("cannot fetch token metadata").count() == 1, "{text}");
    Ok(())
}

/// On SIGTERM the load does not wait for them; the blocks are all there.
#[test]
fn that_never_answer_do_not_hold_up_the_load() -> anyhow::Result<()> {
    let database = &env::migrate("tokens_silent")?;
    let node = TokenNode::start(Mode::Hangs)?;
    let mut command = env::ingest(database, &["load", "--rpc-url", &node.url, "--state", "off"]);
    let child = command.stderr(std::process::Stdio::piped()).spawn()?;
    env::eventually(Duration::from_secs(60), || {
        Ok(env::sql(database, "SELECT sum(last_block - first_block + 1) FROM ingest_commits")? == "92")
    })?;
    let signalled = Instant::now();
    process::signal(child.id(), libc::SIGTERM)?;
    let output = process::output_within(child, env::LONGEST)?;
    ensure!(output.status.success() && signalled.elapsed() < Duration::from_secs(10), "{output:?}");
    ensure!(env::sql(database, "SELECT count() FROM tokens")? == "0");
    Ok(())
}

/// The node fails for longer than a load has patience; `follow` goes on, and calls them once it answers.
#[test]
fn are_called_by_follow_when_the_node_is_back() -> anyhow::Result<()> {
    let database = &env::migrate("tokens_outage")?;
    let node = TokenNode::start(Mode::Fails)?;
    let arguments = ["follow", "--rpc-url", &node.url, "--poll-interval-ms", "100", "--state", "off"];
    let folder = env::directory()?;
    let file = folder.path().join("log");
    let mut child = env::ingest(database, &arguments).stderr(std::fs::File::create(&file)?).spawn()?;
    let log = || std::fs::read_to_string(&file).unwrap_or_default();
    let warning = "waiting for an answer from token contracts";
    env::eventually(Duration::from_secs(120), || Ok(log().contains(warning))).with_context(log)?;
    ensure!(env::sql(database, "SELECT count() FROM tokens")? == "0");
    node.becomes(Mode::Answers);
    let called =
        env::eventually(Duration::from_secs(60), || Ok(env::sql(database, "SELECT count() > 9 FROM tokens")? == "1"));
    process::signal(child.id(), libc::SIGTERM)?;
    process::wait_within(&mut child, env::LONGEST)?;
    called.with_context(log)?;
    ensure!(log().matches(warning).count() == 1, "{}", log());
    Ok(())
}

/// Named after their first transfer, or renamed: by command while another run follows, and in turn by the run that
/// follows.
#[test]
fn are_called_again_by_command_and_by_follow() -> anyhow::Result<()> {
    let database = &env::migrate("tokens_renamed")?;
    let node = TokenNode::start(Mode::Answers)?;
    // What DUSD and OldCoin answered at block 40.
    let earlier = "INSERT INTO tokens (address, block_number, token_type, name, symbol, decimals, total_supply) VALUES
        (unhex('5fbdb2315678afecb367f032d93f642f64180aa3'), 40, 'ERC-20', NULL, NULL, NULL, 5),
        (unhex('8464135c8f25da09e49bc8782676a84730c318bc'), 40, 'ERC-20', 'Older Coin', 'OLD', 18, 1000)";
    let names =
        "SELECT arrayStringConcat(groupArray(concat(ifNull(name, '-'), ' ', toString(block_number))), ', ') FROM (
        SELECT * FROM tokens WHERE name LIKE '%Coin' OR symbol = 'DUSD' OR name IS NULL AND block_number = 40
        ORDER BY address, block_number)";
    let now = "- 40, Dev Dollar 91, Older Coin 40, Old Coin 91";
    for interval in ["1h", "200ms"] {
        env::sql(database, "TRUNCATE TABLE tokens")?;
        env::sql(database, earlier)?;
        let arguments = ["follow", "--rpc-url", &node.url, "--state", "off", "--tokens-interval", interval];
        let mut child = env::ingest(database, &arguments).spawn()?;
        let ended = (|| {
            let others = "SELECT uniqExact(address) > 9 FROM tokens";
            env::eventually(Duration::from_secs(60), || Ok(env::sql(database, others)? == "1"))?;
            if interval == "1h" {
                ensure!(env::sql(database, names)? == "- 40, Older Coin 40", "called too soon");
                let output = env::run(env::ingest(database, &["tokens", "--refresh", "--rpc-url", &node.url]), 0)?;
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                ensure!(text.contains("2 of them with changes"), "{text}");
            }
            env::eventually(Duration::from_secs(20), || Ok(env::sql(database, names)? == now))
        })();
        process::signal(child.id(), libc::SIGTERM)?;
        process::wait_within(&mut child, env::LONGEST)?;
        ended.with_context(|| env::sql(database, names).unwrap_or_default())?;
    }
    Ok(())
}
