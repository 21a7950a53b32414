//! Tables on object storage, as `docs/operate/object-storage.md` configures them: killed loads, the storage gone and
//! back, the bucket lost.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use tempfile::TempDir;
use xtask::process::{self, Server};
use xtask::{http, workspace};

use super::clean;
use crate::chains::{chain, dump};
use crate::env;

const DATABASE: &str = "trawl";
/// Filled while the storage is away.
const WAITING: &str = "waiting";

/// S3's protocol over a folder; ended when dropped.
struct Bucket {
    server: Option<Child>,
    folder: PathBuf,
    port: u16,
}

impl Bucket {
    fn start(folder: &Path) -> anyhow::Result<Self> {
        let mut bucket = Self { server: None, folder: folder.join("bucket"), port: env::free_port()? };
        fs::create_dir_all(&bucket.folder)?;
        bucket.comes_back()?;
        Ok(bucket)
    }

    fn comes_back(&mut self) -> anyhow::Result<()> {
        let mut command = Command::new("node");
        command
            .arg(workspace::root().join("tests/clients/node_modules/s3rver/bin/s3rver.js"))
            .arg("-d")
            .arg(&self.folder);
        command.args(["-a", "127.0.0.1", "-p", &self.port.to_string(), "--no-vhost-buckets", "--silent"]);
        command.args(["--configure-bucket", "trawl"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.server = Some(process::spawn(command)?);
        let port = self.port;
        env::eventually(env::SOON, || Ok(std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()))
    }

    fn goes_away(&mut self) -> anyhow::Result<()> {
        let mut server = self.server.take().context("it is there")?;
        server.kill()?;
        process::wait_within(&mut server, env::LONGEST)?;
        Ok(())
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        // Nothing can be done about a process that does not end.
        let _ = self.server.take().map(|mut server| server.kill());
    }
}

/// A machine whose engine has the page's configuration.
struct Machine {
    folder: TempDir,
    bucket: Bucket,
    port: u16,
}

impl Machine {
    fn new() -> anyhow::Result<Self> {
        let folder = env::directory()?;
        let bucket = Bucket::start(folder.path())?;
        let page = fs::read_to_string(workspace::root().join("docs/operate/object-storage.md"))?;
        let (_, rest) = page.split_once("```xml\n").context("the page has a file")?;
        let (file, _) = rest.split_once("```").context("which ends")?;
        let endpoint = format!("http://127.0.0.1:{}/trawl/data/", bucket.port);
        let file = file.replace("https://BUCKET.s3.REGION.amazonaws.com/trawl/", &endpoint);
        let file = file.replace("KEY<", "S3RVER<").replace("SECRET<", "S3RVER<").replace("100Gi", "1Gi");
        fs::write(folder.path().join("objects.xml"), file)?;
        Ok(Self { folder, bucket, port: env::free_port()? })
    }

    fn start(&self) -> anyhow::Result<Server> {
        let configuration = self.folder.path().join("objects.xml");
        let flags = ["--config", &configuration.display().to_string(), "--stop-timeout", "3s"];
        env::start_engine(&self.folder.path().join("store"), self.port, &flags)
    }
}

fn sql(engine: &Server, text: &str) -> anyhow::Result<String> {
    env::sql_at(&engine.url, DATABASE, text)
}

/// Forgets what was read before, of the bucket and of the tables.
fn forget_caches(engine: &Server) -> anyhow::Result<()> {
    for cache in ["FILESYSTEM CACHE", "MARK CACHE", "UNCOMPRESSED CACHE", "PRIMARY INDEX CACHE"] {
        sql(engine, &format!("SYSTEM CLEAR {cache}"))?;
    }
    Ok(())
}

/// A load that is killed at growing moments, and through one of them the engine; the engine is another one afterwards.
fn load_with_kills(machine: &Machine, mut engine: Server) -> anyhow::Result<Server> {
    let devchain = dump("devchain");
    let rounds = if env::is_slow_run() { 4 } else { 1 };
    for (round, pause) in [450, 150, 300, 600].into_iter().enumerate().take(rounds) {
        let mut load = env::ingest_at(&engine.url, DATABASE, &["load", "--dump", &devchain, "--batch-blocks", "8"]);
        let mut child = load.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        std::thread::sleep(Duration::from_millis(pause));
        if round == 0 {
            engine.kill()?;
            engine = machine.start()?;
        }
        // One may have ended.
        let _ = child.kill();
        process::wait_within(&mut child, env::LONGEST)?;
    }
    env::run(env::ingest_at(&engine.url, DATABASE, &["load", "--dump", &devchain]), 0)?;
    Ok(engine)
}

/// A load that begins while the storage is away goes on when it is back.
fn a_load_waits(machine: &mut Machine, engine: &Server) -> anyhow::Result<()> {
    let hive = chain("hive");
    let load =
        env::ingest_at(&engine.url, WAITING, &["load", "--dump", &dump("hive")]).stderr(Stdio::null()).spawn()?;
    std::thread::sleep(Duration::from_secs(4));
    machine.bucket.comes_back()?;
    let output = process::output_within(load, env::LONGEST)?;
    ensure!(output.status.success(), "the load did not wait: {}", output.status);
    ensure!(env::contents(&engine.url, WAITING)? == env::contents(env::store(), hive.name)?);
    Ok(())
}

#[test]
fn a_chain_on_object_storage_is_whole_whatever_is_killed() -> anyhow::Result<()> {
    let mut machine = Machine::new()?;
    let engine = machine.start()?;
    let databases = if env::is_slow_run() { &[DATABASE, WAITING][..] } else { &[DATABASE] };
    for database in databases {
        env::run(env::ingest_at(&engine.url, database, &["migrate"]), 0)?;
    }
    let engine = load_with_kills(&machine, engine)?;
    ensure!(env::contents(&engine.url, DATABASE)? == clean()?);
    let elsewhere = "SELECT count() FROM system.parts WHERE database = currentDatabase() AND disk_name != 'cached'";
    ensure!(sql(&engine, elsewhere)? == "0");
    ensure!(engine.stop()?.success());
    let engine = machine.start()?;
    ensure!(env::contents(&engine.url, DATABASE)? == clean()?);

    let api = env::start_api_at(&engine.url, DATABASE, &["--cache-size", "0"])?;
    let page = |api: &Server| http::get(&http::agent(), &format!("{}/api/v2/transactions?items_count=50", api.url));
    let before = page(&api)?;
    ensure!(before.status == 200, "{}", before.text());
    machine.bucket.goes_away()?;
    forget_caches(&engine)?;
    let started = Instant::now();
    let away = page(&api)?;
    ensure!(away.status == 503 && !away.header("retry-after").is_empty(), "{}: {}", away.status, away.text());
    ensure!(started.elapsed() < Duration::from_secs(35), "{:?}", started.elapsed());

    if env::is_slow_run() {
        a_load_waits(&mut machine, &engine)?;
    } else {
        machine.bucket.comes_back()?;
    }
    env::eventually(env::SOON, || Ok(page(&api)?.body == before.body))?;
    machine.bucket.goes_away()?;
    let started = Instant::now();
    engine.stop()?;
    ensure!(started.elapsed() < Duration::from_secs(8), "the engine ended after {:?}", started.elapsed());
    machine.bucket.comes_back()?;
    let engine = machine.start()?;
    ensure!(env::contents(&engine.url, DATABASE)? == clean()?);

    // What is lost is an error that says so, not a shorter answer.
    fs::remove_dir_all(machine.bucket.folder.join("trawl/data"))?;
    forget_caches(&engine)?;
    let lost = sql(&engine, "SELECT sum(length(data)) FROM logs").err().context("there are no logs any more")?;
    ensure!(lost.to_string().contains("key does not exist"), "{lost}");
    env::eventually(env::SOON, || Ok(page(&api)?.status != 200))?;
    engine.stop()?;
    ensure!(machine.start().is_err(), "it starts without its tables");
    Ok(())
}

/// An engine that knows the bucket as the page about backups configures it.
fn engine_with_collection(folder: &Path, bucket: &Bucket, name: &str) -> anyhow::Result<Server> {
    let page = fs::read_to_string(workspace::root().join("docs/operate/backup.md"))?;
    let (_, rest) = page.split_once("```xml\n").context("the page has a file")?;
    let (file, _) = rest.split_once("```").context("which ends")?;
    let endpoint = format!("http://127.0.0.1:{}/trawl/backups/", bucket.port);
    let file = file.replace("https://BUCKET.s3.REGION.amazonaws.com/trawl-backup/", &endpoint);
    let file = file.replace("KEY<", "S3RVER<").replace("SECRET<", "S3RVER<");
    let configuration = folder.join("collection.xml");
    fs::write(&configuration, file)?;
    let flags = ["--config", &configuration.display().to_string(), "--reader-user", "ana", "--reader-password", "a"];
    env::start_engine(&folder.join(name), 0, &flags)
}

/// Runs `trawl-ingest`; returns its output, which never has a key.
fn run(engine: &Server, database: &str, arguments: &[&str], code: i32) -> anyhow::Result<String> {
    let mut command = env::ingest_at(&engine.url, database, arguments);
    command.env("RUST_LOG", "debug");
    let output = env::run(command, code)?;
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(!text.contains("S3RVER"), "a key in {text}");
    Ok(text)
}

/// What is refused, and in which words.
fn refusals(engine: &Server) -> anyhow::Result<()> {
    for (arguments, reason) in [
        (&["backup", "s3://offsite/one"][..], "is already a backup"),
        // The advice to delete objects never concerns another backup.
        (&["backup", "s3://offsite/one/rows"], "is not a backup: name a folder or path"),
        (&["backup", "s3://nowhere/one"], "needs <named_collections><nowhere>"),
        (&["backup", "s3://offsite/*"], "is no path in a bucket"),
        (&["backup", "/tmp/two", "--base", "s3://offsite/one"], "one is a folder and the other in a bucket"),
        (&["backups", "s3://offsite", "--keep", "1"], "are not removed from here"),
        (&["restore", "s3://offsite/three"], "is not a backup"),
    ] {
        let text = run(engine, DATABASE, arguments, 1)?;
        ensure!(text.contains(reason), "{arguments:?}: {text}");
    }
    let url = format!("{}/?user=ana&password=a", engine.url);
    for statement in
        ["SELECT * FROM s3(offsite, filename = '**', format = 'One')", "SELECT * FROM system.named_collections"]
    {
        let answer = http::post(&http::agent(), &url, statement.as_bytes())?.text();
        ensure!(
            answer.is_empty() || answer.contains("ACCESS_DENIED") || answer.contains("READONLY"),
            "{statement}: {answer}"
        );
    }
    Ok(())
}

/// A backup that is killed is not taken for one.
fn killed_backups_are_named(engine: &Server) -> anyhow::Result<()> {
    let mut backup = env::ingest_at(&engine.url, DATABASE, &["backup", "s3://offsite/killed"]);
    backup.stdout(Stdio::null()).stderr(Stdio::null());
    let mut backup = backup.spawn()?;
    std::thread::sleep(Duration::from_millis(400));
    backup.kill()?;
    process::wait_within(&mut backup, env::LONGEST)?;
    let text = run(engine, DATABASE, &["backups", "s3://offsite"], 0)?;
    ensure!(!text.contains("s3://offsite/killed: 20"), "{text}");
    ensure!(text.contains("s3://offsite/two: ") && text.contains(", builds on s3://offsite/one"), "{text}");
    let refused = run(engine, "killed", &["restore", "s3://offsite/killed"], 1)?;
    ensure!(refused.contains("is not a backup"), "{refused}");
    Ok(())
}

#[test]
fn a_backup_in_a_bucket_is_restored_elsewhere() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let mut bucket = Bucket::start(folder.path())?;
    let engine = engine_with_collection(folder.path(), &bucket, "first")?;
    let devchain = dump("devchain");
    run(&engine, DATABASE, &["migrate"], 0)?;
    run(&engine, DATABASE, &["load", "--dump", &devchain, "--to", "50"], 0)?;
    run(&engine, DATABASE, &["backup", "s3://offsite/one"], 0)?;
    run(&engine, DATABASE, &["load", "--dump", &devchain], 0)?;
    run(&engine, DATABASE, &["backup", "s3://offsite/two", "--base", "s3://offsite/one"], 0)?;
    refusals(&engine)?;
    killed_backups_are_named(&engine)?;
    bucket.goes_away()?;
    if env::is_slow_run() {
        let away = run(&engine, DATABASE, &["backup", "s3://offsite/away"], 1)?;
        ensure!(away.contains("does not answer within 30s"), "{away}");
    }
    bucket.comes_back()?;
    engine.stop()?;
    let engine = engine_with_collection(folder.path(), &bucket, "second")?;
    let text = run(&engine, DATABASE, &["restore", "s3://offsite/two"], 0)?;
    ensure!(text.contains("restored from s3://offsite/two") && text.contains("92 verified"), "{text}");
    ensure!(env::contents(&engine.url, DATABASE)? == clean()?);
    // What it builds on is gone.
    fs::rename(bucket.folder.join("trawl/backups/one"), folder.path().join("one"))?;
    let text = run(&engine, "again", &["restore", "s3://offsite/two"], 1)?;
    ensure!(text.contains("builds on s3://offsite/one, which is no longer a backup"), "{text}");
    engine.stop().map(drop)
}
