//! A disk of a few megabytes under an engine, filled and freed at will.
//!
//! It is a file system in memory in a mount namespace of the engine's own, which needs no rights where user namespaces
//! are allowed. Where they are not, the engine is configured to keep more room free than there is: its own refusal,
//! with the same error, for inserts only.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use tempfile::TempDir;
use xtask::engine_library;
use xtask::process::Server;

use crate::env;

/// More than an empty store and the scenario chain need, several times over.
const SIZE: &str = "size=96M";

/// An engine on a disk of its own, with the tables of one database.
pub struct SmallDisk {
    engine: Server,
    database: String,
    /// The disk as seen from here; `None` if the engine only pretends that its disk is small.
    mounted: Option<PathBuf>,
    filler: Option<Filler>,
    _data: TempDir,
}

/// Takes whatever becomes free, as ClickHouse removes old parts meanwhile; for as long as `lives` is held.
struct Filler {
    lives: Arc<()>,
    thread: JoinHandle<std::io::Result<()>>,
}

impl SmallDisk {
    /// An engine with a database of this name.
    pub fn start(database: &str) -> anyhow::Result<Self> {
        let data = env::directory()?;
        let (engine, mounted) = if may_mount(data.path())? {
            let engine = start_mounted(data.path())?;
            let seen = PathBuf::from(format!("/proc/{}/root{}", engine.id(), data.path().display()));
            ensure!(seen.join("trawl-engine.lock").exists(), "{} is not the engine's disk", seen.display());
            (engine, Some(seen))
        } else {
            eprintln!("no user namespaces here: the engine keeps room free instead of running out of it");
            (env::start_engine(data.path(), 0, &[])?, None)
        };
        env::run(env::ingest_at(&engine.url, database, &["migrate"]), 0)?;
        Ok(Self { engine, database: database.into(), mounted, filler: None, _data: data })
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
        let (path, lives) = (disk.join("filler"), Arc::new(()));
        let held = Arc::downgrade(&lives);
        let thread = std::thread::spawn(move || fill_while(&held, &path));
        self.filler = Some(Filler { lives, thread });
        env::eventually(Duration::from_secs(20), || {
            Ok(env::sql_at(self.url(), "default", "SELECT max(unreserved_space) < 1048576 FROM system.disks")? == "1")
        })
    }

    /// Makes room again.
    pub fn free(&mut self) -> anyhow::Result<()> {
        let Some(disk) = &self.mounted else { return self.keep_free(0) };
        let Filler { lives, thread } = self.filler.take().context("it is not full")?;
        drop(lives);
        ensure!(thread.join().is_ok_and(|filled| filled.is_ok()), "the disk was not filled");
        std::fs::remove_file(disk.join("filler"))?;
        Ok(())
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

/// The room below which this table takes no inserts.
pub fn keep_free(store: &str, database: &str, table: &str, bytes: u64) -> anyhow::Result<()> {
    let sql = format!("ALTER TABLE {table} MODIFY SETTING min_free_disk_bytes_to_perform_insert = {bytes}");
    env::sql_at(store, database, &sql).map(drop)
}

/// Whether a process of this user may have mounts of its own.
fn may_mount(at: &Path) -> anyhow::Result<bool> {
    let mut command = mounting(at);
    command.arg("true").stdin(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Ok(status) => Ok(status.success()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).context("cannot run unshare"),
    }
}

/// `unshare` with the file system in memory at `at`; what it runs follows, and has its process id.
fn mounting(at: &Path) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
    command.arg("mount -t tmpfs -o \"$0\" tmpfs \"$1\" && shift && exec \"$@\"").arg(SIZE).arg(at);
    command
}

fn start_mounted(at: &Path) -> anyhow::Result<Server> {
    let mut command = mounting(at);
    command.arg(env::program("trawl-engine")).arg("--data-dir").arg(at);
    command.arg("--library").arg(engine_library::ensure()?).args(["--listen", "127.0.0.1:0"]);
    Server::start(command)
}

fn fill_while(held: &Weak<()>, path: &Path) -> std::io::Result<()> {
    let mut file = std::fs::File::create(path)?;
    while held.strong_count() > 0 {
        // Large pieces first, then the last pages; what does not fit is the point.
        for size in [1 << 20, 1 << 12] {
            while held.strong_count() > 0 && file.write_all(&vec![7; size]).is_ok() {}
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
