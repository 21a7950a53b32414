//! The archive, unpacked into an empty folder: its checksums hold, and its programs serve blocks with what is in it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};
use xtask::process::Server;
use xtask::{http, package};

use crate::chains::dump;
use crate::env;

#[test]
fn an_archive_is_all_that_a_machine_needs() -> anyhow::Result<()> {
    if !env::is_slow_run() {
        return Ok(());
    }
    let folder = env::directory()?;
    let archive = package::write(if cfg!(debug_assertions) { "debug" } else { "release" }, folder.path())?;
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty)?;
    let run = |program: &str, arguments: &[&str], at: &Path| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(at);
        env::run(command, 0)
    };
    let name = archive.file_name().context("a name")?.to_string_lossy().into_owned();
    run("sha256sum", &["--check", &format!("{name}.sha256")], folder.path())?;
    run("tar", &["-xzf", &archive.display().to_string(), "--strip-components=1"], &empty)?;
    run("sha256sum", &["--check", "--quiet", "share/doc/trawl/SHA256SUMS"], &empty)?;
    let licences = std::fs::read_to_string(empty.join("share/doc/trawl/LICENCES.txt"))?;
    for package in ["tokio ", "revm ", "clickhouse ", "Permission is hereby granted"] {
        ensure!(licences.contains(package), "{package}");
    }
    for file in ["systemd/trawl-api.service", "prometheus/rules.yml", "grafana/trawl.json", "nginx/trawl.conf"] {
        ensure!(empty.join("share/trawl").join(file).exists(), "{file}");
    }
    serves_blocks(&empty)
}

/// Programs as they lie there, in an environment that names nothing of this checkout.
fn serves_blocks(unpacked: &Path) -> anyhow::Result<()> {
    let program = |name: &str, arguments: &[&str]| {
        let mut command = Command::new(unpacked.join("bin").join(name));
        command.args(arguments).current_dir(unpacked).env_clear();
        command
    };
    let engine = Server::start(program("trawl-engine", &["--data-dir", "data", "--listen", "127.0.0.1:0"]))?;
    let store = ["--clickhouse-url", &engine.url];
    env::run(program("trawl-ingest", &[&["migrate"], &store[..]].concat()), 0)?;
    env::run(program("trawl-ingest", &[&["load", "--dump", &dump("hive")], &store[..]].concat()), 0)?;
    let api = Server::start(program("trawl-api", &[&["--listen", "127.0.0.1:0"], &store[..]].concat()))?;
    let blocks = format!("{}/api/v2/blocks?items_count=1", api.url);
    env::eventually(env::SOON, || Ok(http::get(&http::agent(), &blocks)?.status == 200))?;
    let items = http::get(&http::agent(), &blocks)?.json()?["items"].take();
    ensure!(items[0]["height"] == 54, "{items}");
    api.stop()?;
    engine.stop()?;
    Ok(())
}
