//! A statement that is slow is logged with the id of its request, which is also in the log of the engine.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use xtask::http;
use xtask::process::Server;

use crate::chains::chain;
use crate::env;

const CHOSEN: &str = "an-id-that-a-client-chose";

#[test]
fn a_slow_statement_names_its_request() -> anyhow::Result<()> {
    let database = chain("devchain").name;
    let log = tempfile::NamedTempFile::new()?;
    let flags = ["--slow-statement", "1ms", "--log-format", "json", "--cache-size", "0", "--settled-cache-size", "0"];
    let mut command = env::api_at(env::store(), database, &flags);
    command.env_remove("RUST_LOG").stderr(log.reopen()?);
    let api = Server::start(command)?;
    let path = format!("{}/api/v2/blocks/1/transactions", api.url);
    env::eventually(env::SOON, || Ok(http::get(&http::agent(), &path)?.status == 200))?;
    let answer = ureq::get(&path).header("x-request-id", CHOSEN).call()?;
    ensure!(answer.headers()["x-request-id"] == CHOSEN);
    let named = ureq::get(&path).call()?.headers()["x-request-id"].to_str()?.to_owned();
    let of_request = |id: &str| -> anyhow::Result<Option<Value>> {
        let text = std::fs::read_to_string(log.path())?;
        let lines = text.lines().filter(|line| line.contains("slow statement") && line.contains(id));
        lines.map(|line| serde_json::from_str(line).context(line.to_owned())).next().transpose()
    };
    for id in [CHOSEN, &named] {
        env::eventually(Duration::from_secs(10), || Ok(of_request(id)?.is_some()))?;
        let line = of_request(id)?.context("a line")?.to_string();
        ensure!(line.contains("SELECT") && line.contains("seconds") && line.contains("workload"), "{line}");
    }
    api.stop()?;
    // Statements of other requests have no comment, so that the engine can keep their connections.
    let logged = |id: &str| {
        let count = format!(
            "SELECT count() > 0 FROM system.query_log WHERE log_comment LIKE '%{id}%' AND query NOT LIKE '%query_log%'"
        );
        env::eventually(Duration::from_secs(10), || Ok(env::sql(database, &count)? == "1"))
    };
    logged(CHOSEN)?;
    let count = format!(
        "SELECT count() FROM system.query_log WHERE log_comment LIKE '%{named}%' AND query NOT LIKE '%query_log%'"
    );
    ensure!(env::sql(database, &count)? == "0");
    Ok(())
}
