//! What a reader may not do, by whatever spelling; what a reader may do all the same; and whose statements are whose.

use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::ensure;
use url::form_urlencoded;
use xtask::http::{self, Answer};
use xtask::process::Server;

use super::{ENDLESS, hang_up_after, running_at};
use crate::env;

/// What no reader may see; it lies in a file.
const SECRET: &str = "not-for-readers";

struct SecretFile {
    engine: String,
    /// The file's path.
    secret: String,
}

/// An engine with a reader, started in a folder with a secret; ends with all tests.
fn secret_file() -> &'static SecretFile {
    static SECRET_FILE: OnceLock<SecretFile> = OnceLock::new();
    SECRET_FILE.get_or_init(|| {
        let folder = env::directory().expect("a folder").keep();
        let secret = folder.join("secret.txt");
        std::fs::write(&secret, format!("{SECRET}\n")).expect("a file");
        let mut command = Command::new(env::program("trawl-engine"));
        command.args(["--data-dir", "store", "--listen", "127.0.0.1:0", "--library"]);
        command.arg(xtask::engine_library::ensure().expect("the library")).current_dir(&folder);
        command.args(["--reader-user", "ana", "--reader-password", "secret", "--reader-databases", "default,shown*"]);
        command.args(["--reader-threads", "3"]);
        let server = Server::start(command).expect("the engine starts");
        let secret_file = SecretFile { engine: server.url.clone(), secret: secret.display().to_string() };
        env::keep(server);
        secret_file
    })
}

fn as_owner(sql: &str) -> anyhow::Result<Answer> {
    http::post(&http::agent(), &secret_file().engine, sql.as_bytes())
}

fn url_of_reader(fields: &[(&str, &str)]) -> String {
    let fields = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    format!("{}/?user=ana&password=secret&{fields}", secret_file().engine)
}

fn as_reader(sql: &str, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
    http::post(&http::agent(), &url_of_reader(fields), sql.as_bytes())
}

/// Refused with one of `codes`, and without a word of the secret.
fn refused(sql: &str, fields: &[(&str, &str)], codes: &[&str]) -> anyhow::Result<()> {
    let answer = as_reader(sql, fields)?;
    let (text, code) = (answer.text(), answer.header("x-clickhouse-exception-code"));
    ensure!(answer.status >= 400 && codes.contains(&code), "{sql} {fields:?}: {} {text}", answer.status);
    ensure!(!text.contains(SECRET), "{sql} {fields:?}: {text}");
    Ok(())
}

#[test]
fn cannot_reach_files_or_servers() -> anyhow::Result<()> {
    let path = &secret_file().secret;
    for sql in [
        "SELECT file('PATH')",
        "SELECT `file`('PATH')",
        // What looks like a blank, a quote or a comment to one of two lexers.
        "SELECT file\u{a0}('PATH')",
        "SELECT file\u{b}('PATH')",
        "SELECT file/**/('PATH')",
        "SELECT \u{2018}'\u{2019} AS a, file('PATH') AS b, \u{2018}'\u{2019} AS c",
        "SELECT \u{201c}\"\u{201d}, file('PATH')",
        "SELECT 1 AS a, file(\u{2018}PATH\u{2019})",
        "SELECT /* /* */ ' */ file('PATH') /* ' */",
        "SELECT $a$ ' $a$, file('PATH') -- '",
        // Without a bracket behind the name.
        "SELECT * APPLY file FROM (SELECT 'PATH' AS a)",
        "SELECT arrayMap(file, ['PATH'])",
        // As a table, which needs no function at all.
        "SELECT * FROM `PATH`",
        "SELECT * FROM 'PATH'",
        "SELECT (1) FROM default.`PATH`",
        "SELECT * FROM \"PATH\"",
        "SELECT 1 WHERE '' IN `PATH`",
        "DESCRIBE TABLE 'PATH'",
        "EXISTS TABLE `PATH`",
        "SELECT * FROM `PATH` AS `PATH`",
        "SELECT 1 AS `PATH` FROM `PATH`",
        "SELECT 1 AS `PATH` WHERE 1 IN (`PATH`)",
        "SELECT `PATH` AS a FROM (SELECT 1 AS `PATH`) AS b, a",
        "WITH `PATH` AS a SELECT * FROM a",
        "SELECT * FROM `secret.txt`",
        "SELECT * FROM `secret*`",
        "SELECT hasColumnInTable('default', 'PATH', 'c1')",
        "SELECT * FROM file('PATH', 'LineAsString')",
        "SELECT * FROM (SELECT * FROM file('PATH', 'LineAsString') SETTINGS readonly = 0)",
        "SELECT * FROM eval('SELECT file(''PATH'')')",
        "SELECT * FROM url('http://127.0.0.1:9/', 'LineAsString')",
        "SELECT * FROM \u{2018}x\u{2019}, url(\u{2018}http://127.0.0.1:9/\u{2019}, \u{2018}LineAsString\u{2019})",
        "SELECT * FROM remote('127.0.0.1:9', 'system.one')",
        "SELECT * FROM executable('cat PATH', 'LineAsString', 'line String')",
        "SELECT catboostEvaluate('PATH', 1)",
        "SELECT reverseDNSQuery('127.0.0.1')",
        "SELECT 1 INTO OUTFILE 'PATH'",
        // Telling the columns of a table function opens what it names; the first line of a file may be their names.
        "DESCRIBE TABLE url('file://PATH', 'TSVWithNames')",
        "DESC url('file://PATH', 'LineAsString')",
        "describe /**/ `url` ('http://127.0.0.1:9/', 'TSV')",
        "DESCRIBE TABLE sqlite('PATH', 'a')",
        "DESCRIBE TABLE mysql('127.0.0.1:9', 'a', 'b', 'c', 'd')",
        "DESCRIBE TABLE remote('127.0.0.1:9', 'system.one')",
        "DESCRIBE TABLE loop(url('file://PATH', 'TSVWithNames'))",
        "DESCRIBE TABLE viewIfPermitted(SELECT 1 ELSE url('file://PATH', 'TSVWithNames'))",
        "DESCRIBE TABLE view(SELECT * FROM url('file://PATH', 'TSVWithNames'))",
        "DESCRIBE TABLE (SELECT * FROM url('file://PATH', 'TSVWithNames'))",
        "EXISTS TABLE system.one PARALLEL WITH DESCRIBE TABLE url('file://PATH', 'TSVWithNames')",
        "SELECT * FROM (DESCRIBE TABLE url('file://PATH', 'TSVWithNames'))",
        "EXPLAIN DESCRIBE TABLE url('file://PATH', 'TSVWithNames')",
    ] {
        // 60 and 636: neither a table nor a file of that name where the engine may look; 62: not a statement.
        refused(&sql.replace("PATH", path), &[], &["497", "164", "62", "60", "358", "636"])?;
    }
    refused("SELECT * FROM {t:Identifier}", &[("param_t", path)], &["497"])?;
    refused("SELECT * FROM {t:Identifier}", &[("param_t", &path.replace('/', "\\x2f"))], &["497"])?;
    ensure!(std::fs::read_to_string(path)? == format!("{SECRET}\n"));
    Ok(())
}

#[test]
fn cannot_lift_their_limits() -> anyhow::Result<()> {
    let path = &secret_file().secret;
    for setting in
        ["readonly = 0", "`readonly`=0", "`read\\x6fnly` = 0", "\u{a0}readonly\u{a0}=\u{a0}0", "profile = 'default'"]
    {
        let sql = format!("SELECT * FROM (SELECT * FROM system.one SETTINGS {setting})");
        refused(&sql, &[], &["164", "62"])?;
    }
    for (name, value) in [
        ("readonly", "0"),
        ("profile", "default"),
        ("dialect", "prql"),
        ("format_template_row", path),
        ("format_template_resultset", path),
        ("format_schema", path),
        ("output_format_schema", path),
        ("implicit_table_at_top_level", path),
        ("additional_result_filter", "throwIf(1, file('PATH'))"),
        ("additional_table_filters", "{'system.one': 'throwIf(1, file(''PATH''))'}"),
    ] {
        let value = value.replace("PATH", path);
        let fields = [(name, value.as_str()), ("default_format", "Template")];
        refused("SELECT * FROM system.one", &fields, &["164"])?;
        let quoted = value.replace('\'', "''");
        let within = format!("SELECT * FROM (SELECT * FROM system.one SETTINGS {name} = '{quoted}')");
        refused(&within, &[], &["164"])?;
        refused(&format!("SELECT * FROM system.one SETTINGS {name} = '{quoted}'"), &[], &["164"])?;
    }
    refused("SELECT 1", &[("default_format", "TSV $a$")], &["73"])?;
    refused("SELECT 1", &[("default_format", "TSV SETTINGS max_threads = 1")], &["73"])?;
    refused("SELECT 1 -- $a$", &[("default_format", &format!("TSV $a$\n$a$ INTO OUTFILE '{path}x'"))], &["73"])?;
    refused("SELECT 1 FORMAT `TSV SETTINGS max_threads = 1`", &[], &["73"])?;
    ensure!(!std::path::Path::new(&format!("{path}x")).exists());
    Ok(())
}

/// Whether there is a file or not: the answer is the same.
#[test]
fn cannot_find_out_which_files_exist() -> anyhow::Result<()> {
    let path = &secret_file().secret;
    let missing = format!("{path}-missing");
    for function in [
        "sqlite('PATH', 'a')",
        "file('PATH', 'LineAsString')",
        "fileCluster('default', 'PATH', 'LineAsString')",
        "filesystem('PATH')",
        "url('file://PATH', 'LineAsString')",
        "urlCluster('default', 'file://PATH', 'LineAsString')",
        "icebergLocal('PATH')",
        "deltaLakeLocal('PATH')",
        "paimonLocal('PATH')",
        "executable('PATH', 'LineAsString', 'line String')",
        "arrowstream('PATH')",
        "`PATH`",
        "default.`PATH`",
    ] {
        for sql in [
            "SELECT * FROM FUNCTION",
            "SELECT count() FROM FUNCTION",
            "DESCRIBE TABLE FUNCTION",
            "EXPLAIN SELECT * FROM FUNCTION",
        ] {
            let ask = |path: &str| as_reader(&sql.replace("FUNCTION", &function.replace("PATH", path)), &[]);
            let (there, not_there) = (ask(path)?, ask(&missing)?);
            let code = |answer: &Answer| answer.header("x-clickhouse-exception-code").to_owned();
            ensure!(there.status >= 400, "{sql} {function}: {}", there.text());
            ensure!(code(&there) == code(&not_there), "{sql} {function}: {} {}", there.text(), not_there.text());
            let texts = (there.text().replace(path.as_str(), "FILE"), not_there.text().replace(&missing, "FILE"));
            ensure!(texts.0 == texts.1, "{sql} {function}: {texts:?}");
        }
    }
    Ok(())
}

/// The engine's own list, so that one that a later library brings is tried too: none reaches a server or a file.
#[test]
fn cannot_call_what_reaches_outside() -> anyhow::Result<()> {
    let harmless = [
        "numbers",
        "numbers_mt",
        "zeros",
        "zeros_mt",
        "primes",
        "values",
        "SQLStandardValues",
        "generateSeries",
        "generate_series",
        "generateRandom",
        "null",
        "view",
        "viewExplain",
        "viewIfPermitted",
        "format",
        "fuzzJSON",
        "fuzzQuery",
        "input",
        "merge",
        "loop",
    ];
    let names = as_owner("SELECT name FROM system.table_functions")?.text();
    let path = &secret_file().secret;
    ensure!(names.lines().count() > 60, "{names}");
    for name in names.lines().filter(|name| !harmless.contains(name)) {
        for arguments in ["'PATH'", "'PATH', 'a'", "'http://127.0.0.1:9/PATH', 'a', 'b', 'c', 'd'", "'a', 'b', 'c'"] {
            let sql = format!("SELECT * FROM {name}({})", arguments.replace("PATH", path));
            let answer = as_reader(&sql, &[])?;
            ensure!(answer.status >= 400 && !answer.text().contains(SECRET), "{sql}: {}", answer.text());
        }
    }
    Ok(())
}

#[test]
fn see_only_the_databases_they_are_given() -> anyhow::Result<()> {
    for database in ["shown_one", "hidden"] {
        ensure!(as_owner(&format!("CREATE DATABASE {database}"))?.status == 200);
        ensure!(as_owner(&format!("CREATE TABLE {database}.t (a UInt8) ORDER BY a"))?.status == 200);
        ensure!(as_owner(&format!("INSERT INTO {database}.t VALUES (7)"))?.status == 200);
    }
    ensure!(as_reader("SELECT a FROM shown_one.t", &[])?.text() == "7\n");
    ensure!(as_reader("SELECT a FROM t", &[("database", "shown_one")])?.text() == "7\n");
    for sql in [
        "SELECT a FROM hidden.t",
        "SELECT 1 WHERE 7 IN hidden.t",
        "SELECT count() FROM shown_one.t AS s JOIN hidden.t AS h ON s.a = h.a",
        "SELECT (SELECT any(a) FROM hidden.t)",
        "WITH x AS (SELECT a FROM hidden.t) SELECT * FROM x",
        "SELECT a FROM merge('hidden', 't')",
        "SELECT a FROM merge(REGEXP('hid.*'), 't')",
        "SELECT a FROM loop(hidden, t) LIMIT 1",
        "SELECT * FROM mergeTreeIndex('hidden', 't')",
        "SELECT * FROM view(SELECT a FROM hidden.t)",
        "DESCRIBE TABLE hidden.t",
        "SHOW CREATE TABLE hidden.t",
        "EXISTS TABLE hidden.t",
        "CHECK TABLE hidden.t",
        "EXPLAIN SELECT a FROM hidden.t",
        "EXPLAIN ESTIMATE SELECT a FROM hidden.t",
    ] {
        refused(sql, &[], &["497", "164", "636", "62"])?;
    }
    refused("SELECT a FROM t", &[("database", "hidden")], &["497", "81"])?;
    refused("SELECT a FROM {d:Identifier}.t", &[("param_d", "hidden")], &["497"])?;
    for sql in [
        "SHOW DATABASES LIKE 'hidden'",
        "SHOW TABLES FROM hidden",
        "SELECT name FROM system.databases WHERE name = 'hidden'",
        "SELECT name FROM system.tables WHERE database = 'hidden'",
        "SELECT name FROM system.columns WHERE database = 'hidden'",
        "SELECT name FROM system.parts WHERE database = 'hidden'",
    ] {
        ensure!(as_reader(sql, &[])?.text().is_empty(), "{sql}: {}", as_reader(sql, &[])?.text());
    }
    // The owner's connections are others, also those that are reused.
    ensure!(as_owner("SELECT a FROM hidden.t")?.text() == "7\n");
    ensure!(as_reader("SELECT currentRoles()", &[])?.text() == "['trawl_reader']\n");
    Ok(())
}

#[test]
fn cannot_write() -> anyhow::Result<()> {
    ensure!(as_owner("CREATE TABLE theirs (a UInt8) ORDER BY a")?.status == 200);
    for sql in [
        "INSERT INTO theirs VALUES (1)",
        "INSERT INTO theirs SELECT 1",
        "CREATE TABLE mine (a UInt8) ORDER BY a",
        "DROP TABLE theirs",
        "ALTER TABLE theirs DELETE WHERE 1",
        "SELECT 1; DROP TABLE theirs",
        "DROP TABLE theirs; nonsense",
        "SYSTEM FLUSH LOGS",
        "KILL QUERY WHERE 1",
        "EXECUTE AS default DROP TABLE theirs",
    ] {
        refused(sql, &[], &["164", "62", "497"])?;
    }
    ensure!(as_owner("SELECT count() FROM theirs")?.text() == "0\n");
    Ok(())
}

#[test]
fn ask_ordinary_questions() -> anyhow::Result<()> {
    for (sql, fields, expected) in [
        ("SELECT '\u{2018}é\u{a0}/' AS `é` -- \u{2019}ü", &[][..], "\u{2018}é\u{a0}/\n"),
        ("SELECT $a$ file('x') $a$ /* file('x') */", &[], " file(\\'x\\') \n"),
        ("SELECT 'readonly = 0; file(/etc/passwd)'", &[], "readonly = 0; file(/etc/passwd)\n"),
        (
            "SELECT {s:String} FROM {t:Identifier}",
            &[("param_s", "a/b"), ("param_t", "one"), ("database", "system")],
            "a/b\n",
        ),
        ("SELECT getSetting('max_threads')", &[("max_threads", "3")], "3\n"),
        ("SELECT dummy FROM system.one SETTINGS max_threads = 2", &[], "0\n"),
        ("SELECT dummy AS a FROM system.one FORMAT JSONEachRow", &[], "{\"a\":0}\n"),
        ("WITH 1 AS insert SELECT insert", &[], "1\n"),
        (
            "SELECT sum(number) / 2 AS `SUM(number)/2` FROM numbers(3) ORDER BY `SUM(number)/2` DESC LIMIT 1",
            &[],
            "1.5\n",
        ),
        ("SELECT `a/b` AS `a/b`, 1 FROM (SELECT 2 AS `a/b`) GROUP BY `a/b`", &[], "2\t1\n"),
        ("SELECT value FROM system.settings WHERE name = 'readonly'", &[], "2\n"),
        ("SELECT count() FROM numbers(10)", &[("default_format", "")], "10\n"),
        ("EXISTS TABLE system.one", &[], "1\n"),
        ("SHOW TABLES FROM system LIKE 'one'", &[], "one\n"),
        ("DESC system.one FORMAT TSVRaw SETTINGS describe_compact_output = 1", &[], "dummy\tUInt8\n"),
        ("DESCRIBE (SELECT count() AS a FROM numbers(1))", &[("describe_compact_output", "1")], "a\tUInt64\n"),
        ("SELECT number FROM numbers(2) ORDER BY number DESC LIMIT (1)", &[], "1\n"),
    ] {
        let answer = as_reader(sql, fields)?;
        ensure!(answer.status == 200 && answer.text() == expected, "{sql}: {} {:?}", answer.status, answer.text());
    }
    Ok(())
}

fn running(mark: &str) -> anyhow::Result<String> {
    running_at(&secret_file().engine, mark)
}

#[test]
fn cannot_end_statements_of_others() -> anyhow::Result<()> {
    let id = "of-the-owner";
    let url = format!("{}/?query_id={id}", secret_file().engine);
    let victim =
        std::thread::spawn(move || http::post(&http::agent(), &url, format!("/* the-victim */ {ENDLESS}").as_bytes()));
    env::eventually(Duration::from_secs(10), || Ok(running("the-victim")? == "1\n"))?;
    refused("SELECT 1", &[("query_id", id)], &["216"])?;
    refused(&format!("KILL QUERY WHERE query_id = '{id}' ASYNC"), &[], &["497"])?;
    refused(&format!("KILL QUERY WHERE query_id = '{id}' AND 1 ASYNC"), &[], &["164"])?;
    // The same id, or a comment like the one statements are found by, and then hang up.
    let comment =
        as_owner("SELECT Settings['log_comment'] FROM system.processes WHERE position(query, 'the-victim') = 4")?;
    let comment = comment.text().trim_end().replace("\\n", "\n");
    ensure!(comment.starts_with("trawl-engine:") && comment.contains(&format!("\nquery_id:{id}\n")), "{comment}");
    hang_up_after(&url_of_reader(&[("query_id", id)]), ENDLESS, || Ok(()))?;
    let imitation = url_of_reader(&[("log_comment", &comment), ("max_block_size", "1")]);
    let text = format!("/* the-imitation */ {}", ENDLESS.replace(" SETTINGS max_block_size = 1", ""));
    hang_up_after(&imitation, &text, || {
        env::eventually(Duration::from_secs(10), || Ok(running("the-imitation")? == "1\n"))
    })?;
    env::eventually(Duration::from_secs(10), || Ok(running("the-imitation")? == "0\n"))?;
    ensure!(running("the-victim")? == "1\n", "the owner's statement was cancelled");
    // The owner can, and the id is free again.
    as_owner(&format!("KILL QUERY WHERE query_id = '{id}' ASYNC"))?;
    let answer = victim.join().map_err(|_| anyhow::anyhow!("the thread panicked"))??;
    ensure!(answer.header("x-clickhouse-exception-code") == "394", "{}", answer.text());
    ensure!(as_reader("SELECT 1", &[("query_id", id)])?.text() == "1\n");
    Ok(())
}
