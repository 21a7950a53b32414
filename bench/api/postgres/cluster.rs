//! A PostgreSQL of our own: found as Debian installs it, started on a socket in a folder of its own, ended by its id.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};
use xtask::process;

/// Settings of a machine with 24 GB that has other things to do too; what is not named here is as PostgreSQL comes.
const SETTINGS: [(&str, &str); 13] = [
    ("shared_buffers", "2GB"),
    ("effective_cache_size", "8GB"),
    ("work_mem", "64MB"),
    ("maintenance_work_mem", "1GB"),
    ("max_wal_size", "2GB"),
    // A table that is made and filled in one transaction needs no log.
    ("wal_level", "minimal"),
    ("max_wal_senders", "0"),
    ("random_page_cost", "1.1"),
    ("max_connections", "100"),
    // Nothing is lost that could not be filled again.
    ("fsync", "off"),
    ("full_page_writes", "off"),
    ("autovacuum", "off"),
    // Compiling a plan takes longer than a page.
    ("jit", "off"),
];

/// A running cluster. Dropping it ends it.
pub struct Cluster {
    server: Child,
    /// A short path: a socket's name has no more than 107 bytes.
    socket: TempDir,
}

impl Cluster {
    /// Starts the cluster in `folder`, which is made if it is not there.
    pub fn start(folder: &Path) -> anyhow::Result<Self> {
        let programs = programs()?;
        let owner = Owner::find()?;
        let socket = tempfile::tempdir()?;
        owner.own(socket.path())?;
        if !folder.join("PG_VERSION").exists() {
            std::fs::create_dir_all(folder)?;
            std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700))?;
            owner.own(folder)?;
            let mut initdb = owner.command(&programs.join("initdb"));
            initdb.args(["--username=trawl", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--pgdata"]);
            let made = initdb.arg(folder).stdout(Stdio::null()).output()?;
            ensure!(made.status.success(), "initdb failed: {}", String::from_utf8_lossy(&made.stderr).trim());
        }
        let mut postgres = owner.command(&programs.join("postgres"));
        postgres.arg("-D").arg(folder).arg("-k").arg(socket.path()).args(["-c", "listen_addresses="]);
        for (name, value) in SETTINGS {
            postgres.args(["-c", &format!("{name}={value}")]);
        }
        let log = std::fs::File::create(folder.with_extension("log"))?;
        let server = postgres.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?;
        let mut cluster = Self { server, socket };
        cluster.wait_until_ready(&folder.with_extension("log"))?;
        Ok(cluster)
    }

    fn wait_until_ready(&mut self, log: &Path) -> anyhow::Result<()> {
        for _ in 0..600 {
            if self.run(async |client| Ok(client.simple_query("SELECT 1").await.map(drop)?)).is_ok() {
                return Ok(());
            }
            if let Some(status) = self.server.try_wait()? {
                bail!("postgres ended: {status}: {}", std::fs::read_to_string(log).unwrap_or_default().trim());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        bail!("postgres was not ready after a minute")
    }

    /// How to reach it.
    pub fn address(&self) -> String {
        format!("host={} user=trawl dbname=postgres", self.socket.path().display())
    }

    /// Does something over a connection.
    pub fn run<T>(&self, work: impl AsyncFnOnce(&mut Client) -> anyhow::Result<T>) -> anyhow::Result<T> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let (mut client, connection) = tokio_postgres::connect(&self.address(), NoTls).await?;
            // What fails there shows at the client.
            let connection = tokio::spawn(connection);
            let outcome = work(&mut client).await;
            drop(client);
            let _ = connection.await;
            outcome
        })
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // A fast shutdown, which does not wait for clients. What fails here, the kill below mends.
        let _ = process::signal(self.server.id(), libc::SIGINT);
        crate::end(&mut self.server);
    }
}

/// The folder of initdb and postgres: that of the search path, else the newest of Debian's.
fn programs() -> anyhow::Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut debian: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|version| Some(version.ok()?.path().join("bin")))
        .collect();
    let version = |bin: &PathBuf| bin.parent()?.file_name()?.to_str()?.parse::<u32>().ok();
    debian.sort_by_key(version);
    let mut folders = std::env::split_paths(&path).chain(debian.into_iter().rev());
    folders
        .find(|folder| folder.join("postgres").exists() && folder.join("initdb").exists())
        .context("PostgreSQL is not installed (Debian: apt install postgresql)")
}

/// Who runs PostgreSQL, which refuses to be run by root.
#[derive(Debug, Clone, Copy)]
struct Owner {
    /// Of another user, where we are root.
    ids: Option<(u32, u32)>,
}

impl Owner {
    fn find() -> anyhow::Result<Self> {
        // SAFETY: no memory is involved.
        if unsafe { libc::geteuid() } != 0 {
            return Ok(Self { ids: None });
        }
        let users = std::fs::read_to_string("/etc/passwd")?;
        let ids = |name: &str| -> Option<(u32, u32)> {
            let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
            let mut fields = line.split(':').skip(2);
            Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
        };
        let found = ids("postgres").or_else(|| ids("nobody"));
        Ok(Self { ids: Some(found.context("there is no user other than root to run PostgreSQL as")?) })
    }

    fn own(self, folder: &Path) -> anyhow::Result<()> {
        if let Some((user, group)) = self.ids {
            chown(folder, Some(user), Some(group)).with_context(|| {
                format!("cannot give {} away", String::from_utf8_lossy(folder.as_os_str().as_bytes()))
            })?;
        }
        Ok(())
    }

    fn command(self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir("/");
        if let Some((user, group)) = self.ids {
            command.uid(user).gid(group);
        }
        command
    }
}
