//! Makes the data sets: deterministic rows, committed as ingest commits them.

use std::process::{Command, Stdio};
use std::time::Instant;

use trawl_core::schema::migrations::{MIGRATIONS, Migration};
use xtask::{process, workspace};

use crate::progress;
use crate::store::{Content, Store};

mod mainnet;

/// Logs, and transfers, in a generated block.
pub const ROWS_PER_BLOCK: u64 = 175;
/// Rows of one INSERT: whole blocks, so that copying them by block repeats none.
const STEP: u64 = 5_000_100;

/// Statements that make rows `{first:UInt64}` to `{first} + {count:UInt64}`, of blocks `{first_block}` to
/// `{last_block}`. Tables that views fill are filled along.
const LOGS: &[&str] = &[
    include_str!("generate/logs.sql"),
    "INSERT INTO logs SELECT * FROM logs_by_block WHERE block_number BETWEEN {first_block:UInt64} AND {last_block:UInt64}",
    "INSERT INTO blocks (block_number, timestamp) SELECT block_number, min(block_timestamp) FROM logs_by_block \
     WHERE block_number BETWEEN {first_block:UInt64} AND {last_block:UInt64} GROUP BY block_number",
];

/// The same of token transfers and their transactions.
const TRANSFERS: &[&str] = &[include_str!("generate/token_transfers.sql"), include_str!("generate/transactions.sql")];

/// Once, not for each range of rows.
const TOKENS: &str = include_str!("generate/tokens.sql");

/// What data sets depend on: the tables of the product and the statements that fill them.
pub fn fingerprint() -> String {
    let generators = LOGS.iter().chain(TRANSFERS).copied();
    let migrations = MIGRATIONS.iter().flat_map(Migration::steps).map(|step| step.sql);
    let hash = generators.chain(migrations).chain([TOKENS]).flat_map(str::bytes);
    // FNV-1a, which is the same in every build.
    let hash =
        hash.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}

/// Fills the tables of a new store and commits them.
pub fn generate(store: &Store, profile: &str, content: Content, rows: u64) -> anyhow::Result<()> {
    let started = Instant::now();
    let mut migrate = Command::new(workspace::program(profile, "trawl-ingest"));
    process::run(migrate.args(["migrate", "--clickhouse-url", &store.url]).stdout(Stdio::null()))?;
    let generators = match content {
        Content::Logs => LOGS,
        Content::Transfers => TRANSFERS,
        Content::Mainnet => {
            mainnet::copy(store, profile, rows)?;
            return merge_parts(store);
        }
    };
    for first in (0..rows).step_by(STEP as usize) {
        let count = (rows - first).min(STEP);
        let parameters = [
            ("first", first.to_string()),
            ("count", count.to_string()),
            ("first_block", (first / ROWS_PER_BLOCK).to_string()),
            ("last_block", ((first + count - 1) / ROWS_PER_BLOCK).to_string()),
        ];
        for generator in generators {
            store.text(generator, &parameters)?;
        }
        progress(&format!("generated {} of {rows} rows in {:.0} s", first + count, started.elapsed().as_secs_f64()));
    }
    if content == Content::Transfers {
        store.text(TOKENS, &[])?;
    }
    merge_parts(store)?;
    let last = (rows - 1) / ROWS_PER_BLOCK;
    let commit = "INSERT INTO ingest_commits (first_block, last_block, parts, chain_id, logs, source, run) \
                  SELECT 0, {last:UInt64}, ['blocks', 'transactions', 'withdrawals', 'uncles', 'receipts'], 1, {rows:UInt64}, 'generated', 'bench'";
    store.text(commit, &[("last", last.to_string()), ("rows", rows.to_string())])?;
    progress(&format!("ready after {:.0} s", started.elapsed().as_secs_f64()));
    Ok(())
}

/// Leaves one part of every table with more than a few rows.
fn merge_parts(store: &Store) -> anyhow::Result<()> {
    let parts = "SELECT DISTINCT table FROM system.parts WHERE active AND database = currentDatabase() AND rows > 1000";
    for table in store.text(parts, &[])?.lines() {
        store.text(&format!("OPTIMIZE TABLE {table} FINAL"), &[])?;
    }
    Ok(())
}
