//! The page of each of several chains, and the way from one to another.

use std::process::Command;

use anyhow::ensure;

use super::{get, shared};
use crate::env;
use crate::web_page::sources;

#[test]
fn each_chain_has_the_page() -> anyhow::Result<()> {
    let several = shared();
    let agent = ureq::Agent::config_builder().max_redirects(0).http_status_as_error(false).build().new_agent();
    let page = |path: &str, accept: &str, coding: &str| {
        let request = agent.get(&format!("{several}{path}")).header("accept", accept).header("accept-encoding", coding);
        request.call()
    };
    let mut first = page("/", "text/html", "identity")?;
    ensure!(first.status() == 307 && first.headers()["location"] == "/mainnet", "{first:?}");
    ensure!(first.body_mut().read_to_string()?.is_empty());
    for path in ["/dev", "/dev/", "/dev/block/3"] {
        let mut found = page(path, "text/html", "identity")?;
        ensure!(found.status() == 200 && found.headers()["cache-control"] == "no-cache", "{path}: {found:?}");
        let text = found.body_mut().read_to_string()?;
        ensure!(text.contains(r#"<html data-base="/dev" data-chains="mainnet dev none" lang="en">"#), "{text}");
        ensure!(page(path, "text/html", "gzip")?.headers()["content-encoding"] == "gzip");
        ensure!(page(path, "application/json", "identity")?.status() == 404, "{path}");
        let tag = found.headers()["etag"].to_str()?.to_owned();
        let request = agent.get(&format!("{several}{path}")).header("accept", "text/html");
        ensure!(request.header("if-none-match", tag).call()?.status() == 304);
    }
    ensure!(page("/dev/blockss", "text/html", "identity")?.status() == 404);
    let text = page("/dev", "text/html", "identity")?.body_mut().read_to_string()?;
    let asset = text.split('"').find(|text| text.starts_with("/_/assets/")).unwrap_or_default();
    ensure!(get(&format!("{several}{asset}"))?.header("cache-control").ends_with("immutable"), "{asset}");
    Ok(())
}

/// All links stay below the name, and the switch leads to the same page of the other chain:
/// `web/tests/browser/chains.mjs`.
#[test]
fn a_reader_goes_from_chain_to_chain() -> anyhow::Result<()> {
    let mut command = Command::new("node");
    command.args(["tests/browser/chains.mjs", shared(), "mainnet", "dev"]).current_dir(sources());
    let output = env::run(command, 0)?;
    ensure!(String::from_utf8_lossy(&output.stdout).contains(" 0 problems"), "{output:?}");
    Ok(())
}
