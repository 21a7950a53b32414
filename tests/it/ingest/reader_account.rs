//! `migrate --with-reader`: the statements are ClickHouse's, as far as that can be seen without a server that keeps
//! roles.

use std::collections::HashSet;

use anyhow::ensure;
use trawl_core::schema::reader_account::READER_ACCOUNT;
use xtask::http;
use xtask::workspace;

use crate::env;

fn ask(sql: &str) -> anyhow::Result<String> {
    let answer = http::post(&http::agent(), env::store(), sql.as_bytes())?;
    ensure!(answer.status == 200, "{sql}: {}", answer.text());
    Ok(answer.text())
}

fn without_comments(sql: &str) -> String {
    sql.lines().filter(|line| !line.starts_with("--")).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_statement_is_one_to_the_engines_parser() -> anyhow::Result<()> {
    let files = std::fs::read_dir(workspace::root().join("sql/reader"))?.count();
    ensure!(files == READER_ACCOUNT.len(), "{files} files");
    for (step, expected) in READER_ACCOUNT.iter().zip([
        "CREATE ROLE IF NOT EXISTS trawl_reader",
        "GRANT SELECT, dictGet ON * TO trawl_reader",
        "CREATE ROW POLICY IF NOT EXISTS trawl_own_statements ON system.query_log FOR SELECT USING user = currentUser() TO trawl_reader",
        "CREATE ROW POLICY IF NOT EXISTS trawl_all_statements ON system.query_log FOR SELECT USING 1 TO ALL EXCEPT trawl_reader",
        "GRANT SELECT ON system.query_log TO trawl_reader",
        "CREATE SETTINGS PROFILE IF NOT EXISTS `trawl_reader` SETTINGS readonly = 2 CONST, max_execution_time = 60 MIN 1 MAX 60, ",
        "CREATE QUOTA IF NOT EXISTS trawl_reader KEYED BY user_name FOR INTERVAL 1 hour MAX queries = 10000, ",
    ]) {
        let sql = without_comments(step.sql).replace('\\', "\\\\").replace('\'', "\\'");
        let written = ask(&format!("SELECT formatQuerySingleLine('{sql}') FORMAT TSVRaw"))?;
        ensure!(written.starts_with(expected), "{}: {written}", step.name);
    }
    Ok(())
}

/// Whatever the profile names is a setting, and no limit can be switched off with a 0.
#[test]
fn the_profile_bounds_settings_that_there_are() -> anyhow::Result<()> {
    let names = ask("SELECT name FROM system.settings")?;
    let names: HashSet<&str> = names.lines().collect();
    let profile = READER_ACCOUNT.iter().find(|step| step.name == "profile").map_or("", |step| step.sql);
    let lines: Vec<&str> = profile.lines().filter(|line| line.starts_with("    ")).collect();
    ensure!(lines.len() > 20, "{lines:?}");
    for line in lines {
        let name = line.split_whitespace().next().unwrap_or("");
        ensure!(names.contains(name), "{line}");
        let line = line.trim_end_matches(',');
        // One is a default that whoever wants may change.
        let is_default = name == "read_in_order_use_buffering";
        ensure!(is_default || line.ends_with("CONST") || line.contains(" MIN 1 MAX "), "{line}");
    }
    Ok(())
}

/// There it is a sentence that says what to do instead, also beside a reader of the engine's own, whose role has the
/// same name.
#[test]
fn the_embedded_engine_has_readers_of_its_own() -> anyhow::Result<()> {
    for flags in [&[][..], &["--reader-user", "ana", "--reader-password", "a"]] {
        let data = env::directory()?;
        let engine = env::start_engine(data.path(), 0, flags)?;
        let output = env::run(env::ingest_at(&engine.url, "with_reader", &["migrate", "--with-reader"]), 1)?;
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(error.contains("--readers") && error.contains("cannot store roles"), "{error}");
        engine.stop()?;
    }
    Ok(())
}
