//! No client keeps others out: not by answers it never reads, nor by statements without end, nor as a reader.

use std::net::TcpStream;

use super::process::peak_memory;
use super::*;

const READER: [&str; 6] = ["--reader-user", "ana", "--reader-password", "secret", "--reader-databases", "default"];
const AS_READER: &str = "?user=ana&password=secret";

fn at(engine: &str, path: &str, sql: &str) -> anyhow::Result<Answer> {
    http::post(&http::agent(), &format!("{engine}/{path}"), sql.as_bytes())
}

/// Sends statements and reads nothing of their answers.
fn send(engine: &str, path: &str, sql: &str, count: usize) -> anyhow::Result<Vec<TcpStream>> {
    let address = engine.trim_start_matches("http://");
    let begin = |_| {
        let mut stream = env::connect(address)?;
        write!(stream, "POST /{path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n{sql}", sql.len())?;
        Ok(stream)
    };
    (0..count).map(begin).collect()
}

/// How long a small read and a small insert take: in the middle of many, and at most. Each has to succeed.
fn pace(engine: &str) -> anyhow::Result<(Duration, Duration)> {
    let mut times = Vec::new();
    for number in 0..60 {
        let started = Instant::now();
        ensure!(at(engine, "", "SELECT 1")?.text() == "1\n");
        let inserted = at(engine, "", &format!("INSERT INTO small VALUES ({number})"))?;
        ensure!(inserted.status == 200, "{}", inserted.text());
        times.push(started.elapsed());
    }
    times.sort_unstable();
    Ok((times[times.len() / 2], times[times.len() - 1]))
}

fn metric(engine: &str, name: &str, workload: &str) -> anyhow::Result<u64> {
    let text = http::get(&http::agent(), &format!("{engine}/metrics"))?.text();
    let line = format!("{name}{{workload=\"{workload}\"}} ");
    let value = text.lines().find_map(|all| all.strip_prefix(line.as_str())).with_context(|| text.clone())?;
    Ok(value.parse()?)
}

/// Other tests run beside this one, so a single slow statement says little.
fn is_about_as_quick(before: (Duration, Duration), now: (Duration, Duration)) -> bool {
    now.0 < before.0 * 2 + Duration::from_millis(100) && now.1 < before.1 * 2 + Duration::from_secs(5)
}

/// As wide scans are sent. Rows are as those of logs, in several parts.
const SCAN: &str = "?workload=scan&max_threads=1&query_plan_optimize_lazy_materialization=0&optimize_read_in_order=1\
                    &read_in_order_use_buffering=0&max_block_size=8192";

#[test]
fn scans_that_are_never_read_delay_nobody_and_hold_little() -> anyhow::Result<()> {
    let data = env::directory()?;
    let engine = env::start_engine(data.path(), 0, &["--scan-statements", "8", "--queue-timeout", "5s"])?;
    let url = &engine.url;
    at(url, "", "CREATE TABLE small (a UInt64) ORDER BY a")?;
    at(url, "", "CREATE TABLE wide (a UInt64, b FixedString(32), c FixedString(32), d String) ORDER BY a")?;
    at(url, "", "SYSTEM STOP MERGES wide")?;
    for _ in 0..4 {
        let rows =
            "SELECT number, randomFixedString(32), randomFixedString(32), randomString(200) FROM numbers(200000)";
        ensure!(at(url, "?max_threads=1", &format!("INSERT INTO wide {rows}"))?.status == 200);
    }
    let before = pace(url)?;
    let memory = peak_memory(engine.id())?;
    let scans = send(url, SCAN, "SELECT * FROM wide ORDER BY a FORMAT ArrowStream", 120)?;
    env::eventually(Duration::from_secs(30), || {
        Ok(metric(url, "trawl_engine_statements_running", "scan")? == 8
            && metric(url, "trawl_engine_statements_refused_total", "scan")? >= 48)
    })?;
    let now = pace(url)?;
    ensure!(is_about_as_quick(before, now), "{before:?} before, {now:?} now");
    let grown = peak_memory(engine.id())?.saturating_sub(memory);
    ensure!(grown < 512, "memory grew by {grown} MiB");
    // Another one has to wait, is is refused in time, and so is a client that asks for the slots of others.
    let full = at(url, SCAN, "SELECT 1")?;
    ensure!(full.status == 503 && full.header("retry-after") == "1", "{} {}", full.status, full.text());
    ensure!(full.header("x-clickhouse-exception-code") == "202", "{}", full.text());
    ensure!(at(url, "?workload=call", "SELECT 2")?.text() == "2\n");
    drop(scans);
    env::eventually(Duration::from_secs(20), || Ok(at(url, SCAN, "SELECT 3")?.text() == "3\n"))?;
    engine.stop()?;
    Ok(())
}

#[test]
fn an_answer_of_which_nothing_is_taken_is_ended() -> anyhow::Result<()> {
    let data = env::directory()?;
    let engine = env::start_engine(data.path(), 0, &["--write-timeout", "2s"])?;
    let mut silent = send(&engine.url, "", "/* never-read */ SELECT number FROM numbers(100000000000)", 1)?;
    env::eventually(Duration::from_secs(10), || Ok(running_at(&engine.url, "never-read")? == "1\n"))?;
    env::eventually(Duration::from_secs(20), || Ok(running_at(&engine.url, "never-read")? == "0\n"))?;
    // One that takes a little now and then goes on.
    let mut slow = send(&engine.url, "", "/* slowly-read */ SELECT number FROM numbers(100000000000)", 1)?;
    let mut buffer = vec![0; 8 << 20];
    for _ in 0..5 {
        slow[0].read_exact(&mut buffer)?;
        std::thread::sleep(Duration::from_secs(1));
    }
    ensure!(running_at(&engine.url, "slowly-read")? == "1\n");
    // Its end is one that no client can take for the answer's.
    let mut rest = Vec::new();
    let ended = silent[0].read_to_end(&mut rest);
    ensure!(ended.is_err() || !rest.ends_with(b"0\r\n\r\n"), "{} bytes", rest.len());
    drop(slow);
    engine.stop()?;
    Ok(())
}

#[test]
fn a_readers_statement_keeps_to_its_limits() -> anyhow::Result<()> {
    let data = env::directory()?;
    let small = ["--reader-timeout", "2s", "--reader-memory", "200MiB", "--reader-result-rows", "1000"];
    let more = ["--reader-rows-read", "50000000", "--reader-bytes-read", "1GiB", "--reader-threads", "2"];
    let engine = env::start_engine(data.path(), 0, &[&READER[..], &small, &more].concat())?;
    let ask = |more: &str, sql: &str| at(&engine.url, &format!("{AS_READER}{more}"), sql);
    let lifted = "SELECT length(groupArray(toString(number))) FROM (SELECT number FROM numbers(40000000) SETTINGS";
    for (more, sql, code) in [
        ("", "SELECT length(groupArray(toString(number))) FROM numbers(40000000)".to_owned(), "241"),
        ("", "SELECT sum(sleepEachRow(0.1)) FROM numbers(1000) SETTINGS max_block_size = 1".into(), "159"),
        ("&max_block_size=1", "SELECT sum(sleepEachRow(0.1)) FROM numbers(1000)".into(), "159"),
        ("", "SELECT count() FROM numbers(60000000)".into(), "158"),
        ("", "SELECT number FROM numbers(2000)".into(), "396"),
        ("&max_memory_usage=0", "SELECT length(groupArray(toString(number))) FROM numbers(40000000)".into(), "241"),
        ("&max_execution_time=60&max_block_size=1", "SELECT sum(sleepEachRow(0.1)) FROM numbers(1000)".into(), "159"),
        ("&max_untracked_memory=100000000000", "SELECT 1".into(), "164"),
        ("&priority=1", "SELECT 1".into(), "164"),
        ("", format!("{lifted} max_memory_usage = 0)"), "452"),
        ("", format!("{lifted} max_memory_usage = '10G')"), "452"),
        ("", format!("{lifted} max_untracked_memory = 100000000000)"), "164"),
        ("", "SELECT dummy FROM system.one SETTINGS max_execution_time = 100".into(), "452"),
    ] {
        let answer = ask(more, &sql)?;
        ensure!(answer.header("x-clickhouse-exception-code") == code, "{more} {sql}: {code}: {}", answer.text());
    }
    ensure!(ask("&max_threads=1&max_execution_time=1", "SELECT getSetting('max_threads')")?.text() == "1\n");
    ensure!(ask("&max_threads=99", "SELECT getSetting('max_threads')")?.text() == "2\n");
    let found = ask("", "SELECT getSetting('max_memory_usage'), getSetting('max_threads')")?.text();
    ensure!(found == format!("{}\t2\n", 200 << 20), "{found}");
    // The owner has no such limits.
    let owner = at(&engine.url, "", "SELECT count() FROM numbers(60000000)")?;
    ensure!(owner.text() == "60000000\n", "{}", owner.text());
    engine.stop()?;
    Ok(())
}

/// 70 statements without end: the others have their own slots.
#[test]
fn a_reader_keeps_nobody_out() -> anyhow::Result<()> {
    let data = env::directory()?;
    let flags = [&READER[..], &["--reader-statements", "2", "--queue-timeout", "3s"]].concat();
    let engine = env::start_engine(data.path(), 0, &flags)?;
    let url = &engine.url;
    at(url, "", "CREATE TABLE small (a UInt64) ORDER BY a")?;
    let before = pace(url)?;
    let as_reader = format!("{AS_READER}&max_block_size=1&workload=short");
    let endless = send(url, &as_reader, "SELECT sum(sleepEachRow(0.1)) FROM numbers(100000)", 70)?;
    env::eventually(Duration::from_secs(20), || {
        Ok(metric(url, "trawl_engine_statements_running", "reader")? == 2
            && metric(url, "trawl_engine_statements_refused_total", "reader")? >= 36)
    })?;
    let now = pace(url)?;
    ensure!(is_about_as_quick(before, now), "{before:?} before, {now:?} now");
    let full = at(url, AS_READER, "SELECT 1")?;
    ensure!(full.status == 503 && full.header("retry-after") == "1", "{} {}", full.status, full.text());
    // Nor do those that never end sending their text.
    let address = url.trim_start_matches("http://");
    let mut arriving = Vec::new();
    for _ in 0..100 {
        let mut stream = env::connect(address)?;
        write!(stream, "POST /{AS_READER} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 1000\r\n\r\nSELECT")?;
        arriving.push(stream);
    }
    ensure!(is_about_as_quick(before, pace(url)?));
    drop((endless, arriving));
    engine.stop()?;
    Ok(())
}

/// An answer that is collected before it is sent keeps the reader's slot until it is taken, so that few are in memory.
#[test]
fn answers_that_a_reader_does_not_take_are_few() -> anyhow::Result<()> {
    let data = env::directory()?;
    let flags = [&READER[..], &["--reader-statements", "2", "--queue-timeout", "2s", "--write-timeout", "8s"]].concat();
    let engine = env::start_engine(data.path(), 0, &flags)?;
    let before = peak_memory(engine.id())?;
    let collected = format!("{AS_READER}&wait_end_of_query=1");
    let unread = send(&engine.url, &collected, "SELECT repeat('x', 1000) FROM numbers(60000)", 40)?;
    let refused = || metric(&engine.url, "trawl_engine_statements_refused_total", "reader");
    env::eventually(Duration::from_secs(20), || Ok(refused()? >= 30))?;
    let grown = peak_memory(engine.id())?.saturating_sub(before);
    ensure!(grown < 800, "memory grew by {grown} MiB, 40 answers have 2,400");
    // Their slots are free when they are given up.
    env::eventually(Duration::from_secs(30), || Ok(at(&engine.url, AS_READER, "SELECT 1")?.text() == "1\n"))?;
    drop(unread);
    engine.stop()?;
    Ok(())
}

/// They are answered for, and end.
#[test]
fn half_sent_heads_keep_nobody_out() -> anyhow::Result<()> {
    let data = env::directory()?;
    let engine = env::start_engine(data.path(), 0, &["--max-connections-per-client", "3000"])?;
    let address = engine.url.trim_start_matches("http://");
    let mut half = Vec::new();
    for _ in 0..400 {
        let mut stream = env::connect(address)?;
        write!(stream, "POST / HTTP/1.1\r\nHost: {address}\r\n")?;
        half.push(stream);
    }
    let started = Instant::now();
    ensure!(at(&engine.url, "", "SELECT 1")?.text() == "1\n");
    ensure!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    half[0].set_read_timeout(Some(Duration::from_secs(40)))?;
    // Whatever it says, it ends.
    half[0].read_to_end(&mut Vec::new())?;
    ensure!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    drop(half);
    engine.stop()?;
    Ok(())
}

/// An API's account reads as the reader does, in the slots that it states.
#[test]
fn an_api_reads_and_states_its_workloads() -> anyhow::Result<()> {
    let data = env::directory()?;
    let api = ["--api-user", "api", "--api-password", "key", "--reader-statements", "1"];
    let engine = env::start_engine(data.path(), 0, &[&READER[..], &api].concat())?;
    let ask = |more: &str, sql: &str| at(&engine.url, &format!("?user=api&password=key{more}"), sql);
    ensure!(at(&engine.url, "", "CREATE TABLE small (a UInt64) ORDER BY a")?.status == 200);
    for (sql, codes) in [
        ("INSERT INTO small VALUES (1)", ["164", "497"]),
        ("DROP TABLE small", ["164", "497"]),
        ("SELECT file('/etc/passwd')", ["497", "164"]),
        ("SELECT * FROM url('http://127.0.0.1:9/', 'LineAsString')", ["497", "164"]),
        ("SELECT * FROM (SELECT 1 SETTINGS readonly = 0)", ["164", "497"]),
    ] {
        let answer = ask("", sql)?;
        ensure!(codes.contains(&answer.header("x-clickhouse-exception-code")), "{sql}: {}", answer.text());
    }
    let big =
        ask("&max_memory_usage=8000000000&max_execution_time=600&readonly=2", "SELECT getSetting('max_memory_usage')")?;
    ensure!(big.text() == "8000000000\n", "{}", big.text());
    for workload in ["scan", "call", "short"] {
        let started = metric(&engine.url, "trawl_engine_statements_total", workload)?;
        ensure!(ask(&format!("&workload={workload}"), "SELECT 1")?.text() == "1\n");
        ensure!(metric(&engine.url, "trawl_engine_statements_total", workload)? > started, "{workload}");
    }
    ensure!(metric(&engine.url, "trawl_engine_statements_total", "reader")? == 0);
    engine.stop()?;
    Ok(())
}
