//! People on a server: the limits and grants of `sql/reader` and of the page hold, and dbt's statements work.

use anyhow::ensure;
use trawl_core::schema::reader_account::READER_ACCOUNT;
use xtask::process::Server;

use super::accounts::{Accounts, as_user, ask, grants};
use crate::chains::dump;
use crate::engine::modelers::STATEMENTS;
use crate::env;

/// What `sql/reader` grants the role, as libchdb takes it: it keeps no roles.
fn reader_grants() -> Vec<String> {
    let mut found = vec!["GRANT SELECT, dictGet ON trawl_views.*".to_owned()];
    for step in READER_ACCOUNT.iter().filter(|step| step.name.starts_with("grant_")) {
        let lines = step.sql.lines().filter(|line| !line.starts_with("--")).map(str::trim).collect::<Vec<_>>();
        let statement = lines.join(" ").replace("ON * TO", "ON trawl.* TO");
        found.extend(statement.strip_suffix(" TO trawl_reader").map(str::to_owned));
    }
    found
}

/// The profile of `sql/reader` as elements, with its constraints.
fn reader_profile() -> String {
    let sql = READER_ACCOUNT.iter().find(|step| step.name == "profile").map_or("", |step| step.sql);
    let (mut values, mut constraints) = (String::new(), String::new());
    for line in sql.lines().filter(|line| line.starts_with("    ")) {
        let words: Vec<&str> = line.trim().trim_end_matches(',').split_whitespace().collect();
        let name = words[0];
        if let ["=", value, ..] = words[1..] {
            values += &format!("<{name}>{}</{name}>", value.trim_matches('\''));
        }
        match words[..] {
            [.., "MIN", least, "MAX", most] => {
                constraints += &format!("<{name}><min>{least}</min><max>{most}</max></{name}>");
            }
            [.., "CONST"] => constraints += &format!("<{name}><const/></{name}>"),
            _ => {}
        }
    }
    format!("{values}<constraints>{constraints}</constraints>")
}

fn done(server: &Server, user: &str, sql: &str) -> anyhow::Result<String> {
    let (status, text) = ask(server, user, sql)?;
    ensure!(status == 200, "{user}: {sql}: {text}");
    Ok(text)
}

#[test]
fn people_have_what_the_page_says_and_no_more() -> anyhow::Result<()> {
    let data = env::directory()?;
    let mut accounts = Accounts::new()?;
    accounts.add_profile("reader", &reader_profile())?;
    accounts.add_profile("modeler", "<readonly>0</readonly>")?;
    accounts.add("ana", "reader", &reader_grants())?;
    accounts.add("mo", "modeler", &grants("mo")?)?;
    let server = accounts.serve(data.path())?;
    for arguments in [&["migrate"][..], &["load", "--dump", &dump("hive")]] {
        env::run(as_user(env::ingest_at(&server.url, "trawl", arguments), "operator"), 0)?;
    }

    let views = "SELECT database || '.' || name FROM system.tables WHERE database IN ('trawl', 'trawl_views') AND engine = 'View'";
    let views = done(&server, "ana", views)?;
    ensure!(views.lines().count() > 60, "{views}");
    for view in views.lines() {
        done(&server, "ana", &format!("SELECT * FROM {view} LIMIT 1"))?;
    }
    done(&server, "ana", "SELECT count() FROM trawl.logs SETTINGS max_execution_time = 5")?;
    for sql in [
        "SELECT 1 SETTINGS max_execution_time = 600",
        "SELECT 1 SETTINGS max_memory_usage = 0",
        "SELECT 1 SETTINGS readonly = 0",
        "INSERT INTO trawl.left_out_tables (name) VALUES ('x')",
        "CREATE TABLE trawl.mine (a UInt8) ENGINE = Memory",
        "SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a String')",
        "SELECT * FROM file('/etc/passwd', 'LineAsString', 'a String')",
        "SELECT count() FROM system.users",
    ] {
        let (status, text) = ask(&server, "ana", sql)?;
        ensure!(status != 200, "{sql}: {text}");
    }

    done(&server, "operator", "CREATE TABLE trawl.rows (a UInt64, b String) ENGINE = MergeTree ORDER BY a")?;
    done(&server, "operator", "INSERT INTO trawl.rows SELECT number, toString(number) FROM numbers(10)")?;
    for sql in STATEMENTS.iter().filter(|sql| !sql.contains("analytics_dev")) {
        done(&server, "mo", sql)?;
    }
    ensure!(done(&server, "mo", "SELECT count() FROM analytics.recent")? == "4\n");
    for sql in ["INSERT INTO trawl.rows VALUES (1, 'x')", "DROP TABLE trawl.rows", "CREATE DATABASE another"] {
        let (status, text) = ask(&server, "mo", sql)?;
        ensure!(status != 200 && text.contains("ACCESS_DENIED"), "{sql}: {text}");
    }
    server.stop()?;
    Ok(())
}
