//! trawl-engine as a ClickHouse server: formats, errors, cancellation, users, durability.

use std::io::{Read, Write};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use xtask::http::{self, Answer};

use crate::env;

mod changes;
mod connection_reuse;
mod damage;
mod door;
mod drivers;
mod hardening;
pub mod modelers;
mod offered;
mod process;
mod query_log;
mod reader_settings;
mod readers;
mod readers_file;
mod restarts;
mod slots;

fn ask(path: &str, body: &str) -> anyhow::Result<Answer> {
    http::post(&http::agent(), &format!("{}/{path}", env::engine()), body.as_bytes())
}

/// What comes out of a SELECT over several of the engine's blocks goes in again whole, so nothing was repeated or lost
/// between blocks.
fn format_is_one_document(format: &str) -> anyhow::Result<()> {
    let table = format!("format_{}", format.to_lowercase());
    ask("", &format!("CREATE TABLE {table} (number UInt64, text String) ORDER BY number"))?;
    let answer = ask(
        &format!("?default_format={format}&max_block_size=30000"),
        "SELECT number, toString(number) AS text FROM numbers(200000)",
    )?;
    ensure!(answer.status == 200 && answer.header("x-clickhouse-format") == format, "{}", answer.text());
    let insert = format!("INSERT INTO {table} FORMAT {format}\n");
    let back = http::post(&http::agent(), &format!("{}/", env::engine()), &[insert.as_bytes(), &answer.body].concat())?;
    ensure!(back.status == 200, "{}", back.text());
    let sums = ask("", &format!("SELECT count(), sum(number), sum(text = toString(number)) FROM {table}"))?.text();
    ensure!(sums == "200000\t19999900000\t200000\n", "{sums}");
    Ok(())
}

#[test]
fn parameters_in_url_and_form() -> anyhow::Result<()> {
    let url = ask("?param_a=7&param_s=x%5Cty&database=system", "SELECT {a:UInt8} + 1, {s:String}, currentDatabase()")?;
    ensure!(url.text() == "8\tx\\ty\tsystem\n", "{}", url.text());
    let form = "--b\r\nContent-Disposition: form-data; name=\"query\"\r\n\r\nSELECT {a:UInt8}\r\n\
                --b\r\nContent-Disposition: form-data; name=\"param_a\"\r\n\r\n9\r\n--b--\r\n";
    let mut answer =
        http::agent().post(env::engine()).header("content-type", "multipart/form-data; boundary=b").send(form)?;
    ensure!(answer.body_mut().read_to_string()? == "9\n");
    let split = ask("?query=SELECT%201%20%2B", "2 FORMAT JSONEachRow SETTINGS max_threads = 1;")?;
    ensure!(split.text() == "{\"plus(1, 2)\":3}\n", "{}", split.text());
    let unknown = ask("?nonsense=1", "SELECT 1")?;
    ensure!(unknown.status == 404 && unknown.header("x-clickhouse-exception-code") == "115", "{}", unknown.text());
    let wrong = ask("?max_threads=many", "SELECT 1")?;
    ensure!(wrong.status >= 400 && wrong.text().starts_with("Code: "), "{}", wrong.text());
    Ok(())
}

#[test]
fn errors_before_the_first_byte() -> anyhow::Result<()> {
    for (sql, status, code) in [
        ("SELECT * FROM nowhere", 404, "60"),
        ("SELECT nothing", 404, "47"),
        ("SELEC 1", 400, "62"),
        ("", 400, "62"),
        ("SELECT 1; SELECT 2", 400, "62"),
        ("SELECT throwIf(1)", 500, "395"),
        ("SELECT sleepEachRow(1) FROM numbers(10) SETTINGS max_execution_time = 0.1, max_block_size = 1", 408, "159"),
        ("SELECT 1 FORMAT Nothing", 404, "73"),
    ] {
        let answer = ask("", sql)?;
        ensure!(
            answer.status == status && answer.header("x-clickhouse-exception-code") == code,
            "{sql}: {} {}",
            answer.status,
            answer.text()
        );
        ensure!(
            answer.text().starts_with(&format!("Code: {code}. DB::Exception: "))
                && answer.text().ends_with("(official build))\n"),
            "{}",
            answer.text()
        );
    }
    // An error after some rows is still one before the first byte if nothing was sent.
    let late = ask(
        "?wait_end_of_query=1",
        "SELECT throwIf(number = 500000) FROM numbers(1000000) SETTINGS max_block_size = 1000",
    )?;
    ensure!(late.status == 500 && late.header("x-clickhouse-exception-code") == "395", "{}", late.status);
    Ok(())
}

/// The data, then the error in the server's notation, then a transfer that visibly breaks off.
#[test]
fn errors_in_mid_stream() -> anyhow::Result<()> {
    let address = env::engine().trim_start_matches("http://");
    let mut stream = env::connect(address)?;
    let sql =
        "SELECT throwIf(number = 3000000), repeat('x', 100) FROM numbers(10000000) SETTINGS max_block_size = 10000";
    write!(stream, "POST / HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n{sql}", sql.len())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let text = String::from_utf8_lossy(&answer[answer.len().saturating_sub(2000)..]).into_owned();
    ensure!(answer.starts_with(b"HTTP/1.1 200 OK"));
    let head = String::from_utf8_lossy(&answer[..1000]).to_lowercase();
    let tag = head
        .split("x-clickhouse-exception-tag: ")
        .nth(1)
        .and_then(|rest| rest.split("\r\n").next())
        .context("a tag")?;
    ensure!(text.contains(&format!("\r\n__exception__\r\n{tag}\r\nCode: 395. DB::Exception: ")), "{text}");
    ensure!(text.contains(&format!(" {tag}\r\n__exception__\r\n")) && !text.ends_with("0\r\n\r\n"), "{text}");
    ensure!(answer.len() > 100_000_000, "only {} bytes came before the error", answer.len());
    Ok(())
}

#[test]
fn statements_that_belong_to_a_client_program() -> anyhow::Result<()> {
    for sql in ["SELECT 1 INTO OUTFILE '/tmp/trawl-test'", "INSERT INTO t FROM INFILE '/etc/passwd' FORMAT CSV"] {
        let answer = ask("", sql)?;
        ensure!(answer.header("x-clickhouse-exception-code") == "358", "{sql}: {}", answer.text());
    }
    ensure!(!std::path::Path::new("/tmp/trawl-test").exists());
    Ok(())
}

#[test]
fn get_cannot_write() -> anyhow::Result<()> {
    let agent = http::agent();
    let get = |query: &str| http::get(&agent, &format!("{}/?query={query}", env::engine()));
    ensure!(get("SELECT+1")?.text() == "1\n");
    let refused = get("CREATE+TABLE+by_get+(a+UInt8)+ORDER+BY+a")?;
    ensure!(refused.header("x-clickhouse-exception-code") == "164", "{}", refused.text());
    ensure!(http::get(&agent, &format!("{}/ping", env::engine()))?.text() == "Ok.\n");
    ensure!(http::get(&agent, env::engine())?.text() == "Ok.\n");
    Ok(())
}

#[test]
fn request_bodies_are_decompressed() -> anyhow::Result<()> {
    ask("", "CREATE TABLE packed (a UInt64) ORDER BY a")?;
    let rows: String = (0..100_000).map(|number| format!("{number}\n")).collect();
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(rows.as_bytes())?;
    let url = format!("{}/?query=INSERT%20INTO%20packed%20FORMAT%20TSV", env::engine());
    let answer = http::agent().post(&url).header("content-encoding", "gzip").send(&packer.finish()?[..])?;
    ensure!(answer.status() == 200);
    ensure!(ask("", "SELECT count(), sum(a) FROM packed")?.text() == "100000\t4999950000\n");
    let unknown = http::agent().post(&url).header("content-encoding", "br").send(&b"x"[..])?;
    ensure!(unknown.status().as_u16() >= 400);
    Ok(())
}

#[test]
fn summary_counts_what_was_done() -> anyhow::Result<()> {
    ask("", "CREATE TABLE counted (a UInt64) ORDER BY a")?;
    let inserted = ask("", "INSERT INTO counted VALUES (1), (2), (3)")?;
    let summary: serde_json::Value = serde_json::from_str(inserted.header("x-clickhouse-summary"))?;
    ensure!(summary["written_rows"] == "3", "{summary}");
    let read = ask("?query_id=my-own-id", "SELECT * FROM counted WHERE a > 1")?;
    let summary: serde_json::Value = serde_json::from_str(read.header("x-clickhouse-summary"))?;
    ensure!(summary["read_rows"] == "3" && summary["result_rows"] == "2", "{summary}");
    ensure!(read.header("x-clickhouse-query-id") == "my-own-id");
    Ok(())
}

const ENDLESS: &str = "SELECT sum(sleepEachRow(0.1)) FROM numbers(100000) SETTINGS max_block_size = 1";

/// How many statements of the shared engine carry `mark` in their text, this question aside.
fn running(mark: &str) -> anyhow::Result<String> {
    running_at(env::engine(), mark)
}

fn running_at(engine: &str, mark: &str) -> anyhow::Result<String> {
    let others = "position(query, 'system.processes') = 0";
    let sql = format!("SELECT count() FROM system.processes WHERE position(query, '{mark}') > 0 AND {others}");
    Ok(http::post(&http::agent(), engine, sql.as_bytes())?.text())
}

#[test]
fn kill_by_the_clients_id() -> anyhow::Result<()> {
    let victim = std::thread::spawn(|| ask("?query_id=victim%20one", &format!("/* victim-one */ {ENDLESS}")));
    env::eventually(Duration::from_secs(10), || Ok(running("victim-one")? == "1\n"))?;
    ask("", "KILL QUERY WHERE query_id = 'victim one' ASYNC")?;
    let answer = victim.join().map_err(|_| anyhow::anyhow!("the thread panicked"))??;
    ensure!(answer.header("x-clickhouse-exception-code") == "394", "{}", answer.text());
    Ok(())
}

/// Sends a statement, waits for `meanwhile` and closes the connection without reading an answer.
fn hang_up_after(url: &str, sql: &str, meanwhile: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let (address, path) = url.trim_start_matches("http://").split_once('/').context("a path")?;
    let mut stream = env::connect(address)?;
    write!(stream, "POST /{path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n{sql}", sql.len())?;
    stream.flush()?;
    meanwhile()
}

#[test]
fn a_client_that_leaves_cancels() -> anyhow::Result<()> {
    // One that has had no byte yet, and one in the middle of a large answer.
    for (mark, sql) in [
        ("leaving-early", ENDLESS.to_owned()),
        (
            "leaving-late",
            "SELECT number, sleepEachRow(0.0001) FROM numbers(1000000000) SETTINGS max_block_size = 1000".into(),
        ),
    ] {
        let address = env::engine().trim_start_matches("http://");
        let mut stream = env::connect(address)?;
        let sql = format!("/* {mark} */ {sql}");
        write!(stream, "POST / HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n{sql}", sql.len())?;
        env::eventually(Duration::from_secs(10), || Ok(running(mark)? == "1\n"))?;
        if mark == "leaving-late" {
            stream.read_exact(&mut [0; 1000])?;
        }
        drop(stream);
        env::eventually(Duration::from_secs(10), || Ok(running(mark)? == "0\n")).with_context(|| mark.to_owned())?;
    }
    Ok(())
}

#[test]
fn an_insert_cut_off_writes_nothing() -> anyhow::Result<()> {
    ask("", "CREATE TABLE cut_off (a UInt64) ORDER BY a")?;
    let address = env::engine().trim_start_matches("http://");
    let mut stream = env::connect(address)?;
    write!(
        stream,
        "POST / HTTP/1.1\r\nHost: {address}\r\nContent-Length: 1000000\r\n\r\nINSERT INTO cut_off FORMAT TSV\n1\n2\n3\n"
    )?;
    stream.flush()?;
    env::eventually(Duration::from_secs(10), || Ok(running("cut_off")? == "1\n"))?;
    drop(stream);
    env::eventually(Duration::from_secs(10), || Ok(running("cut_off")? == "0\n"))?;
    ensure!(ask("", "SELECT count() FROM cut_off")?.text() == "0\n");
    Ok(())
}

#[test]
fn sessions() -> anyhow::Result<()> {
    let id = "session_id=of-this-test";
    ask(&format!("?{id}"), "CREATE TEMPORARY TABLE mine (a UInt8)")?;
    ask(&format!("?{id}"), "INSERT INTO mine VALUES (5)")?;
    ensure!(
        ask(&format!("?{id}&max_block_size=77"), "SELECT a, getSetting('max_block_size') FROM mine")?.text()
            == "5\t77\n"
    );
    ensure!(
        ask(&format!("?{id}&session_check=1"), "SELECT a, getSetting('max_block_size') = 77 FROM mine")?.text()
            == "5\t0\n"
    );
    ensure!(ask("", "SELECT * FROM mine")?.header("x-clickhouse-exception-code") == "60");
    ensure!(ask("?session_id=never-seen&session_check=1", "SELECT 1")?.header("x-clickhouse-exception-code") == "372");
    let busy = std::thread::spawn(move || ask(&format!("?{id}"), "/* busy-session */ SELECT sleep(1.5)"));
    env::eventually(Duration::from_secs(10), || Ok(running("busy-session")? == "1\n"))?;
    ensure!(ask(&format!("?{id}"), "SELECT 1")?.header("x-clickhouse-exception-code") == "373");
    busy.join().map_err(|_| anyhow::anyhow!("the thread panicked"))??;
    ask("?session_id=short&session_timeout=1", "SELECT 1")?;
    env::eventually(Duration::from_secs(10), || {
        std::thread::sleep(Duration::from_millis(1500));
        Ok(ask("?session_id=short&session_timeout=1&session_check=1", "SELECT 1")?.status != 200)
    })
}

#[test]
fn users() -> anyhow::Result<()> {
    let data = env::directory()?;
    let flags = [
        "--user",
        "boss",
        "--password",
        "p:w",
        "--reader-user",
        "ana",
        "--reader-password",
        "secret",
        "--reader-databases",
        "default",
    ];
    let engine = env::start_engine(data.path(), 0, &flags)?;
    let agent = http::agent();
    let as_user = |user: &str, password: &str, sql: &str| -> anyhow::Result<Answer> {
        let url = format!("{}/?user={user}&password={password}", engine.url);
        http::post(&agent, &url, sql.as_bytes())
    };
    ensure!(http::post(&agent, &engine.url, b"SELECT 1")?.status == 403, "nobody is let in without a password");
    ensure!(as_user("boss", "p%3Aw", "CREATE TABLE t (a UInt8) ORDER BY a")?.status == 200);
    ensure!(as_user("boss", "wrong", "SELECT 1")?.header("x-clickhouse-exception-code") == "516");
    ensure!(as_user("boss", "", "SELECT 1")?.status == 403);
    ensure!(as_user("ana", "secret", "SELECT count() FROM t SETTINGS max_block_size = 1000")?.text() == "0\n");
    ensure!(
        as_user("ana", "secret", "SELECT count() FROM t SETTINGS max_untracked_memory = 1000")?.status != 200,
        "only harmless settings may stand in the text"
    );
    ensure!(as_user("ana", "secret", "SELECT count() FROM t")?.text() == "0\n");
    ensure!(as_user("ana", "secret", "INSERT INTO t VALUES (1)")?.header("x-clickhouse-exception-code") == "164");
    let mut basic = agent.post(&engine.url).header("authorization", "Basic Ym9zczpwOnc=").send("SELECT 2")?;
    ensure!(basic.body_mut().read_to_string()? == "2\n");
    let mut headers = agent
        .post(&engine.url)
        .header("x-clickhouse-user", "ana")
        .header("x-clickhouse-key", "secret")
        .send("SELECT 3")?;
    ensure!(headers.body_mut().read_to_string()? == "3\n");
    engine.stop()?;
    Ok(())
}

/// A test for each format, under its name.
mod format_is_one_document {
    macro_rules! formats {
        ($($format:ident)*) => {
            $(#[test]
            #[expect(non_snake_case, reason = "formats are called so")]
            fn $format() -> anyhow::Result<()> {
                super::format_is_one_document(stringify!($format))
            })*
        };
    }

    formats! {
        Native
        RowBinary
        RowBinaryWithNames
        RowBinaryWithNamesAndTypes
        TSV
        TSVWithNames
        TSVWithNamesAndTypes
        CSV
        CSVWithNames
        CSVWithNamesAndTypes
        JSON
        JSONCompact
        JSONColumns
        JSONEachRow
        JSONCompactEachRow
        JSONCompactEachRowWithNamesAndTypes
        JSONObjectEachRow
        Values
        TSKV
        MsgPack
        BSONEachRow
        Avro
        ORC
        Arrow
        ArrowStream
        Parquet
    }
}
