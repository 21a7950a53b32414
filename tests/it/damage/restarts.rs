//! What a store goes through in its life is no damage: its engine starts again.

use anyhow::ensure;

use super::{DATABASE, stored};
use crate::env;

/// Tables that keep rows, ours and any other.
const TABLES: &str =
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND endsWith(engine, 'MergeTree')";

/// `DELETE` leaves parts with a column of the engine's own.
#[test]
fn after_a_delete_from_each_table_the_engine_starts() -> anyhow::Result<()> {
    let folder = stored()?;
    let engine = env::start_engine(folder.path(), 0, &[])?;
    let tables = env::sql_at(&engine.url, DATABASE, TABLES)?;
    let count = |engine: &str| {
        let counts = tables.lines().map(|table| format!("SELECT '{table}', count() FROM {table}"));
        env::sql_at(engine, DATABASE, &counts.collect::<Vec<_>>().join(" UNION ALL ")).map(sorted)
    };
    let before = count(&engine.url)?;
    for table in tables.lines() {
        env::sql_at(&engine.url, DATABASE, &format!("DELETE FROM {table} WHERE _part_offset % 3 = 0"))?;
    }
    let after = count(&engine.url)?;
    let shorter = before.iter().zip(&after).filter(|(before, after)| before != after).count();
    ensure!(shorter > 20, "only {shorter} tables had rows to delete");
    ensure!(engine.stop()?.success());
    let engine = env::start_engine(folder.path(), 0, &[])?;
    ensure!(count(&engine.url)? == after);
    engine.stop()?;
    Ok(())
}

fn sorted(text: String) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}
