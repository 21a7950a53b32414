//! The bundled mainnet blocks, many times over.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context as _;
use xtask::{process, workspace};

use crate::store::{DATABASE, Store};

/// Where the blocks are loaded before they are copied.
const LOADED: &str = "loaded";

/// Loads the bundled mainnet blocks, and writes them at heights that follow one another, so many times, into the tables
/// that no view fills.
pub fn copy(store: &Store, profile: &str, copies: u64) -> anyhow::Result<()> {
    let dump = workspace::fixture("mainnet/chain.ndjson.gz");
    for arguments in [vec!["migrate"], vec!["load", "--dump"]] {
        let mut ingest = Command::new(workspace::program(profile, "trawl-ingest"));
        ingest.args(&arguments);
        if arguments[0] == "load" {
            ingest.arg::<&Path>(&dump);
        }
        ingest.args(["--clickhouse-url", &store.url, "--clickhouse-database", LOADED]);
        process::run(ingest.env("RUST_LOG", "error").stdout(Stdio::null()))?;
    }
    let heights = store.text(&format!("SELECT groupArray(block_number) FROM (SELECT DISTINCT block_number FROM {LOADED}.blocks ORDER BY block_number)"), &[])?;
    let filled = format!(
        "SELECT extract(create_table_query, 'TO {DATABASE}\\\\.(\\\\w+)') FROM system.tables WHERE database = '{DATABASE}' AND engine = 'MaterializedView'"
    );
    let tables = format!(
        "SELECT table FROM system.columns WHERE database = '{LOADED}' AND table NOT IN ({filled}) AND table NOT LIKE 'hot_%' AND table IN \
         (SELECT name FROM system.tables WHERE database = '{LOADED}' AND engine LIKE '%MergeTree' AND total_rows > 0) \
         AND name = 'block_number'"
    );
    let tables = store.text(&tables, &[])?;
    for table in tables.lines() {
        copy_rows(store, (table, &["block_number"]), &heights, copies)?;
    }
    copy_rows(store, ("ingest_commits", &["first_block", "last_block"]), &heights, copies)?;
    store.text(&format!("DROP DATABASE {LOADED}"), &[]).map(drop)
}

/// Writes the rows of a table, with other heights in some columns.
fn copy_rows(store: &Store, (table, columns): (&str, &[&str]), heights: &str, copies: u64) -> anyhow::Result<()> {
    let height = |column: &&str| format!("copy * length({heights}) + indexOf({heights}, {column}) - 1 AS {column}");
    let moved: Vec<String> = columns.iter().map(height).collect();
    let copy = format!(
        "INSERT INTO {table} SELECT * EXCEPT copy REPLACE ({}) FROM {LOADED}.{table} \
         CROSS JOIN (SELECT arrayJoin(range({copies})) AS copy) AS copies",
        moved.join(", ")
    );
    store.text(&copy, &[]).with_context(|| table.to_owned()).map(drop)
}
