//! The ClickHouse server that integration tests run on, if requested.

use std::path::PathBuf;

use anyhow::Context as _;
use xtask::clickhouse;
use xtask::process::Server;

/// A server over a temporary folder.
pub struct TestServer {
    server: Server,
    /// Dropped after the server.
    _data: Folder,
}

/// A folder that is removed when this is dropped.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is in a temporary folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl TestServer {
    /// Starts it over an empty folder.
    pub fn start() -> anyhow::Result<Self> {
        let data = Folder(std::env::temp_dir().join(format!("trawl-clickhouse-{}", std::process::id())));
        let program = std::env::current_exe().context("cannot find this program")?;
        Ok(Self { server: clickhouse::start(&program, &data.0, &[])?, _data: data })
    }

    /// The environment variable that passes its URL to the tests.
    pub fn variable(&self) -> (&'static str, String) {
        ("TRAWL_TEST_CLICKHOUSE_URL", self.server.url.clone())
    }
}
