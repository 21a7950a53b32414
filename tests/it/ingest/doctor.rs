//! `trawl-ingest doctor`: what is wrong is named with what to do, and ends it with a code of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use anyhow::ensure;

use super::node::Node;
use crate::chains::dump;
use crate::env;

/// What it prints of the shared store and a node; its exit code is `code`.
fn report(database: &str, arguments: &[&str], code: i32) -> anyhow::Result<String> {
    let output = env::run(env::ingest(database, &[&["doctor"], arguments].concat()), code)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The line of a subject, and the one below it.
fn finding<'a>(report: &'a str, subject: &str) -> (&'a str, &'a str) {
    let mut lines = report.lines().skip_while(|line| line.get(9..9 + subject.len()) != Some(subject));
    (lines.next().unwrap_or_default(), lines.next().unwrap_or_default())
}

#[test]
fn what_is_fit_is_fine() -> anyhow::Result<()> {
    let database = &env::migrate("doctor_fit")?;
    env::run(env::ingest(database, &["load", "--dump", &dump("hive")]), 0)?;
    let node = Node::start("hive", &[])?;
    let report = report(database, &["--rpc-url", &node.url], 0)?;
    for subject in ["version", "clock", "schema", "rights", "parts", "damage", "blocks", "chain", "speed", "lag"] {
        ensure!(finding(&report, subject).0.starts_with("fine"), "{subject}: {report}");
    }
    for subject in ["history", "traces", "state"] {
        ensure!(finding(&report, subject).0.starts_with("fine"), "{subject}: {report}");
    }
    // The recorded chain rests.
    ensure!(finding(&report, "head").0.starts_with("warning") && report.contains("block 54"), "{report}");
    Ok(())
}

#[test]
fn what_is_wrong_is_named_with_what_to_do() -> anyhow::Result<()> {
    let database = &env::migrate("doctor_wrong")?;
    env::run(env::ingest(database, &["load", "--dump", &dump("hive"), "--to", "20"]), 0)?;
    let node = Node::start("hive", &["--chain-id", "0x5", "--disable", "trace_block,debug_traceBlockByNumber"])?;
    let nobody = format!("http://127.0.0.1:{}", env::free_port()?);
    let folder = env::directory()?;
    let password = folder.path().join("password");
    fs::write(&password, "")?;
    fs::set_permissions(&password, fs::Permissions::from_mode(0o644))?;
    let file = password.display().to_string();
    let nodes = ["--rpc-url", &node.url, "--rpc-url", &nobody, "--clickhouse-password-file", &file];
    let found = report(database, &nodes, 1)?;
    for (subject, severity, words) in [
        ("chain", "WRONG", "another --clickhouse-database"),
        ("traces", "warning", "internal transactions are recorded as missing"),
        ("node", "WRONG", "start the node"),
        ("password file", "warning", "chmod 600"),
    ] {
        let (line, advice) = finding(&found, subject);
        ensure!(line.starts_with(severity) && advice.contains(words), "{subject}: {found}");
    }
    let lost = finding(&report("doctor_absent", &[], 1)?, "schema").0.to_owned();
    ensure!(lost.starts_with("WRONG") && lost.contains("trawl-ingest migrate"), "{lost}");
    let away = env::run(env::ingest_at(&nobody, "x", &["doctor"]), 1)?;
    ensure!(String::from_utf8_lossy(&away.stdout).contains("start trawl-engine or ClickHouse"));
    Ok(())
}
