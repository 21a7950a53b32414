//! Limits of requests in a time: by address and by key, what answers say of them, and how they end.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::json;
use xtask::http::{self, Answer};
use xtask::process::Server;

use super::metrics;
use crate::chains::chain;
use crate::env;
use crate::rpc::subscriptions::Socket;

const KEY: &str = "key-of-ana-0123456789";

const OTHER_KEY: &str = "key-of-bob-0123456789";
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}"#;

fn start(log: &std::fs::File, keys: &std::path::Path) -> anyhow::Result<Server> {
    let file = keys.display().to_string();
    let flags = ["--rate-limit", "4/4s", "--api-keys", &file, "--client-header", "x-real-ip", "--log-format", "json"];
    let mut command = env::api_at(env::store(), chain("devchain").name, &flags);
    command.env_remove("RUST_LOG").stderr(log.try_clone()?);
    let api = Server::start(command)?;
    let ready = || Ok(http::get(&http::agent(), &format!("{}/health/ready", api.url))?.status == 200);
    env::eventually(env::SOON, ready)?;
    Ok(api)
}

/// An answer to a client at an address.
fn ask(url: &str, address: &str) -> anyhow::Result<Answer> {
    let request = http::agent().get(url).header("x-real-ip", address);
    answered(request.call().with_context(|| url.to_owned())?)
}

fn send(url: &str, address: &str, body: &str) -> anyhow::Result<Answer> {
    answered(http::agent().post(url).header("x-real-ip", address).send(body).with_context(|| url.to_owned())?)
}

fn answered(mut response: ureq::http::Response<ureq::Body>) -> anyhow::Result<Answer> {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Ok(Answer { status, headers, body: response.body_mut().read_to_vec()? })
}

/// The limit, what remains, and the milliseconds to the full limit that an answer names.
fn standing(answer: &Answer) -> anyhow::Result<[i64; 3]> {
    let number = |name: &str| answer.header(name).parse().with_context(|| format!("{name}: {:?}", answer.headers));
    Ok([number("x-ratelimit-limit")?, number("x-ratelimit-remaining")?, number("x-ratelimit-reset")?])
}

#[test]
fn requests_are_counted_by_address_and_by_key() -> anyhow::Result<()> {
    use sha2::Digest as _;
    let folder = env::directory()?;
    let keys = folder.path().join("keys");
    let hash = format!("{:x}", sha2::Sha256::digest(OTHER_KEY));
    std::fs::write(&keys, format!("# who, key, rate\nana {KEY} 6/1h\n\nbob sha256:{hash} unlimited\n"))?;
    let log = tempfile::NamedTempFile::new()?;
    let api = start(log.as_file(), &keys)?;
    let blocks = format!("{}/api/v2/blocks?items_count=1", api.url);
    by_address(&blocks)?;
    by_key(&api.url, &blocks)?;
    calls_of_a_batch(&api.url)?;
    messages_of_a_socket(&api.url)?;
    let shown = metrics(&api.url)?;
    ensure!(shown.contains("trawl_rate_limited_total{by=\"key\"} 3\n"), "{shown}");
    ensure!(shown.lines().any(|line| line.starts_with("trawl_rate_addresses ") && !line.ends_with(" 0")), "{shown}");
    let text = std::fs::read_to_string(log.path())?;
    let line = text.lines().find(|line| line.contains("above the rate limit")).context("a line of the log")?;
    ensure!(line.contains("10.0.0.1") && !text.contains(KEY), "{text}");
    api.stop()?;
    Ok(())
}

/// The first that is too much is refused until the named time is over; others are not.
fn by_address(blocks: &str) -> anyhow::Result<()> {
    for remaining in [3, 2, 1, 0] {
        let answer = ask(blocks, "10.0.0.1")?;
        let [limit, left, reset] = standing(&answer)?;
        ensure!(answer.status == 200 && limit == 4 && left >= remaining && reset == (4 - left) * 1000, "{answer:?}");
    }
    let mut refused = ask(blocks, "10.0.0.1")?;
    while refused.status == 200 {
        refused = ask(blocks, "10.0.0.1")?;
    }
    ensure!(refused.status == 429 && standing(&refused)? == [4, 0, 4000], "{refused:?}");
    ensure!(refused.header("retry-after") == "1" && refused.header("access-control-allow-origin") == "*");
    ensure!(refused.json()? == json!({"message": "Too many requests: the limit is 4 in 4s; try again in 1 s"}));
    let started = Instant::now();
    ensure!(ask(blocks, "10.0.0.2")?.status == 200, "another address");
    let probe = ask(&blocks.replace("/api/v2/blocks?items_count=1", "/api/health"), "10.0.0.1")?;
    ensure!(probe.status != 429 && standing(&probe)? == [-1, -1, -1], "a probe is not counted: {probe:?}");
    ensure!(ask(&blocks.replace("/api/v2/blocks?items_count=1", "/health/live"), "10.0.0.1")?.status == 200);
    std::thread::sleep(Duration::from_secs(1).saturating_sub(started.elapsed()));
    ensure!(ask(blocks, "10.0.0.1")?.status == 200, "after Retry-After");
    // Requests that cannot be answered count too.
    let wrong = ask(&format!("{blocks}&nonsense=1"), "10.0.0.3")?;
    ensure!(wrong.status == 422 && standing(&wrong)?[1] == 3, "{wrong:?}");
    Ok(())
}

/// A key counts wherever clients of the family write it, from any address; one that is not known counts for nothing.
fn by_key(api: &str, blocks: &str) -> anyhow::Result<()> {
    let etherscan = format!("{api}/api?module=proxy&action=eth_blockNumber");
    let form = "module=proxy&action=eth_blockNumber&apikey=";
    let header = http::agent().get(blocks).header("x-real-ip", "10.0.1.1").header("x-api-key", KEY).call()?;
    for (at, answer) in [
        answered(header)?,
        ask(&format!("{blocks}&apikey={KEY}"), "10.0.1.2")?,
        ask(&format!("{blocks}&key={KEY}"), "10.0.1.3")?,
        ask(&format!("{etherscan}&apikey={KEY}"), "10.0.1.4")?,
        send(&format!("{api}/api"), "10.0.1.5", &format!("{form}{KEY}"))?,
        send(&format!("{api}/rpc?apikey={KEY}"), "10.0.1.6", CALL)?,
    ]
    .into_iter()
    .enumerate()
    {
        let [limit, left, reset] = standing(&answer)?;
        let expected = (6, 5 - at as i64, (at as i64 + 1) * 600_000);
        ensure!(answer.status == 200 && (limit, left, reset) == expected, "{at}: {answer:?}");
    }
    // Clients of Etherscan look at the result alone.
    for refused in [
        send(&format!("{api}/v2/api"), "10.0.1.7", &format!("{form}{KEY}"))?,
        ask(&format!("{etherscan}&chainid=1&apikey={KEY}"), "10.0.1.7")?,
    ] {
        ensure!(refused.status == 429 && standing(&refused)? == [6, 0, 3_600_000], "{refused:?}");
        let wait: u64 = refused.header("retry-after").parse()?;
        ensure!((500..=600).contains(&wait), "{wait}");
        let body = refused.json()?;
        ensure!(body["status"] == "0" && body["message"] == "NOTOK", "{body}");
        ensure!(
            body["result"].as_str().is_some_and(|text| text.starts_with("Max rate limit reached: Too many ")),
            "{body}"
        );
    }
    let refused = ask(&format!("{etherscan}&apikey={KEY}"), "10.0.1.7")?;
    let body = refused.json()?;
    ensure!(refused.status == 429 && body["status"] == "0" && body["message"] == body["result"], "{body}");
    for _ in 0..6 {
        let answer = ask(&format!("{blocks}&apikey={OTHER_KEY}"), "10.0.1.8")?;
        ensure!(answer.status == 200 && standing(&answer)? == [-1, -1, -1], "{answer:?}");
    }
    let unknown = ask(&format!("{blocks}&apikey=nobody"), "10.0.1.9")?;
    ensure!(unknown.status == 200 && standing(&unknown)? == [4, 3, 1000], "{unknown:?}");
    Ok(())
}

fn calls_of_a_batch(api: &str) -> anyhow::Result<()> {
    let batch = |calls: usize| format!("[{}]", vec![CALL; calls].join(","));
    let url = format!("{api}/rpc");
    let fits = send(&url, "10.0.2.1", &batch(3))?;
    ensure!(fits.status == 200 && standing(&fits)?[1] == 1, "{fits:?}");
    let over = send(&url, "10.0.2.1", &batch(4))?;
    ensure!(over.status == 429 && over.json()?["error"]["code"] == -32005, "{over:?}");
    ensure!(over.json()?["error"]["data"]["retryAfterSeconds"].as_u64() == over.header("retry-after").parse().ok());
    let never = send(&format!("{api}/api/eth-rpc"), "10.0.2.2", &batch(6))?;
    let text = "batch too large: this server answers at most 4 calls per client in 4s";
    ensure!(never.status == 413 && never.json()?["error"]["message"] == text, "{never:?}");
    Ok(())
}

fn messages_of_a_socket(api: &str) -> anyhow::Result<()> {
    let mut socket = Socket::connect_to(api, "/rpc")?;
    let mut refused = None;
    for _ in 0..20 {
        let answer = socket.call("eth_blockNumber", &json!([]))?;
        if answer["error"]["code"] == -32005 {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.context("messages are counted")?;
    ensure!(refused["error"]["data"]["retryAfterSeconds"] == 1, "{refused}");
    Ok(())
}

/// What the file of keys has wrong is reported at the start, with its line, and never with a key.
#[test]
fn a_wrong_file_of_keys_ends_the_start() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let file = folder.path().join("keys");
    let name = file.display().to_string();
    let run = |arguments: &[&str]| -> anyhow::Result<String> {
        let mut command = Command::new(env::program("trawl-api"));
        command.args(["--listen", "127.0.0.1:0"]).args(arguments);
        Ok(String::from_utf8(env::run(command, 2)?.stderr)?)
    };
    for (text, expected) in [
        (format!("ana {KEY} 6/1h\nbob {KEY}"), "line 2"),
        (format!("ana {KEY} 6/1h\nbob {KEY} 6/1h"), "on an earlier line"),
        (format!("ana {KEY} often"), "300/1m"),
        ("# nobody\n".into(), "has no key"),
    ] {
        std::fs::write(&file, &text)?;
        let stderr = run(&["--rate-limit", "1/1s", "--api-keys", &name])?;
        ensure!(stderr.contains(expected) && !stderr.contains(KEY), "{text}: {stderr}");
    }
    std::fs::write(&file, format!("ana {KEY} 6/1h"))?;
    let stderr = run(&["--api-keys", &name])?;
    ensure!(stderr.contains("--rate-limit"), "{stderr}");
    let stderr = run(&["--rate-limit", "often"])?;
    ensure!(stderr.contains("`often` is not a rate"), "{stderr}");
    Ok(())
}
