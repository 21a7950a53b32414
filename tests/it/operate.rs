//! The operator's pages are right word for word: the commands of `backup.md` and `upgrade.md` run as they stand there,
//! with the units of `services.md`, over a chain that `follow` extends. Only folders and ports are others.

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
        for folder in ["units", "etc/trawl", "run", "log", "new", "bin", "var/lib"] {
            fs::create_dir_all(root.path().join(folder))?;
        }
        let machine = Self { root, engine, api };
        let library = format!("TRAWL_LIBRARY={}", engine_library::ensure()?.display());
        for (program, variable) in [
            ("engine", library),
            ("follow", format!("TRAWL_RPC_URL={}\nTRAWL_METRICS_LISTEN=127.0.0.1:{}", node.url, env::free_port()?)),
            ("api", format!("TRAWL_API_LISTEN={}", machine.api)),
        ] {
            let file = machine.adapted(&shipped(&format!("{program}.env"))?);
            fs::write(machine.path("etc/trawl").join(format!("{program}.env")), format!("{file}{variable}\n"))?;
        }
        for account in ["owner", "api"] {
            fs::write(machine.path("etc/trawl").join(format!("{account}-password")), format!("{account} secret\n"))?;
        }
        for folder in ["bin", "new"] {
            for program in ["trawl-engine", "trawl-ingest", "trawl-api"] {
                symlink(env::program(program), machine.path(folder).join(program))?;
            }
        }
        for unit in UNITS {
            fs::write(
                machine.path("units").join(format!("{unit}.service")),
                machine.adapted(&shipped(&format!("{unit}.service"))?),
            )?;
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
            .replace("127.0.0.1:8123", &format!("127.0.0.1:{}", self.engine))
    }

    /// Runs what a page says after `exports`; its folder is that of the new programs.
    fn run(&self, exports: &str, commands: &str) -> anyhow::Result<()> {
        let url = format!("export TRAWL_CLICKHOUSE_URL=http://127.0.0.1:{}", self.engine);
        let script = format!("{url}\n{}\n{}", self.adapted(exports), self.adapted(commands));
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
            // Nothing listens while the API starts.
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
            // Nothing starts it again then; the folder is there.
            let _ = fs::write(self.path("run").join(format!("{unit}.stopped")), "");
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

/// A file of `ops/systemd`.
fn shipped(name: &str) -> anyhow::Result<String> {
    fs::read_to_string(workspace::root().join("ops/systemd").join(name)).with_context(|| name.to_owned())
}

/// What a block of commands sets for those after it.
fn exports(block: &str) -> String {
    block.lines().filter(|line| line.starts_with("export ")).map(|line| format!("{line}\n")).collect()
}

/// The units are as hardened as the page says, and systemd finds nothing wrong in them but that the programs are not
/// there.
#[test]
fn units_are_hardened_and_right() -> anyhow::Result<()> {
    let analyze = |arguments: &[&str], unit: &str| -> anyhow::Result<Option<String>> {
        let file = workspace::root().join("ops/systemd").join(format!("{unit}.service"));
        let output = match Command::new("systemd-analyze").args(arguments).arg(file).output() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            output => output?,
        };
        Ok(Some(format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))))
    };
    for unit in UNITS {
        let text = shipped(&format!("{unit}.service"))?;
        for line in ["RestartSec=5", "StartLimitIntervalSec=0", "Restart=always", "NoNewPrivileges=yes"] {
            ensure!(text.lines().any(|found| found == line), "{unit}: {line}");
        }
        let Some(report) = analyze(&["security", "--offline=true"], unit)? else {
            eprintln!("no systemd-analyze here: how hardened the units are is not looked at");
            return Ok(());
        };
        let level = report.split("exposure level for ").nth(1).and_then(|rest| rest.split(' ').nth(1));
        let level: f32 = level.with_context(|| report.clone())?.parse()?;
        ensure!(level <= 2.0, "{unit}: {level}");
        let report = analyze(&["verify"], unit)?.unwrap_or_default();
        let wrong: Vec<&str> = report.lines().filter(|line| !line.contains("is not executable")).collect();
        ensure!(wrong.iter().all(|line| !line.contains(unit)), "{wrong:?}");
    }
    Ok(())
}

/// Runs a script of `tests/containers` in a run that includes what takes long. It says why where it cannot.
fn in_containers(script: &str, arguments: &[&str]) -> anyhow::Result<()> {
    const SKIPPED: i32 = 77;
    if !env::is_slow_run() {
        return Ok(());
    }
    let mut command = Command::new(workspace::root().join("tests/containers").join(script));
    let output = command.args(arguments).stdin(Stdio::null()).output()?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.code() == Some(SKIPPED) {
        eprintln!("{script}: {stdout}");
        return Ok(());
    }
    ensure!(output.status.success(), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// The commands of `services.md`, word for word, under systemd: kills, a foreign chain, a wrong password, a reboot.
#[test]
fn units_run_under_systemd() -> anyhow::Result<()> {
    let programs = env::program("trawl-api").parent().context("a folder")?.display().to_string();
    in_containers("systemd.sh", &[&programs, &engine_library::ensure()?.display().to_string()])
}

/// Compose's stack with the embedded engine, by the commands of `quickstart.md`: kills, a foreign chain, a reboot, a
/// full volume.
#[test]
fn the_stack_runs_under_compose() -> anyhow::Result<()> {
    let programs = env::program("trawl-api").parent().context("a folder")?.display().to_string();
    in_containers("compose.sh", &[&programs, &engine_library::ensure()?.display().to_string()])
}

#[test]
fn backup_and_upgrade_are_followed_word_for_word() -> anyhow::Result<()> {
    let node = Node::start("devchain", &[])?;
    let machine = Machine::new(&node)?;
    machine.run("", "systemctl start trawl-engine trawl-follow trawl-api")?;
    let before = machine.logs_of_chain()?;
    for (name, steps) in [("backup.md", 6), ("upgrade.md", 1)] {
        let page = page(name)?;
        let commands = fenced(&page, "sh");
        ensure!(commands.len() == steps, "{name} has {} blocks of commands", commands.len());
        let mut exported = String::new();
        for block in commands {
            machine.run(&exported, block).with_context(|| format!("{name}: {block}"))?;
            exported.push_str(&exports(block));
            ensure!(machine.logs_of_chain()? == before, "{name}: after {block}");
        }
    }
    machine.run("", "systemctl stop trawl-api trawl-follow trawl-engine")?;
    ensure!(Path::new(&machine.path("var/lib/trawl-backup/2026-11-23/backup.json")).exists());
    Ok(())
}
