//! The archive, unpacked into an empty folder: its checksums hold, and its programs serve blocks with what is in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::Value;
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
    let packages = package::write(if cfg!(debug_assertions) { "debug" } else { "release" }, folder.path())?;
    let archive = packages.archive;
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
    let materials: Value = serde_json::from_slice(&std::fs::read(empty.join("share/doc/trawl/trawl.cdx.json"))?)?;
    let components = materials["components"].as_array().context("components")?;
    ensure!(materials["bomFormat"] == "CycloneDX" && components.len() > 300, "{}", components.len());
    ensure!(components.iter().all(|of| of["hashes"][0]["content"].as_str().is_some_and(|sum| sum.len() == 64)));
    for file in ["man/man1/trawl-ingest-follow.1", "bash-completion/completions/trawl-api"] {
        ensure!(empty.join("share").join(file).exists(), "{file}");
    }
    for file in ["systemd/trawl-api.service", "prometheus/rules.yml", "grafana/trawl.json", "nginx/trawl.conf"] {
        ensure!(empty.join("share/trawl").join(file).exists(), "{file}");
    }
    serves_blocks(&empty)?;
    match packages.debian {
        Some(debian) => packages_of_debian_are_all_that_a_machine_needs(&debian, folder.path()),
        None => {
            eprintln!("packages of Debian are not tried: there is no dpkg-deb");
            Ok(())
        }
    }
}

/// Both packages in one root: programs, library and units lie where they find each other.
fn packages_of_debian_are_all_that_a_machine_needs(debian: &[PathBuf; 2], folder: &Path) -> anyhow::Result<()> {
    let root = folder.join("root");
    for package in debian {
        let mut unpack = Command::new("dpkg-deb");
        unpack.arg("-x").arg(package).arg(&root);
        env::run(unpack, 0)?;
    }
    let mut control = Command::new("dpkg-deb");
    control.arg("-f").arg(&debian[0]);
    let control = String::from_utf8(env::run(control, 0)?.stdout)?;
    for line in ["Package: trawl\n", "\nDepends: libc6 (>= 2.", "\nRecommends: trawl-engine-library\n"] {
        ensure!(control.contains(line), "{line}: {control}");
    }
    let unit = std::fs::read_to_string(root.join("usr/lib/systemd/system/trawl-api.service"))?;
    ensure!(unit.contains("ExecStart=/usr/bin/trawl-api\n") && !unit.contains("/usr/local"), "{unit}");
    for file in ["etc/trawl/follow.env", "usr/lib/sysusers.d/trawl.conf", "usr/share/man/man1/trawl-api.1"] {
        ensure!(root.join(file).exists(), "{file}");
    }
    serves_blocks(&root.join("usr"))
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
