//! `trawl-ingest` as a program: exit codes, status, secrets.

use xtask::workspace;

use super::node::Node;
use super::*;

#[test]
fn exit_codes() -> anyhow::Result<()> {
    let _database = env::migrate("ingest_codes")?;
    env::run(env::ingest("ingest_codes", &["load"]), 2)?;
    env::run(env::ingest("ingest_codes", &["load", "--dump", &dump("hive"), "--from", "9", "--to", "8"]), 2)?;
    env::run(env::ingest("ingest_codes", &["load", "--dump", &dump("hive"), "--rpc-url", "http://127.0.0.1:1"]), 2)?;
    env::run(env::ingest("ingest_codes", &["nonsense"]), 2)?;
    env::run(env::ingest("ingest_codes", &["load", "--dump", "/nowhere"]), 1)?;
    let port = env::free_port()?;
    let nobody = format!("http://127.0.0.1:{port}");
    let output = env::run(env::ingest_at(&nobody, "x", &["status"]), 5)?;
    ensure!(String::from_utf8_lossy(&output.stderr).contains("ClickHouse cannot be reached"));
    let login = ["--clickhouse-user", "nobody", "--clickhouse-password", "wrong"];
    let output = env::run(env::ingest_at(env::engine(), "ingest_codes", &[&["status"], &login[..]].concat()), 6)?;
    ensure!(String::from_utf8_lossy(&output.stderr).contains("nobody"));
    env::run(env::api_at(env::engine(), "ingest_codes", &login), 6)?;
    for program in ["trawl-ingest", "trawl-api", "trawl-engine"] {
        let mut command = std::process::Command::new(env::program(program));
        command.arg("--version");
        let stdout = String::from_utf8(env::run(command, 0)?.stdout)?;
        ensure!(
            stdout.trim_end().ends_with(concat!(env!("CARGO_PKG_VERSION"), " (development)")),
            "{program}: {stdout}"
        );
    }
    Ok(())
}

/// An address that is not HTTP is wrong usage, and is not shown whole.
#[test]
fn addresses_of_other_kinds_are_wrong_usage() -> anyhow::Result<()> {
    let _database = env::migrate("ingest_schemes")?;
    for url in ["ftp://ana:secret@host:21/x", "file:///etc/passwd", "host:8123", "http://"] {
        for mut command in [env::ingest_at(url, "x", &["status"]), env::api_at(url, "x", &[])] {
            command.env_remove("CLICKHOUSE_URL");
            let stderr = String::from_utf8(env::run(command, 2)?.stderr)?;
            ensure!(stderr.contains("write http://host:8123") && !stderr.contains("secret"), "{url}: {stderr}");
        }
    }
    for command in [&["load", "--to", "1"][..], &["follow"]] {
        let nodes = ["--rpc-url", "ftp://ana:secret@host:21/x"];
        let output = env::run(env::ingest("ingest_schemes", &[command, &nodes].concat()), 2)?;
        let stderr = String::from_utf8(output.stderr)?;
        ensure!(stderr.contains("`ftp` is not http") && !stderr.contains("secret"), "{command:?}: {stderr}");
    }
    env::run(env::api_at(env::store(), "ingest_schemes", &["--upstream-rpc-url", "ftp://host:21"]), 2).map(drop)
}

#[test]
fn a_status_that_is_watched_comes_again() -> anyhow::Result<()> {
    use std::io::BufRead as _;
    let mut command = env::ingest(chain("devchain").name, &["status", "--json", "--watch", "100ms"]);
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let output = std::io::BufReader::new(child.stdout.take().context("its output")?);
    let lines: Vec<String> = output.lines().take(3).collect::<Result<_, _>>()?;
    // Its output is closed, which ends it too.
    let _ = child.kill();
    process::wait_within(&mut child, env::LONGEST)?;
    for line in &lines {
        let status: Value = serde_json::from_str(line)?;
        ensure!(status["head"] == 91 && status["blocks"] == 92, "{line}");
    }
    ensure!(lines.len() == 3);
    Ok(())
}

/// What `status` reports of state is what the API answers.
#[test]
fn status_says_of_state_what_the_api_answers() -> anyhow::Result<()> {
    for name in ["devchain", "hive", "mainnet"] {
        let chain = chain(name);
        let status = env::run(env::ingest(chain.name, &["status", "--json"]), 0)?;
        let status: Value = serde_json::from_slice(&status.stdout)?;
        let height = status["state"].as_u64().or(status["head"].as_u64()).context("a block")?;
        let params = json!([format!("0x{}", "00".repeat(20)), format!("{height:#x}")]);
        let answer = crate::rpc::call(chain, "eth_getBalance", params)?;
        let is_answered = answer["error"].is_null();
        ensure!(is_answered == status["state"].is_u64(), "{name}: {status}, and the API: {answer}");
        let missing = status["without_state"].as_array().is_some_and(|ranges| !ranges.is_empty());
        ensure!(is_answered || missing || status["gaps"] != json!([]), "{name}: {status}");
    }
    Ok(())
}

/// Why there is no state, as `status` and its form for scripts say.
fn reasons(database: &str) -> anyhow::Result<(String, Value)> {
    let text = env::run(env::ingest(database, &["status"]), 0)?.stdout;
    let text = String::from_utf8(text)?;
    let state = text.lines().find_map(|line| line.strip_prefix("state  ")).context("a line of state")?;
    let json: Value = serde_json::from_slice(&env::run(env::ingest(database, &["status", "--json"]), 0)?.stdout)?;
    Ok((state.trim().to_owned(), json["state_gaps"].clone()))
}

/// Each reason for missing state alone, and two of them together.
#[test]
fn status_says_why_there_is_no_state() -> anyhow::Result<()> {
    let (whole, pruned) = (Node::start("hive", &[])?, Node::start("hive", &["--pruned-below", "20"])?);
    let genesis = workspace::fixture("hive/genesis.json").display().to_string();
    let with_genesis = ["--genesis", &genesis];
    let gap = |block: u64, reason: &str| json!({"block": block, "reason": reason});
    for (database, node, flags, reach, expected) in [
        ("status_pruned", &pruned, &with_genesis[..], "up to block 0", &[gap(1, "traces")][..]),
        ("status_not_loaded", &whole, &["--from", "4"], "none", &[gap(0, "block")]),
        ("status_no_state", &whole, &["--state", "off"], "none", &[gap(0, "genesis"), gap(1, "state_changes")]),
    ] {
        let _database = env::migrate(database)?;
        let load = [&["load", "--rpc-url", &node.url, "--to", "8", "--merge", "off"][..], flags].concat();
        env::run(env::ingest(database, &load), 0)?;
        let (text, gaps) = reasons(database)?;
        ensure!(text.starts_with(&format!("{reach}: block ")) && gaps == json!(expected), "{database}: {text} {gaps}");
        let says_genesis = text.contains("--genesis FILE");
        ensure!(says_genesis == expected.contains(&gap(0, "genesis")), "{database}: {text}");
    }
    for (name, expected) in [("hive", json!([])), ("devchain", json!([gap(0, "genesis"), gap(1, "block_changes")]))] {
        let (text, gaps) = reasons(chain(name).name)?;
        ensure!(gaps == expected && (name == "hive") == (text == "up to block 54"), "{name}: {text} {gaps}");
    }
    Ok(())
}

#[test]
fn status_names_ranges_and_gaps() -> anyhow::Result<()> {
    let name = chain("mainnet").name;
    let status = env::run(env::ingest(name, &["status", "--json"]), 0)?;
    let status: Value = serde_json::from_slice(&status.stdout)?;
    let expected: Vec<Value> =
        crate::rpc::missing(chain(name)).iter().map(|(first, last)| json!([first, last])).collect();
    ensure!(
        status["gaps"] == json!(expected)
            && status["head"] == 22_869_878
            && status["blocks"] == 58
            && status["chain_id"] == 1,
        "{status}"
    );
    let text = env::run(env::ingest(name, &["status"]), 0)?;
    ensure!(String::from_utf8_lossy(&text.stdout).contains("head              22869878"));
    Ok(())
}

#[test]
fn passwords_and_keys_are_not_shown() -> anyhow::Result<()> {
    let mut command = env::ingest_at("http://127.0.0.1:1", "x", &["load", "--help"]);
    command.env("TRAWL_CLICKHOUSE_PASSWORD", "secret-password").env("TRAWL_RPC_URL", "http://127.0.0.1:1/secret-key");
    let output = env::run(command, 0)?;
    ensure!(!String::from_utf8_lossy(&output.stdout).contains("secret"));
    let _database = env::migrate("ingest_secret")?;
    let mut command = env::ingest("ingest_secret", &["load", "--rpc-url", "http://127.0.0.1:1/secret-key"]);
    command.env("RUST_LOG", "debug").env("CLICKHOUSE_PASSWORD", "");
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    std::thread::sleep(Duration::from_millis(1500));
    child.kill()?;
    let output = process::output_within(child, env::LONGEST)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(text.contains("http://127.0.0.1:1") && !text.contains("secret-key"), "{text}");
    Ok(())
}
