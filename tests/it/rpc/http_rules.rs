//! What HTTP adds to JSON-RPC: verbs, headers, compression.

use super::*;

#[test]
fn wrong_verbs_and_bodies() -> anyhow::Result<()> {
    let agent = http::agent();
    let api = &chain("hive").api;
    let get = http::get(&agent, &format!("{api}/api/eth-rpc"))?;
    ensure!(get.status == 405 && get.json()? == json!({"message": "Method not allowed"}), "{}", get.text());
    let post = http::post(&agent, &format!("{api}/api/v2/blocks"), b"{}")?;
    ensure!(post.status == 405 && post.json()? == json!({"message": "Method not allowed"}), "{}", post.text());
    let unknown = http::get(&agent, &format!("{api}/api/v2/nothing"))?;
    ensure!(
        unknown.status == 400 && unknown.json()? == json!({"message": "Unknown API v2 action"}),
        "{}",
        unknown.text()
    );
    let long = http::get(&agent, &format!("{api}/api/v2/blocks?key={}", "x".repeat(5001)))?;
    ensure!(long.status == 414, "{}", long.status);
    // A client of Blockscout joins an address that ends in a slash with paths that begin with one.
    for path in ["/api/v2/blocks/", "/api/v2//blocks", "//api//v2/blocks//"] {
        let slash = http::get(&agent, &format!("{api}{path}?items_count=1"))?;
        ensure!(slash.status == 200, "{path}: {}", slash.text());
    }
    let call = br#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}"#;
    let doubled = http::post(&agent, &format!("{api}//rpc"), call)?;
    ensure!(doubled.json()?["result"].is_string(), "{}", doubled.text());
    let mut too_long = vec![b' '; 20_000_001];
    too_long[0] = b'{';
    // The server may answer and close before it has read all of it, so a broken connection is right too.
    if let Ok(answer) = http::post(&agent, &format!("{api}/api/eth-rpc"), &too_long) {
        ensure!(answer.status == 413, "{}", answer.status);
    }
    let picky = agent.get(format!("{api}/api/v2/blocks")).header("accept", "text/html").call()?;
    ensure!(picky.status() == 406, "{}", picky.status());
    Ok(())
}

#[test]
fn headers_of_every_answer() -> anyhow::Result<()> {
    let agent = http::agent();
    let api = &chain("hive").api;
    let id = "a-request-id-of-mine-0123456789";
    let answer = agent
        .get(format!("{api}/api/v2/blocks?items_count=1"))
        .header("x-request-id", id)
        .header("x-api-key", "anything")
        .call()?;
    for (name, value) in [
        ("x-request-id", id),
        ("access-control-allow-origin", "*"),
        ("x-ratelimit-limit", "-1"),
        ("x-ratelimit-remaining", "-1"),
        ("x-ratelimit-reset", "-1"),
        ("cache-control", "max-age=0, private, must-revalidate"),
        ("content-type", "application/json; charset=utf-8"),
    ] {
        let found = answer.headers().get(name).and_then(|value| value.to_str().ok());
        ensure!(found == Some(value), "{name}: {found:?}");
    }
    let head = agent.head(format!("{api}/api/v2/blocks")).call()?;
    ensure!(head.status() == 200);
    Ok(())
}

type Answer = ureq::http::Response<ureq::Body>;

fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    answer.headers().get(name).and_then(|value| value.to_str().ok())
}

/// The Fetch standard: `*` is no leave for credentials, and caches have to know that the answer depends on the origin.
fn is_readable(answer: &Answer, origin: Option<&str>, what: &str) -> anyhow::Result<()> {
    let named = origin.filter(|origin| *origin != "null");
    let allowed = (header(answer, "access-control-allow-origin"), header(answer, "access-control-allow-credentials"));
    ensure!(allowed == (named.or(Some("*")), named.map(|_| "true")), "{what} of {origin:?}: {allowed:?}");
    let varies = answer.headers().get_all("vary").iter().any(|value| value == "Origin");
    ensure!(varies, "{what} of {origin:?}: {:?}", answer.headers());
    Ok(())
}

#[test]
fn pages_of_other_origins_read_every_answer() -> anyhow::Result<()> {
    let agent = http::agent();
    let api = &chain("hive").api;
    let block_number = r#"{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}"#;
    for origin in [None, Some("null"), Some("https://dapp.example"), Some("http://localhost:3000")] {
        let ask = |method: &str, path: &str, body: &str| -> anyhow::Result<Answer> {
            let mut request = ureq::http::Request::builder().method(method).uri(format!("{api}{path}"));
            if let Some(origin) = origin {
                request = request.header("origin", origin);
            }
            Ok(agent.run(request.body(body.to_owned())?)?)
        };
        for (method, path, status) in [
            ("GET", "/api/v2/blocks", 200),
            ("GET", "/api/v2/blocks?nonsense=1", 422),
            ("GET", "/api/v2/nothing", 400),
            ("GET", "/api/nothing", 404),
            ("GET", "/api/v2/blocks/999999999", 404),
            ("POST", "/api/v2/blocks", 405),
            ("GET", "/api?module=account&action=balance", 200),
            ("GET", "/v2/api?module=proxy&action=eth_blockNumber", 200),
            ("GET", "/stats-service/api/v1/lines", 200),
            ("POST", "/rpc", 200),
            ("POST", "/api/eth-rpc", 200),
            ("GET", "/rpc", 405),
        ] {
            let answer = ask(method, path, if method == "POST" { block_number } else { "" })?;
            ensure!(answer.status() == status, "{method} {path}: {}", answer.status());
            is_readable(&answer, origin, path)?;
        }
    }
    Ok(())
}

#[test]
fn browsers_may_ask_first() -> anyhow::Result<()> {
    let agent = http::agent();
    let api = &chain("hive").api;
    for path in ["/api/v2/blocks", "/api", "/v2/api", "/rpc", "/api/v2/nothing"] {
        let request = ureq::http::Request::options(format!("{api}{path}"))
            .header("origin", "https://dapp.example")
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "content-type")
            .body(())?;
        let preflight = agent.run(request)?;
        ensure!(preflight.status() == 204, "{path}: {}", preflight.status());
        is_readable(&preflight, Some("https://dapp.example"), path)?;
        let allowed = header(&preflight, "access-control-allow-headers").unwrap_or_default();
        ensure!(allowed.contains("x-api-key") && allowed.contains("Content-Type"), "{path}: {allowed}");
        ensure!(header(&preflight, "access-control-allow-methods").is_some_and(|it| it.contains("POST")), "{path}");
        ensure!(header(&preflight, "access-control-max-age") == Some("1728000"), "{path}");
    }
    let plain = agent.run(ureq::http::Request::options(format!("{api}/api/v2/blocks")).body(())?)?;
    ensure!(plain.status() == 405, "{}", plain.status());
    Ok(())
}

/// A body that is cut off by its compression would still be answered with 200.
#[test]
fn compressed_answers_are_whole() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let block = chain
        .lines
        .iter()
        .max_by_key(|line| {
            line["receipts"].as_array().map_or(0, |r| r.iter().map(|r| r["logs"].as_array().map_or(0, Vec::len)).sum())
        })
        .context("a block")?;
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [{"blockHash": block["block"]["hash"]}]});
    let plain = http::post(&http::agent(), &chain.rpc(), body.to_string().as_bytes())?;
    let mut response = http::agent().post(chain.rpc()).header("accept-encoding", "gzip").send(body.to_string())?;
    ensure!(response.headers().get("content-encoding").is_some_and(|encoding| encoding == "gzip"));
    let packed = response.body_mut().read_to_vec()?;
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&packed[..]), &mut text)?;
    ensure!(text == plain.body && plain.json()?["result"].as_array().map(Vec::len) == Some(1000));
    Ok(())
}

/// Clients look for the calls of a batch by their ids: a node refuses one in a list, with the id of the first call.
#[test]
fn batches_that_are_too_large_are_refused_by_an_id() -> anyhow::Result<()> {
    let api = api_with(chain("hive"), &["--max-batch", "2", "--rpc-max-batch", "3"])?;
    let call = |id: Value| json!({"jsonrpc": "2.0", "id": id, "method": "eth_blockNumber", "params": []});
    let notification = json!({"jsonrpc": "2.0", "method": "eth_blockNumber", "params": []});
    let calls = json!([notification, call(json!("a")), call(json!(7)), call(json!(8))]);
    let of_node = http::post(&http::agent(), &format!("{}/rpc", api.url), calls.to_string().as_bytes())?;
    let due = json!([{"jsonrpc": "2.0", "id": "a", "error": {"code": -32600, "message": "batch too large: send at most 3 calls at once"}}]);
    ensure!(of_node.status == 200 && of_node.json()? == due, "{}", of_node.text());
    let other = http::post(&http::agent(), &format!("{}/api/eth-rpc", api.url), calls.to_string().as_bytes())?;
    ensure!(other.status == 413 && other.json()?["id"].is_null(), "{}", other.text());
    api.stop()?;
    Ok(())
}

/// Calls of a batch are made side by side, and one has the answer that it has alone: also a long one, an error, and one
/// after calls that change what the server has of its client.
#[test]
fn batches_have_the_answers_of_their_calls() -> anyhow::Result<()> {
    let api = api_with(chain("hive"), &[])?;
    let url = format!("{}/rpc", api.url);
    let block = |id: usize| format!("{:#x}", id % 50);
    let call = |id: usize| match id % 10 {
        0 => ("eth_getLogs", json!([{"fromBlock": block(id), "toBlock": block(id)}])),
        1 => ("eth_getBlockByNumber", json!([block(id), true])),
        2 => ("eth_getBlockReceipts", json!([block(id)])),
        3 => ("eth_newBlockFilter", json!([])),
        4 => ("eth_getFilterChanges", json!(["0x1"])),
        5 => ("eth_noSuchMethod", json!([])),
        6 => ("eth_getTransactionCount", json!([format!("0x{id:040x}"), "latest"])),
        7 => ("eth_blockNumber", json!([])),
        8 => ("eth_getBlockByNumber", json!(["x", true])),
        _ => ("trace_block", json!([block(id)])),
    };
    let mut calls: Vec<Value> = (0..120)
        .map(|id| {
            let (method, params) = call(id);
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        })
        .collect();
    // Twenty megabytes, twice.
    for id in [33, 34] {
        let filter = json!([{"fromBlock": "0x2", "toBlock": "0x2"}]);
        calls[id] = json!({"jsonrpc": "2.0", "id": id, "method": "eth_getLogs", "params": filter});
    }
    calls[70] = json!({"jsonrpc": "2.0", "method": "eth_getBlockByNumber", "params": ["0x1", false]});
    calls[71] = json!(7);
    for id in [52, 53] {
        let params = json!([{"to": format!("0x{id:040x}")}, "0xffff"]);
        calls[id] = json!({"jsonrpc": "2.0", "id": id, "method": "eth_call", "params": params});
    }
    let agent = http::agent();
    let batch = http::post(&agent, &url, json!(calls).to_string().as_bytes())?.json()?;
    let mut answers = batch.as_array().context("a list")?.iter();
    for (id, call) in calls.iter().enumerate().filter(|(id, _)| *id != 70) {
        let answer = answers.next().context("an answer is missing")?;
        let is_filter = call["method"] == "eth_newBlockFilter";
        ensure!(answer["id"] == call["id"] || id == 71, "{id}: {answer}");
        let alone = http::post(&agent, &url, call.to_string().as_bytes())?.json()?;
        ensure!(*answer == alone || is_filter && answer["result"].is_string(), "{call}");
    }
    ensure!(answers.next().is_none(), "more answers than calls");
    api.stop()?;
    Ok(())
}
