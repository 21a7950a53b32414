//! The configuration file of the three programs, the settings in force, manual pages.

use std::path::Path;
use std::process::Command;

use anyhow::ensure;
use xtask::http;
use xtask::process::Server;

use crate::chains::chain;
use crate::env;

fn run(name: &str, arguments: &[&str], code: i32) -> anyhow::Result<(String, String)> {
    let mut command = Command::new(env::program(name));
    command.args(arguments);
    let output = env::run(command, code)?;
    Ok((String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?))
}

#[test]
fn one_file_serves_all_programs() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let file = folder.path().join("trawl.toml").display().to_string();
    let text = format!(
        "[clickhouse]\nurl = \"{}\"\ndatabase = \"{}\"\n[api]\nlisten = \"127.0.0.1:0\"\nmax-logs = 7\n\
         [ingest]\nrpc-url = [\"http://user:secret@node:1/key\"]\n[engine]\ndata-dir = \"nowhere\"\n",
        env::store(),
        chain("hive").name
    );
    std::fs::write(&file, text)?;
    let mut api = Command::new(env::program("trawl-api"));
    api.args(["--config-file", &file]);
    let api = Server::start(api)?;
    env::eventually(env::SOON, || Ok(http::get(&http::agent(), &format!("{}/health/ready", api.url))?.status == 200))?;
    let (settings, _) = run("trawl-api", &["--config-file", &file, "--max-logs", "8", "--print-config"], 0)?;
    for line in
        ["[clickhouse]\n", "\nmax-logs = 8  # flag\n", "\nlisten = \"127.0.0.1:0\"  # file\n", "\n# max-batch = 100\n"]
    {
        ensure!(settings.contains(line), "{line}: {settings}");
    }
    let (settings, _) = run("trawl-ingest", &["tokens", "--config-file", &file, "--print-config"], 0)?;
    ensure!(settings.contains("\n# rpc-url = \"http://…@node:1/…\"  # file\n"), "{settings}");
    ensure!(!settings.contains("secret"), "{settings}");
    let engine = ["--config-file", &file, "--print-config"];
    let (settings, _) = run("trawl-engine", &engine, 0)?;
    ensure!(settings.contains("\ndata-dir = \"nowhere\"  # file\n") && !Path::new("nowhere").exists(), "{settings}");
    Ok(())
}

/// What is printed gives the same settings again.
#[test]
fn settings_that_are_printed_are_a_file() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let file = folder.path().join("printed.toml");
    for (name, arguments) in
        [("trawl-api", &[][..]), ("trawl-ingest", &["load"]), ("trawl-engine", &["--data-dir", "x"])]
    {
        let given = [arguments, &["--log-format", "json", "--print-config"]].concat();
        let (printed, _) = run(name, &given, 0)?;
        std::fs::write(&file, &printed)?;
        let path = file.display().to_string();
        let (again, _) = run(name, &[arguments, &["--config-file", &path, "--print-config"]].concat(), 0)?;
        let values = |text: &str| -> Vec<String> {
            let value = |line: &str| line.rsplit_once("  # ").map_or(line, |(value, _)| value).to_owned();
            text.lines().map(value).collect()
        };
        ensure!(values(&printed) == values(&again), "{name}: {printed}\n\n{again}");
        ensure!(again.contains("log-format = \"json\""), "{again}");
    }
    Ok(())
}

#[test]
fn a_wrong_file_is_wrong_usage() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let file = folder.path().join("wrong.toml");
    for (text, reason) in [
        ("[api]\nmax-log = 7\n", "sets `api.max-log`: there is no flag --max-log"),
        (
            "[apis]\n",
            "has `apis` at the top level, where only these tables are allowed: clickhouse, api, ingest, engine",
        ),
        ("[api]\nmax-logs = \"many\"\n", "invalid value 'many' for '--max-logs"),
        ("[api\n", "is not valid TOML"),
        // What flags require of each other holds in a file.
        ("[api]\ntls-cert = \"/x\"\n", "--tls-key"),
    ] {
        std::fs::write(&file, text)?;
        let (_, error) = run("trawl-api", &["--config-file", &file.display().to_string()], 2)?;
        ensure!(error.contains(reason), "{text}: {error}");
    }
    let (_, error) = run("trawl-ingest", &["status", "--config-file", "/nowhere/trawl.toml"], 2)?;
    ensure!(error.contains("/nowhere/trawl.toml cannot be read"), "{error}");
    Ok(())
}

#[test]
fn programs_write_their_manual_and_completions() -> anyhow::Result<()> {
    let folder = env::directory()?;
    for (name, flag) in [("trawl-api", "max-logs"), ("trawl-ingest", "clickhouse-url"), ("trawl-engine", "data-dir")] {
        run(name, &["--generate", &folder.path().display().to_string()], 0)?;
        let page = std::fs::read_to_string(folder.path().join(format!("man/man1/{name}.1")))?;
        ensure!(page.replace('\\', "").contains(&format!("--{flag}")), "{page}");
        let completions = folder.path().join("bash-completion/completions").join(name);
        let mut bash = Command::new("bash");
        bash.args(["-c", "source \"$0\" && complete -p \"$1\""]).arg(&completions).arg(name);
        env::run(bash, 0)?;
    }
    ensure!(folder.path().join("man/man1/trawl-ingest-follow.1").exists());
    Ok(())
}
