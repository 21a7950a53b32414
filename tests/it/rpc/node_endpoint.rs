//! `/rpc`: lists whole or refused, messages by the rules of nodes, and else what the specification's endpoint answers.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::filters::emitted;
use super::subscriptions::Socket;
use super::traces::{ensure_same, recorded};
use super::{api_with, call};
use crate::chains::{Chain, chain, quantity};

const PATH: &str = "/rpc";

fn ask(api: &str, method: &str, params: Value) -> anyhow::Result<Value> {
    http::rpc(&http::agent(), &format!("{api}{PATH}"), method, &params)
}

fn post(chain: &Chain, body: &str) -> anyhow::Result<http::Answer> {
    http::post(&http::agent(), &format!("{}{PATH}", chain.api), body.as_bytes())
}

#[test]
fn logs_are_whole_where_the_other_endpoint_cuts() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let expected = emitted(chain);
    let filter = json!([{"fromBlock": "0x0", "toBlock": "latest"}]);
    ensure!(expected.len() > 1_000, "{}", expected.len());
    ensure!(ask(&chain.api, "eth_getLogs", filter.clone())?["result"] == json!(expected));
    ensure!(call(chain, "eth_getLogs", filter.clone())?["result"] == json!(expected[..1_000]));
    let mut socket = Socket::connect_to(&chain.api, PATH)?;
    ensure!(socket.call("eth_getLogs", &filter)?["result"] == json!(expected), "over a WebSocket");
    ensure_same(&ask(&chain.api, "trace_filter", filter)?["result"], &recorded(chain).iter().collect::<Vec<_>>())
}

/// Around the number of rows that are held while the rest is counted, and around the number of logs.
#[test]
fn logs_are_whole_or_refused_at_every_limit() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let expected = emitted(chain);
    let all = expected.len();
    ensure!(all > 15_000, "{all}");
    let filter = json!([{"fromBlock": "earliest", "toBlock": "latest"}]);
    for limit in [0, 100, 4_999, 5_000, 5_001, 12_000, all - 1, all, all + 1] {
        let limit_text = limit.to_string();
        let flags = ["--gaps", "serve", "--max-unfiltered-blocks", "100000000", "--rpc-max-logs", &limit_text];
        let api = api_with(chain, &flags)?;
        let answer = ask(&api.url, "eth_getLogs", filter.clone())?;
        if limit == 0 || limit >= all {
            ensure!(answer["result"] == json!(expected), "{limit}");
        } else {
            let beyond = quantity(&expected[limit]["blockNumber"]);
            let error = &answer["error"];
            ensure!(error["code"] == -32005 && answer.get("result").is_none(), "{limit}: {error}");
            let fitting = json!({"limit": limit, "from": "0x0", "to": format!("{:#x}", beyond.saturating_sub(1))});
            ensure!(error["data"] == fitting, "{limit}: {error}");
        }
        api.stop()?;
    }
    Ok(())
}

#[test]
fn who_follows_the_ranges_of_refusals_gets_every_log() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let api = api_with(chain, &["--rpc-max-logs", "40"])?;
    let (mut found, mut from, mut refusals) = (Vec::new(), 0, 0);
    while from <= chain.head() {
        let mut to = chain.head();
        let logs = loop {
            let range = json!([{"fromBlock": format!("{from:#x}"), "toBlock": format!("{to:#x}")}]);
            let mut answer = ask(&api.url, "eth_getLogs", range)?;
            match answer["result"].take() {
                Value::Array(logs) => break logs,
                _ => to = quantity(&answer["error"]["data"]["to"]),
            }
            refusals += 1;
        };
        // Only a single block may have more.
        ensure!(logs.len() <= 40 || from == to, "{from} to {to}: {}", logs.len());
        found.extend(logs);
        from = to + 1;
    }
    ensure!(found == emitted(chain) && refusals > 10, "{refusals} refusals");
    let text = ask(&api.url, "eth_getLogs", json!([{"fromBlock": "0x0", "toBlock": "latest"}]))?;
    let text = text["error"]["message"].as_str().context("a text")?.to_owned();
    ensure!(text.starts_with("query exceeds max results 40, retry with the range 0-"), "{text}");
    ensure!(text.contains(": query returned more than 40 results. Try with this block range [0x0, 0x"), "{text}");
    let traces = json!([{"fromBlock": "0x0", "toBlock": "latest"}]);
    ensure!(ask(&api.url, "trace_filter", traces)?["error"]["code"] == -32005);
    let some = json!([{"fromBlock": "0x0", "toBlock": "latest", "after": 100, "count": 40}]);
    ensure_same(
        &ask(&api.url, "trace_filter", some)?["result"],
        &recorded(chain)[100..140].iter().collect::<Vec<_>>(),
    )?;
    api.stop()?;
    Ok(())
}

#[test]
fn an_unfiltered_range_over_the_limit_is_refused_with_one_that_fits() -> anyhow::Result<()> {
    let api = api_with(chain("hive"), &["--max-unfiltered-blocks", "10"])?;
    let refused = ask(&api.url, "eth_getLogs", json!([{"fromBlock": "0x5", "toBlock": "0x20"}]))?;
    ensure!(refused["error"]["code"] == -32005, "{refused}");
    ensure!(refused["error"]["data"] == json!({"limit": 10, "from": "0x5", "to": "0xe"}), "{refused}");
    ensure!(ask(&api.url, "eth_getLogs", json!([{"fromBlock": "0x5", "toBlock": "0xe"}]))?["result"].is_array());
    api.stop()?;
    Ok(())
}

#[test]
fn messages_are_read_by_the_rules_of_nodes() -> anyhow::Result<()> {
    let chain = chain("hive");
    let number = |id: &str| format!(r#"{{"jsonrpc":"2.0",{id}"method":"eth_blockNumber"}}"#);
    let answer = post(chain, &number(""))?;
    ensure!(answer.status == 200 && answer.body.is_empty(), "a notification: {}", answer.text());
    let mixed = post(chain, &format!("[{},{},{}]", number(""), number("\"id\":\"a\","), number("")))?;
    ensure!(mixed.json()? == json!([{"jsonrpc": "2.0", "result": "0x36", "id": "a"}]), "{}", mixed.text());
    let answer = post(chain, &format!("[{},{}]", number(""), number("")))?;
    ensure!(answer.status == 200 && answer.body.is_empty(), "{}", answer.text());
    for (body, code) in [("{", -32700), ("[]", -32600), ("7", -32600), (r#"{"jsonrpc":"2.0"}"#, -32600)] {
        let answer = post(chain, body)?;
        ensure!(answer.status == 200, "{body}: {}", answer.status);
        let answer = answer.json()?;
        ensure!(answer["error"]["code"] == code && answer["id"].is_null(), "{body}: {answer}");
    }
    let many = post(chain, &format!("[{}]", vec![number("\"id\":1,"); 1001].join(",")))?;
    ensure!(many.status == 200 && many.json()?[0]["error"]["code"] == -32600, "{}", many.text());
    let unknown = ask(&chain.api, "eth_nothing", json!([]))?;
    let text = "the method eth_nothing does not exist/is not available";
    ensure!(unknown["error"] == json!({"code": -32601, "message": text}), "{unknown}");
    Ok(())
}

#[test]
fn a_notification_over_a_websocket_is_not_answered() -> anyhow::Result<()> {
    let mut socket = Socket::connect_to(&chain("hive").api, PATH)?;
    socket.send(r#"{"jsonrpc":"2.0","method":"eth_blockNumber"}"#)?;
    socket.send(r#"[{"jsonrpc":"2.0","method":"eth_blockNumber"}]"#)?;
    let answer = socket
        .exchange(r#"[{"jsonrpc":"2.0","method":"eth_chainId"},{"jsonrpc":"2.0","id":8,"method":"eth_chainId"}]"#)?;
    ensure!(answer == json!([{"jsonrpc": "2.0", "result": "0xc72dd9d5e883e", "id": 8}]), "{answer}");
    Ok(())
}

#[test]
fn errors_are_those_of_nodes() -> anyhow::Result<()> {
    let chain = chain("hive");
    let word = format!("0x{}", "12".repeat(32));
    let account = format!("0x{}", "12".repeat(20));
    for (method, params, error) in [
        ("eth_getLogs", json!([{"blockHash": word}]), json!({"code": -32000, "message": "unknown block"})),
        ("eth_getBalance", json!([account, "0xffff"]), json!({"code": -32000, "message": "header not found"})),
    ] {
        let answer = ask(&chain.api, method, params)?;
        ensure!(answer["error"] == error, "{method}: {answer}");
    }
    // Wide scans read the same filters, and are REST.
    let scan = format!("{}/api/v2/scan/logs", chain.api);
    let refused = http::post(&http::agent(), &scan, json!({"blockHash": word}).to_string().as_bytes())?;
    ensure!(refused.status == 422, "{}", refused.text());
    ensure!(refused.json()?["errors"][0]["detail"] == "Invalid block hash", "{}", refused.text());
    Ok(())
}

/// Some programs name a block with every call.
#[test]
fn methods_without_parameters_pass_over_given_ones() -> anyhow::Result<()> {
    let chain = chain("hive");
    for method in ["eth_chainId", "eth_blockNumber", "net_version", "eth_gasPrice", "eth_syncing", "net_peerCount"] {
        let plain = ask(&chain.api, method, json!([]))?["result"].clone();
        for params in [json!(["latest"]), json!([null]), json!([{}, false])] {
            let found = ask(&chain.api, method, params.clone())?;
            ensure!(!plain.is_null() && found["result"] == plain, "{method} {params}: {found}");
        }
    }
    ensure!(call(chain, "eth_chainId", json!(["latest"]))?["error"]["code"] == -32602);
    ensure!(ask(&chain.api, "eth_getBlockByNumber", json!(["latest", false, 1]))?["error"]["code"] == -32602);
    Ok(())
}

#[test]
fn further_methods_are_only_there() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let of_block = |number: u64| recorded(chain).into_iter().filter(move |trace| trace["blockNumber"] == number);
    for line in &chain.lines {
        let block = &line["block"];
        let expected: Vec<Value> = of_block(quantity(&block["number"])).collect();
        for name in [&block["number"], &block["hash"]] {
            let found = ask(&chain.api, "trace_block", json!([name]))?;
            ensure_same(&found["result"], &expected.iter().collect::<Vec<_>>()).with_context(|| name.to_string())?;
        }
    }
    ensure!(ask(&chain.api, "trace_block", json!(["0xffff"]))?["result"].is_null());
    ensure!(ask(&chain.api, "trace_block", json!(["7"]))?["error"]["code"] == -32602);
    for expected in recorded(chain).chunk_by(|one, other| one["transactionHash"] == other["transactionHash"]) {
        if expected[0]["transactionHash"].is_string() {
            let found = ask(&chain.api, "trace_transaction", json!([expected[0]["transactionHash"]]))?;
            ensure_same(&found["result"], &expected.iter().collect::<Vec<_>>())?;
        }
    }
    ensure!(ask(&chain.api, "trace_transaction", json!([format!("0x{}", "12".repeat(32))]))?["result"].is_null());
    ensure!(ask(&chain.api, "trace_transaction", json!(["0x12"]))?["error"]["code"] == -32602);
    ensure!(ask(&chain.api, "net_peerCount", json!([]))?["result"] == "0x0");
    ensure!(ask(&chain.api, "eth_protocolVersion", json!([]))?["result"] == "0x0");
    ensure!(ask(&chain.api, "eth_mining", json!([]))?["result"] == false);
    ensure!(ask(&chain.api, "eth_hashrate", json!([]))?["result"] == "0x0");
    ensure!(ask(&chain.api, "eth_pendingTransactions", json!([]))?["result"] == json!([]));
    ensure!(ask(&chain.api, "eth_coinbase", json!([]))?["result"] == format!("0x{}", "00".repeat(20)));
    for (method, params) in [("trace_block", json!(["0x1"])), ("net_peerCount", json!([]))] {
        ensure!(call(chain, method, params)?["error"]["code"] == -32601, "{method}");
    }
    Ok(())
}

/// What Erigon's methods take behind Parity's parameters is accepted where it has no effect, else refused.
#[test]
fn parameters_of_erigon_change_no_trace() -> anyhow::Result<()> {
    let chain = chain("hive");
    let hash = chain.lines.iter().find_map(|line| line["block"]["transactions"][0]["hash"].as_str());
    let hash = hash.context("a transaction")?;
    let to = json!({"to": format!("0x{}", "12".repeat(20))});
    let recorded = [
        ("trace_block", json!(["0x2a"])),
        ("trace_transaction", json!([hash])),
        ("trace_get", json!([hash, []])),
        ("trace_filter", json!([{"fromBlock": "0x2a", "toBlock": "0x2a"}])),
    ];
    let runs = [
        ("trace_replayTransaction", json!([hash, ["stateDiff"]])),
        ("trace_replayBlockTransactions", json!(["0x2a", ["trace"]])),
    ];
    let calls =
        [("trace_call", json!([to, ["trace"], "latest"])), ("trace_callMany", json!([[[to, ["trace"]]], "latest"]))];
    let with = |params: &Value, further: &[Value]| {
        Value::Array(params.as_array().into_iter().flatten().chain(further).cloned().collect())
    };
    let accepted = |method: &str, params: &Value, further: &[Value]| -> anyhow::Result<()> {
        let plain = ask(&chain.api, method, params.clone())?["result"].clone();
        let found = ask(&chain.api, method, with(params, further))?;
        ensure!(!plain.is_null() && found["result"] == plain, "{method} {further:?}: {found}");
        Ok(())
    };
    let refused = |method: &str, params: &Value, further: &[Value]| -> anyhow::Result<()> {
        let found = ask(&chain.api, method, with(params, further))?;
        ensure!(found["error"]["code"] == -32602, "{method} {further:?}: {found}");
        Ok(())
    };
    let config = json!({"noRefunds": true});
    for (method, params) in recorded.iter().chain(&runs) {
        accepted(method, params, &[json!(null)])?;
        accepted(method, params, &[json!(false), json!(null)])?;
        accepted(method, params, &[json!(null), json!({})])?;
        refused(method, params, &[json!(false), config.clone()])?;
        refused(method, params, &[json!("true")])?;
        refused(method, params, &[json!(false), json!(null), json!(null)])?;
    }
    recorded.iter().try_for_each(|(method, params)| accepted(method, params, &[json!(true)]))?;
    // In Erigon a sender keeps the value that it sends.
    runs.iter().try_for_each(|(method, params)| refused(method, params, &[json!(true)]))?;
    for (method, params) in &calls {
        accepted(method, params, &[json!(null)])?;
        accepted(method, params, &[json!({"tracer": null})])?;
        refused(method, params, std::slice::from_ref(&config))?;
        refused(method, params, &[json!(false)])?;
        refused(method, params, &[json!(null), json!(null)])?;
    }
    Ok(())
}

/// Whatever is no list, and of no message that cannot be read.
#[test]
fn else_both_endpoints_answer_the_same() -> anyhow::Result<()> {
    let chain = chain("hive");
    let block = &chain.lines[42]["block"];
    for (method, params) in [
        ("eth_blockNumber", json!([])),
        ("eth_chainId", json!([])),
        ("eth_syncing", json!([])),
        ("eth_feeHistory", json!(["0x5", "latest", [50]])),
        ("eth_getBlockByNumber", json!(["0x2a", true])),
        ("eth_getBlockByNumber", json!(["0xffff", true])),
        ("eth_getBlockByHash", json!([block["hash"], false])),
        ("eth_getBlockReceipts", json!(["0x2a"])),
        ("eth_getBlockByNumber", json!(["42", true])),
        ("eth_getLogs", json!([{"fromBlock": "0x2", "toBlock": "0xffff"}])),
        ("eth_getLogs", json!([{"fromBlock": "0x2", "toBlock": "0x9", "topics": [[]]}])),
        ("eth_subscribe", json!(["newHeads"])),
        ("eth_call", json!([{"to": format!("0x{}", "00".repeat(20))}, "latest"])),
    ] {
        let (found, other) = (ask(&chain.api, method, params.clone())?, call(chain, method, params.clone())?);
        ensure!(found == other, "{method} {params}: {found} instead of {other}");
    }
    Ok(())
}

/// Pages of browsers ask nodes from other origins.
#[test]
fn browsers_may_ask() -> anyhow::Result<()> {
    let url = format!("{}{PATH}", chain("hive").api);
    let answer = http::agent().post(&url).send(r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#)?;
    let header = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok());
    ensure!(header("access-control-allow-origin") == Some("*"), "{:?}", answer.headers());
    ensure!(header("content-type").is_some_and(|value| value.starts_with("application/json")));
    let get = http::get(&http::agent(), &url)?;
    ensure!(get.status == 405, "{}", get.status);
    Ok(())
}
