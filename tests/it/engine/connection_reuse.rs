//! Connections that are reused between statements: nothing of one statement reaches another.

use std::io::{Read, Write};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use xtask::http::{self, Answer};
use xtask::process::Server;

use super::{ENDLESS, hang_up_after, running_at};
use crate::env;

struct Installation {
    engine: Server,
    _data: tempfile::TempDir,
}

impl Installation {
    fn start() -> anyhow::Result<Self> {
        let data = env::directory()?;
        Ok(Self { engine: env::start_engine(data.path(), 0, &[])?, _data: data })
    }

    fn ask(&self, path: &str, sql: &str) -> anyhow::Result<Answer> {
        http::post(&http::agent(), &format!("{}/{path}", self.engine.url), sql.as_bytes())
    }

    /// The number of the connection that the next query gets.
    fn connection(&self, path: &str) -> anyhow::Result<String> {
        let answer = self.ask(path, "SELECT getSetting('log_comment')")?;
        ensure!(answer.status == 200, "{}", answer.text());
        Ok(answer.text())
    }
}

/// What a statement would leave behind, what a later one would see of it, and what it sees instead.
const TRACES: [(&str, &str, &str, &str, &str); 12] = [
    ("", "SELECT 1 SETTINGS max_block_size = 77", "", "SELECT getSetting('max_block_size') = 77", "0"),
    ("", "SELECT 1 FORMAT JSON SETTINGS max_block_size = 78", "", "SELECT getSetting('max_block_size') = 78", "0"),
    ("", "SELECT 1 FORMAT JSONEachRow", "", "SELECT 2", "2"),
    ("?max_block_size=79", "SELECT 1", "", "SELECT getSetting('max_block_size') = 79", "0"),
    ("?database=system", "SELECT 1", "", "SELECT currentDatabase()", "default"),
    ("?param_left=7", "SELECT {left:UInt8}", "", "SELECT {left:UInt8}", "Code: 456"),
    ("", "SET max_block_size = 80", "", "SELECT getSetting('max_block_size') = 80", "0"),
    ("", "SET param_left = 8", "", "SELECT {left:UInt8}", "Code: 456"),
    ("", "USE system", "", "SELECT currentDatabase()", "default"),
    ("", "CREATE TEMPORARY TABLE left_behind (a UInt8)", "", "SELECT * FROM left_behind", "Code: 60"),
    ("", "SELECT throwIf(1) SETTINGS max_block_size = 81", "", "SELECT getSetting('max_block_size') = 81", "0"),
    (
        "?session_id=of-another",
        "CREATE TEMPORARY TABLE left_behind (a UInt8)",
        "",
        "SELECT * FROM left_behind",
        "Code: 60",
    ),
];

#[test]
fn a_statement_leaves_nothing_to_the_next() -> anyhow::Result<()> {
    let installation = Installation::start()?;
    let before = installation.connection("")?;
    ensure!(installation.connection("")? == before, "connections are not reused: this test proves nothing");
    for (path, sql, next_path, next, expected) in TRACES {
        installation.ask(path, sql)?;
        for _ in 0..2 {
            let answer = installation.ask(next_path, next)?.text();
            ensure!(answer.starts_with(expected), "{path} {sql}\nthen {next}\n{answer}");
        }
    }
    installation.engine.stop()?;
    Ok(())
}

/// Several at a time, so that each connection has had statements of every kind before.
#[test]
fn requests_of_different_settings_share_no_connection() -> anyhow::Result<()> {
    let installation = Installation::start()?;
    ensure!(installation.ask("", "CREATE DATABASE another")?.status == 200);
    let kinds = [
        ("", "default\t65409"),
        ("?max_block_size=101", "default\t101"),
        ("?database=system", "system\t65409"),
        ("?database=another&max_block_size=102", "another\t102"),
        ("?max_block_size=103&database=another", "another\t103"),
        ("?database=default", "default\t65409"),
    ];
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..6)
            .map(|client| {
                let installation = &installation;
                scope.spawn(move || {
                    for round in 0..40 {
                        let (path, expected) = kinds[(client + round) % kinds.len()];
                        let answer =
                            installation.ask(path, "SELECT currentDatabase(), getSetting('max_block_size')")?.text();
                        ensure!(answer.trim_end() == expected, "{path}: {answer}");
                    }
                    Ok(())
                })
            })
            .collect();
        clients.into_iter().try_for_each(|client| client.join().map_err(|_| anyhow::anyhow!("a client panicked"))?)
    })?;
    installation.engine.stop()?;
    Ok(())
}

#[test]
fn what_failed_or_was_more_than_a_query_gives_its_connection_back_to_nobody() -> anyhow::Result<()> {
    let installation = Installation::start()?;
    for sql in ["SELECT throwIf(1)", "SELECT nothing", "SELECT throwIf(number = 500000) FROM numbers(1000000)"] {
        let before = installation.connection("")?;
        ensure!(installation.ask("?wait_end_of_query=1", sql)?.status >= 400);
        // In mid-stream the transfer breaks.
        ensure!(!installation.ask("", sql).is_ok_and(|answer| answer.status == 200));
        ensure!(installation.connection("")? != before, "after {sql}");
        ensure!(installation.ask("", "SELECT 1")?.text() == "1\n");
    }
    // A database that is gone is gone for connections that were in it.
    ensure!(installation.ask("", "CREATE DATABASE passing")?.status == 200);
    ensure!(installation.ask("?database=passing", "SELECT 1")?.text() == "1\n");
    ensure!(installation.ask("", "DROP DATABASE passing")?.status == 200);
    let gone = installation.ask("?database=passing", "SELECT 1")?;
    ensure!(gone.header("x-clickhouse-exception-code") == "81", "{}", gone.text());
    installation.engine.stop()?;
    Ok(())
}

/// Its statement is cancelled by the number of its connection, which nobody has after it.
#[test]
fn a_client_that_leaves_ends_no_later_statement() -> anyhow::Result<()> {
    let installation = Installation::start()?;
    let url = format!("{}/", installation.engine.url);
    for round in 0..10 {
        let mark = format!("leaver-{round}");
        let text = format!("/* {mark} */ {ENDLESS}");
        hang_up_after(&url, &text, || {
            env::eventually(Duration::from_secs(10), || Ok(running_at(&url, &mark)? == "1\n"))
        })?;
        for _ in 0..20 {
            let answer =
                installation.ask("", "SELECT sum(sleepEachRow(0.01)) FROM numbers(2) SETTINGS max_block_size = 1")?;
            ensure!(answer.status == 200, "{}", answer.text());
        }
        env::eventually(Duration::from_secs(10), || Ok(running_at(&url, &mark)? == "0\n"))?;
    }
    installation.engine.stop()?;
    Ok(())
}

/// The engine does not know it, since the connection was opened for another statement.
#[test]
fn an_id_that_was_announced_ends_its_statement() -> anyhow::Result<()> {
    let installation = Installation::start()?;
    let address = installation.engine.url.trim_start_matches("http://").to_owned();
    let question = "SELECT number, sleepEachRow(0.0001) FROM numbers(1000000000) SETTINGS max_block_size = 1000";
    installation.ask("", "SELECT 1")?;
    let mut stream = env::connect(&address)?;
    write!(stream, "POST / HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n{question}", question.len())?;
    let mut head = [0; 4096];
    let count = stream.read(&mut head)?;
    let head = String::from_utf8_lossy(&head[..count]).to_lowercase();
    let id = head.split("x-clickhouse-query-id: ").nth(1).and_then(|rest| rest.split("\r\n").next());
    let id = id.with_context(|| head.clone())?;
    let other = "KILL QUERY WHERE query_id = 'nobody' SYNC";
    ensure!(installation.ask("", other)?.text().is_empty());
    let killed = installation.ask("", &format!("KILL QUERY WHERE query_id = '{id}' ASYNC"))?;
    ensure!(killed.text().contains("waiting"), "{}", killed.text());
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest)?;
    let rest = String::from_utf8_lossy(&rest[rest.len().saturating_sub(1000)..]).into_owned();
    ensure!(rest.contains("Code: 394."), "{rest}");
    installation.engine.stop()?;
    Ok(())
}
