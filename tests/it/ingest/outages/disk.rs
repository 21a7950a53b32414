//! A disk of a few megabytes under an engine, filled and freed at will.
//!
//! It is a file system in memory in a mount namespace of the engine's own, which needs no rights where user namespaces
//! are allowed. Where they are not, the engine is configured to keep more room free than there is: its own refusal,
//! with the same error, for inserts only.

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use tempfile::TempDir;
use xtask::engine_library;
use xtask::process::Server;

use super::injection::Injection;
use crate::env;

/// More than an empty store and the scenario chain need, several times over.
const MEGABYTES: u32 = 96;

/// An engine on a disk of its own, with the tables of one database.
pub struct SmallDisk {
    engine: Server,
    database: String,
    /// The disk as seen from here; `None` if the engine only pretends that its disk is small.
    mounted: Option<PathBuf>,
    full: Option<Injection>,
    /// The namespaces of the user and of mounts that the disk is in: without a process they live as long as these.
    namespaces: Option<[File; 2]>,
    data: TempDir,
}

impl SmallDisk {
    /// An engine with a database of this name.
    pub fn start(database: &str) -> anyhow::Result<Self> {
        Self::of_megabytes(database, MEGABYTES)
    }

    /// The same on a disk of this size.
    pub fn of_megabytes(database: &str, megabytes: u32) -> anyhow::Result<Self> {
        let data = env::directory()?;
        let (engine, mounted) = if may_mount(data.path())? {
            let engine = start_mounted(data.path(), megabytes)?;
            let seen = seen(&engine, data.path());
            ensure!(seen.join("trawl-engine.lock").exists(), "{} is not the engine's disk", seen.display());
            (engine, Some(seen))
        } else {
            eprintln!("no user namespaces here: the engine keeps room free instead of running out of it");
            (env::start_engine(data.path(), 0, &[])?, None)
        };
        env::run(env::ingest_at(&engine.url, database, &["migrate"]), 0)?;
        let namespace = |name: &str| File::open(format!("/proc/{}/ns/{name}", engine.id()));
        let namespaces = mounted.as_ref().map(|_| anyhow::Ok([namespace("user")?, namespace("mnt")?])).transpose()?;
        Ok(Self { engine, database: database.into(), mounted, full: None, namespaces, data })
    }

    /// Ends the engine, or finds it ended, and starts it again on the same disk and port.
    pub fn restart(&mut self) -> anyhow::Result<()> {
        let port = self.url().rsplit(':').next().context("a port")?.to_owned();
        let mut command = match &self.namespaces {
            Some([user, mounts]) => {
                let path = |file: &File| format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
                let mut command = Command::new("nsenter");
                command.arg(format!("--user={}", path(user))).arg(format!("--mount={}", path(mounts)));
                command.arg(env::program("trawl-engine"));
                command
            }
            None => Command::new(env::program("trawl-engine")),
        };
        command.arg("--data-dir").arg(self.data.path()).arg("--library").arg(engine_library::ensure()?);
        command.args(["--listen", &format!("127.0.0.1:{port}")]);
        self.engine.end()?;
        self.engine = Server::start(command)?;
        self.mounted = self.mounted.take().map(|_| seen(&self.engine, self.data.path()));
        Ok(())
    }

    /// Of its engine.
    pub fn url(&self) -> &str {
        &self.engine.url
    }

    /// Its engine's process.
    pub fn id(&self) -> u32 {
        self.engine.id()
    }

    /// Whether there is no room for removals either, once it is full.
    pub fn is_full_for_removals(&self) -> bool {
        self.mounted.is_some()
    }

    /// Leaves no room, until it is freed.
    pub fn fill(&mut self) -> anyhow::Result<()> {
        let Some(disk) = &self.mounted else { return self.keep_free(u64::MAX) };
        self.full = Some(Injection::begin("disk-full", disk.display())?);
        env::eventually(Duration::from_secs(20), || {
            Ok(env::sql_at(self.url(), "default", "SELECT max(unreserved_space) < 1048576 FROM system.disks")? == "1")
        })
    }

    /// Makes room again.
    pub fn free(&mut self) -> anyhow::Result<()> {
        if self.mounted.is_none() {
            return self.keep_free(0);
        }
        self.full.take().context("it is not full")?.end()
    }

    fn keep_free(&self, bytes: u64) -> anyhow::Result<()> {
        let tables = env::sql_at(self.url(), &self.database, "SHOW TABLES")?;
        tables.lines().try_for_each(|table| keep_free(self.url(), &self.database, table, bytes))
    }

    /// Ends the engine.
    pub fn stop(self) -> anyhow::Result<()> {
        self.engine.stop().map(drop)
    }
}

/// A folder as the engine sees it.
fn seen(engine: &Server, folder: &Path) -> PathBuf {
    PathBuf::from(format!("/proc/{}/root{}", engine.id(), folder.display()))
}

/// The room below which this table takes no inserts.
pub fn keep_free(store: &str, database: &str, table: &str, bytes: u64) -> anyhow::Result<()> {
    let sql = format!("ALTER TABLE {table} MODIFY SETTING min_free_disk_bytes_to_perform_insert = {bytes}");
    env::sql_at(store, database, &sql).map(drop)
}

/// Whether a process of this user may have mounts of its own.
fn may_mount(at: &Path) -> anyhow::Result<bool> {
    let mut command = mounting(at, MEGABYTES);
    command.arg("true").stdin(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Ok(status) => Ok(status.success()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).context("cannot run unshare"),
    }
}

/// `unshare` with the file system in memory at `at`; what it runs follows, and has its process id.
fn mounting(at: &Path, megabytes: u32) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
    command
        .arg("mount -t tmpfs -o \"$0\" tmpfs \"$1\" && shift && exec \"$@\"")
        .arg(format!("size={megabytes}M"))
        .arg(at);
    command
}

fn start_mounted(at: &Path, megabytes: u32) -> anyhow::Result<Server> {
    let mut command = mounting(at, megabytes);
    command.arg(env::program("trawl-engine")).arg("--data-dir").arg(at);
    command.arg("--library").arg(engine_library::ensure()?).args(["--listen", "127.0.0.1:0"]);
    Server::start(command)
}
