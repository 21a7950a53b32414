//! The servers that tests share, and programs run by tests.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use tempfile::TempDir;
use xtask::process::{self, Server};
use xtask::{engine_library, http, workspace};

/// Servers to end when all tests are through, latest first.
static SERVERS: Mutex<Vec<Server>> = Mutex::new(Vec::new());
static DATA: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().expect("a temporary directory"));
/// Other programs to end then.
static CHILDREN: Mutex<Vec<Child>> = Mutex::new(Vec::new());
/// Folders to remove after that.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static STORE: OnceLock<String> = OnceLock::new();

thread_local! {
    /// Databases that the trial of this thread made.
    static OWN: RefCell<HashSet<String>> = RefCell::default();
}

/// Where the tests' ClickHouse is: `TRAWL_TEST_CLICKHOUSE_URL`, or an engine of their own.
pub fn store() -> &'static str {
    STORE.get_or_init(|| match std::env::var("TRAWL_TEST_CLICKHOUSE_URL") {
        Ok(url) => url,
        Err(_) => {
            let engine = start_engine(&DATA.path().join("shared"), 0, &[]).expect("the engine starts");
            let url = engine.url.clone();
            keep(engine);
            url
        }
    })
}

/// Leaves a server running until all tests are through.
pub fn keep(server: Server) {
    SERVERS.lock().unwrap_or_else(PoisonError::into_inner).push(server);
}

/// The same with a program that is no server of this project.
pub fn keep_child(child: Child) {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner).push(child);
}

/// The same with a folder that is removed when the server has ended.
pub fn keep_with(server: Server, folder: PathBuf) {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).push(folder);
    keep(server);
}

/// Ends what is still running and removes its data.
pub fn end_servers() {
    let servers = std::mem::take(&mut *SERVERS.lock().unwrap_or_else(PoisonError::into_inner));
    for server in servers.into_iter().rev() {
        if let Err(error) = server.stop() {
            eprintln!("a server did not end: {error:#}");
        }
    }
    for mut child in std::mem::take(&mut *CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)) {
        // Nothing can be done about a process that does not end.
        let _ = process::end(&mut child);
    }
    for folder in std::mem::take(&mut *FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)) {
        // As below.
        let _ = std::fs::remove_dir_all(folder);
    }
    if LazyLock::get(&DATA).is_some() {
        // What cannot be removed is in the system's temporary folder.
        let _ = std::fs::remove_dir_all(DATA.path());
    }
}

/// The programs under test are those of the profile this test was built in.
pub fn program(name: &str) -> PathBuf {
    let path = workspace::program(if cfg!(debug_assertions) { "debug" } else { "release" }, name);
    assert!(
        path.exists(),
        "{} is not built: run `cargo build --workspace --bins`, or all of `cargo xtask test`",
        path.display()
    );
    path
}

/// An engine over `data`; port 0 picks a free one.
pub fn start_engine(data: &Path, port: u16, arguments: &[&str]) -> anyhow::Result<Server> {
    let mut command = Command::new(program("trawl-engine"));
    command.arg("--data-dir").arg(data).arg("--library").arg(engine_library::ensure()?);
    command.args(["--listen", &format!("127.0.0.1:{port}")]).args(arguments);
    Server::start(command)
}

/// A fresh directory, removed when dropped.
pub fn directory() -> anyhow::Result<TempDir> {
    Ok(TempDir::new()?)
}

/// Runs SQL on the shared store and returns its tab-separated result without the last line feed.
pub fn sql(database: &str, text: &str) -> anyhow::Result<String> {
    sql_at(store(), database, text)
}

/// The same on any store.
pub fn sql_at(store: &str, database: &str, text: &str) -> anyhow::Result<String> {
    let answer = http::post(&http::agent(), &format!("{store}/?database={database}"), text.as_bytes())?;
    ensure!(answer.status == 200, "{}", answer.text());
    Ok(answer.text().trim_end_matches('\n').to_owned())
}

/// `trawl-ingest` over the shared store.
pub fn ingest(database: &str, arguments: &[&str]) -> Command {
    ingest_at(store(), database, arguments)
}

/// The same over any store.
pub fn ingest_at(store: &str, database: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program("trawl-ingest"));
    command.args(arguments).args(["--clickhouse-url", store, "--clickhouse-database", database]).stdin(Stdio::null());
    command
}

/// Runs a command to its end; its output is part of the error if its exit code is another.
pub fn run(mut command: Command, code: i32) -> anyhow::Result<Output> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    if output.status.code() != Some(code) {
        bail!(
            "{command:?} ended with {} instead of {code}\n{}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(output)
}

/// Creates the tables of a database of the trial's own, which is dropped when the trial is over.
pub fn migrate(database: &str) -> anyhow::Result<()> {
    OWN.with_borrow_mut(|own| own.insert(database.to_owned()));
    migrate_for_all(database)
}

/// Creates the tables of a database that several trials use.
pub fn migrate_for_all(database: &str) -> anyhow::Result<()> {
    run(ingest(database, &["migrate"]), 0).map(drop)
}

/// Drops the databases of the trial that is over. The engine keeps a file open for each table that remembers its inserts:
/// those of all trials are as many as a process may have.
pub fn drop_own() {
    for database in OWN.take() {
        // What the trial found out counts, whether or not this works.
        if let Err(error) = sql("default", &format!("DROP DATABASE IF EXISTS {database}")) {
            eprintln!("{database} stays, with the files it keeps open: {error:#}");
        }
    }
}

/// Commits blocks 0 to `last` with their receipts, whose rows the test makes itself.
pub fn commit(database: &str, last: u64) -> anyhow::Result<()> {
    let insert = format!(
        "INSERT INTO ingest_commits (first_block, last_block, parts, chain_id, source, run) \
         VALUES (0, {last}, ['blocks', 'receipts'], 1, 'generated', 'test')"
    );
    sql(database, &insert).map(drop)
}

/// An API over a database of the shared store.
pub fn start_api(database: &str, arguments: &[&str]) -> anyhow::Result<Server> {
    start_api_at(store(), database, arguments)
}

/// `trawl-api` over any store, on a free port.
pub fn api_at(store: &str, database: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program("trawl-api"));
    command.args(["--listen", "127.0.0.1:0", "--clickhouse-url", store, "--clickhouse-database", database]);
    command.args(["--head-interval-ms", "50"]).args(arguments);
    command
}

/// An API over any store; waits until a head is known.
pub fn start_api_at(store: &str, database: &str, arguments: &[&str]) -> anyhow::Result<Server> {
    let api = Server::start(api_at(store, database, arguments))?;
    let agent = http::agent();
    eventually(SOON, || Ok(http::get(&agent, &format!("{}/health/ready", api.url))?.status == 200))?;
    Ok(api)
}

/// What an API sees of the tables within 50 ms, or on a machine that stands still for a while: a read of the head that
/// hangs is given up after half a minute.
pub const SOON: Duration = Duration::from_secs(90);

/// Waits until `condition` holds.
pub fn eventually(limit: Duration, mut condition: impl FnMut() -> anyhow::Result<bool>) -> anyhow::Result<()> {
    let deadline = Instant::now() + limit;
    while !condition()? {
        ensure!(Instant::now() < deadline, "did not happen within {limit:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// What a database holds, table by table: number of rows and a checksum over all of them in no order.
pub fn contents(store: &str, database: &str) -> anyhow::Result<HashMap<String, String>> {
    contents_below(store, database, u64::MAX)
}

/// The same of the blocks below a height.
pub fn contents_below(store: &str, database: &str, height: u64) -> anyhow::Result<HashMap<String, String>> {
    let mut contents = HashMap::new();
    for (table, block) in trawl_core::schema::BLOCK_TABLES {
        // A hash of columns is NULL where one of them is, and sums pass over it; a row as text has no such hole.
        // Verdicts say when they were made and by which run.
        let (columns, condition) = match table {
            "block_verdicts" => ("* EXCEPT (run, decided_at)", "source != 'tables'"),
            _ => ("*", "1"),
        };
        let sum = sql_at(
            store,
            database,
            &format!(
                "SELECT count(), sum(cityHash64(formatRowNoNewline('TSV', {columns}))) FROM {table} \
                 WHERE {condition} AND {block} < {height}"
            ),
        )?;
        contents.insert(table.to_owned(), sum);
    }
    for (table, block) in trawl_core::schema::OPTIONAL_TABLES {
        let rows = format!("SELECT DISTINCT * FROM {table} WHERE {block} < {height}");
        let sum = sql_at(store, database, &format!("SELECT count(), sum(cityHash64(*)) FROM ({rows})"))?;
        contents.insert(table.to_owned(), sum);
    }
    Ok(contents)
}

/// A port that was free a moment ago.
pub fn free_port() -> anyhow::Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Whether this run includes what takes long.
pub fn is_slow_run() -> bool {
    std::env::var_os("TRAWL_TEST_SLOW").is_some()
}
