//! A client of two APIs over one chain that is followed: with `Trawl-Min-Block` its newest block never steps back.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::follow::{Follower, hashes, reaches, tip};
use super::node::Node;
use crate::chains::quantity;
use crate::env;
use crate::service::silence::SilentProxy;

/// An answer: its status, its newest block and its body.
type Answer = (u16, Option<u64>, Value);

fn ask(url: &str, least: Option<&str>) -> anyhow::Result<(Answer, String)> {
    let request = http::agent().get(url);
    let request = least.into_iter().fold(request, |request, least| request.header("trawl-min-block", least));
    let mut response = request.call()?;
    let header = |name: &str| {
        let value = response.headers().get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let (newest, after) = (header("trawl-newest-block").parse().ok(), header("retry-after"));
    let body = serde_json::from_str(&response.body_mut().read_to_string()?)?;
    Ok(((response.status().as_u16(), newest, body), after))
}

fn block_number(api: &str, least: u64) -> anyhow::Result<Answer> {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": []}).to_string();
    let sent = http::agent().post(format!("{api}/rpc")).header("trawl-min-block", least.to_string());
    let mut response = sent.send(request)?;
    let newest = response.headers().get("trawl-newest-block").and_then(|value| value.to_str().ok()?.parse().ok());
    Ok((response.status().as_u16(), newest, serde_json::from_str(&response.body_mut().read_to_string()?)?))
}

/// What a client has seen.
#[derive(Default)]
struct Client {
    newest: u64,
}

impl Client {
    /// Asks an API for the newest block twice, by JSON-RPC and by REST.
    fn ask(&mut self, api: &str) -> anyhow::Result<()> {
        let (status, newest, body) = block_number(api, self.newest)?;
        self.sees(status, newest, quantity(&body["result"]))?;
        let ((status, newest, body), _) = ask(&format!("{api}/api/v2/blocks"), Some(&self.newest.to_string()))?;
        let height = body["items"][0]["height"].as_u64().with_context(|| body.to_string())?;
        self.sees(status, newest, height)
    }

    fn sees(&mut self, status: u16, newest: Option<u64>, block: u64) -> anyhow::Result<()> {
        ensure!(status == 200 && block >= self.newest, "{status}: block {block} after {}", self.newest);
        let newest = newest.context("trawl-newest-block")?;
        ensure!(newest >= block, "block {block}, and the newest is said to be {newest}");
        self.newest = newest;
        Ok(())
    }
}

#[test]
fn a_client_of_two_apis_sees_no_older_head() -> anyhow::Result<()> {
    let name = "several_apis";
    let node = Node::start("hive", &["--head", "30", "--finality", "20"])?;
    let _database = env::migrate(name)?;
    let follower = Follower::start(name, &node.url, &[])?;
    let proxy = SilentProxy::start(env::store())?;
    let apis = [env::start_api(name, &[])?, env::start_api_at(&proxy.url, name, &["--query-timeout", "1s"])?];
    let main = hashes("main")?;
    for api in &apis {
        reaches(&api.url, &main[&30])?;
    }
    let mut client = Client::default();
    for head in [31, 32, 34, 38] {
        node.control(&json!({"head": head}))?;
        reaches(&apis[0].url, &main[&head])?;
        apis.iter().try_for_each(|api| client.ask(&api.url))?;
    }
    node.control(&json!({"head": 54}))?;
    (0..20).try_for_each(|turn| client.ask(&apis[turn % 2].url))?;
    reaches(&apis[0].url, tip(&main))?;
    client.ask(&apis[0].url)?;
    node.control(&json!({"branch": "depth17"}))?;
    (0..20).try_for_each(|turn| client.ask(&apis[turn % 2].url))?;
    let tip = tip(&hashes("depth17")?).to_owned();
    apis.iter().try_for_each(|api| reaches(&api.url, &tip))?;
    client.ask(&apis[1].url)?;

    is_refused_where_the_block_does_not_come(&apis[1].url, client.newest)?;
    header_is_checked(&apis[0].url)?;
    proxy.fall_silent();
    apis.into_iter().try_for_each(|api| api.stop().map(drop))?;
    follower.stop()
}

/// A request for a block that is not there is refused after a while, and others are not.
fn is_refused_where_the_block_does_not_come(api: &str, newest: u64) -> anyhow::Result<()> {
    let (url, started) = (format!("{api}/api/v2/blocks"), Instant::now());
    let ((status, named, body), after) = ask(&url, Some(&(newest + 100).to_string()))?;
    ensure!((status, named, &*after) == (503, Some(newest), "1"), "{status} {named:?} {after} {body}");
    ensure!(
        (Duration::from_millis(1500)..Duration::from_secs(10)).contains(&started.elapsed()),
        "{:?}",
        started.elapsed()
    );
    let (status, _, body) = block_number(api, newest + 100)?;
    ensure!(status == 503 && body["message"].is_string(), "{status} {body}");
    let ((status, ..), _) = ask(&format!("{api}/api/health"), Some("999"))?;
    ensure!(status == 200, "a probe");
    Ok(())
}

fn header_is_checked(api: &str) -> anyhow::Result<()> {
    for bad in ["0x1e", "latest", "-1", "18446744073709551616"] {
        let ((status, _, body), _) = ask(&format!("{api}/api/v2/blocks"), Some(bad))?;
        ensure!(
            status == 400 && body["message"].as_str().is_some_and(|text| text.contains("Trawl-Min-Block")),
            "{bad}: {body}"
        );
    }
    let preflight = http::agent().options(format!("{api}/rpc")).header("origin", "https://a.example");
    let preflight = preflight.header("access-control-request-method", "POST").call()?;
    let lists = |name: &str| preflight.headers()[name].to_str().unwrap_or_default().to_lowercase();
    ensure!(lists("access-control-allow-headers").contains("trawl-min-block"), "{preflight:?}");
    ensure!(lists("access-control-expose-headers").contains("trawl-newest-block"), "{preflight:?}");
    Ok(())
}
