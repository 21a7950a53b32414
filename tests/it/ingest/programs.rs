//! `trawl-ingest` as a program: exit codes, status, secrets.

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
        ensure!(String::from_utf8_lossy(&env::run(command, 0)?.stdout).contains(env!("CARGO_PKG_VERSION")));
    }
    Ok(())
}

#[test]
fn status_names_ranges_and_gaps() -> anyhow::Result<()> {
    let name = chain("mainnet").name;
    let status = env::run(env::ingest(name, &["status", "--json"]), 0)?;
    let status: Value = serde_json::from_slice(&status.stdout)?;
    let wanted: Vec<Value> =
        crate::rpc::missing(chain(name)).iter().map(|(first, last)| json!([first, last])).collect();
    ensure!(
        status["gaps"] == json!(wanted)
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
    let output = child.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(text.contains("http://127.0.0.1:1") && !text.contains("secret-key"), "{text}");
    Ok(())
}
