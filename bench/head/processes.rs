//! The measured programs, and their figures from the system.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use xtask::process::{self, Server};
use xtask::{engine_library, http, workspace};

/// How programs are started.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Of which build they are.
    pub profile: String,
    /// The processors that they may use, as a list for taskset; `None` for all.
    pub cores: Option<String>,
    /// Where data and logs go.
    pub folder: PathBuf,
}

impl Launch {
    fn command(&self, name: &str) -> anyhow::Result<Command> {
        let program = workspace::program(&self.profile, name);
        let mut command = match &self.cores {
            Some(cores) => {
                let mut command = Command::new("taskset");
                command.args(["-c", cores]).arg(program);
                command
            }
            None => Command::new(program),
        };
        let log =
            std::fs::OpenOptions::new().create(true).append(true).open(self.folder.join(format!("{name}.log")))?;
        command.stderr(log);
        Ok(command)
    }

    /// The engine over its folder, at this address; port 0 is a free one.
    pub fn engine(&self, listen: &str) -> anyhow::Result<Server> {
        let mut command = self.command("trawl-engine")?;
        command.arg("--data-dir").arg(self.folder.join("engine"));
        command.args(["--listen", listen, "--library"]).arg(engine_library::ensure()?);
        Server::start(command)
    }

    /// An API that is ready.
    pub fn api(&self, engine: &str, arguments: &[String]) -> anyhow::Result<Server> {
        let mut command = self.command("trawl-api")?;
        command.args(["--listen", "127.0.0.1:0", "--clickhouse-url", engine]).args(arguments);
        let api = Server::start(command)?;
        let (agent, started) = (http::agent(), Instant::now());
        while http::get(&agent, &format!("{}/health/ready", api.url))?.status != 200 {
            ensure!(started.elapsed() < Duration::from_secs(60), "the API did not become ready");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(api)
    }

    /// `trawl-ingest` on a database, run to its end.
    pub fn ingest(&self, engine: &str, database: &str, arguments: &[&str]) -> anyhow::Result<()> {
        let mut command = self.command("trawl-ingest")?;
        command.args(arguments).args(["--clickhouse-url", engine, "--clickhouse-database", database]);
        process::run(command.stdout(Stdio::null()))
    }

    /// `trawl-ingest follow` from block 0, which runs on.
    pub fn follow(
        &self,
        (engine, node): (&str, &str),
        genesis: &Path,
        poll: Duration,
        flags: &[&str],
    ) -> anyhow::Result<Follower> {
        let mut command = self.command("trawl-ingest")?;
        command
            .args(["follow", "--from", "0", "--rpc-url", node, "--clickhouse-url", engine, "--genesis"])
            .arg(genesis);
        command
            .args(["--poll-interval", &format!("{}ms", poll.as_millis())])
            .args(flags)
            .stdout(Stdio::null())
            .stdin(Stdio::null());
        Ok(Follower(process::spawn(command).context("cannot start trawl-ingest")?))
    }
}

/// A running `trawl-ingest follow`; dropping it ends it.
pub struct Follower(Child);

impl Follower {
    /// Its process id.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Whether it still runs.
    pub fn runs(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        if self.runs() {
            // Nothing can be done about a process that does not end.
            let _ = process::end(&mut self.0);
        }
    }
}

/// Seconds of processor time that a process took so far, in user and kernel together, threads that ended included.
pub fn processor(id: u32) -> anyhow::Result<f64> {
    let mut clock: libc::clockid_t = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both calls write to the addresses they are given and to nothing else.
    let failed = unsafe {
        libc::clock_getcpuclockid(libc::pid_t::try_from(id)?, &raw mut clock) != 0
            || libc::clock_gettime(clock, &raw mut time) != 0
    };
    ensure!(!failed, "process {id} is gone");
    Ok(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
}

/// Bytes that a process handed to the disk so far, by its pages.
pub fn written_bytes(id: u32) -> anyhow::Result<u64> {
    let counts = std::fs::read_to_string(format!("/proc/{id}/io"))?;
    let line = counts.lines().find_map(|line| line.strip_prefix("write_bytes: "));
    Ok(line.context("the system does not count what is written")?.parse()?)
}

/// Resident memory of a process in MiB.
pub fn resident(id: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kibibytes.unwrap_or(f64::NAN) / 1024.
}
