//! The Model Context Protocol at `/mcp`, through its official client: what the tools answer is what the API answers.

use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::{http, process, tools, workspace};

use crate::chains::chain;
use crate::env;

/// What the client prints after some calls of tools, which come with the header `Authorization` if one is given.
pub fn run_client(api: &str, calls: &Value, authorization: Option<&str>) -> anyhow::Result<Value> {
    let folder = workspace::root().join("tests/clients");
    tools::npm_ci(&folder)?;
    let mut command = Command::new("node");
    command.arg("mcp.mjs").arg(format!("{api}/mcp")).args(authorization).current_dir(&folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = process::spawn(command)?;
    child.stdin.take().context("an input")?.write_all(calls.to_string().as_bytes())?;
    let output = process::output_within(child, env::LONGEST)?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn get(api: &str, path: &str) -> anyhow::Result<Value> {
    http::get(&http::agent(), &format!("{api}{path}"))?.json()
}

/// A request of the protocol, without the client.
fn posted(api: &str, headers: &[(&str, &str)], body: &str) -> anyhow::Result<(u16, String)> {
    let mut request = http::agent().post(&format!("{api}/mcp")).header("content-type", "application/json");
    request = request.header("accept", "application/json, text/event-stream");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut answer = request.send(body)?;
    Ok((answer.status().as_u16(), answer.body_mut().read_to_string()?))
}

#[test]
fn tools_answer_what_the_api_answers() -> anyhow::Result<()> {
    let api = &chain("hive").api;
    let block = get(api, "/api/v2/main-page/blocks")?[0]["hash"].as_str().context("a block")?.to_owned();
    let transaction = get(api, "/api/v2/transactions?items_count=1")?["items"][0].clone();
    let (hash, sender) = (&transaction["hash"], &transaction["from"]["hash"]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let calls = [
        (json!(["get_block", {"block": block}]), format!("/api/v2/blocks/{block}")),
        (json!(["get_block", {"block": 3}]), "/api/v2/blocks/3".to_owned()),
        (json!(["get_block_transactions", {"block": "3"}]), "/api/v2/blocks/3/transactions?items_count=10".to_owned()),
        (json!(["get_transaction", {"hash": hash}]), format!("/api/v2/transactions/{}", text(hash))),
        (
            json!(["get_transaction_part", {"hash": hash, "part": "token-transfers"}]),
            format!("/api/v2/transactions/{}/token-transfers", text(hash)),
        ),
        (json!(["get_address", {"address": sender}]), format!("/api/v2/addresses/{}", text(sender))),
        (
            json!(["get_address_part", {"address": sender, "part": "transactions", "limit": 3}]),
            format!("/api/v2/addresses/{}/transactions?items_count=3", text(sender)),
        ),
        (json!(["list", {"what": "blocks", "limit": 2}]), "/api/v2/blocks?items_count=2".to_owned()),
        (json!(["search", {"q": "7"}]), "/api/v2/search?q=7".to_owned()),
        (json!(["loaded_blocks", {}]), "/api/v2/main-page/indexing-status".to_owned()),
        (json!(["user_operations", {}]), "/api/v2/proxy/account-abstraction/operations?page_size=10".to_owned()),
        (
            json!(["scan_logs", {"fromBlock": 0, "toBlock": 20, "limit": 5}]),
            "/api/v2/scan/logs?fromBlock=0&toBlock=20&limit=5".to_owned(),
        ),
    ];
    let session = run_client(api, &json!(calls.iter().map(|(call, _)| call).collect::<Vec<_>>()), None)?;
    ensure!(session["server"]["name"] == "trawl" && session["instructions"].as_str().is_some(), "{session}");
    let tools = session["tools"].as_array().context("tools")?;
    ensure!(tools.len() >= 15 && tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true), "{tools:#?}");
    for ((call, path), result) in calls.iter().zip(session["results"].as_array().context("results")?) {
        let answer: Value =
            serde_json::from_str(&text(&result["text"])).with_context(|| format!("{call}: {result}"))?;
        ensure!(result["isError"] == false && answer == get(api, path)?, "{call}: {answer}");
    }
    Ok(())
}

#[test]
fn lists_go_on_and_long_answers_are_cut_with_a_sentence() -> anyhow::Result<()> {
    let api = &chain("hive").api;
    let first = get(api, "/api/v2/blocks?items_count=2")?;
    let long = get(api, "/api/v2/transactions?items_count=50")?.to_string().len();
    ensure!(long > 70_000, "{long}");
    let calls = json!([
        ["list", {"what": "blocks", "limit": 2, "cursor": first["next_page_params"]}],
        ["list", {"what": "transactions", "limit": 50}],
        ["estimate_logs", {"fromBlock": 0}],
    ]);
    let session = run_client(api, &calls, None)?;
    let text = |at: usize| session["results"][at]["text"].as_str().unwrap_or_default().to_owned();
    let second: Value = serde_json::from_str(&text(0))?;
    ensure!(
        second
            == get(
                api,
                &format!("/api/v2/blocks?items_count=2&block_number={}", first["next_page_params"]["block_number"])
            )?
    );
    let (shown, sentence) =
        text(1).split_once("\n[Cut here").map(|(shown, rest)| (shown.len(), rest.to_owned())).context("a cut")?;
    ensure!(shown <= 60_000 && shown > 59_990 && sentence.contains("60000 bytes"), "{shown} {sentence}");
    let estimate: Value = serde_json::from_str(&text(2))?;
    ensure!(estimate == get(api, "/api/v2/scan/logs?explain=1&fromBlock=0")?, "{estimate}");
    Ok(())
}

#[test]
fn errors_are_reported() -> anyhow::Result<()> {
    let api = &chain("hive").api;
    let calls = json!([
        ["get_transaction", {"hash": format!("0x{}", "12".repeat(32))}],
        ["get_transaction", {"hash": "0x12"}],
        ["get_transaction", {}],
        ["get_address_part", {"address": "0x12", "part": "../../stats"}],
        ["list", {"what": "blocks", "limit": 1_000}],
        ["drop_tables", {}],
        ["search", {"q": "a", "other": 1}],
    ]);
    let session = run_client(api, &calls, None)?;
    let results = session["results"].as_array().context("results")?;
    let says = |at: usize, words: &str| {
        let text = results[at]["text"].as_str().or(results[at]["refused"].as_str()).unwrap_or_default();
        ensure!(text.contains(words) && results[at]["isError"] != false, "{at}: {} is not {words}", results[at]);
        Ok(())
    };
    says(0, "Not found")?;
    says(1, "Invalid parameter")?;
    says(2, "`hash` is missing")?;
    says(3, "`part` must be one of")?;
    says(4, "`limit` must be a number from 1 to 50")?;
    says(5, "no tool `drop_tables`")?;
    says(6, "no argument `other`")
}

#[test]
fn browsers_of_other_origins_and_long_messages_are_refused() -> anyhow::Result<()> {
    let api = &chain("hive").api;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let (status, text) = posted(api, &[], &list)?;
    ensure!(status == 200 && text.contains("scan_logs"), "{status} {text}");
    for origin in ["https://evil.example", "null", "http://127.0.0.1"] {
        let (status, text) = posted(api, &[("origin", origin)], &list)?;
        ensure!(status == 403, "{origin}: {status} {text}");
    }
    let long = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": "a".repeat(70_000)}});
    let (status, text) = posted(api, &[], &long.to_string())?;
    ensure!(status == 413, "{status} {text}");
    let off = env::start_api("hive", &["--no-mcp"])?;
    let (status, _) = posted(&off.url, &[], &list)?;
    ensure!(status == 404 || status == 405, "{status}");
    // Each message counts as one request, whatever the tool asks.
    let rated = env::start_api("hive", &["--rate-limit", "2/1h"])?;
    let statuses = [0; 3].map(|_| posted(&rated.url, &[], &list).map(|(status, _)| status).unwrap_or_default());
    ensure!(statuses == [200, 200, 429], "{statuses:?}");
    Ok(())
}
