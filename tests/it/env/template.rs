//! Databases with all tables, made as copies of one: `trawl-ingest migrate` takes the engine more than twice as long, and nearly
//! every test wants a database of its own.

use std::path::PathBuf;
use std::sync::OnceLock;

use anyhow::Context as _;

use super::{FOLDER, ingest, run, sql, store};

/// The database of which others are copies.
const TEMPLATE: &str = "template";

/// Where the shared engine may keep backups.
fn folder() -> PathBuf {
    FOLDER.join("templates")
}

/// A configuration of ClickHouse for the shared engine, which allows backups.
pub fn configuration() -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(folder())?;
    let file = FOLDER.join("backups.xml");
    let allowed = folder().display().to_string();
    let text = format!("<clickhouse><backups><allowed_path>{allowed}</allowed_path></backups></clickhouse>");
    std::fs::write(&file, text).with_context(|| file.display().to_string())?;
    Ok(file)
}

/// Makes the tables of a database: copies in the engine of this run, by `migrate` elsewhere and where there are some.
pub fn create_tables(database: &str) -> anyhow::Result<()> {
    store();
    if !folder().exists() || sql("default", &format!("EXISTS DATABASE {database}"))? == "1" {
        return migrate(database);
    }
    static BACKUP: OnceLock<Result<String, String>> = OnceLock::new();
    let backup = BACKUP.get_or_init(|| back_up().map_err(|error| format!("{error:#}")));
    let backup = backup.as_ref().map_err(|error| anyhow::anyhow!("the template: {error}"))?;
    sql("default", &format!("RESTORE DATABASE {TEMPLATE} AS {database} FROM {backup}")).map(drop)
}

fn migrate(database: &str) -> anyhow::Result<()> {
    run(ingest(database, &["migrate"]), 0).map(drop)
}

/// Makes the template and returns where its backup is, as SQL.
fn back_up() -> anyhow::Result<String> {
    migrate(TEMPLATE)?;
    let backup = format!("File('{}/')", folder().join(TEMPLATE).display());
    sql("default", &format!("BACKUP DATABASE {TEMPLATE} TO {backup}"))?;
    sql("default", &format!("DROP DATABASE {TEMPLATE}"))?;
    Ok(backup)
}
