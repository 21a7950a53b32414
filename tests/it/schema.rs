//! The schema: every file runs, tables equal the sum of migrations and the Rust mirror, everything is commented.

use std::fs;

use anyhow::{Context as _, ensure};
use trawl_core::schema::hot::HOT_TABLES;
use trawl_core::schema::migrations::{MIGRATIONS, Migration, current_version};
use trawl_core::schema::{
    AbiEntryRow, AddressInternalTransactionRow, BalanceRow, BlockByHashRow, BlockRow, BlockTokenTransferRow,
    CodeChangeRow, CodeRow, Columns, CommitRow, ContractRow, ContractSourceRow, CreditRow, DestructionRow,
    DirectedInternalTransactionRow, DirectedTokenTransferRow, EventSignatureRow, FunctionSignatureRow, HeadRow,
    IntentRow, InternalTransactionRow, LabelLoadRow, LabelRow, LogRow, NonceRow, ProxyRow, SourceContentRow,
    StorageRow, TokenBalanceChangeRow, TokenBalanceRow, TokenIdBalanceRow, TokenIdChangeRow, TokenRow,
    TokenStatisticsRow, TokenStepRow, TokenTransferRow, TransactionByHashRow, TransactionRow, UncleRow, VerdictRow,
    WithdrawalRow,
};
use xtask::workspace;

use crate::env;

mod plan;

/// `(table, column)` → `(type, codec, comment)`, and per table its engine and its comment.
fn shape(database: &str) -> anyhow::Result<String> {
    let columns = format!(
        "SELECT table, name, type, default_expression, compression_codec, comment FROM system.columns WHERE database = '{database}' AND NOT startsWith(table, 'v_') AND table != 'token_facts' ORDER BY ALL"
    );
    let tables = format!(
        "SELECT name, replaceOne(engine_full, '{database}', ''), sorting_key, comment FROM system.tables WHERE database = '{database}' AND NOT startsWith(name, 'v_') AND name != 'token_facts' ORDER BY ALL"
    );
    let indices = format!(
        "SELECT table, name, type_full, expr, granularity FROM system.data_skipping_indices WHERE database = '{database}' ORDER BY ALL"
    );
    Ok([env::sql("default", &columns)?, env::sql("default", &tables)?, env::sql("default", &indices)?].join("\n"))
}

#[test]
fn tables_are_the_sum_of_migrations() -> anyhow::Result<()> {
    let _database = env::migrate("schema_migrated")?;
    env::run(env::ingest("schema_migrated", &["migrate", "--with", "logs_by_topic"]), 0)?;
    env::sql("default", "CREATE DATABASE schema_tables")?;
    let mut files = 0;
    // A view needs its tables.
    for folder in ["sql/tables", "sql/views"] {
        for entry in fs::read_dir(workspace::root().join(folder))? {
            let path = entry?.path();
            env::sql("schema_tables", &fs::read_to_string(&path)?).with_context(|| path.display().to_string())?;
            files += 1;
        }
    }
    ensure!(files > 10, "only {files} tables");
    for table in HOT_TABLES {
        env::sql("schema_tables", &table.create_statement())?;
    }
    let (migrated, tables) = (shape("schema_migrated")?, shape("schema_tables")?);
    for (migrated, table) in migrated.lines().zip(tables.lines()) {
        ensure!(migrated == table, "migrations make\n{migrated}\nand the table file\n{table}");
    }
    ensure!(migrated == tables);
    Ok(())
}

/// A file that no migration names would be forgotten.
#[test]
fn every_migration_file_is_applied() -> anyhow::Result<()> {
    let applied: Vec<&str> = MIGRATIONS.iter().flat_map(Migration::steps).map(|step| step.sql).collect();
    let mut folders = vec![workspace::root().join("sql/migrations"), workspace::root().join("sql/views")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "sql") {
                ensure!(applied.contains(&fs::read_to_string(&path)?.as_str()), "{} is not applied", path.display());
            }
        }
    }
    Ok(())
}

#[test]
fn rust_mirrors_the_tables() -> anyhow::Result<()> {
    let _database = env::migrate("schema_mirror")?;
    let mirrors = [
        ("blocks", BlockRow::clickhouse_types()),
        ("blocks_by_hash", BlockByHashRow::clickhouse_types()),
        ("transactions", TransactionRow::clickhouse_types()),
        ("transactions_by_hash", TransactionByHashRow::clickhouse_types()),
        ("logs", LogRow::clickhouse_types()),
        ("logs_by_block", LogRow::clickhouse_types()),
        ("withdrawals", WithdrawalRow::clickhouse_types()),
        ("withdrawals_by_block", WithdrawalRow::clickhouse_types()),
        ("uncles", UncleRow::clickhouse_types()),
        ("internal_transactions", InternalTransactionRow::clickhouse_types()),
        ("internal_transactions_by_address", AddressInternalTransactionRow::clickhouse_types()),
        ("internal_transactions_by_direction", DirectedInternalTransactionRow::clickhouse_types()),
        ("token_transfers", TokenTransferRow::clickhouse_types()),
        ("token_transfers_by_token", TokenTransferRow::clickhouse_types()),
        ("token_transfers_by_direction", DirectedTokenTransferRow::clickhouse_types()),
        ("token_transfers_by_block", BlockTokenTransferRow::clickhouse_types()),
        ("token_balances", TokenBalanceRow::clickhouse_types()),
        ("token_statistics", TokenStatisticsRow::clickhouse_types()),
        ("token_balance_changes", TokenBalanceChangeRow::clickhouse_types()),
        ("token_id_balances", TokenIdBalanceRow::clickhouse_types()),
        ("token_id_changes", TokenIdChangeRow::clickhouse_types()),
        ("token_steps", TokenStepRow::clickhouse_types()),
        ("tokens", TokenRow::clickhouse_types()),
        ("balance_history", BalanceRow::clickhouse_types()),
        ("nonce_history", NonceRow::clickhouse_types()),
        ("code_history", CodeChangeRow::clickhouse_types()),
        ("codes", CodeRow::clickhouse_types()),
        ("storage_history", StorageRow::clickhouse_types()),
        ("account_destructions", DestructionRow::clickhouse_types()),
        ("balance_credits", CreditRow::clickhouse_types()),
        ("contracts", ContractRow::clickhouse_types()),
        ("proxy_implementations", ProxyRow::clickhouse_types()),
        ("block_verdicts", VerdictRow::clickhouse_types()),
        ("ingest_commits", CommitRow::clickhouse_types()),
        ("ingest_intents", IntentRow::clickhouse_types()),
        ("hot_rows", trawl_core::schema::packed::HotRowsRow::clickhouse_types()),
        ("ingest_heads", HeadRow::clickhouse_types()),
        ("reorged_blocks", BlockRow::clickhouse_types()),
        ("label_loads", LabelLoadRow::clickhouse_types()),
        ("address_labels", LabelRow::clickhouse_types()),
        ("contract_abis", AbiEntryRow::clickhouse_types()),
        ("contract_sources", ContractSourceRow::clickhouse_types()),
        ("source_contents", SourceContentRow::clickhouse_types()),
        ("event_signatures", EventSignatureRow::clickhouse_types()),
        ("function_signatures", FunctionSignatureRow::clickhouse_types()),
    ];
    for (table, mirror) in mirrors {
        let sql = format!(
            "SELECT name, type FROM system.columns WHERE database = 'schema_mirror' AND table = '{table}' ORDER BY position FORMAT TSVRaw"
        );
        let columns = env::sql("default", &sql)?;
        let columns: Vec<(String, String)> = columns
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .map(|(name, kind)| (name.to_owned(), without_dictionaries(kind)))
            .collect();
        let mirror: Vec<(String, String)> = mirror.into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect();
        ensure!(columns == mirror, "{table}: {columns:?} and {mirror:?}");
    }
    Ok(())
}

fn without_dictionaries(kind: &str) -> String {
    match kind.find("LowCardinality(") {
        None => kind.into(),
        Some(at) => {
            let inner = &kind[at + "LowCardinality(".len()..];
            let mut depth = 1;
            let end = inner.find(|c| {
                depth += match c {
                    '(' => 1,
                    ')' => -1,
                    _ => 0,
                };
                depth == 0
            });
            let end = end.unwrap_or(inner.len());
            format!("{}{}{}", &kind[..at], &inner[..end], inner.get(end + 1..).unwrap_or(""))
        }
    }
}

#[test]
fn everything_is_commented() -> anyhow::Result<()> {
    let _database = env::migrate("schema_comments")?;
    let columns = env::sql(
        "default",
        "SELECT table, name FROM system.columns WHERE database = 'schema_comments' AND comment = '' AND table NOT LIKE '%_from_%' AND table != 'token_facts'",
    )?;
    let tables = env::sql(
        "default",
        "SELECT name FROM system.tables WHERE database = 'schema_comments' AND comment = '' AND engine != 'MaterializedView'",
    )?;
    ensure!(columns.is_empty() && tables.is_empty(), "without comment: {columns} {tables}");
    Ok(())
}

#[test]
fn migrating_twice_changes_nothing() -> anyhow::Result<()> {
    let _database = env::migrate("schema_twice")?;
    let before = shape("schema_twice")?;
    let output = env::run(env::ingest("schema_twice", &["migrate"]), 0)?;
    ensure!(String::from_utf8_lossy(&output.stdout).trim() == "up to date");
    ensure!(before == shape("schema_twice")?);
    let recorded = env::sql("schema_twice", "SELECT count() FROM schema_migrations")?;
    ensure!(recorded == MIGRATIONS.len().to_string(), "{recorded} migrations are recorded");
    Ok(())
}

/// A hot table of another shape is made anew, and the heads that name its rows are deleted.
#[test]
fn hot_tables_follow_their_tables() -> anyhow::Result<()> {
    let _database = env::migrate("schema_hot")?;
    let before = shape("schema_hot")?;
    env::sql("schema_hot", "ALTER TABLE hot_logs DROP COLUMN data")?;
    env::sql("schema_hot", "INSERT INTO hot_blocks (generation, block_number) VALUES (1, 7)")?;
    env::sql("schema_hot", "INSERT INTO ingest_heads (sequence, segments) VALUES (1, [(7, 7, 1, ['blocks'])])")?;
    env::create_tables("schema_hot")?;
    ensure!(before == shape("schema_hot")?);
    ensure!(env::sql("schema_hot", "SELECT count() FROM ingest_heads")? == "0");
    ensure!(env::sql("schema_hot", "SELECT count() FROM hot_blocks")? == "1", "a table that fits was dropped");
    Ok(())
}

#[test]
fn a_newer_schema_is_refused() -> anyhow::Result<()> {
    let _database = env::migrate("schema_newer")?;
    let newer = current_version() + 1;
    env::sql(
        "schema_newer",
        &format!("INSERT INTO schema_migrations (version, name, checksum) VALUES ({newer}, 'from_the_future', '')"),
    )?;
    let dump = crate::chains::dump("hive");
    for arguments in [vec!["migrate"], vec!["status"], vec!["load", "--dump", &dump]] {
        let output = env::run(env::ingest("schema_newer", &arguments), 7)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(text.contains(&format!("schema version {newer}, which is newer")), "{text}");
    }
    let mut api = std::process::Command::new(env::program("trawl-api"));
    api.args(["--clickhouse-url", env::store(), "--clickhouse-database", "schema_newer", "--listen", "127.0.0.1:0"]);
    let output = env::run(api, 7)?;
    ensure!(String::from_utf8_lossy(&output.stderr).contains("which is newer"));
    Ok(())
}

/// It says what to do, for its 51 migrations are no newer release.
#[test]
fn a_database_from_before_the_release_is_refused() -> anyhow::Result<()> {
    let _database = env::migrate("schema_unreleased")?;
    env::sql("schema_unreleased", "TRUNCATE TABLE schema_migrations")?;
    let rows = "SELECT number + 1, if(number = 0, '0001_create_blocks', 'later'), 'its own' FROM numbers(51)";
    env::sql("schema_unreleased", &format!("INSERT INTO schema_migrations (version, name, checksum) {rows}"))?;
    for arguments in [["migrate"], ["status"]] {
        let output = env::run(env::ingest("schema_unreleased", &arguments), 7)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(
            text.contains("before its first release") && text.contains("DROP DATABASE schema_unreleased"),
            "{text}"
        );
    }
    Ok(())
}

/// Comments are corrected in a database that remembers them as they were.
#[test]
fn comments_follow_their_files() -> anyhow::Result<()> {
    let _database = env::migrate("schema_corrected")?;
    let before = shape("schema_corrected")?;
    for change in [
        "ALTER TABLE logs COMMENT COLUMN data 'of old', MODIFY COMMENT 'old'",
        "ALTER TABLE transactions COMMENT COLUMN nonce ''",
        "ALTER TABLE hot_logs COMMENT COLUMN generation 'a \\\\ and a '' mark'",
    ] {
        env::sql("schema_corrected", change)?;
    }
    let remembered = MIGRATIONS[0].earlier[0];
    let remember = format!("ALTER TABLE schema_migrations UPDATE checksum = '{remembered}' WHERE version = 1");
    env::sql("schema_corrected", &format!("{remember} SETTINGS mutations_sync = 1"))?;
    ensure!(before != shape("schema_corrected")?);
    env::run(env::ingest("schema_corrected", &["status"]), 0)?;
    env::run(env::ingest("schema_corrected", &["migrate"]), 0)?;
    ensure!(before == shape("schema_corrected")?);
    Ok(())
}

/// Settings of tables are changed in a database that remembers them as they were; what an operator set besides stays.
#[test]
fn settings_follow_their_files() -> anyhow::Result<()> {
    let database = "schema_settings";
    let _database = env::migrate(database)?;
    let settings =
        "SELECT name, arraySort(splitByString(', ', extract(engine_full, 'SETTINGS (.*)'))) FROM system.tables
                    WHERE database = currentDatabase() AND endsWith(engine, 'MergeTree') ORDER BY name";
    let before = env::sql(database, settings)?;
    for change in [
        "ALTER TABLE ingest_heads MODIFY SETTING min_parts_to_merge_at_once = 8, old_parts_lifetime = 9",
        "ALTER TABLE hot_logs MODIFY SETTING fsync_after_insert = 0",
        "ALTER TABLE follow_reports RESET SETTING old_parts_lifetime",
    ] {
        env::sql(database, change)?;
    }
    let remembered = MIGRATIONS[0].earlier[1];
    let remember = format!("ALTER TABLE schema_migrations UPDATE checksum = '{remembered}' WHERE version = 1");
    env::sql(database, &format!("{remember} SETTINGS mutations_sync = 1"))?;
    ensure!(before != env::sql(database, settings)?);
    env::run(env::ingest(database, &["status"]), 0)?;
    env::run(env::ingest(database, &["migrate"]), 0)?;
    ensure!(before == env::sql(database, settings)?, "{}", env::sql(database, settings)?);
    env::sql(database, "ALTER TABLE logs MODIFY SETTING parts_to_delay_insert = 77")?;
    env::run(env::ingest(database, &["migrate"]), 0)?;
    ensure!(env::sql(database, "SHOW CREATE TABLE logs")?.contains("parts_to_delay_insert = 77"));
    Ok(())
}

#[test]
fn an_edited_migration_is_refused() -> anyhow::Result<()> {
    let _database = env::migrate("schema_edited")?;
    env::sql(
        "schema_edited",
        "ALTER TABLE schema_migrations UPDATE checksum = 'other' WHERE version = 1 SETTINGS mutations_sync = 1",
    )?;
    let output = env::run(env::ingest("schema_edited", &["migrate"]), 7)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(text.contains("0001_baseline") && text.contains("different text"), "{text}");
    Ok(())
}

#[test]
fn an_empty_database_is_named() -> anyhow::Result<()> {
    let output = env::run(env::ingest("schema_absent", &["status"]), 1)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(text.contains("run `trawl-ingest migrate`"), "{text}");
    Ok(())
}
