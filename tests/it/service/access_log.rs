//! A line for each request of API and engine, and what queues and the build say at `/metrics`.

use std::path::Path;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use xtask::http;
use xtask::process::Server;

use super::metrics;
use crate::chains::chain;
use crate::env;

/// The line of a request with this id in a log as JSON.
fn line_of(log: &Path, id: &str) -> anyhow::Result<Value> {
    let text = std::fs::read_to_string(log)?;
    ensure!(!text.contains(KEY), "{text}");
    let line = text.lines().find(|line| line.contains(id) && line.contains("trawl::access"));
    Ok(serde_json::from_str(line.with_context(|| format!("no line of {id} in {text}"))?)?)
}

const KEY: &str = "a-key-that-nobody-may-read";

#[test]
fn each_request_is_a_line_without_its_query() -> anyhow::Result<()> {
    let log = tempfile::NamedTempFile::new()?;
    let flags = ["--access-log", "--log-format", "json", "--client-header", "x-real-ip"];
    let mut command = env::api_at(env::store(), chain("devchain").name, &flags);
    command.env_remove("RUST_LOG").stderr(log.reopen()?);
    let api = Server::start(command)?;
    env::eventually(env::SOON, || Ok(http::get(&http::agent(), &format!("{}/health/ready", api.url))?.status == 200))?;
    let ask = |path: &str| -> anyhow::Result<String> {
        let answer = http::agent().get(format!("{}{path}", api.url)).header("x-real-ip", "10.1.2.3").call()?;
        Ok(answer.headers()["x-request-id"].to_str()?.to_owned())
    };
    for (path, shown, status) in [
        (format!("/api/v2/blocks?items_count=1&apikey={KEY}"), "/api/v2/blocks", 200),
        ("/api/v2/blocks/999999999".into(), "/api/v2/blocks/999999999", 404),
        ("/api/v2/nothing".into(), "/api/v2/nothing", 400),
    ] {
        let id = ask(&path)?;
        let fields = line_of(log.path(), &id)?["fields"].take();
        ensure!(fields["path"] == shown && fields["status"] == status && fields["client"] == "10.1.2.3", "{fields}");
        ensure!(fields["method"] == "GET" && fields["seconds"].is_f64() && fields["request"] == id, "{fields}");
    }
    let shown = metrics(&api.url)?;
    let build = concat!("version=\"", env!("CARGO_PKG_VERSION"), "\",commit=\"development\"} 1");
    ensure!(shown.lines().any(|line| line.starts_with("trawl_build_info{") && line.ends_with(build)), "{shown}");
    for series in ["trawl_slots_taken{of=\"reads\"} 0", "trawl_queue_length{of=\"scans\"} 0"] {
        ensure!(shown.lines().any(|line| line == series), "{series}: {shown}");
    }
    api.stop()?;
    Ok(())
}

#[test]
fn the_engine_writes_a_line_for_each_request_too() -> anyhow::Result<()> {
    let (data, log) = (env::directory()?, tempfile::NamedTempFile::new()?);
    let mut command = std::process::Command::new(env::program("trawl-engine"));
    command.arg("--data-dir").arg(data.path().join("store")).arg("--library").arg(xtask::engine_library::ensure()?);
    command.args(["--listen", "127.0.0.1:0", "--access-log"]);
    command.args(["--log-format", "json"]).env_remove("RUST_LOG").stderr(log.reopen()?);
    let engine = Server::start(command)?;
    let ask = |query: &str, id: &str, host: Option<&str>| -> anyhow::Result<u16> {
        let url = format!("{}/?query={query}&log_comment={KEY}", engine.url);
        let mut request = http::agent().post(url).header("X-ClickHouse-Query-Id", id);
        if let Some(host) = host {
            request = request.header("Host", host);
        }
        Ok(request.send_empty()?.status().as_u16())
    };
    for (query, id, code) in [("SELECT%201", "id-fine", 200), ("SELEC", "id-wrong", 400)] {
        let status = ask(query, id, None)?;
        let fields = line_of(log.path(), id)?["fields"].take();
        ensure!(status == code && fields["status"] == status && fields["client"] == "127.0.0.1", "{fields}");
        ensure!(fields["method"] == "POST" && fields["path"] == "/" && fields["request"] == id, "{fields}");
    }
    ensure!(ask("SELECT%201", "id-refused", Some("evil.example"))? == 403);
    let text = std::fs::read_to_string(log.path())?;
    ensure!(text.contains("\"status\":403") && !text.contains(KEY), "{text}");
    engine.stop()?;
    Ok(())
}
