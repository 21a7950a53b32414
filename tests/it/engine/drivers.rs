//! Requests as drivers send them: those of Elixir, Go, Java, ODBC, PHP, R and Ruby, and of ClickHouse's own page.

use std::io::{Read, Write};
use std::time::Duration;

use anyhow::ensure;
use xtask::http::{self, Answer};

use super::{ENDLESS, running};
use crate::env;

/// The reader of the shared engine.
const READER: &str = "?user=ana&password=secret";

fn ask(path: &str, sql: &str) -> anyhow::Result<Answer> {
    http::post(&http::agent(), &format!("{}/{path}", env::engine()), sql.as_bytes())
}

/// The whole answer to a request whose first line, header lines and body are these.
fn send(line: &str, headers: &[&str], body: &str) -> anyhow::Result<String> {
    let address = env::engine().trim_start_matches("http://");
    let mut stream = env::connect(address)?;
    let lines: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    write!(stream, "{line} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{lines}\r\n{body}")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// The ODBC driver posts there by default.
#[test]
fn statements_have_a_path_of_their_own() -> anyhow::Result<()> {
    ensure!(ask("query?default_format=CSV", "SELECT 'a'")?.text() == "\"a\"\n");
    ensure!(http::get(&http::agent(), &format!("{}/query?query=SELECT+1", env::engine()))?.text() == "1\n");
    let empty = http::get(&http::agent(), &format!("{}/query?user=ana&password=wrong", env::engine()))?;
    ensure!(empty.header("x-clickhouse-exception-code") == "516", "{}", empty.text());
    ensure!(ask("other?", "SELECT 1")?.status == 404);
    Ok(())
}

/// As the Ruby driver sends it: the statement in the body, and an empty one in the URL.
#[test]
fn a_get_may_have_its_statement_in_the_body() -> anyhow::Result<()> {
    let chunked = "8\r\nSELECT 1\r\n0\r\n\r\n";
    for (line, headers, body, expected) in [
        ("GET /?query=", &["Content-Length: 8"][..], "SELECT 1", "\r\n\r\n1\n"),
        ("GET /", &["Transfer-Encoding: chunked"], chunked, "\r\n\r\n1\n"),
        ("GET /?query=SELECT+1%2B", &["Content-Length: 1"], "2", "\r\n\r\n3\n"),
        ("GET /?query=", &["Content-Length: 0"], "", "\r\n\r\nOk.\n"),
        ("GET /", &[], "", "\r\n\r\nOk.\n"),
    ] {
        let answer = send(line, headers, body)?;
        ensure!(answer.starts_with("HTTP/1.1 200") && answer.ends_with(expected), "{line} {headers:?}: {answer}");
    }
    let sql = "CREATE TABLE by_body (a UInt8) ORDER BY a";
    let length = format!("Content-Length: {}", sql.len());
    for line in ["GET /?query=", "GET /?readonly=0"] {
        let refused = send(line, &[&length], sql)?;
        ensure!(refused.contains("Code: 164. DB::Exception: "), "{line}: {refused}");
    }
    let unknown = send("GET /?query=&user=ana&password=wrong", &["Content-Length: 8"], "SELECT 1")?;
    ensure!(unknown.starts_with("HTTP/1.1 403") && unknown.contains("Code: 516."), "{unknown}");
    Ok(())
}

/// Elixir's driver would look for the columns of a result.
#[test]
fn a_statement_without_a_result_has_no_format() -> anyhow::Result<()> {
    let path = "?default_format=RowBinaryWithNamesAndTypes";
    for sql in [
        "CREATE TABLE no_result (a UInt8) ORDER BY a",
        "INSERT INTO no_result VALUES (1)",
        "INSERT INTO no_result SELECT 2",
        "DROP TABLE no_result SYNC",
    ] {
        let answer = ask(path, sql)?;
        ensure!(answer.status == 200 && answer.body.is_empty(), "{sql}: {}", answer.text());
        ensure!(answer.headers.get("x-clickhouse-format").is_none(), "{sql}: {:?}", answer.headers);
        ensure!(answer.header("content-type").starts_with("text/plain"), "{sql}: {:?}", answer.headers);
    }
    let empty = ask(path, "SELECT 1 AS a WHERE 0")?;
    ensure!(empty.header("x-clickhouse-format") == "RowBinaryWithNamesAndTypes" && !empty.body.is_empty());
    Ok(())
}

#[test]
fn the_time_zone_is_that_of_the_statement() -> anyhow::Result<()> {
    let zone =
        |path: &str, sql: &str| Ok::<_, anyhow::Error>(ask(path, sql)?.header("x-clickhouse-timezone").to_owned());
    let own = zone("", "SELECT 1")?;
    ensure!(!own.is_empty() && own != "Asia/Tokyo" && zone("?session_timezone=", "SELECT 1")? == own, "{own}");
    for (path, sql) in [
        ("?session_timezone=Asia/Tokyo", "SELECT toString(toDateTime(0))"),
        ("", "SELECT toString(toDateTime(0)) SETTINGS session_timezone = 'Asia/Tokyo'"),
        (
            "?session_timezone=America/Lima",
            "SELECT toString(toDateTime(0)) FORMAT TSV SETTINGS session_timezone = 'Asia/Tokyo'",
        ),
        ("?user=ana&password=secret", "SELECT toString(toDateTime(0)) SETTINGS session_timezone = 'Asia/Tokyo'"),
    ] {
        let answer = ask(path, sql)?;
        ensure!(answer.text() == "1970-01-01 09:00:00\n", "{path} {sql}: {}", answer.text());
        ensure!(answer.header("x-clickhouse-timezone") == "Asia/Tokyo", "{path} {sql}: {:?}", answer.headers);
    }
    ensure!(zone("?session_timezone=Asia/Tokyo", "SYSTEM FLUSH LOGS")? == "Asia/Tokyo");
    let wrong = ask("?session_timezone=Nowhere/At-all", "SELECT 1")?;
    ensure!(wrong.status >= 400 && wrong.header("x-clickhouse-timezone") == own, "{:?}", wrong.headers);
    Ok(())
}

/// A browser adds what it remembers, and ClickHouse's page asks it not to.
#[test]
fn a_login_is_given_once() -> anyhow::Result<()> {
    let user = "SELECT if(currentRoles() = ['trawl_reader'], 'reader', 'owner')";
    let ask = |path: &str, headers: &[(&str, &str)]| {
        let request = http::agent().post(format!("{}/{path}", env::engine()));
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let mut answer = request.send(user)?;
        Ok::<_, anyhow::Error>((answer.status().as_u16(), answer.body_mut().read_to_string()?))
    };
    let (reader, owner) = ((200, "reader\n".to_owned()), (200, "owner\n".to_owned()));
    // `ana:secret`, and a wrong password.
    let (basic, wrong) = ("basic YW5hOnNlY3JldA==", "Basic YW5hOndyb25n");
    ensure!(ask("", &[("authorization", "never")])? == owner);
    ensure!(ask("", &[("authorization", basic)])? == reader && ask("", &[("authorization", wrong)])?.0 == 403);
    for authorization in [basic, wrong, "never", "Bearer x"] {
        ensure!(ask(READER, &[("authorization", authorization)])? == reader, "{authorization}");
        ensure!(ask("?user=default", &[("authorization", authorization)])? == owner, "{authorization}");
    }
    for (path, headers) in [
        (READER, &[("x-clickhouse-user", "ana"), ("x-clickhouse-key", "secret")][..]),
        ("", &[("x-clickhouse-user", "ana"), ("x-clickhouse-key", "secret"), ("authorization", basic)]),
        ("", &[("x-clickhouse-key", "secret")]),
        ("", &[("authorization", "Bearer x")]),
    ] {
        let (status, text) = ask(path, headers)?;
        ensure!(status == 403 && text.starts_with("Code: 516. "), "{path} {headers:?}: {text}");
    }
    Ok(())
}

/// As `Statement.cancel` of Java sends it. Statements of others: `readers`, `readers_file`.
#[test]
fn a_reader_ends_its_own_statement() -> anyhow::Result<()> {
    for (id, end, status) in
        [("own-one", "", "waiting"), ("own-two", " ASYNC", "waiting"), ("own-three", " SYNC;", "finished")]
    {
        let text = format!("/* {id} */ {ENDLESS}");
        let path = format!("{READER}&query_id={id}");
        let victim = std::thread::spawn(move || ask(&path, &text));
        env::eventually(Duration::from_secs(10), || Ok(running(id)? == "1\n"))?;
        let killed = ask(READER, &format!("KILL QUERY WHERE query_id = '{id}'{end}"))?;
        let row = format!("{status}\t{id}\tana\t/* {id} */ SELECT ");
        ensure!(killed.text().starts_with(&row) && killed.text().lines().count() == 1, "{}", killed.text());
        ensure!(killed.header("x-clickhouse-format") == "TabSeparated", "{:?}", killed.headers);
        let answer = victim.join().map_err(|_| anyhow::anyhow!("the thread panicked"))??;
        ensure!(answer.header("x-clickhouse-exception-code") == "394", "{id}: {}", answer.text());
    }
    let kill = "KILL QUERY WHERE query_id = 'own-one'";
    for path in [READER.to_owned(), format!("{READER}&query_id=own-one"), format!("{READER}&default_format=JSON")] {
        let answer = ask(&path, kill)?;
        ensure!(answer.status == 200 && answer.body.is_empty(), "{path}: {}", answer.text());
    }
    for sql in ["KILL QUERY WHERE query_id = 'a' OR 1", "KILL QUERY WHERE query_id = 'a' TEST", "KILL MUTATION WHERE 1"]
    {
        ensure!(ask(READER, sql)?.header("x-clickhouse-exception-code") == "164", "{sql}");
    }
    Ok(())
}

#[test]
fn a_part_of_a_second_is_a_limit() -> anyhow::Result<()> {
    for (given, expected) in [("1.5", "2"), ("0.2", "1"), ("3", "3"), ("0", "60"), ("99.5", "60")] {
        let answer = ask(&format!("{READER}&max_execution_time={given}"), "SELECT getSetting('max_execution_time')")?;
        ensure!(answer.text() == format!("{expected}\n"), "{given}: {}", answer.text());
    }
    Ok(())
}

/// Sessions with `readonly=1`, as drivers of PHP and Python open them, with settings on either side of it.
#[test]
fn a_session_may_be_read_only() -> anyhow::Result<()> {
    for path in
        ["?session_id=only-reads&readonly=1", "?session_id=reads-too&readonly=1&max_threads=2&max_block_size=77"]
    {
        for _ in 0..2 {
            let answer = ask(path, "SELECT getSetting('readonly')")?;
            ensure!(answer.status == 200 && answer.text() == "1\n", "{path}: {}", answer.text());
            let refused = ask(path, "CREATE TEMPORARY TABLE a (b UInt8)")?;
            ensure!(refused.header("x-clickhouse-exception-code") == "164", "{path}: {}", refused.text());
        }
        let session = path.split_once('&').map_or(path, |(session, _)| session);
        ensure!(ask(session, "SELECT getSetting('readonly')")?.text() == "0\n", "readonly is left in the session");
    }
    Ok(())
}

/// As a read-only connection of DBeaver does it. What its requests set still works, and nothing lifts it.
#[test]
fn a_session_may_make_itself_read_only() -> anyhow::Result<()> {
    let session = "?session_id=made-read-only";
    ensure!(ask(session, "SET readonly = 1")?.status == 200);
    for more in ["", "&max_threads=2&database=system", "&readonly=0", "&readonly=2", "&query_id=in-read-only"] {
        let path = format!("{session}{more}");
        let answer = ask(&path, "SELECT getSetting('readonly'), getSetting('log_comment') != ''")?;
        ensure!(answer.text() == "1\t1\n", "{path}: {}", answer.text());
        for sql in ["CREATE TEMPORARY TABLE a (b UInt8)", "SET max_threads = 1", "SET readonly = 0"] {
            let refused = ask(&path, sql)?;
            ensure!(refused.header("x-clickhouse-exception-code") == "164", "{path} {sql}: {}", refused.text());
        }
    }
    let get = format!("{}/{session}&query=SELECT+getSetting('readonly')", env::engine());
    ensure!(http::get(&http::agent(), &get)?.text() == "1\n");
    let session = "?session_id=takes-settings";
    ensure!(ask(session, "SET readonly = 2")?.status == 200);
    for (more, expected) in [("", "2\n"), ("&readonly=1", "1\n"), ("&readonly=0", "2\n"), ("", "2\n")] {
        let answer = ask(&format!("{session}{more}"), "SELECT getSetting('readonly')")?;
        ensure!(answer.text() == expected, "{more}: {}", answer.text());
    }
    Ok(())
}

/// As R's driver opens a connection.
#[test]
fn a_readers_session_has_a_database_and_settings() -> anyhow::Result<()> {
    let session = format!("{READER}&session_id=of-a-reader");
    for sql in ["USE system", "SET send_progress_in_http_headers=1", "SET max_block_size = 77, max_threads = 1;"] {
        let answer = ask(&session, sql)?;
        ensure!(answer.status == 200 && answer.body.is_empty(), "{sql}: {}", answer.text());
        ensure!(answer.headers.get("x-clickhouse-format").is_none(), "{sql}: {:?}", answer.headers);
    }
    let look = "SELECT currentDatabase(), getSetting('max_block_size') = 77";
    for (path, expected) in [
        (session.clone(), "system\t1\n"),
        (format!("{session}&database=default&max_block_size=78"), "default\t0\n"),
        (session.clone(), "system\t1\n"),
        (READER.to_owned(), "default\t0\n"),
        // The owner's session of this name is another.
        ("?session_id=of-a-reader".to_owned(), "default\t0\n"),
    ] {
        let answer = ask(&path, look)?;
        ensure!(answer.text() == expected, "{path}: {}", answer.text());
    }
    for (sql, codes) in [
        ("USE nowhere_at_all", &["81", "497"][..]),
        ("SET readonly = 0", &["164"]),
        ("SET additional_result_filter = 'x'", &["164"]),
        ("SET max_memory_usage = 0", &["452"]),
        ("SET unheard_of = 1", &["115"]),
        ("SET ROLE trawl_owner", &["164", "497"]),
        ("SET max_block_size = DEFAULT", &["164"]),
    ] {
        let refused = ask(&session, sql)?;
        let code = refused.header("x-clickhouse-exception-code");
        ensure!(codes.contains(&code), "{sql}: {code} {}", refused.text());
    }
    ensure!(ask(&session, look)?.text() == "system\t1\n", "a refused change has an effect");
    // Without a session it ends with its request.
    ensure!(ask(READER, "USE system")?.status == 200 && ask(READER, look)?.text() == "default\t0\n");
    Ok(())
}

/// The Java client decompresses no refusal with status 403; the answer to a failed statement it does.
#[test]
fn a_refusal_is_never_compressed() -> anyhow::Result<()> {
    for (path, sql, code) in [
        ("?compress=1&user=nobody&password=wrong", "SELECT 1", "516"),
        ("?compress=1&user=ana&password=secret", "DROP TABLE t", "164"),
        ("?compress=1&user=ana&password=secret", "SELECT file('x')", "497"),
        ("?compress=1&readonly=1", "CREATE TABLE refused (a UInt8) ORDER BY a", "164"),
    ] {
        let refused = ask(path, sql)?;
        let begins = format!("Code: {code}. DB::Exception: ");
        ensure!(refused.status == 403 && refused.text().starts_with(&begins), "{path} {sql}: {}", refused.text());
    }
    let failed = ask("?compress=1", "SELECT no_such_column")?;
    let is_compressed = !failed.text().starts_with("Code");
    ensure!(failed.header("x-clickhouse-exception-code") == "47" && is_compressed, "{}", failed.text());
    Ok(())
}

#[test]
fn names_of_formats_have_any_letter_case() -> anyhow::Result<()> {
    for (name, other) in [("JSON", "json"), ("JSONEachRow", "jsoneachrow"), ("ArrowStream", "arrowstream")] {
        let (one, two) =
            (ask(&format!("?default_format={name}"), "SELECT 1")?, ask("", &format!("SELECT 1 FORMAT {other}"))?);
        ensure!(two.status == 200, "{other}: {}", two.text());
        ensure!(one.header("content-type") == two.header("content-type"), "{other}: {}", two.header("content-type"));
    }
    Ok(())
}

/// clickhouse-go reads `Native` by the version that it sends; without one it is the form of version 0.
#[test]
fn native_of_another_version_is_refused() -> anyhow::Result<()> {
    for (version, status) in [("0", 200), ("54405", 200), ("54453", 200), ("54454", 501), ("54483", 501), ("x", 400)] {
        for (path, sql) in [("&default_format=Native", "SELECT 1"), ("", "SELECT 1 FORMAT native")] {
            let answer = ask(&format!("?client_protocol_version={version}{path}"), sql)?;
            ensure!(answer.status == status, "{version}: {} {}", answer.status, answer.text());
        }
        let other = ask(&format!("?client_protocol_version={version}&default_format=RowBinary"), "SELECT 1")?;
        ensure!(other.status == if status == 400 { 400 } else { 200 }, "{version}: {}", other.text());
    }
    Ok(())
}
