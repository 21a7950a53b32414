//! trawl-engine under clients that stall, lie or leave, and under its own end.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use xtask::http::{self, Answer};
use xtask::process::Server;

use super::process::peak_memory;
use super::{ENDLESS, ask, running};
use crate::env;

fn ask_at(engine: &Server, path: &str, body: &str) -> anyhow::Result<Answer> {
    http::post(&http::agent(), &format!("{}/{path}", engine.url), body.as_bytes())
}

/// A request that announces `length` bytes and sends `body` of them; the connection stays open.
fn begin(url: &str, path: &str, length: usize, body: &[u8]) -> anyhow::Result<TcpStream> {
    let address = url.trim_start_matches("http://");
    let mut stream = env::connect(address)?;
    write!(stream, "POST /{path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\n\r\n")?;
    stream.write_all(body)?;
    stream.flush()?;
    Ok(stream)
}

#[test]
fn a_relative_data_dir() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let start = || {
        let mut command = Command::new(env::program("trawl-engine"));
        command.args(["--data-dir", "some/store", "--listen", "127.0.0.1:0", "--library"]);
        command.arg(xtask::engine_library::ensure()?).current_dir(folder.path());
        Server::start(command)
    };
    let engine = start()?;
    for sql in [
        "CREATE DATABASE other",
        "CREATE TABLE other.kept (a UInt8) ORDER BY a",
        "INSERT INTO other.kept VALUES (7)",
        "CREATE TABLE kept (a UInt8) ORDER BY a",
        "INSERT INTO kept VALUES (8)",
    ] {
        let answer = ask_at(&engine, "", sql)?;
        ensure!(answer.status == 200, "{sql}: {}", answer.text());
    }
    ensure!(engine.stop()?.success());
    let engine = start()?;
    ensure!(ask_at(&engine, "", "SELECT (SELECT a FROM other.kept), (SELECT a FROM kept)")?.text() == "7\t8\n");
    ensure!(folder.path().join("some/store/metadata/other.sql").exists());
    ensure!(engine.stop()?.success());
    Ok(())
}

/// Half of the rows must not be committed under the token, or the repetition would be dropped as known.
#[test]
fn an_insert_cut_off_by_the_end_can_be_repeated() -> anyhow::Result<()> {
    let data = env::directory()?;
    let engine = env::start_engine(data.path(), 0, &[])?;
    let table = "CREATE TABLE cut (a UInt64) ORDER BY a SETTINGS non_replicated_deduplication_window = 100";
    ensure!(ask_at(&engine, "", table)?.status == 200);
    let path = "?insert_deduplication_token=once&query=INSERT%20INTO%20cut%20FORMAT%20TSV";
    let rows: String = (0..1000).map(|number| format!("{number}\n")).collect();
    let stream = begin(&engine.url, path, rows.len(), &rows.as_bytes()[..rows.len() / 2])?;
    let question = "SELECT count() FROM system.processes WHERE startsWith(query, 'INSERT INTO cut')";
    env::eventually(Duration::from_secs(10), || Ok(ask_at(&engine, "", question)?.text() == "1\n"))?;
    ensure!(engine.stop()?.success(), "the engine did not end in order");
    drop(stream);
    let engine = env::start_engine(data.path(), 0, &[])?;
    ensure!(ask_at(&engine, "", "SELECT count() FROM cut")?.text() == "0\n");
    for _ in 0..2 {
        let repeated = ask_at(&engine, path, &rows)?;
        ensure!(repeated.status == 200, "{}", repeated.text());
        ensure!(ask_at(&engine, "", "SELECT count(), sum(a) FROM cut")?.text() == "1000\t499500\n");
    }
    engine.stop()?;
    Ok(())
}

/// More of them than statements may run, whatever they have sent of their text.
#[test]
fn idle_requests_keep_nobody_out() -> anyhow::Result<()> {
    let data = env::directory()?;
    let engine = env::start_engine(data.path(), 0, &["--ingest-statements", "8", "--short-statements", "8"])?;
    let mut idle = Vec::new();
    ensure!(ask_at(&engine, "", "CREATE TABLE idle (a UInt8) ORDER BY a")?.status == 200);
    let insert = "?query=INSERT%20INTO%20idle%20FORMAT%20TSV";
    for (path, body) in [("", ""), ("", "SELECT"), ("", "INSERT INTO"), (insert, "")].iter().cycle().take(120) {
        idle.push(begin(&engine.url, path, 1000, body.as_bytes())?);
    }
    let started = Instant::now();
    ensure!(ask_at(&engine, "", "SELECT 1")?.text() == "1\n");
    ensure!(started.elapsed() < Duration::from_secs(10), "it waited for {:?}", started.elapsed());
    drop(idle);
    engine.stop()?;
    Ok(())
}

/// Statements that wait for their turn when those that run are cancelled are refused; none of them takes a free slot.
#[test]
fn what_waits_does_not_start_at_the_end() -> anyhow::Result<()> {
    let data = env::directory()?;
    let engine = env::start_engine(data.path(), 0, &["--short-statements", "2", "--queue-timeout", "1m"])?;
    let url = engine.url.clone();
    let endless = || {
        let url = url.clone();
        std::thread::spawn(move || http::post(&http::agent(), &url, ENDLESS.as_bytes()))
    };
    let statements: Vec<_> = (0..8).map(|_| endless()).collect();
    // They hold all slots, so that no statement can tell how many there are.
    std::thread::sleep(Duration::from_secs(3));
    let started = Instant::now();
    ensure!(engine.stop()?.success(), "the engine did not end in order");
    ensure!(started.elapsed() < Duration::from_secs(29), "it took {:?}", started.elapsed());
    let mut codes = Vec::new();
    for statement in statements {
        let answer = statement.join().map_err(|_| anyhow::anyhow!("the thread panicked"))?;
        codes.push(
            answer.map_or_else(|error| error.to_string(), |a| a.header("x-clickhouse-exception-code").to_owned()),
        );
    }
    ensure!(codes.iter().filter(|code| *code == "210").count() == 6, "{codes:?}");
    Ok(())
}

/// Its insert ends with an error, without its rows, although the connection is still open.
#[test]
fn a_silent_client_is_given_up() -> anyhow::Result<()> {
    ask("", "CREATE TABLE silent (a UInt8) ORDER BY a")?;
    let started = Instant::now();
    let mut stream = begin(env::engine(), "?query=INSERT%20INTO%20silent%20FORMAT%20TSV", 1000, b"1\n2\n")?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut answer = [0; 4096];
    let count = stream.read(&mut answer)?;
    let text = String::from_utf8_lossy(&answer[..count]).into_owned();
    ensure!(text.contains("the client sent nothing for 30 s"), "{text}");
    ensure!(started.elapsed() > Duration::from_secs(25), "after {:?}", started.elapsed());
    ensure!(ask("", "SELECT count() FROM silent")?.text() == "0\n");
    Ok(())
}

/// A form that takes longer than a client may be silent, and one in which it falls silent.
#[test]
fn a_slow_form_is_waited_for() -> anyhow::Result<()> {
    let address = env::engine().trim_start_matches("http://");
    let form = b"--b\r\nContent-Disposition: form-data; name=\"query\"\r\n\r\nSELECT 40 + 2\r\n--b--\r\n";
    let start = || {
        let mut stream = env::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let length = form.len();
        let head = "Connection: close\r\nContent-Type: multipart/form-data; boundary=b";
        write!(stream, "POST / HTTP/1.1\r\nHost: {address}\r\n{head}\r\nContent-Length: {length}\r\n\r\n")?;
        stream.write_all(&form[..10])?;
        anyhow::Ok(stream)
    };
    let (mut slow, mut silent) = (start()?, start()?);
    let mut answer = String::new();
    for piece in form[10..].chunks(form.len() / 4) {
        std::thread::sleep(Duration::from_secs(9));
        slow.write_all(piece)?;
    }
    slow.read_to_string(&mut answer)?;
    ensure!(answer.starts_with("HTTP/1.1 200") && answer.contains("\r\n42\n"), "{answer}");
    answer.clear();
    silent.read_to_string(&mut answer)?;
    ensure!(answer.contains("Code: 209.") && answer.contains("sent nothing for 30 s"), "{answer}");
    Ok(())
}

/// What an editor or a word processor leaves in a text changes nothing about how it runs.
#[test]
fn blanks_are_those_of_clickhouse() -> anyhow::Result<()> {
    ask("", "CREATE TABLE blanks (a UInt8, b String) ORDER BY a")?;
    for (number, blank) in ["\u{feff}", "\u{a0}", "\u{3000}", "\u{200b}", "\u{b}"].into_iter().enumerate() {
        let read = ask("", &format!("{blank}SELECT{blank}1 AS a{blank}FORMAT{blank}JSONEachRow{blank}"))?;
        ensure!(read.text() == "{\"a\":1}\n", "{blank:?}: {}", read.text());
        ensure!(read.header("x-clickhouse-format") == "JSONEachRow", "{blank:?}");
        let insert =
            format!("{blank}INSERT{blank}INTO blanks{blank}FORMAT{blank}CSV\n{number},\"; DROP TABLE blanks\"\n");
        let written = ask("", &insert)?;
        ensure!(written.status == 200, "{blank:?}: {}", written.text());
    }
    ensure!(ask("", "SELECT count(), sum(a), any(b) FROM blanks")?.text() == "5\t10\t; DROP TABLE blanks\n");
    Ok(())
}

#[test]
fn collected_answers_are_bounded() -> anyhow::Result<()> {
    let data = env::directory()?;
    let engine = env::start_engine(data.path(), 0, &[])?;
    let rows = |count: u32| format!("SELECT repeat('x', 999) FROM numbers({count})");
    let small = ask_at(&engine, "?wait_end_of_query=1", &rows(100_000))?;
    ensure!(small.status == 200 && small.body.len() == 100_000_000, "{} bytes", small.body.len());
    let before = peak_memory(engine.id())?;
    let large = ask_at(&engine, "?wait_end_of_query=1", &rows(3_000_000))?;
    ensure!(large.header("x-clickhouse-exception-code") == "396", "{}", large.status);
    ensure!(large.text().contains("wait_end_of_query"), "{}", large.text());
    let after = peak_memory(engine.id())?;
    // Half of the answer; the limit is a sixth of it, for each copy that the engine makes of what it collects.
    ensure!(after < before + 1400, "memory grew from {before} to {after} MiB");
    // Its statement has ended too.
    let count =
        "SELECT count() FROM system.processes WHERE position(query, 'repeat(') > 0 AND query NOT LIKE '%processes%'";
    env::eventually(Duration::from_secs(10), || Ok(ask_at(&engine, "", count)?.text() == "0\n"))?;
    engine.stop()?;
    Ok(())
}

/// Blocks that announce far more than comes.
#[test]
fn blocks_are_not_taken_at_their_word() -> anyhow::Result<()> {
    let data = env::directory()?;
    let engine = env::start_engine(data.path(), 0, &[])?;
    ask_at(&engine, "?decompress=1", "not a block at all, and longer than the head of one")?;
    let before = peak_memory(engine.id())?;
    for (compressed, plain) in
        [(0x3fff_ffff_u32, 100), (100, 0x3fff_ffff), (u32::MAX, u32::MAX), (120 << 20, 120 << 20)]
    {
        let head = [&[0; 16][..], &[0x82], &compressed.to_le_bytes(), &plain.to_le_bytes(), &[0; 200]].concat();
        let answer = http::post(&http::agent(), &format!("{}/?decompress=1", engine.url), &head)?;
        let code = answer.header("x-clickhouse-exception-code");
        ensure!(answer.status >= 400 && code == "1000", "{compressed} {plain}: {} {}", answer.status, answer.text());
    }
    let after = peak_memory(engine.id())?;
    // The smallest of them announces 120 MiB.
    ensure!(after < before + 100, "memory grew from {before} to {after} MiB");
    engine.stop()?;
    Ok(())
}

#[test]
fn blocks_go_there_and_back() -> anyhow::Result<()> {
    ask("", "CREATE TABLE in_blocks (a UInt64) ORDER BY a")?;
    let packed = ask("?compress=1", "SELECT number FROM numbers(1000000) FORMAT RowBinary")?;
    ensure!(packed.status == 200 && packed.body.len() < 7_000_000, "{} bytes", packed.body.len());
    let url = format!("{}/?decompress=1&query=INSERT%20INTO%20in_blocks%20FORMAT%20RowBinary", env::engine());
    let answer = http::post(&http::agent(), &url, &packed.body)?;
    ensure!(answer.status == 200, "{}", answer.text());
    // Cut off within a block: an error, and no rows.
    let cut = http::post(&http::agent(), &url, &packed.body[..packed.body.len() - 1])?;
    ensure!(cut.status >= 400, "{}", cut.text());
    ensure!(ask("", "SELECT count(), sum(a) FROM in_blocks")?.text() == "1000000\t499999500000\n");
    Ok(())
}

#[test]
fn query_ids_are_used_once_at_a_time() -> anyhow::Result<()> {
    let busy = std::thread::spawn(|| ask("?query_id=only-one", "/* only-one */ SELECT sleep(2)"));
    env::eventually(Duration::from_secs(10), || Ok(running("only-one")? == "1\n"))?;
    let second = ask("?query_id=only-one", "SELECT 1")?;
    ensure!(second.header("x-clickhouse-exception-code") == "216", "{}", second.text());
    let first = busy.join().map_err(|_| anyhow::anyhow!("the thread panicked"))??;
    ensure!(first.text() == "0\n", "{}", first.text());
    // It is free as soon as the answer is over, however that went.
    let agent = http::agent();
    for (sql, status) in [("SELECT 1", 200), ("SET max_threads = 1", 200), ("SELECT nothing", 404), ("SELEC", 400)] {
        for _ in 0..100 {
            let answer = http::post(&agent, &format!("{}/?query_id=only-one", env::engine()), sql.as_bytes())?;
            ensure!(answer.status == status, "{sql}: {}", answer.text());
        }
    }
    Ok(())
}

/// A text with several statements is refused as a whole, also when one of them does not parse.
#[test]
fn nothing_runs_before_a_fault() -> anyhow::Result<()> {
    for text in [
        "CREATE TABLE before_fault (a UInt8) ORDER BY a; nonsense",
        "CREATE TABLE before_fault (a UInt8) ORDER BY a; SELECT 1",
        "CREATE TABLE before_fault (a UInt8) ORDER BY a; INSERT INTO before_fault VALUES (1)",
    ] {
        let answer = ask("", text)?;
        ensure!(answer.header("x-clickhouse-exception-code") == "62", "{text}: {}", answer.text());
        ensure!(!answer.text().contains("formatQuery"), "{}", answer.text());
        ensure!(ask("", "EXISTS TABLE before_fault")?.text() == "0\n", "{text}");
    }
    Ok(())
}

/// The seam between statement and data is found wherever the pieces of a body begin and end.
#[test]
fn texts_in_drops() -> anyhow::Result<()> {
    ask("", "CREATE TABLE drops (a UInt64, b String) ORDER BY a")?;
    let body = b"/* a */ INSERT INTO drops (a, b) FORMAT CSV\n1,\"FORMAT\"\n2,\"x\"\n";
    let address = env::engine().trim_start_matches("http://");
    let mut stream = env::connect(address)?;
    stream.set_nodelay(true)?;
    write!(stream, "POST / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n")?;
    for byte in body {
        stream.write_all(&[b'1', b'\r', b'\n', *byte, b'\r', b'\n'])?;
        stream.flush()?;
        std::thread::sleep(Duration::from_millis(2));
    }
    stream.write_all(b"0\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    ensure!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    ensure!(ask("", "SELECT * FROM drops ORDER BY a")?.text() == "1\tFORMAT\n2\tx\n");
    Ok(())
}

#[test]
fn a_request_leaves_no_trace_in_its_session() -> anyhow::Result<()> {
    let session = "?session_id=no-trace";
    let get = format!("{}/{session}&query=SELECT+currentDatabase()&database=system", env::engine());
    ensure!(http::get(&http::agent(), &get)?.text() == "system\n");
    // Neither the GET's read-only mode nor its database stays.
    ensure!(ask(session, "SELECT currentDatabase(), getSetting('readonly')")?.text() == "default\t0\n");
    ensure!(ask(session, "CREATE TEMPORARY TABLE own (a UInt8)")?.status == 200);
    ensure!(ask(session, "USE system")?.status == 200);
    ensure!(ask(&format!("{session}&database=default"), "SELECT currentDatabase()")?.text() == "default\n");
    ensure!(ask(session, "SELECT currentDatabase()")?.text() == "system\n");
    Ok(())
}

#[test]
fn odd_requests() -> anyhow::Result<()> {
    let comment = ask("?log_comment=mine&query_id=with-comment", "SELECT getSetting('log_comment')")?.text();
    ensure!(comment.starts_with("trawl-engine:"), "{comment}");
    ensure!(comment.ends_with("\\nquery_id:with-comment\\nmine\n"), "{comment}");
    ensure!(ask("", "SELECT 1 /* /* */ FORMAT JSON */")?.text() == "1\n", "comments nest");
    ensure!(ask("?default_format=", "SELECT 1")?.text() == "1\n");
    for path in ["?log_comment=a%00b", "?max_threads=1%00"] {
        let zero = ask(path, "SELECT 1")?;
        ensure!(zero.header("x-clickhouse-exception-code") == "36", "{path}: {}", zero.text());
    }
    ensure!(ask("?query_id=a%00b", "SELECT 1")?.status == 200);
    ensure!(ask("?max_threads=3&max_threads=2", "SELECT getSetting('max_threads')")?.text() == "2\n");
    let missing = http::get(&http::agent(), &format!("{}/play", env::engine()))?;
    ensure!(missing.status == 404);
    Ok(())
}

#[test]
fn a_taken_port_is_one_sentence() -> anyhow::Result<()> {
    let data = env::directory()?;
    let mut command = Command::new(env::program("trawl-engine"));
    command.arg("--data-dir").arg(data.path()).arg("--library").arg(xtask::engine_library::ensure()?);
    command.args(["--listen", env::engine().strip_prefix("http://").context("an address")?]);
    let output = env::run(command, 1)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(text.contains("cannot listen on") && text.trim().lines().count() == 1, "{text}");
    Ok(())
}
