//! SQL of visitors at `/sql/query`, each under an account of its own (docs/reference/sql.md#console): whose statements
//! run, what ends them, and that no answer looks whole that is not.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use xtask::http::{self, Answer};
use xtask::process::Server;

use crate::chains::{chain, dump};
use crate::web_page::sources;
use crate::{env, mcp};

const OWNER: &str = "own:er";
const READER: &str = "ana:se:cret";
const API: &str = "api:a";
const MODELER: &str = "mo:m";

/// Runs until somebody ends it, or its account's minute is over.
const ENDLESS: &str = "SELECT number, repeat('x', 1000) FROM system.numbers WHERE NOT ignore('VISIT')";

struct Console {
    engine: String,
    api: String,
}

/// An engine with all kinds of accounts and a chain, and an API with a console.
fn console() -> &'static Console {
    static CONSOLE: LazyLock<Console> = LazyLock::new(|| start().unwrap_or_else(|error| panic!("{error:#}")));
    &CONSOLE
}

fn start() -> anyhow::Result<Console> {
    let flags = "--user own --password er --reader-user ana --reader-password se:cret --api-user api --api-password a \
                 --modeler-user mo --modeler-password m --reader-statements 24 --reader-statements-each 24";
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let engine = env::start_engine(&env::directory()?.keep(), 0, &flags)?;
    let url = engine.url.clone();
    env::keep(engine);
    let owner = ["--clickhouse-user", "own", "--clickhouse-password", "er"];
    for command in [&["migrate"][..], &["load", "--dump", &dump("devchain")]] {
        env::run(env::ingest_at(&url, "trawl", &[command, &owner].concat()), 0)?;
    }
    for sql in [
        "CREATE DATABASE trawl_other",
        "CREATE TABLE trawl.rows ORDER BY a AS SELECT number AS a, toString(number) AS b FROM numbers(10)",
    ] {
        let answer = ask_at(&url, "/", OWNER, sql)?;
        ensure!(answer.status == 200, "{sql}: {}", answer.text());
    }
    let api = Server::start(api(&url, &["--sql-console", "--write-timeout", "2s"]))?;
    let found = Console { engine: url, api: api.url.clone() };
    env::keep(api);
    Ok(found)
}

fn api(engine: &str, flags: &[&str]) -> Command {
    let account = ["--clickhouse-user", "api", "--clickhouse-password", "a"];
    env::api_at(engine, "trawl", &[&account, flags].concat())
}

fn basic(login: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(login))
}

fn ask_at(server: &str, path: &str, login: &str, statement: &str) -> anyhow::Result<Answer> {
    ask_with(server, path, &[("authorization", &basic(login))], statement)
}

fn ask_with(server: &str, path: &str, headers: &[(&str, &str)], statement: &str) -> anyhow::Result<Answer> {
    let mut request = http::agent().post(&format!("{server}{path}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut response = request.send(statement)?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = response.body_mut().with_config().limit(u64::MAX).read_to_vec()?;
    Ok(Answer { status, headers, body })
}

fn run(login: &str, statement: &str) -> anyhow::Result<Answer> {
    ask_at(&console().api, "/sql/query", login, statement)
}

/// The lines of an answer that is not refused.
fn lines(answer: &Answer) -> anyhow::Result<Vec<Value>> {
    ensure!(answer.status == 200, "{} {}", answer.status, answer.text());
    let text = answer.text();
    text.lines().filter(|line| !line.is_empty()).map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn as_owner(sql: &str) -> anyhow::Result<String> {
    Ok(ask_at(&console().engine, "/", OWNER, sql)?.text())
}

/// How many statements run whose text has a word.
fn running(word: &str) -> anyhow::Result<u64> {
    let sql =
        format!("SELECT count() FROM system.processes WHERE query LIKE '%{word}%' AND query NOT LIKE '%processes%'");
    Ok(as_owner(&sql)?.trim().parse()?)
}

#[test]
fn a_statement_is_answered_in_lines_and_as_files() -> anyhow::Result<()> {
    let lines = lines(&run(READER, "SELECT a, b, NULL AS c FROM rows ORDER BY a LIMIT 2;")?)?;
    let names = [("a", "UInt64"), ("b", "String"), ("c", "Nullable(Nothing)")];
    let names = names.map(|(name, kind)| json!({"name": name, "type": kind}));
    ensure!(lines[0] == json!({"meta": names}), "{lines:?}");
    let rows: Vec<&Value> = lines.iter().filter_map(|line| line.get("row")).collect();
    ensure!(rows == [&json!(["0", "0", "ᴺᵁᴸᴸ"]), &json!(["1", "1", "ᴺᵁᴸᴸ"])], "{rows:?}");
    ensure!(lines.iter().any(|line| line["progress"]["read_rows"] == "10"), "{lines:?}");
    ensure!(lines.last().is_some_and(|line| line["end"]["seconds"].as_f64().is_some()), "{lines:?}");
    let file = |format: &str| {
        let path = format!("/sql/query?format={format}");
        ask_at(&console().api, &path, READER, "SELECT a, b FROM rows ORDER BY a LIMIT 2")
    };
    let csv = file("csv")?;
    ensure!(csv.text() == "\"a\",\"b\"\n0,\"0\"\n1,\"1\"\n", "{}", csv.text());
    for (name, value) in [
        ("content-type", "text/csv; charset=utf-8"),
        ("content-disposition", "attachment; filename=\"rows.csv\""),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
    ] {
        ensure!(csv.header(name) == value, "{name}: {}", csv.header(name));
    }
    ensure!(file("tsv")?.text() == "a\tb\nUInt64\tString\n0\t0\n1\t1\n");
    let parquet = file("parquet")?.body;
    ensure!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"), "{parquet:?}");
    ensure!(file("html")?.status == 422);
    Ok(())
}

#[test]
fn only_readers_are_let_in_and_none_writes() -> anyhow::Result<()> {
    let none = ask_with(&console().api, "/sql/query", &[], "SELECT 1")?;
    ensure!(none.status == 401 && none.header("www-authenticate").starts_with("X-Basic "), "{none:?}");
    for (login, status, words) in [
        ("ana:secret", 401, "Wrong user or password"),
        ("nobody:x", 401, "Wrong user or password"),
        (OWNER, 403, "may write"),
        (API, 403, "no limit"),
    ] {
        let answer = run(login, "SELECT 1 AS a")?;
        ensure!(
            answer.status == status && answer.text().contains(words),
            "{login}: {} {}",
            answer.status,
            answer.text()
        );
    }
    ensure!(lines(&run(MODELER, "SELECT 1 AS a")?)?[1] == json!({"row": ["1"]}));
    for (login, statement) in [
        (READER, "INSERT INTO rows VALUES (11, 'x')"),
        (READER, "DROP TABLE rows"),
        (READER, "SELECT * FROM url('http://127.0.0.1:9/', 'LineAsString')"),
        (READER, "SELECT 1 SETTINGS readonly = 0"),
        (MODELER, "CREATE DATABASE analytics_of_console"),
        (MODELER, "INSERT INTO rows VALUES (11, 'x')"),
    ] {
        let answer = run(login, statement)?;
        let is_refused = answer.status == 400 && answer.json()?["data"]["code"].as_i64().is_some_and(|code| code > 0);
        ensure!(is_refused, "{login}: {statement}: {} {}", answer.status, answer.text());
    }
    ensure!(as_owner("SELECT count() FROM trawl.rows")?.trim() == "10");
    ensure!(as_owner("EXISTS DATABASE analytics_of_console")?.trim() == "0");
    // Whose statement it was is in the log of what ran.
    run(READER, "SELECT 'of ana' AS mark")?;
    as_owner("SYSTEM FLUSH LOGS")?;
    let users = as_owner("SELECT DISTINCT user FROM system.query_log WHERE query LIKE 'SELECT \\'of ana%'")?;
    ensure!(users.trim() == "ana", "{users}");
    Ok(())
}

#[test]
fn pages_of_other_origins_are_refused() -> anyhow::Result<()> {
    let (api, login) = (&console().api, basic(READER));
    let ask = |headers: &[(&str, &str)]| {
        ask_with(api, "/sql/query", &[&[("authorization", login.as_str())], headers].concat(), "SELECT 1 AS a")
    };
    ensure!(ask(&[("origin", api), ("sec-fetch-site", "same-origin")])?.status == 200);
    for headers in [
        [("origin", "https://evil.example")],
        [("origin", "null")],
        [("sec-fetch-site", "cross-site")],
        [("origin", "http://127.0.0.1")],
    ] {
        let answer = ask(&headers)?;
        ensure!(answer.status == 403 && answer.text().contains("other origins"), "{headers:?}: {}", answer.text());
        ensure!(answer.header("access-control-allow-origin").is_empty(), "{answer:?}");
    }
    Ok(())
}

#[test]
fn an_answer_that_fails_in_the_middle_is_not_whole() -> anyhow::Result<()> {
    let late = "SELECT throwIf(number = 900000, 'too far') AS a, number FROM numbers(1000000)";
    let text = run(READER, late)?.text();
    // The line before the last may be half of one.
    let last: Value = serde_json::from_str(text.trim_end().lines().last().context("a line")?)?;
    let error = &last["error"];
    ensure!(
        error["data"]["code"] == 395 && error["message"].as_str().is_some_and(|text| text.contains("too far")),
        "{last}"
    );
    ensure!(text.lines().count() > 100_000 && !text.contains("{\"end\":"));
    // Longer than MAX_EXCEPTION_SIZE. Of a text that comes in two reads its end may be missing.
    let long = run(READER, &late.replace("'too far'", "repeat('too far ', 20000)"))?.text();
    let last: Value = serde_json::from_str(long.trim_end().lines().last().context("a line")?)?;
    let length = last["error"]["message"].as_str().map_or(0, str::len);
    ensure!(last["error"]["data"]["code"] == 395 && (1..20_000).contains(&length), "{length} bytes");
    for format in ["csv", "tsv", "parquet"] {
        let file = ask_at(&console().api, &format!("/sql/query?format={format}"), READER, late);
        ensure!(file.as_ref().map_or(true, |file| file.status != 200), "{format} looks whole");
    }
    Ok(())
}

#[test]
fn errors_and_limits_are_reported_in_clickhouses_words() -> anyhow::Result<()> {
    for (statement, status, words) in [
        ("SELEC 1", 400, "Syntax error"),
        ("SELECT * FROM nothing_there", 400, "UNKNOWN_TABLE"),
        ("SELECT sum(a) FROM rows SETTINGS max_rows_to_read = 3", 400, "TOO_MANY_ROWS"),
        ("SELECT 1 FORMAT Vertical", 400, "Leave FORMAT out"),
        (" \n", 400, "one statement"),
        ("SELECT 1; SELECT 2", 400, "Multi-statements"),
    ] {
        let answer = run(READER, statement)?;
        ensure!(
            answer.status == status && answer.text().contains(words),
            "{statement}: {} {}",
            answer.status,
            answer.text()
        );
    }
    // Its beginning, the progress of it, may have been sent before.
    let slow = run(READER, "SELECT sum(sipHash64(number)) FROM numbers(9000000000) SETTINGS max_execution_time = 1")?;
    ensure!(slow.text().contains("TIMEOUT_EXCEEDED") && !slow.text().contains("\"end\""), "{}", slow.text());
    // Refused by its head: a client that is still sending might not get to read the answer.
    let mut stream = begin_with(&console().api, 262_145, "")?;
    let mut answer = [0; 12];
    stream.read_exact(&mut answer)?;
    ensure!(&answer == b"HTTP/1.1 413", "{}", String::from_utf8_lossy(&answer));
    Ok(())
}

/// The head of a request and its body, on a connection of its own.
fn begin(api: &str, statement: &str) -> anyhow::Result<TcpStream> {
    begin_with(api, statement.len(), statement)
}

/// The same with a length that may not be that of what is sent.
fn begin_with(api: &str, length: usize, statement: &str) -> anyhow::Result<TcpStream> {
    let host = api.trim_start_matches("http://");
    let mut stream = env::connect(host)?;
    let login = basic(READER);
    write!(
        stream,
        "POST /sql/query HTTP/1.1\r\nhost: {host}\r\nauthorization: {login}\r\n\
         content-length: {length}\r\n\r\n{statement}"
    )?;
    Ok(stream)
}

#[test]
fn who_goes_or_reads_nothing_ends_the_statement() -> anyhow::Result<()> {
    // One that has begun to answer, and one that has not.
    for statement in [
        ENDLESS.replace("VISIT", "visit_one"),
        "SELECT max(sipHash64(number)) FROM system.numbers WHERE NOT ignore('visit_two')".to_owned(),
    ] {
        let word = if statement.contains("visit_one") { "visit_one" } else { "visit_two" };
        let mut stream = begin(&console().api, &statement)?;
        env::eventually(env::SOON, || Ok(running(word)? == 1))?;
        if word == "visit_one" {
            stream.read_exact(&mut [0; 1_000])?;
        }
        drop(stream);
        env::eventually(Duration::from_secs(20), || Ok(running(word)? == 0)).context(word)?;
    }
    let unread = begin(&console().api, &ENDLESS.replace("VISIT", "visit_three"))?;
    env::eventually(env::SOON, || Ok(running("visit_three")? == 1))?;
    let began = Instant::now();
    env::eventually(Duration::from_secs(40), || Ok(running("visit_three")? == 0)).context("it has no reader")?;
    ensure!(began.elapsed() < Duration::from_secs(40));
    drop(unread);
    Ok(())
}

#[test]
fn a_client_has_eight_statements_at_a_time() -> anyhow::Result<()> {
    let waiting = "SELECT sleepEachRow(1), 'visit_four' FROM numbers(60) SETTINGS max_block_size = 1";
    // An API of its own, so that the clients of other tests are others.
    let own = Server::start(api(&console().engine, &["--sql-console"]))?;
    let streams: Vec<TcpStream> = (0..8).map(|_| begin(&own.url, waiting)).collect::<anyhow::Result<_>>()?;
    env::eventually(env::SOON, || Ok(running("visit_four")? == 8))?;
    let mut last = None;
    let mut is_answered = |status: u16| {
        let mut is_so = || {
            let answer = ask_at(&own.url, "/sql/query", READER, "SELECT 1 AS a")?;
            let is_so = answer.status == status;
            last = Some(answer.text());
            Ok(is_so)
        };
        env::eventually(Duration::from_secs(30), &mut is_so).with_context(|| format!("{status}: {last:?}"))
    };
    is_answered(429)?;
    drop(streams);
    is_answered(200)?;
    own.stop()?;
    Ok(())
}

#[test]
fn it_is_off_without_its_flag_and_each_chain_has_its_own() -> anyhow::Result<()> {
    let off = ask_at(&chain("devchain").api, "/sql/query", READER, "SELECT 1")?;
    ensure!(off.status == 404, "{} {}", off.status, off.text());
    let page = |url: &str| -> anyhow::Result<String> {
        Ok(http::agent().get(url).header("accept", "text/html").call()?.into_body().read_to_string()?)
    };
    ensure!(
        !page(&chain("devchain").api)?.contains("data-sql") && page(&console().api)?.contains("<html data-sql lang")
    );
    let flags = ["--sql-console", "--rate-limit", "3/1h", "--chain", "one=trawl,two=trawl_other"];
    let api = env::api_at(
        &console().engine,
        "trawl",
        &[&["--clickhouse-user", "api", "--clickhouse-password", "a"], &flags[..]].concat(),
    );
    let several = Server::start(api)?;
    for (name, database) in [("one", "trawl"), ("two", "trawl_other")] {
        let answer = ask_at(&several.url, &format!("/{name}/sql/query"), READER, "SELECT currentDatabase() AS a")?;
        ensure!(lines(&answer)?[1] == json!({"row": [database]}), "{}", answer.text());
        ensure!(page(&format!("{}/{name}", several.url))?.contains("data-sql"));
    }
    // Statements count for the rates, of all chains together.
    let statuses = [(); 2].map(|()| {
        ask_at(&several.url, "/one/sql/query", READER, "SELECT 1 AS a").map(|answer| answer.status).unwrap_or(0)
    });
    ensure!(statuses == [200, 429], "{statuses:?}");
    several.stop()?;
    Ok(())
}

#[test]
fn language_models_run_sql_under_the_account_of_their_message() -> anyhow::Result<()> {
    let calls = json!([
        ["run_sql", {"statement": "SELECT a, b FROM rows ORDER BY a LIMIT 2"}],
        ["run_sql", {"statement": "DROP TABLE rows"}],
        ["run_sql", {"statement": "SELECT repeat('x', 100000) AS a"}],
        ["run_sql", {"statement": "SELECT 1", "user": "ana"}],
        ["run_sql", {}],
    ]);
    let session = mcp::run_client(&console().api, &calls, Some(&basic(READER)))?;
    let text = |at: usize| session["results"][at]["text"].as_str().unwrap_or_default();
    ensure!(text(0) == "a\tb\nUInt64\tString\n0\t0\n1\t1\n", "{session}");
    ensure!(session["results"][1]["isError"] == true && text(1).contains("Code: "), "{}", text(1));
    ensure!(text(2).contains("\n[Cut here") && text(2).contains("`LIMIT`"), "{}", text(2).len());
    ensure!(text(3).contains("no argument `user`") && text(4).contains("`statement` is missing"), "{session}");
    let without = mcp::run_client(&console().api, &json!([["run_sql", {"statement": "SELECT 1"}]]), None)?;
    let result = &without["results"][0];
    ensure!(
        result["isError"] == true && result["text"].as_str().is_some_and(|text| text.contains("Authorization: Basic")),
        "{result}"
    );
    let names = |session: &Value| {
        session["tools"].as_array().is_some_and(|tools| tools.iter().any(|tool| tool["name"] == "run_sql"))
    };
    ensure!(names(&session));
    let off = mcp::run_client(&chain("devchain").api, &json!([["run_sql", {"statement": "SELECT 1"}]]), None)?;
    ensure!(
        !names(&off) && off["results"][0]["refused"].as_str().is_some_and(|text| text.contains("no tool")),
        "{off}"
    );
    Ok(())
}

/// Log in, run, stop, files, links, and that it can be used by all: `web/tests/browser/sql.mjs`.
#[test]
fn its_page_in_chromium() -> anyhow::Result<()> {
    let api = Server::start(api(&console().engine, &["--sql-console"]))?;
    let mut command = Command::new("node");
    command.args(["tests/browser/sql.mjs", &api.url, "ana", "se:cret"]).current_dir(sources());
    let output = env::run(command, 0)?;
    ensure!(String::from_utf8_lossy(&output.stdout).contains(" 0 problems"), "{output:?}");
    api.stop()?;
    Ok(())
}
