//! The servers that tests share, databases of a test's own, and programs run by tests.

use std::collections::HashMap;
use std::fmt;
use std::net::{TcpStream, ToSocketAddrs};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{LazyLock, Mutex, Once, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use tempfile::TempDir;
use trawl_core::schema::{BLOCK_TABLES, OPTIONAL_TABLES};
use xtask::process::{self, Server};
use xtask::{engine_library, http, workspace};

/// Servers to end when the process ends, latest first.
static SERVERS: Mutex<Vec<Server>> = Mutex::new(Vec::new());
/// Other programs to end then.
static CHILDREN: Mutex<Vec<Child>> = Mutex::new(Vec::new());
/// Where all files of this run are; removed when the process ends.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| own_folder().expect("a temporary folder"));
static STORE: OnceLock<String> = OnceLock::new();
static ENGINE: OnceLock<String> = OnceLock::new();

/// Where the tests' ClickHouse is: `TRAWL_TEST_CLICKHOUSE_URL`, or an engine of their own.
pub fn store() -> &'static str {
    STORE.get_or_init(|| std::env::var("TRAWL_TEST_CLICKHOUSE_URL").unwrap_or_else(|_| engine().to_owned()))
}

/// A `trawl-engine` that tests share, also where their ClickHouse is a server: for what only the engine does.
pub fn engine() -> &'static str {
    ENGINE.get_or_init(|| {
        let reader =
            ["--reader-user", READER.user, "--reader-password", READER.password, "--reader-databases", "mainnet"];
        let engine = start_engine(&FOLDER.join("shared"), 0, &reader).expect("the engine starts");
        let url = engine.url.clone();
        keep(engine);
        url
    })
}

/// A user of ClickHouse.
#[derive(Debug, Clone, Copy)]
pub struct Account {
    pub user: &'static str,
    pub password: &'static str,
}

const READER: Account = Account { user: "ana", password: "secret" };

/// Who may only read, in the shared store; of a server that was given it is the user without a password.
pub fn reader() -> Account {
    match std::env::var("TRAWL_TEST_CLICKHOUSE_URL") {
        Ok(_) => Account { user: "default", password: "" },
        Err(_) => READER,
    }
}

/// Leaves a server running until the process ends.
pub fn keep(server: Server) {
    SERVERS.lock().unwrap_or_else(PoisonError::into_inner).push(server);
}

/// The same with a program that is no server of this project.
pub fn keep_child(child: Child) {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner).push(child);
}

/// A folder for the files of this process. It is in memory where there is room: most of what the engine waits for is
/// its disk, and no test is about a disk that loses power.
fn own_folder() -> anyhow::Result<PathBuf> {
    const ROOM: u64 = 6 << 30;
    let memory = Path::new("/dev/shm");
    let parent = match std::env::var_os("TRAWL_TEST_FOLDER") {
        Some(folder) => folder.into(),
        None if free_bytes(memory) >= ROOM => memory.to_owned(),
        None => std::env::temp_dir(),
    };
    remove_left_folders(&parent);
    let folder = parent.join(format!("{FOLDERS}{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    static AT_EXIT: Once = Once::new();
    AT_EXIT.call_once(|| {
        // SAFETY: the function has the required signature, and is there until the end.
        unsafe { libc::atexit(end_servers) };
    });
    Ok(folder)
}

/// The names of such folders, before the process id.
const FOLDERS: &str = "trawl-tests-";

/// A process that was killed left its folder.
fn remove_left_folders(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix(FOLDERS).and_then(|process| process.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            // Another run may be at it too.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// What is free on the disk of a folder; 0 if there is no such folder.
fn free_bytes(folder: &Path) -> u64 {
    let Ok(path) = std::ffi::CString::new(folder.display().to_string()) else { return 0 };
    // SAFETY: all zeros is a value of this type.
    let mut disk: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: a path with its end, and memory of the required type.
    match unsafe { libc::statvfs(path.as_ptr(), &raw mut disk) } {
        0 => disk.f_bavail.saturating_mul(disk.f_frsize),
        _ => 0,
    }
}

/// Ends what is still running, and removes all files. A process that is killed does not get here: its servers end all
/// the same (see [`process::spawn`]), and its folder is removed by the next run.
extern "C" fn end_servers() {
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
    // What cannot be removed is in a temporary folder.
    let _ = std::fs::remove_dir_all(&*FOLDER);
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
    Ok(TempDir::new_in(&*FOLDER)?)
}

/// A connection whose reads fail after two minutes without data: no test waits longer.
pub fn connect(address: impl ToSocketAddrs) -> anyhow::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_mins(2)))?;
    Ok(stream)
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

/// How long a program may run that a test waits for: several times the slowest of them on a slow machine, with
/// everything that a slow run asks of it.
pub const LONGEST: Duration = Duration::from_mins(12);

/// Runs a command to its end, without an input; its output is part of the error if its exit code is another, or if it
/// does not end.
pub fn run(mut command: Command, code: i32) -> anyhow::Result<Output> {
    command.stdin(Stdio::null());
    run_with_input(command, code)
}

/// The same, with the standard input that `command` has.
pub fn run_with_input(mut command: Command, code: i32) -> anyhow::Result<Output> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().with_context(|| format!("{command:?}"))?;
    // A client that a slow run asks for everything may take most of an hour beside other tests.
    let longest = if is_slow_run() { 4 * LONGEST } else { LONGEST };
    let output = process::output_within(child, longest).with_context(|| format!("{command:?}"))?;
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

/// A database of a test's own, which is dropped with this. The engine keeps a file open for each table that remembers
/// its inserts: those of all tests are as many as a process may have.
#[derive(Debug)]
#[must_use = "the database is dropped with it"]
pub struct Database(String);

impl Deref for Database {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Database {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // What the test found out counts, whether or not this works.
        for database in [format!("{self}_views"), self.0.clone()] {
            if let Err(error) = sql("default", &format!("DROP DATABASE IF EXISTS {database}")) {
                eprintln!("{database} stays, with the files it keeps open: {error:#}");
            }
        }
    }
}

/// A database without tables.
pub fn database(name: &str) -> Database {
    Database(name.to_owned())
}

/// Creates the tables of a database of the test's own.
pub fn migrate(name: &str) -> anyhow::Result<Database> {
    let database = database(name);
    create_tables(name)?;
    Ok(database)
}

/// Creates the tables of a database that several tests use.
pub fn create_tables(database: &str) -> anyhow::Result<()> {
    run(ingest(database, &["migrate"]), 0).map(drop)
}

/// Commits blocks 0 to `last` with their receipts, whose rows the test makes itself.
pub fn commit(database: &str, last: u64) -> anyhow::Result<()> {
    commit_at(store(), database, last)
}

/// The same at any store.
pub fn commit_at(store: &str, database: &str, last: u64) -> anyhow::Result<()> {
    let insert = format!(
        "INSERT INTO ingest_commits (first_block, last_block, parts, chain_id, source, run) \
         VALUES (0, {last}, ['blocks', 'receipts'], 1, 'generated', 'test')"
    );
    sql_at(store, database, &insert).map(drop)
}

/// The flag that says how often an API looks at the head. Each look costs the engine 10 ms of a core.
const HEAD_INTERVAL: &str = "--head-interval-ms";
/// The flag of where an API listens.
const LISTEN: &str = "--listen";

/// An API for all tests, over a database of the shared store that does not change any more.
pub fn start_shared_api(database: &str) -> anyhow::Result<String> {
    let api = start_api(database, &[HEAD_INTERVAL, "2000"])?;
    let url = api.url.clone();
    keep(api);
    Ok(url)
}

/// An API over a database of the shared store.
pub fn start_api(database: &str, arguments: &[&str]) -> anyhow::Result<Server> {
    start_api_at(store(), database, arguments)
}

/// `trawl-api` over any store, on a free port.
pub fn api_at(store: &str, database: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program("trawl-api"));
    command.args(["--clickhouse-url", store, "--clickhouse-database", database]);
    if !arguments.contains(&LISTEN) {
        command.args([LISTEN, "127.0.0.1:0"]);
    }
    if !arguments.contains(&HEAD_INTERVAL) {
        command.args([HEAD_INTERVAL, "250"]);
    }
    command.args(arguments);
    command
}

/// An API over any store; waits until a head is known.
pub fn start_api_at(store: &str, database: &str, arguments: &[&str]) -> anyhow::Result<Server> {
    let api = Server::start(api_at(store, database, arguments))?;
    let agent = http::agent();
    eventually(SOON, || Ok(http::get(&agent, &format!("{}/health/ready", api.url))?.status == 200))?;
    Ok(api)
}

/// What an API sees of the tables at once, or on a machine that stands still for a while: a read of the head that
/// hangs is given up after half a minute.
pub const SOON: Duration = Duration::from_secs(90);

/// Waits until `condition` holds, and checks it less and less often: most conditions are statements, which take
/// processor time from what the test waits for.
pub fn eventually(limit: Duration, mut condition: impl FnMut() -> anyhow::Result<bool>) -> anyhow::Result<()> {
    const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(200));
    let started = Instant::now();
    while !condition()? {
        ensure!(started.elapsed() < limit, "did not happen within {limit:?}");
        std::thread::sleep((started.elapsed() / 10).clamp(PAUSES.0, PAUSES.1));
    }
    Ok(())
}

/// What a database holds, table by table: number of rows and a checksum over all of them in no order.
pub fn contents(store: &str, database: &str) -> anyhow::Result<HashMap<String, String>> {
    contents_below(store, database, u64::MAX)
}

/// The same of the blocks below a height.
pub fn contents_below(store: &str, database: &str, height: u64) -> anyhow::Result<HashMap<String, String>> {
    let blocks = BLOCK_TABLES.into_iter().map(|(table, block)| {
        // A hash of columns is NULL where one of them is, and sums pass over it; a row as text has no such hole.
        // Verdicts say when they were made and by which run.
        let (columns, condition) = match table {
            "block_verdicts" => ("* EXCEPT (run, decided_at)", "source != 'tables'"),
            _ => ("*", "1"),
        };
        format!(
            "SELECT '{table}', count(), sum(cityHash64(formatRowNoNewline('TSV', {columns}))) FROM {table} \
             WHERE {condition} AND {block} < {height}"
        )
    });
    let left_out = sql_at(store, database, "SELECT DISTINCT name FROM left_out_tables")?;
    let is_there = |table: &str| left_out.lines().all(|name| name != table);
    let others = OPTIONAL_TABLES.into_iter().filter(|(table, _)| is_there(table)).map(|(table, block)| {
        let rows = format!("SELECT DISTINCT * FROM {table} WHERE {block} < {height}");
        format!("SELECT '{table}', count(), sum(cityHash64(*)) FROM ({rows})")
    });
    // One statement: each has a price of its own, whatever it reads.
    let sums = sql_at(store, database, &blocks.chain(others).collect::<Vec<_>>().join("\nUNION ALL\n"))?;
    let row = |line: &str| line.split_once('\t').map(|(table, sum)| (table.to_owned(), sum.to_owned()));
    sums.lines().map(|line| row(line).context("a table and its sum")).collect()
}

/// A port that was free a moment ago.
pub fn free_port() -> anyhow::Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Whether this run includes what takes long.
pub fn is_slow_run() -> bool {
    std::env::var_os("TRAWL_TEST_SLOW").is_some()
}

/// How many of a kind a test asks for: `ordinary`, or `slow` where the run includes what takes long. A kind is never
/// left out.
pub fn amount(ordinary: usize, slow: usize) -> usize {
    if is_slow_run() { slow } else { ordinary }
}
