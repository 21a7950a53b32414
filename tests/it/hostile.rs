//! Hostile input: whatever is sent, the answer is complete and as documented, and never an internal error.

use anyhow::{Context as _, ensure};
use serde_json::{Map, Value, json};
use xtask::http;

use crate::chains::chain;
use crate::dice::Dice;
use crate::env;
use crate::rpc::subscriptions::Socket;

fn rounds() -> usize {
    if env::is_slow_run() { 20_000 } else { 600 }
}

/// Values that break naive readers: of numbers, of hexadecimal text, of URLs, of SQL, of JSON.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        " ",
        "0",
        "-0",
        "-1",
        "1",
        "00",
        "+1",
        "1.0",
        "1e3",
        "1e400",
        "NaN",
        "null",
        "true",
        "0x",
        "0x0",
        "0x00",
        "0X1",
        "0x-1",
        "0xg",
        "0x1f",
        "latest",
        "earliest",
        "pending",
        "finalized",
        "block",
        "uncle",
        "2147483648",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "０",
        "é",
        "\0",
        "\n",
        "\u{202e}",
        "'",
        "\"",
        "`",
        "\\",
        "' OR 1=1 --",
        "'; DROP TABLE blocks",
        "{first:UInt64}",
        "{}",
        "[]",
        "[1]",
        "%",
        "%00",
        "../../etc/passwd",
        "<script>",
        "0xffffffffffffffff",
        "0x10000000000000000",
    ]
    .map(str::to_owned)
    .into();
    texts.extend([20, 31, 32, 33, 5000].map(|bytes| format!("0x{}", "fF".repeat(bytes))));
    texts.push("9".repeat(400));
    texts
}

const REST_NAMES: [&str; 14] = [
    "type",
    "block_number",
    "index",
    "items_count",
    "transaction_index",
    "apikey",
    "block_number[]",
    "type[a]",
    "\0",
    "items_count ",
    "ITEMS_COUNT",
    "'",
    "q",
    "",
];

/// Escapes that are none, and escapes of bytes that are no UTF-8.
const BAD_ESCAPES: [&str; 10] = ["%", "%f", "%zz", "%0x", "%%41", "%u0041", "%ff", "%c3", "%c3%28", "%ed%a0%80"];

/// Text for a path or a query: escaped as it should be, or, once in a while, not.
fn escaped(dice: &mut Dice, text: &str) -> String {
    let mut escaped: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
    if dice.roll(12) == 0 {
        let at = if dice.roll(2) == 0 { 0 } else { escaped.len() };
        escaped.insert_str(at, dice.pick::<&str>(&BAD_ESCAPES));
    }
    escaped
}

/// Whether a path with its query can be read, straight from RFC 3986 section 2.1.
fn is_readable(target: &str) -> bool {
    let mut bytes = Vec::new();
    let mut rest = target.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let Some((digits, tail)) = tail.split_at_checked(2) else { return false };
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let (Some(high), Some(low)) = (digit(digits[0]), digit(digits[1])) else { return false };
        bytes.push(16 * high + low);
        rest = tail;
    }
    String::from_utf8(bytes).is_ok()
}

fn rest_path(dice: &mut Dice, texts: &[String]) -> String {
    let text = dice.pick::<String>(texts);
    let target = escaped(dice, text);
    match dice.roll(8) {
        0 | 1 => "/api/v2/blocks".into(),
        2 => format!("/api/v2/blocks/{target}/withdrawals"),
        3 => format!("/api/v2/transactions/{target}/logs"),
        4 => format!("/api/v2/addresses/{target}/withdrawals"),
        5 => format!("/api/v2/addresses/{target}/internal-transactions"),
        6 => format!("/api/v2/{target}"),
        _ => format!("/api/v2/addresses/0x{}/withdrawals", "12".repeat(20)),
    }
}

#[test]
fn rest_parameters() -> anyhow::Result<()> {
    let (chain, texts, agent) = (chain("hive"), texts(), http::agent());
    let mut dice = Dice(1);
    let (mut refused, mut unreadable) = (0, 0);
    for _ in 0..rounds() {
        let pairs: Vec<String> = (0..dice.roll(4))
            .map(|_| {
                let (name, value) = (*dice.pick::<&str>(&REST_NAMES), dice.pick::<String>(&texts));
                format!("{}={}", escaped(&mut dice, name), escaped(&mut dice, value))
            })
            .collect();
        let query = pairs.join("&");
        let target = format!("{}?{query}", rest_path(&mut dice, &texts));
        let url = format!("{}{target}", chain.api);
        let answer = http::get(&agent, &url)?;
        ensure!(
            matches!(answer.status, 200 | 400 | 404 | 414 | 422 | 501),
            "{url}: {} {}",
            answer.status,
            answer.text()
        );
        let body = answer.json().with_context(|| url.clone())?;
        if !is_readable(&target) && query.len() <= 5_000 {
            ensure!(answer.status == 400 && body == json!({"message": "Bad request"}), "{url}: {body}");
            unreadable += 1;
        }
        let whole = match answer.status {
            200 => body["items"].is_array() && body.get("next_page_params").is_some(),
            422 => body["errors"].as_array().is_some_and(|errors| !errors.is_empty()),
            _ => body["message"].is_string(),
        };
        ensure!(whole, "{url}: {body}");
        refused += usize::from(answer.status != 200);
    }
    ensure!(refused > rounds() / 4 && refused < rounds(), "{refused} of {} were refused", rounds());
    ensure!(unreadable > rounds() / 20, "only {unreadable} were unreadable");
    Ok(())
}

const METHODS: [&str; 28] = [
    "eth_blockNumber",
    "eth_chainId",
    "eth_getLogs",
    "eth_getBlockByNumber",
    "eth_getBlockByHash",
    "eth_getTransactionByHash",
    "eth_getTransactionReceipt",
    "eth_call",
    "eth_getBlockReceipts",
    "eth_getBlockTransactionCountByNumber",
    "eth_getBlockTransactionCountByHash",
    "eth_getTransactionByBlockNumberAndIndex",
    "eth_getTransactionByBlockHashAndIndex",
    "eth_getUncleCountByBlockNumber",
    "eth_getUncleCountByBlockHash",
    "eth_getUncleByBlockNumberAndIndex",
    "eth_getUncleByBlockHashAndIndex",
    "eth_gasPrice",
    "eth_maxPriorityFeePerGas",
    "eth_feeHistory",
    "eth_feeHistory",
    "eth_blobBaseFee",
    "eth_sendRawTransaction",
    "eth_syncing",
    "eth_subscribe",
    "eth_unsubscribe",
    "web3_sha3",
    "net_version",
];
const KEYS: [&str; 8] =
    ["fromBlock", "toBlock", "blockHash", "address", "topics", "paging_options", "logIndex", "blockNumber"];

/// Any JSON, at most `depth` levels deep, of words that filters are made of.
fn junk(dice: &mut Dice, texts: &[String], depth: usize) -> Value {
    match dice.roll(if depth == 0 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => json!(dice.roll(2) == 0),
        2 => json!(dice.pick::<i64>(&[0, 1, -1, i64::MAX, i64::MIN])),
        3 => json!(f64::from(u32::try_from(dice.roll(1000)).unwrap_or(0)) / 3.0),
        4 => json!(dice.pick::<String>(texts)),
        5 => (0..dice.roll(5)).map(|_| junk(dice, texts, depth - 1)).collect(),
        _ => {
            let members = (0..dice.roll(4)).map(|_| ((*dice.pick(&KEYS)).to_owned(), junk(dice, texts, depth - 1)));
            Value::Object(members.collect::<Map<_, _>>())
        }
    }
}

/// An envelope with exactly one of result and error, and no error of ours.
fn is_ruled(answer: &Value) -> bool {
    let error = &answer["error"];
    let known = [-32700, -32600, -32601, -32602, -32002, -32005, -32000].map(Value::from);
    answer["jsonrpc"] == "2.0"
        && answer.get("id").is_some()
        && (answer.get("result").is_some() != answer.get("error").is_some())
        && (error.is_null() || (known.contains(&error["code"]) && error["message"].is_string()))
}

#[test]
fn rpc_parameters() -> anyhow::Result<()> {
    let (chain, texts, agent) = (chain("hive"), texts(), http::agent());
    let mut dice = Dice(2);
    let mut refused = 0;
    for _ in 0..rounds() {
        let params: Vec<Value> = (0..dice.roll(4)).map(|_| junk(&mut dice, &texts, 3)).collect();
        let method = *dice.pick(&METHODS);
        let answer = http::rpc(&agent, &chain.rpc(), method, &json!(params))?;
        ensure!(is_ruled(&answer), "{method} {params:?}: {answer}");
        refused += usize::from(answer.get("error").is_some());
    }
    ensure!(refused > rounds() / 4 && refused < rounds(), "{refused} of {} were refused", rounds());
    Ok(())
}

/// Whatever a message says, one answer comes, and the connection goes on.
#[test]
fn rpc_messages_over_a_socket() -> anyhow::Result<()> {
    let texts = texts();
    let mut socket = Socket::connect(&chain("hive").api)?;
    let mut dice = Dice(4);
    for round in 0..rounds() {
        let params: Vec<Value> = (0..dice.roll(4)).map(|_| junk(&mut dice, &texts, 3)).collect();
        let call = json!({"jsonrpc": "2.0", "id": round, "method": dice.pick(&METHODS), "params": params}).to_string();
        let sent = if dice.roll(3) == 0 { damaged(&mut dice, call.as_bytes()) } else { call.into_bytes() };
        let Ok(sent) = String::from_utf8(sent) else { continue };
        let answer = socket.exchange(&sent).with_context(|| sent.clone())?;
        let ruled = match &answer {
            Value::Array(answers) => answers.iter().all(is_ruled),
            answer => is_ruled(answer),
        };
        ensure!(ruled, "{sent}: {answer}");
    }
    Ok(())
}

/// A good body with some bytes cut, changed or repeated.
fn damaged(dice: &mut Dice, body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    for _ in 0..=dice.roll(3) {
        let at = dice.roll(body.len());
        match dice.roll(4) {
            0 => body.truncate(at),
            1 => body[at] = *dice.pick(b"\0{}[]\",:0a\\\xff"),
            2 => body.insert(at, *dice.pick(b"\0{}[]\",:0a\\\xff")),
            _ => {
                body.remove(at);
            }
        }
        if body.is_empty() {
            break;
        }
    }
    body
}

#[test]
fn rpc_bodies() -> anyhow::Result<()> {
    let (chain, agent) = (chain("hive"), http::agent());
    let call =
        json!({"jsonrpc": "2.0", "id": 7, "method": "eth_getLogs", "params": [{"fromBlock": "0x1", "toBlock": "0x8"}]});
    let bodies =
        [call.to_string(), json!([call, call]).to_string(), "[".repeat(50_000), format!("[{}]", "1,".repeat(9))];
    let mut dice = Dice(3);
    for _ in 0..rounds() {
        let whole = dice.pick(&bodies);
        let body = damaged(&mut dice, whole.as_bytes());
        let shown = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
        let answer = http::post(&agent, &chain.rpc(), &body)?;
        ensure!(matches!(answer.status, 200 | 400 | 413), "{shown}: {} {}", answer.status, answer.text());
        let ruled = match answer.json().with_context(|| shown.clone())? {
            Value::Array(answers) => answers.iter().all(is_ruled),
            answer => is_ruled(&answer) || answer["message"].is_string(),
        };
        ensure!(ruled, "{shown}: {}", answer.text());
    }
    Ok(())
}
