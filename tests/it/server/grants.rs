//! The grants of `docs/operate/clickhouse-server.md` are what the programs need, and no more than the page says.

use anyhow::{Context as _, ensure};
use serde_json::json;
use xtask::http;
use xtask::process::{self, Server};

use super::accounts::{Accounts, as_user, ask, grants};
use crate::env;
use crate::ingest::follow;
use crate::ingest::node::Node;

/// A chain is followed over a reorganisation, verified and read by accounts that have what the page grants.
#[test]
fn the_grants_of_the_page_are_enough() -> anyhow::Result<()> {
    let data = env::directory()?;
    let mut accounts = Accounts::new()?;
    for name in ["trawl", "trawl_api"] {
        accounts.add(name, "default", &grants(name)?)?;
    }
    let server = accounts.serve(data.path())?;
    let ingest = |arguments: &[&str]| as_user(env::ingest_at(&server.url, "trawl", arguments), "trawl");
    env::run(ingest(&["migrate"]), 0)?;
    for user in ["trawl", "trawl_api"] {
        env::run(as_user(env::ingest_at(&server.url, "trawl", &["migrate", "--check"]), user), 0)?;
    }

    let node = Node::start("hive", &["--finality", "20"])?;
    let mut follower = process::spawn(ingest(&["follow", "--rpc-url", &node.url, "--poll-interval-ms", "50"]))?;
    let api = Server::start(as_user(env::api_at(&server.url, "trawl", &[]), "trawl_api"))?;
    let agent = http::agent();
    env::eventually(env::SOON, || Ok(http::get(&agent, &format!("{}/health/ready", api.url))?.status == 200))?;
    follow::reaches(&api.url, follow::tip(&follow::hashes("main")?))?;
    node.control(&json!({"branch": "depth17"}))?;
    follow::reaches(&api.url, follow::tip(&follow::hashes("depth17")?))?;
    process::end(&mut follower)?;
    for command in ["verify", "status"] {
        env::run(ingest(&[command]), 0).context(command)?;
    }
    for path in ["/api/v2/blocks", "/api/v2/stats", "/api/v2/main-page/transactions", "/api/health", "/metrics"] {
        let answer = http::get(&agent, &format!("{}{path}", api.url))?;
        ensure!(answer.status == 200, "{path}: {} {}", answer.status, answer.text());
    }

    let (status, text) = ask(&server, "trawl", "SELECT dictGet('token_facts', 'name', 'x')")?;
    ensure!(status == 200, "{text}");

    let missing =
        "SELECT groupUniqArray(exception) FROM system.query_log WHERE exception_code = 497 AND user != 'default'";
    let (status, text) = ask(&server, "operator", missing)?;
    ensure!(status == 200 && text.trim() == "[]", "what the page does not grant: {text}");

    // What an account that reads tries beside that is refused, and the owner of one database makes no other.
    for (user, sql) in [
        ("trawl_api", "INSERT INTO left_out_tables (name) VALUES ('x')"),
        ("trawl_api", "DROP TABLE logs"),
        ("trawl_api", "SELECT count() FROM system.processes"),
        ("trawl", "CREATE DATABASE another"),
        ("trawl", "CREATE USER mallory"),
    ] {
        let (status, text) = ask(&server, user, sql)?;
        ensure!(status != 200 && text.contains("ACCESS_DENIED"), "{user}: {sql}: {status} {text}");
    }
    api.stop()?;
    server.stop()?;
    Ok(())
}
