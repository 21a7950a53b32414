//! What a modeler may do in databases of its own, as dbt does it, and nowhere else.

use std::sync::OnceLock;

use anyhow::ensure;
use url::form_urlencoded;
use xtask::http::{self, Answer};
use xtask::workspace;

use crate::env;

/// What no modeler may see; it lies in a file.
const SECRET: &str = "not-for-modelers";

struct SecretFile {
    engine: String,
    /// The file's path.
    secret: String,
}

/// An engine with a modeler and a reader, a chain's database and one that neither sees; ends with all tests.
fn secret_file() -> &'static SecretFile {
    static SECRET_FILE: OnceLock<SecretFile> = OnceLock::new();
    SECRET_FILE.get_or_init(|| {
        let folder = env::directory().expect("a folder").keep();
        let secret = folder.join("secret.txt");
        std::fs::write(&secret, format!("{SECRET}\n")).expect("a file");
        let flags =
            ["--reader-user", "ana", "--reader-password", "a", "--modeler-user", "mo", "--modeler-password", "m"];
        let server = env::start_engine(&folder.join("store"), 0, &flags).expect("the engine starts");
        let secret_file = SecretFile { engine: server.url.clone(), secret: secret.display().to_string() };
        env::keep(server);
        for sql in [
            "CREATE DATABASE trawl",
            "CREATE TABLE trawl.rows (a UInt64, b String) ORDER BY a",
            "INSERT INTO trawl.rows SELECT number, toString(number) FROM numbers(10)",
            "CREATE DATABASE hidden",
            "CREATE TABLE hidden.rows ORDER BY a AS SELECT 'not-for-modelers' AS a",
        ] {
            let answer = http::post(&http::agent(), &secret_file.engine, sql.as_bytes()).expect("an answer");
            assert_eq!(answer.status, 200, "{sql}: {}", answer.text());
        }
        secret_file
    })
}

fn ask(user: &str, sql: &str, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
    let fields = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    http::post(&http::agent(), &format!("{}/?{user}&{fields}", secret_file().engine), sql.as_bytes())
}

const MODELER: &str = "user=mo&password=m";
const READER: &str = "user=ana&password=a";

fn done(sql: &str, fields: &[(&str, &str)]) -> anyhow::Result<String> {
    let answer = ask(MODELER, sql, fields)?;
    ensure!(answer.status == 200, "{sql}: {}", answer.text());
    Ok(answer.text())
}

/// What dbt-clickhouse says to make tables, views and incremental models of `trawl.rows`.
pub const STATEMENTS: [&str; 20] = [
    "CREATE DATABASE IF NOT EXISTS analytics",
    "CREATE DATABASE IF NOT EXISTS `analytics_dev`",
    "create table analytics.__dbt_exchange_test_0_x (test String) ENGINE MergeTree() ORDER BY tuple()",
    "create table analytics.__dbt_exchange_test_1_x (test String) ENGINE MergeTree() ORDER BY tuple()",
    "EXCHANGE TABLES analytics.__dbt_exchange_test_0_x AND analytics.__dbt_exchange_test_1_x",
    "DROP TABLE IF EXISTS analytics.__dbt_exchange_test_0_x",
    "DROP TABLE IF EXISTS analytics.__dbt_exchange_test_1_x",
    "create table `analytics`.`daily__dbt_backup` engine = MergeTree() order by (a) SETTINGS replicated_deduplication_window=0 empty as (select a, b from trawl.rows)",
    "insert into `analytics`.`daily__dbt_backup` (\"a\", \"b\") select a, b from trawl.rows",
    "rename table analytics.daily__dbt_backup to analytics.daily",
    "create or replace view `analytics`.`recent` as (select * from trawl.rows where a > 5)",
    "create table analytics.new_data engine = Memory as select 9 as a, 'changed' as b",
    "delete from `analytics`.`daily` where (a) in (select a from analytics.new_data)",
    "insert into analytics.daily select a, b from analytics.new_data",
    "alter table analytics.daily add column c Nullable(UInt8)",
    "alter table analytics.daily modify column c Nullable(UInt16)",
    "alter table analytics.daily update c = 3 where a = 9",
    "truncate table analytics.new_data",
    "INSERT INTO analytics.new_data (a, b) VALUES (1, 'one'), (2, 'two')",
    "INSERT INTO analytics.new_data FORMAT CSV\n3,three\n",
];

/// The statements of dbt-clickhouse for tables, views, incremental models and tests, with the settings that it sends.
#[test]
fn makes_models_as_dbt_does() -> anyhow::Result<()> {
    let fields = [
        ("mutations_sync", "2"),
        ("lightweight_deletes_sync", "2"),
        ("allow_nondeterministic_mutations", "1"),
        ("cast_string_to_dynamic_use_inference", "1"),
        ("send_progress_in_http_headers", "1"),
        ("session_id", "dbt::1"),
    ];
    for sql in STATEMENTS {
        done(sql, &fields)?;
    }
    ensure!(done("SELECT count(), max(c), anyIf(b, a = 9) FROM analytics.daily", &fields)? == "10\t3\tchanged\n");
    ensure!(done("SELECT count() FROM analytics.recent", &fields)? == "4\n");
    ensure!(done("SELECT count(), sum(a) FROM analytics.new_data", &fields)? == "3\t6\n");
    let tables = "select t.name as name, t.database as schema, if(engine not in ('MaterializedView', 'View'), 'table', 'view') as type from system.tables as t where schema = 'analytics' order by name";
    ensure!(
        done(tables, &fields)?
            .contains("daily\tanalytics\ttable\nnew_data\tanalytics\ttable\nrecent\tanalytics\tview\n")
    );
    // Readers see models, and may not touch them.
    ensure!(ask(READER, "SELECT count() FROM analytics.recent", &[])?.text() == "4\n");
    ensure!(ask(READER, "DROP TABLE analytics.daily", &[])?.status != 200);
    for sql in ["drop view analytics.recent", "drop table analytics.daily sync", "DROP DATABASE analytics_dev"] {
        done(sql, &fields)?;
    }
    Ok(())
}

/// Refused, without a word of the secret, and what was there is there.
fn refused(sql: &str, fields: &[(&str, &str)]) -> anyhow::Result<()> {
    let sql = sql.replace("PATH", &secret_file().secret);
    let answer = ask(MODELER, &sql, fields)?;
    let code = answer.header("x-clickhouse-exception-code").to_owned();
    let text = answer.text();
    let is_refusal = ["164", "497", "62", "452", "60", "81", "115", "358", "48"].contains(&code.as_str());
    ensure!(answer.status >= 400 && is_refusal, "{sql} {fields:?}: {} {code} {text}", answer.status);
    ensure!(!text.contains(SECRET), "{sql}: {text}");
    Ok(())
}

/// As a server has it: who asks for `readonly` gets it.
#[test]
fn changes_nothing_where_a_request_only_reads() -> anyhow::Result<()> {
    for level in ["1", "2"] {
        refused("CREATE DATABASE analytics_unmade", &[("readonly", level)])?;
        refused("INSERT INTO analytics_unmade.rows (a) VALUES (1)", &[("readonly", level)])?;
    }
    ensure!(done("EXISTS DATABASE analytics_unmade", &[("readonly", "2")])? == "0\n");
    Ok(())
}

/// What a modeler may not run.
const ATTACKS: &[&str] = &[
    // The chain's database.
    "DROP TABLE trawl.rows",
    "DROP DATABASE trawl",
    "TRUNCATE TABLE trawl.rows",
    "TRUNCATE DATABASE trawl",
    "INSERT INTO trawl.rows VALUES (1, 'x')",
    "INSERT INTO trawl.rows SELECT 1, 'x'",
    "ALTER TABLE trawl.rows DELETE WHERE 1",
    "ALTER TABLE trawl.rows ADD COLUMN c UInt8",
    "DELETE FROM trawl.rows WHERE 1",
    "RENAME TABLE trawl.rows TO analytics_attack.rows",
    "RENAME TABLE analytics_attack.own TO trawl.own",
    "EXCHANGE TABLES trawl.rows AND analytics_attack.own",
    "CREATE TABLE trawl.more (a UInt8) ENGINE = Memory",
    "CREATE VIEW trawl.more AS SELECT 1",
    "CREATE OR REPLACE VIEW trawl.rows AS SELECT 1",
    "CREATE OR REPLACE TABLE trawl.rows (a UInt8) ORDER BY a",
    "CREATE MATERIALIZED VIEW analytics_attack.m ENGINE = Memory AS SELECT * FROM trawl.rows",
    "CREATE MATERIALIZED VIEW analytics_attack.m REFRESH EVERY 1 SECOND ENGINE = Memory AS SELECT 1",
    "OPTIMIZE TABLE trawl.rows",
    "DETACH TABLE trawl.rows",
    "ATTACH TABLE trawl.rows",
    // Other databases.
    "SELECT * FROM hidden.rows",
    "CREATE TABLE analytics_attack.copy ORDER BY a AS SELECT * FROM hidden.rows",
    "INSERT INTO analytics_attack.own SELECT 1, a FROM hidden.rows",
    "CREATE VIEW analytics_attack.v DEFINER = default SQL SECURITY DEFINER AS SELECT * FROM hidden.rows",
    "CREATE VIEW analytics_attack.v SQL SECURITY NONE AS SELECT * FROM hidden.rows",
    "ALTER TABLE analytics_attack.own MODIFY SQL SECURITY NONE",
    "CREATE DATABASE other",
    "CREATE TABLE default.t (a UInt8) ENGINE = Memory",
    "CREATE TABLE t (a UInt8) ENGINE = Memory",
    "CREATE TEMPORARY TABLE t (a UInt8)",
    "CREATE TABLE analytics_attack.t ENGINE = Merge('hidden', '.*')",
    "CREATE TABLE analytics_attack.t (a String) ENGINE = Buffer('hidden', 'rows', 1, 1, 1, 1, 1, 1, 1)",
    "CREATE TABLE analytics_attack.t (a String) ENGINE = Distributed('c', 'hidden', 'rows')",
    "CREATE TABLE analytics_attack.t AS hidden.rows",
    "CREATE TABLE analytics_attack.t CLONE AS hidden.rows",
    "ALTER TABLE analytics_attack.own ATTACH PARTITION tuple() FROM hidden.rows",
    "ALTER TABLE analytics_attack.own FREEZE",
    // Files and servers.
    "CREATE TABLE analytics_attack.t (a String) ENGINE = File(LineAsString, 'PATH')",
    "CREATE TABLE analytics_attack.t (a String) ENGINE = URL('http://127.0.0.1:9/', 'CSV')",
    "CREATE TABLE analytics_attack.t (a String) ENGINE = MergeTree ORDER BY a SETTINGS disk = disk(type = 'local', path = '/tmp/')",
    "CREATE TABLE analytics_attack.t AS file('PATH', 'LineAsString')",
    "CREATE TABLE analytics_attack.t ORDER BY line AS SELECT * FROM file('PATH', 'LineAsString')",
    "CREATE TABLE analytics_attack.t ORDER BY tuple() AS SELECT file('PATH') AS a",
    "CREATE TABLE analytics_attack.t (a String DEFAULT file('PATH')) ORDER BY tuple()",
    "CREATE VIEW analytics_attack.v (a String) AS SELECT * FROM url('http://127.0.0.1:9/', 'CSV', 'a String')",
    "CREATE VIEW analytics_attack.v (line String) AS SELECT * FROM `file`('PATH', 'LineAsString')",
    "CREATE VIEW analytics_attack.v (line String) AS SELECT * FROM default.`PATH`",
    "CREATE DATABASE analytics_f ENGINE = Filesystem('/')",
    "CREATE DATABASE analytics_f ENGINE = MySQL('h:1', 'd', 'u', 'p')",
    "CREATE DICTIONARY analytics_attack.d (a UInt64, b String) PRIMARY KEY a SOURCE(FILE(PATH 'PATH' FORMAT 'CSV')) LAYOUT(FLAT()) LIFETIME(0)",
    "INSERT INTO FUNCTION file('PATH', 'CSV', 'a String') SELECT 'x'",
    "INSERT INTO TABLE FUNCTION url('http://127.0.0.1:9/', 'CSV', 'a String') VALUES ('x')",
    "INSERT INTO analytics_attack.own FROM INFILE 'PATH' FORMAT LineAsString",
    "INSERT INTO analytics_attack.own SELECT 1, file('PATH')",
    "INSERT INTO analytics_attack.own SELECT 1, line FROM file('PATH', 'LineAsString')",
    "INSERT INTO analytics_attack.own SELECT * FROM remote('127.0.0.1:9', 'trawl.rows')",
    "SELECT * FROM url('http://127.0.0.1:9/', 'CSV', 'a String')",
    "SELECT file('PATH')",
    "SELECT 1 INTO OUTFILE 'PATH'",
    "BACKUP DATABASE analytics_attack TO File('PATH')",
    // The engine and its users.
    "SET ROLE trawl_owner",
    "SET max_memory_usage = 0",
    "GRANT ALL ON *.* TO default",
    "CREATE USER x",
    "CREATE FUNCTION f AS x -> file(x)",
    "SYSTEM SHUTDOWN",
    "SYSTEM FLUSH LOGS",
    "SYSTEM STOP MERGES",
    "KILL QUERY WHERE 1",
    "USE hidden",
    "EXECUTE AS default DROP TABLE trawl.rows",
    "INSERT INTO analytics_attack.own SELECT 1, 'x' PARALLEL WITH DROP TABLE trawl.rows",
    "CREATE TABLE analytics_attack.t UUID '61f0c404-5cb3-11e7-907b-a6006ad3dba0' (a UInt8) ENGINE = Memory",
    // Limits.
    "INSERT INTO analytics_attack.own SELECT number, 'x' FROM numbers(1) SETTINGS max_memory_usage = 0",
    "INSERT INTO analytics_attack.own SELECT 1, 'x' SETTINGS readonly = 0, max_untracked_memory = 1000000000000",
];

#[test]
fn touches_nothing_but_its_databases() -> anyhow::Result<()> {
    done("CREATE DATABASE IF NOT EXISTS analytics_attack", &[])?;
    done("CREATE TABLE IF NOT EXISTS analytics_attack.own (a UInt64, b String) ORDER BY a", &[])?;
    for sql in ATTACKS {
        refused(sql, &[])?;
    }
    for fields in [
        [("default_table_engine", "Memory")],
        [("default_normal_view_sql_security", "NONE")],
        [("max_untracked_memory", "1000000000000")],
    ] {
        refused("CREATE OR REPLACE VIEW analytics_attack.v AS SELECT 1 AS a", &fields)?;
    }
    refused("SELECT * FROM hidden.rows", &[("role", "trawl_owner")])?;
    // A link changes nothing.
    let link = format!("{}/?{MODELER}&query=DROP%20TABLE%20analytics_attack.own", secret_file().engine);
    ensure!(http::get(&http::agent(), &link)?.status >= 400);
    // A value that is SQL is none.
    let answer =
        ask(MODELER, &format!("INSERT INTO analytics_attack.own VALUES (7, file('{}'))", secret_file().secret), &[])?;
    ensure!(answer.status >= 400, "{}", answer.text());
    let found = done("SELECT count() FROM analytics_attack.own WHERE b != ''", &[])?;
    ensure!(found == "0\n", "{found}");
    let rows = http::post(&http::agent(), &secret_file().engine, b"SELECT count(), sum(a) FROM trawl.rows")?.text();
    ensure!(rows == "10\t45\n", "{rows}");
    let databases = http::post(
        &http::agent(),
        &secret_file().engine,
        b"SELECT count() FROM system.databases WHERE name IN ('trawl', 'hidden')",
    )?;
    ensure!(databases.text() == "2\n");
    Ok(())
}

/// A table function that a later library has is looked at before a modeler gets it.
#[test]
fn each_table_function_is_allowed_or_refused() -> anyhow::Result<()> {
    let names = http::post(&http::agent(), &secret_file().engine, b"SELECT name FROM system.table_functions")?.text();
    let lists = std::fs::read_to_string(workspace::root().join("engine/src/sql/table_functions.rs"))?;
    let new: Vec<&str> = names.lines().filter(|name| !lists.contains(&format!("\"{name}\""))).collect();
    ensure!(new.is_empty() && names.lines().count() > 50, "{new:?}");
    Ok(())
}

/// A statement of a modeler that makes something is held to the readers' limits, and its databases are nobody's chain.
#[test]
fn has_the_limits_of_readers() -> anyhow::Result<()> {
    done("CREATE DATABASE IF NOT EXISTS analytics_limits", &[])?;
    let sql = "CREATE TABLE analytics_limits.t ORDER BY a AS SELECT throwIf(getSetting('max_execution_time') != 60 OR getSetting('max_memory_usage') != 1073741824) AS a";
    done(sql, &[])?;
    let sql = "CREATE OR REPLACE TABLE analytics_limits.t ORDER BY a AS SELECT groupArray(number) AS a FROM numbers(1000000000)";
    let answer = ask(MODELER, sql, &[("max_memory_usage", "100000000000")])?;
    ensure!(answer.header("x-clickhouse-exception-code") == "241", "{} {}", answer.status, answer.text());
    for databases in ["trawl_models", "analytics,sys*", "default", "t*"] {
        let data = env::directory()?;
        let flags = ["--modeler-user", "mo", "--modeler-password", "m", "--modeler-databases", databases];
        let refusal = env::start_engine(data.path(), 0, &flags);
        ensure!(refusal.is_err(), "{databases}");
    }
    Ok(())
}
