//! `migrate --plan` and `--check`: they list what `migrate` then does, and write nothing.

use anyhow::ensure;
use trawl_core::schema::migrations::MIGRATIONS;

use crate::chains::dump;
use crate::env;

/// What is pending, as `migrate --plan` lists it.
fn plan(database: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let output = env::run(env::ingest(database, &[&["migrate", "--plan"], arguments].concat()), 0)?;
    Ok(String::from_utf8(output.stdout)?)
}

/// Everything in a database but for what its engine does by itself: statements, settings, comments and rows.
fn everything(database: &str) -> anyhow::Result<String> {
    let objects = format!(
        "SELECT database, name, create_table_query, total_rows FROM system.tables
         WHERE database IN ('{database}', '{database}_views') ORDER BY ALL"
    );
    env::sql("default", &objects)
}

/// Without changes `--check` ends with 0 and with some with 9, before and after `migrate`.
fn plan_then_migrate(database: &str, arguments: &[&str], expected: &[&str]) -> anyhow::Result<()> {
    let before = everything(database)?;
    let text = plan(database, arguments)?;
    for line in expected {
        ensure!(text.contains(line), "no {line} in\n{text}");
    }
    let check = [&["migrate", "--check"], arguments].concat();
    let refused = String::from_utf8(env::run(env::ingest(database, &check), 9)?.stderr)?;
    let count = text.lines().last().and_then(|line| line.split(' ').next()).unwrap_or_default();
    ensure!(refused.contains(&format!("{count} change")) && refused.contains("migrate --plan"), "{refused}\n{text}");
    ensure!(before == everything(database)?, "something was changed");
    env::run(env::ingest(database, &[&["migrate"], arguments].concat()), 0)?;
    ensure!(plan(database, arguments)? == "up to date\n", "{}", plan(database, arguments)?);
    let stdout = env::run(env::ingest(database, &check), 0)?.stdout;
    ensure!(stdout == b"up to date\n", "{}", String::from_utf8_lossy(&stdout));
    Ok(())
}

#[test]
fn what_differs_is_listed_and_then_mended() -> anyhow::Result<()> {
    let database = &*env::migrate("plan_differs")?;
    ensure!(plan(database, &[])? == "up to date\n");
    let whole = everything(database)?;
    for change in [
        "ALTER TABLE logs COMMENT COLUMN data 'of old'",
        "ALTER TABLE ingest_heads MODIFY SETTING old_parts_lifetime = 9",
        "DROP TABLE hot_logs SYNC",
        "ALTER TABLE hot_blocks DROP COLUMN size",
        "CREATE OR REPLACE VIEW v_schema (version UInt32 COMMENT 'old') AS SELECT 1 AS version",
        "DROP VIEW v_tokens SYNC",
        "DROP VIEW plan_differs_views.logs SYNC",
        "CREATE VIEW plan_differs_views.old AS SELECT 1 AS x",
        "TRUNCATE TABLE event_signatures",
    ] {
        env::sql(database, change)?;
    }
    let expected = [
        "different comments\n  ALTER TABLE logs COMMENT COLUMN data '",
        "different table settings\n  ALTER TABLE ingest_heads MODIFY SETTING old_parts_lifetime = ",
        "`follow` fetches these again\n  TRUNCATE TABLE ingest_heads\n  DROP TABLE hot_blocks SYNC\n",
        "  CREATE TABLE IF NOT EXISTS hot_logs",
        "missing or different\n  CREATE OR REPLACE VIEW v_schema …\n  CREATE OR REPLACE VIEW v_tokens …\n",
        "  CREATE OR REPLACE VIEW `plan_differs_views`.`logs` …\n",
        "  CREATE OR REPLACE VIEW `plan_differs_views`.`tokens` ",
        "  DROP VIEW `plan_differs_views`.`old` SYNC\n",
        "signatures bundled with Trawl\n",
        "13 changes are pending; none writes rows again\n",
    ];
    plan_then_migrate(database, &[], &expected)?;
    ensure!(whole == everything(database)?);
    Ok(())
}

#[test]
fn pending_migrations_and_new_databases_are_listed() -> anyhow::Result<()> {
    let new = env::database("plan_new");
    let all = [
        "new database `plan_new`\n  CREATE DATABASE IF NOT EXISTS `plan_new`\n",
        "  CREATE TABLE IF NOT EXISTS logs …",
    ];
    plan_then_migrate(&new, &[], &all)?;
    let last = MIGRATIONS.len();
    ensure!(MIGRATIONS[last - 1].name == "0003_contract_sources", "say here what the newest migration makes");
    env::sql(&new, &format!("DELETE FROM schema_migrations WHERE version = {last}"))?;
    for table in ["contract_sources", "source_contents"] {
        env::sql(&new, &format!("DROP TABLE {table} SYNC"))?;
    }
    let expected = "migration 0003_contract_sources\n  CREATE TABLE IF NOT EXISTS contract_sources …\n  \
                    CREATE TABLE IF NOT EXISTS source_contents …\n2 changes are pending; none writes rows again\n";
    plan_then_migrate(&new, &[], &[expected])
}

/// The rows that fill an optional table are those of the table that it is filled from.
#[test]
fn optional_tables_are_planned_with_their_rows() -> anyhow::Result<()> {
    let database = &*env::migrate("plan_optional")?;
    env::run(env::ingest(database, &["load", "--dump", &dump("hive")]), 0)?;
    let without = ["--without", "token_balances_by_holder"];
    let dropped = [
        "without token_balances_by_holder\n  INSERT INTO left_out_tables (name) VALUES ('token_balances_by_holder')\n",
        "  DROP TABLE token_balances_by_holder SYNC\n",
        "  DROP VIEW v_balances SYNC\n",
        "  DROP VIEW `plan_optional_views`.`balances` SYNC\n",
    ];
    plan_then_migrate(database, &without, &dropped)?;
    let rows = env::sql(
        database,
        "SELECT sum(rows) FROM system.parts WHERE database = currentDatabase() AND table = 'logs_by_block' AND active",
    )?;
    ensure!(rows != "0");
    let filled = [
        "with logs_by_topic\n  CREATE TABLE IF NOT EXISTS logs_by_topic …\n",
        &format!("  INSERT INTO logs_by_topic …: {rows} rows of logs_by_block, "),
        &format!("4 changes are pending; {rows} rows, "),
        " are free on the disk `default` of http",
    ];
    plan_then_migrate(database, &["--with", "logs_by_topic"], &filled)
}

/// Exit code 7 says that `migrate` would not do it either.
#[test]
fn other_schemas_are_refused() -> anyhow::Result<()> {
    let database = &*env::migrate("plan_refused")?;
    for (change, reason) in [
        ("INSERT INTO schema_migrations (version, name, checksum) VALUES (99, 'from_the_future', '')", "newer than"),
        (
            "INSERT INTO schema_migrations (version, name, checksum) VALUES (1, '0001_create_blocks', '')",
            "first release",
        ),
    ] {
        env::sql(database, change)?;
        for flag in ["--plan", "--check"] {
            let stderr = String::from_utf8(env::run(env::ingest(database, &["migrate", flag]), 7)?.stderr)?;
            ensure!(stderr.contains(reason), "{stderr}");
        }
    }
    Ok(())
}
