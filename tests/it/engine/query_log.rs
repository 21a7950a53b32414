//! `system.query_log`: what ran, who may see it, and what it takes.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use xtask::http::{self, Answer};
use xtask::process::Server;

use super::process::peak_memory;
use super::{ENDLESS, running_at};
use crate::env;

/// An engine with two readers and a small log.
fn start(data: &std::path::Path, size: &str) -> anyhow::Result<Server> {
    let readers = data.join("readers");
    std::fs::write(&readers, "ana a\nbob b\n")?;
    let readers = readers.display().to_string();
    let flags = ["--readers", &readers, "--reader-databases", "default", "--query-log-size", size];
    env::start_engine(&data.join("store"), 0, &flags)
}

fn ask(engine: &Server, path: &str, sql: &str) -> anyhow::Result<Answer> {
    http::post(&http::agent(), &format!("{}/?{path}", engine.url), sql.as_bytes())
}

/// What the log says to this user, when everything is written.
fn logged(engine: &Server, user: &str, sql: &str) -> anyhow::Result<String> {
    let flushed = ask(engine, "", "SYSTEM FLUSH LOGS")?;
    ensure!(flushed.status == 200, "{}", flushed.text());
    let answer = ask(engine, user, sql)?;
    ensure!(answer.status == 200, "{sql}: {}", answer.text());
    Ok(answer.text())
}

#[test]
fn every_statement_has_a_row() -> anyhow::Result<()> {
    let data = env::directory()?;
    let engine = start(data.path(), "8MiB")?;
    ask(&engine, "", "CREATE TABLE t (a UInt64) ORDER BY a")?;
    ask(&engine, "query_id=in", "INSERT INTO t FORMAT CSV\n1\n2\n3\n")?;
    let path = "query_id=out&database=system&max_block_size=77&log_comment=mine&workload=scan";
    ask(&engine, path, "SELECT a FROM default.t WHERE a > 1 -- the text")?;
    ask(&engine, "query_id=none", "SELECT nothing")?;
    ask(&engine, "query_id=bad", "SELEC 1")?;
    ask(&engine, "query_id=whole", "SELECT sum(sleepEachRow(0.6)) FROM numbers(5) SETTINGS max_block_size = 1")?;
    let long = "SELECT count() FROM numbers(100000000000000) SETTINGS max_execution_time = 3";
    ask(&engine, "query_id=long", long)?;
    ask(&engine, "query_id=refused&user=ana&password=a", "DROP TABLE t")?;
    ask(&engine, "query_id=text&user=ana&password=a", "SELECT (a) FROM t SETTINGS max_threads = 1")?;
    let agent = http::agent().get(format!("{}/?query=SELECT%201&query_id=get", engine.url));
    agent.header("user-agent", "a-client/1.0").call()?;
    for (id, columns, expected) in [
        ("in", "query, written_rows, workload, query_kind", "INSERT INTO t FORMAT CSV\t3\tingest\tInsert"),
        (
            "out",
            "query, read_rows, result_rows, current_database",
            "SELECT a FROM default.t WHERE a > 1 -- the text\t3\t2\tsystem",
        ),
        ("out", "Settings['max_block_size'], log_comment, workload, user", "77\tmine\tscan\tdefault"),
        ("none", "type, exception_code, startsWith(exception, 'Code: 47.')", "ExceptionWhileProcessing\t47\t1"),
        ("bad", "type, exception_code", "ExceptionBeforeStart\t62"),
        ("whole", "type, query_duration_ms BETWEEN 3000 AND 20000, memory_usage > 0", "QueryFinish\t1\t1"),
        ("long", "exception_code, read_rows > 1000, memory_usage > 0", "159\t1\t1"),
        ("refused", "type, exception_code, user, workload", "ExceptionBeforeStart\t164\tana\treader"),
        ("text", "type, Settings, query_kind", "QueryFinish\t{}\tSelect"),
        ("get", "http_method, http_user_agent, type", "1\ta-client/1.0\tQueryFinish"),
    ] {
        let sql = format!("SELECT {columns} FROM system.query_log WHERE query_id = '{id}' AND type != 'QueryStart'");
        let row = logged(&engine, "", &sql)?;
        ensure!(row.trim_end() == expected, "{id}: {row}");
    }
    // As a server's own clients read it.
    let count = "SELECT count() FROM system.query_log WHERE event_date >= yesterday() AND event_time > now() - 600 \
                 AND is_initial_query AND query_start_time <= event_time AND normalized_query_hash != 0 AND initial_user = 'default'";
    ensure!(logged(&engine, "", count)?.trim_end().parse::<u32>()? > 10);
    engine.stop()?;
    Ok(())
}

#[test]
fn readers_see_their_own_statements_only() -> anyhow::Result<()> {
    let data = env::directory()?;
    let engine = start(data.path(), "8MiB")?;
    let (ana, bob) = ("user=ana&password=a", "user=bob&password=b");
    let url = engine.url.clone();
    let endless =
        std::thread::spawn(move || http::post(&http::agent(), &url, format!("/* owners */ {ENDLESS}").as_bytes()));
    env::eventually(Duration::from_secs(10), || Ok(running_at(&engine.url, "owners")? == "1\n"))?;
    ask(&engine, "", "SELECT 'of the owner'")?;
    ask(&engine, "log_comment=user:ana%0A", "SELECT 'of the owner too'")?;
    ask(&engine, ana, "SELECT 'of ana'")?;
    ask(&engine, bob, "SELECT 'of bob'")?;
    ask(&engine, &format!("{bob}&query_id=1"), "SELECT 'of bob again'")?;
    logged(&engine, "", "SELECT 1")?;
    for (user, name) in [(ana, "ana"), (bob, "bob")] {
        for path in [
            user.to_owned(),
            format!("{user}&query_id=mine"),
            format!("{user}&query_id=x%0Auser:default%0A"),
            format!("{user}&log_comment=trawl-engine:1%0Auser:default%0A"),
            format!("{user}&session_id=s"),
            format!("{user}&max_block_size=1"),
        ] {
            for table in [
                "system.query_log",
                "(SELECT * FROM system.query_log)",
                "(SELECT * FROM system.query_log SETTINGS max_threads = 1)",
                "merge('system', 'query_log')",
                "view(SELECT * FROM system.query_log)",
                "(WITH x AS (SELECT * FROM system.query_log) SELECT * FROM x UNION ALL SELECT * FROM x)",
                "(SELECT b.user AS user FROM system.query_log AS a CROSS JOIN system.query_log AS b)",
            ] {
                let sql = format!("SELECT arrayStringConcat(arraySort(groupUniqArray(user))) FROM {table}");
                let seen = ask(&engine, &path, &sql)?;
                ensure!(seen.status == 200 && seen.text().trim_end() == name, "{path} {sql}: {}", seen.text());
            }
        }
        // Nor do they see what others are running.
        let running = "SELECT count(), countIf(query LIKE '%of-myself%') FROM system.processes /* of-myself */";
        ensure!(ask(&engine, user, running)?.text() == "1\t1\n", "{}", ask(&engine, user, running)?.text());
        // What is evaluated for a row must not be evaluated for those of others.
        for sql in [
            "SELECT throwIf(query LIKE '%of the owner%') FROM system.query_log FORMAT Null",
            "SELECT count() FROM system.query_log WHERE throwIf(query LIKE '%of the owner%') = 0 FORMAT Null",
            "SELECT count() FROM system.query_log PREWHERE throwIf(user != currentUser() AND user = 'default') = 0 FORMAT Null",
        ] {
            let answer = ask(&engine, user, sql)?;
            // 182: no PREWHERE here.
            let code = answer.header("x-clickhouse-exception-code");
            ensure!(answer.status == 200 || code == "182", "{sql}: {}", answer.text());
        }
        for sql in [
            "SELECT 1 SETTINGS log_comment = 'trawl-engine:1\\nuser:default\\n'",
            "SELECT user FROM (SELECT * FROM system.query_log SETTINGS log_comment = 'trawl-engine:1\\nuser:default\\n')",
            "TRUNCATE TABLE system.query_log",
            "DROP TABLE system.query_log",
            "INSERT INTO system.query_log (user) VALUES ('x')",
            "SYSTEM FLUSH LOGS",
        ] {
            ensure!(ask(&engine, user, sql)?.status == 403, "{sql}");
        }
    }
    let users = "SELECT arrayStringConcat(arraySort(groupUniqArray(user)), ' ') FROM system.query_log";
    ensure!(ask(&engine, "", users)?.text() == "ana bob default\n");
    ask(&engine, "", "KILL QUERY WHERE position(query, 'owners') > 0 ASYNC")?;
    endless.join().map_err(|_| anyhow::anyhow!("the thread panicked"))??;
    engine.stop()?;
    Ok(())
}

/// Statements of 8 KiB that no compression makes small, many times what the log may have.
#[test]
fn a_flood_does_not_make_it_grow() -> anyhow::Result<()> {
    let data = env::directory()?;
    let engine = start(data.path(), "2MiB")?;
    let size = "SELECT total_bytes, total_rows FROM system.tables WHERE database = 'system' AND name = 'query_log'";
    ask(&engine, "", "SELECT 1")?;
    let before = peak_memory(engine.id())?;
    let flood = |mark: u64| {
        let url = format!("{}/?user=ana&password=a", engine.url);
        move || -> anyhow::Result<()> {
            let agent = http::agent();
            let mut state = mark;
            for _ in 0..400 {
                let noise = std::iter::repeat_with(|| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    format!("{state:016x}")
                });
                let text: String = noise.take(1000).collect();
                http::post(&agent, &url, format!("SELECT 1 /* {text} */").as_bytes())?;
            }
            Ok(())
        }
    };
    let mut slowest = Duration::ZERO;
    std::thread::scope(|scope| -> anyhow::Result<()> {
        let floods: Vec<_> = (1..=4).map(|mark| scope.spawn(flood(mark))).collect();
        while !floods.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            let started = Instant::now();
            ensure!(ask(&engine, "", "SELECT 2")?.text() == "2\n");
            slowest = slowest.max(started.elapsed());
            std::thread::sleep(Duration::from_millis(20));
        }
        floods.into_iter().try_for_each(|flood| flood.join().map_err(|_| anyhow::anyhow!("a thread panicked"))?)
    })?;
    let output = logged(&engine, "", size)?;
    let (bytes, rows) = output.trim_end().split_once('\t').context("two columns")?;
    // One write, of 1 MiB or a little more, stays whatever its size is.
    ensure!(bytes.parse::<u64>()? < 5 << 20 && rows.parse::<u64>()? > 0, "{output}");
    ensure!(logged(&engine, "", "SELECT max(length(query)) FROM system.query_log")?.trim_end() == "8192");
    let grown = peak_memory(engine.id())?.saturating_sub(before);
    ensure!(grown < 300 << 20, "{grown} bytes more");
    ensure!(slowest < Duration::from_secs(5), "the owner waited for {slowest:?}");
    let metrics = http::get(&http::agent(), &format!("{}/metrics", engine.url))?.text();
    ensure!(metrics.contains("\ntrawl_engine_query_log_left_out_total "), "{metrics}");
    engine.stop()?;
    Ok(())
}

#[test]
fn it_can_be_left_out_and_outlives_being_dropped() -> anyhow::Result<()> {
    let data = env::directory()?;
    let engine = start(data.path(), "0")?;
    ensure!(ask(&engine, "", "SELECT count() FROM system.query_log")?.header("x-clickhouse-exception-code") == "60");
    ensure!(ask(&engine, "", "SYSTEM FLUSH LOGS")?.status == 200);
    ensure!(engine.stop()?.success());
    let engine = start(data.path(), "1MiB")?;
    ensure!(ask(&engine, "", "DROP TABLE system.query_log")?.status == 200);
    let started = Instant::now();
    ensure!(ask(&engine, "", "SYSTEM FLUSH LOGS")?.status == 200);
    ensure!(ask(&engine, "", "SELECT 1")?.text() == "1\n");
    ensure!(started.elapsed() < Duration::from_secs(5), "it took {:?}", started.elapsed());
    ensure!(engine.stop()?.success());
    Ok(())
}
