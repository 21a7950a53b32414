//! The test bed of the legs: an engine over a generated data set, and APIs over it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use trawl_core::schema::Columns;
use trawl_core::statement::Statement;
use trawl_core::store::{Batch, Compression, Reader, StoreAddress};
use xtask::process::Server;
use xtask::{engine_library, http, workspace};

use crate::store::{Content, DATABASE, Store};
use crate::{Flags, generate, progress};

/// An engine that runs over a data set.
pub struct TestBed {
    /// The engine, queried without Trawl in between.
    pub store: Store,
    engine: Server,
    profile: String,
    /// Rows of the data set.
    pub size: u64,
    folder: PathBuf,
}

impl TestBed {
    /// Starts an engine over the data set, which is generated if it is not there or of other tables.
    pub fn start(flags: &Flags, content: Content, rows: u64) -> anyhow::Result<Self> {
        let name = match content {
            Content::Logs => "logs",
            Content::Transfers => "transfers",
            Content::Mainnet => "mainnet",
        };
        let folder = workspace::target().join("bench").join(format!("{name}-{rows}"));
        let (mark, expected) = (folder.join("complete"), generate::fingerprint());
        let is_complete = std::fs::read_to_string(&mark).is_ok_and(|found| found == expected);
        if !is_complete && folder.exists() {
            progress(&format!("{name}-{rows} is of other tables, or was never finished: it is made anew"));
            std::fs::remove_dir_all(&folder)?;
        }
        let mut command = Command::new(workspace::program(&flags.profile, "trawl-engine"));
        command.arg("--data-dir").arg(folder.join("engine"));
        command.args(["--listen", "127.0.0.1:0", "--library"]).arg(engine_library::ensure()?);
        std::fs::create_dir_all(&folder)?;
        let engine = Server::start(command)?;
        let store = Store::new(&engine.url);
        if !is_complete {
            generate::generate(&store, &flags.profile, content, rows)?;
            std::fs::write(mark, expected)?;
        }
        Ok(Self { store, engine, profile: flags.profile.clone(), size: rows, folder })
    }

    /// Starts an API over it and waits until it is ready.
    pub fn api(&self, arguments: &[&str]) -> anyhow::Result<Server> {
        let mut command = Command::new(workspace::program(&self.profile, "trawl-api"));
        command.args(["--listen", "127.0.0.1:0", "--clickhouse-url", &self.engine.url]).args(arguments);
        let api = Server::start(command)?;
        let agent = http::agent();
        while http::get(&agent, &format!("{}/health/ready", api.url))?.status != 200 {
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(api)
    }

    /// The rows of a statement, as the API has them.
    pub fn rows<R: Columns>(&self, statement: &Statement<R>) -> anyhow::Result<Vec<Batch<R>>> {
        let address = StoreAddress {
            url: self.store.url.clone(),
            database: DATABASE.into(),
            user: "default".into(),
            password: String::new(),
            compression: Compression::Auto,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let reader = Reader::new(&address, Duration::from_secs(30), 1 << 30);
        Ok(runtime.block_on(reader.all(statement))?)
    }

    /// Its process id.
    pub fn engine_id(&self) -> u32 {
        self.engine.id()
    }

    /// Where further files over the same rows are stored.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The highest block.
    pub fn last_block(&self) -> u64 {
        (self.size - 1) / generate::ROWS_PER_BLOCK
    }

    /// Bytes on disk of a database's tables, and of each of them.
    pub fn bytes_on_disk(&self, database: &str) -> anyhow::Result<Vec<(String, f64)>> {
        let sql = "SELECT table, sum(bytes_on_disk) FROM system.parts WHERE active AND database = {database:String} \
                   GROUP BY table ORDER BY 2 DESC";
        let text = self.store.text(sql, &[("database", database.into())])?;
        let line = |line: &str| Some((line.split_once('\t')?.0.to_owned(), line.split_once('\t')?.1.parse().ok()?));
        Ok(text.lines().filter_map(line).collect())
    }
}
