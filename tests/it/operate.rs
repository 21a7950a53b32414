//! The operator's pages are right word for word: the commands of `backup.md` and `upgrade.md` run as they stand there,
//! with the units of `services.md`, over a chain that `follow` extends. Only folders and ports are others.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use xtask::{engine_library, http, process, workspace};

use crate::env;
use crate::ingest::node::Node;

/// The height of the recorded chain.
const TIP: u64 = 91;
const UNITS: [&str; 3] = ["trawl-engine", "trawl-follow", "trawl-api"];

/// A machine on which the pages are followed: a folder instead of `/`, and ports of its own.
struct Machine {
    root: TempDir,
    engine: u16,
    api: String,
}

impl Machine {
    fn new(node: &Node) -> anyhow::Result<Self> {
        let (root, engine) = (env::directory()?, env::free_port()?);
        let api = format!("127.0.0.1:{}", env::free_port()?);
        for folder in ["units", "etc", "run", "log", "backup", "new", "bin", "var/lib/trawl"] {
            fs::create_dir_all(root.path().join(folder))?;
        }
        let machine = Self { root, engine, api };
        let library = engine_library::ensure()?;
        let variables = [
            ("TRAWL_ENGINE_LISTEN", format!("127.0.0.1:{engine}")),
            ("TRAWL_CLICKHOUSE_URL", format!("http://127.0.0.1:{engine}")),
            ("TRAWL_LIBRARY", library.display().to_string()),
            ("TRAWL_RPC_URL", node.url.clone()),
            ("TRAWL_API_LISTEN", machine.api.clone()),
            ("TRAWL_BACKUP_DIR", machine.path("backup").display().to_string()),
        ];
        let mut file = String::new();
        for (name, value) in variables {
            writeln!(file, "{name}={value}")?;
        }
        fs::write(machine.path("etc/trawl.env"), file)?;
        for folder in ["bin", "new"] {
            for program in ["trawl-engine", "trawl-ingest", "trawl-api"] {
                symlink(env::program(program), machine.path(folder).join(program))?;
            }
        }
        for unit in UNITS {
            fs::write(machine.path("units").join(format!("{unit}.service")), machine.adapted(&unit_file(unit)?))?;
        }
        Ok(machine)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.root.path().join(name)
    }

    /// `text` with the folders and ports of this machine.
    fn adapted(&self, text: &str) -> String {
        let root = self.root.path().display();
        text.replace("/usr/local/bin/", &format!("{root}/bin/"))
            .replace("/var/lib/", &format!("{root}/var/lib/"))
            .replace("/etc/", &format!("{root}/etc/"))
            .replace("/backup/", &format!("{root}/backup/"))
            .replace("/backup --keep", &format!("{root}/backup --keep"))
            .replace("127.0.0.1:8123", &format!("127.0.0.1:{}", self.engine))
    }

    /// Runs what a page says; its folder is that of the new programs.
    fn run(&self, commands: &str) -> anyhow::Result<()> {
        let script = format!("set -a; . $ROOT/etc/trawl.env; set +a\n{}", self.adapted(commands));
        let path = format!(
            "{}:{}:{}",
            workspace::root().join("tests/clients/operate").display(),
            self.path("bin").display(),
            std::env::var("PATH")?
        );
        let mut command = Command::new("timeout");
        command.args(["120", "bash", "-euo", "pipefail", "-c", &script]).current_dir(self.path("new"));
        command.env("ROOT", self.root.path()).env("PATH", path).stdin(Stdio::null());
        env::run(command, 0).map(drop).with_context(|| self.logs())
    }

    fn logs(&self) -> String {
        let log = |unit: &&str| fs::read_to_string(self.path("log").join(unit)).unwrap_or_default();
        UNITS.iter().map(log).collect::<Vec<_>>().join("\n")
    }

    /// All logs of the chain, once the API has the tip.
    fn logs_of_chain(&self) -> anyhow::Result<Value> {
        let (agent, url) = (http::agent(), format!("http://{}/rpc", self.api));
        let all = json!([{"fromBlock": "0x0", "toBlock": format!("{TIP:#x}")}]);
        let mut answer = Value::Null;
        let has_tip = || {
            // Nobody listens while the API starts.
            answer = http::rpc(&agent, &url, "eth_getLogs", &all).unwrap_or_default();
            Ok(answer["result"].as_array().is_some_and(|logs| logs.len() > 1_000))
        };
        env::eventually(env::SOON, has_tip).with_context(|| format!("{answer}\n{}", self.logs()))?;
        Ok(answer)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        for unit in UNITS.iter().rev() {
            let process =
                fs::read_to_string(self.path("run").join(unit)).ok().and_then(|text| text.trim().parse().ok());
            // One that has ended is not there any more.
            process.map(|process| process::signal(process, libc::SIGKILL));
        }
    }
}

fn page(name: &str) -> anyhow::Result<String> {
    fs::read_to_string(workspace::root().join("docs/operate").join(name)).with_context(|| name.to_owned())
}

/// The blocks of `page` that are fenced as `language`.
fn fenced<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let opening = format!("```{language}\n");
    page.split(&opening).skip(1).filter_map(|rest| Some(rest.split_once("\n```")?.0)).collect()
}

/// A unit as the page of services shows it.
fn unit_file(unit: &str) -> anyhow::Result<String> {
    let page = page("services.md")?;
    let heading = format!("# /etc/systemd/system/{unit}.service");
    let found = fenced(&page, "ini").into_iter().find(|text| text.starts_with(&heading));
    found.map(str::to_owned).with_context(|| format!("services.md has no unit {unit}"))
}

#[test]
fn backup_and_upgrade_are_followed_word_for_word() -> anyhow::Result<()> {
    let node = Node::start("devchain", &[])?;
    let machine = Machine::new(&node)?;
    machine.run("systemctl start trawl-engine trawl-follow trawl-api")?;
    let before = machine.logs_of_chain()?;
    for (name, steps) in [("backup.md", 6), ("upgrade.md", 1)] {
        let page = page(name)?;
        let commands = fenced(&page, "sh");
        ensure!(commands.len() == steps, "{name} has {} blocks of commands", commands.len());
        for block in commands {
            machine.run(block).with_context(|| format!("{name}: {block}"))?;
            ensure!(machine.logs_of_chain()? == before, "{name}: after {block}");
        }
    }
    machine.run("systemctl stop trawl-api trawl-follow trawl-engine")?;
    ensure!(Path::new(&machine.path("backup/2026-11-23/backup.json")).exists());
    Ok(())
}
