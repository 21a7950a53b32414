//! The grants of `docs/operate/clickhouse-server.md` are what the programs need, and no more than the page says.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::json;
use xtask::process::{self, Server};
use xtask::{http, workspace};

use super::start;
use crate::env;
use crate::ingest::follow;
use crate::ingest::node::Node;

const PASSWORD: &str = "secret";

/// The statements of the page that grant something to a user.
fn grants(user: &str) -> anyhow::Result<Vec<String>> {
    let page = fs::read_to_string(workspace::root().join("docs/operate/clickhouse-server.md"))?;
    let to = format!(" TO {user};");
    let found = |line: &str| line.strip_suffix(to.as_str()).map(str::to_owned);
    let grants: Vec<String> = page.lines().filter(|line| line.starts_with("GRANT ")).filter_map(found).collect();
    ensure!(!grants.is_empty(), "the page grants {user} nothing");
    Ok(grants)
}

/// What the server's own first statement needs. As on a server where `default` is switched off, it may read nothing.
const STARTS_THE_SERVER: [&str; 3] =
    ["GRANT SYSTEM LISTEN ON *.*", "GRANT READ ON FILE", "GRANT CREATE TEMPORARY TABLE ON *.*"];

fn account(users: &mut String, name: &str, password: &str, grants: &[impl AsRef<str>]) -> anyhow::Result<()> {
    write!(users, "<{name}><password>{password}</password><networks><ip>127.0.0.1</ip></networks>")?;
    write!(users, "<profile>default</profile><quota>default</quota><grants>")?;
    for grant in grants {
        write!(users, "<query>{}</query>", grant.as_ref())?;
    }
    Ok(write!(users, "</grants></{name}>")?)
}

/// Accounts with these grants alone, in ClickHouse's form of `users_config`: libchdb has no `CREATE USER`.
fn users() -> anyhow::Result<String> {
    let mut users = String::new();
    account(&mut users, "default", "", &STARTS_THE_SERVER)?;
    account(&mut users, "operator", PASSWORD, &["GRANT ALL ON *.*"])?;
    for name in ["trawl", "trawl_api"] {
        account(&mut users, name, PASSWORD, &grants(name)?)?;
    }
    Ok(format!(
        "<clickhouse><profiles><default/></profiles><quotas><default/></quotas><users>{users}</users></clickhouse>"
    ))
}

fn as_user(mut command: Command, user: &str) -> Command {
    command.env("TRAWL_CLICKHOUSE_USER", user).env("TRAWL_CLICKHOUSE_PASSWORD", PASSWORD);
    command
}

/// The status and text of a statement of a user.
fn ask(server: &Server, user: &str, sql: &str) -> anyhow::Result<(u16, String)> {
    let url = format!("{}/?user={user}&password={PASSWORD}&database=trawl", server.url);
    let answer = http::post(&http::agent(), &url, sql.as_bytes())?;
    Ok((answer.status, answer.text()))
}

/// A chain is followed over a reorganisation, verified and read by accounts that have what the page grants.
#[test]
fn the_grants_of_the_page_are_enough() -> anyhow::Result<()> {
    let data = env::directory()?;
    let accounts = data.path().join("accounts.xml");
    fs::write(&accounts, users()?)?;
    let server = start(data.path(), &["--users", &accounts.display().to_string()])?;
    let ingest = |arguments: &[&str]| as_user(env::ingest_at(&server.url, "trawl", arguments), "trawl");
    env::run(ingest(&["migrate"]), 0)?;

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
