//! What ClickHouse merges beside `follow`, on its own and by OPTIMIZE.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use trawl_ingest::merge::selection;

use crate::env;

/// ClickHouse left the newest parts out of a merge that were small beside the others, so each row was merged with all
/// before it alone.
#[test]
fn rows_that_come_one_by_one_are_not_merged_one_by_one() -> anyhow::Result<()> {
    let database = "merging_singly";
    let _database = env::migrate(database)?;
    for (table, columns, values) in [
        ("ingest_heads", "sequence, head_block, node_block, run", "number, 1, 1"),
        ("follow_reports", "interval_ms, event, run", "number, 'alive'"),
        ("ingest_leases", "place, event, host", "toString(number), 'alive'"),
    ] {
        let insert = format!("INSERT INTO {table} ({columns}) SELECT {values}");
        env::sql(database, &format!("{insert}, hex(randomString(1500)) FROM numbers(200)"))?;
        for row in 200..240 {
            // As between blocks: a merge has ended when the next row comes.
            std::thread::sleep(Duration::from_millis(25));
            env::sql(database, &format!("{insert}, 'r' FROM numbers({row}, 1)"))?;
        }
        let of_table = format!("active AND database = '{database}' AND table = '{table}'");
        let merges = format!("SELECT max(level), count() FROM system.parts WHERE {of_table}");
        let found = env::sql("default", &merges)?;
        let counts = found.split('\t').map(str::parse::<u64>).collect::<Result<Vec<_>, _>>()?;
        ensure!(counts[0] <= 6, "{table}: {} merges one after another", counts[0]);
        ensure!(counts[1] <= 41, "{table}: {} parts", counts[1]);
    }
    Ok(())
}

/// OPTIMIZE of a table with a large part and two small ones merges all three; it is sent only where the gain is
/// worth the merge.
#[test]
fn what_clickhouse_merges_is_known_beforehand() -> anyhow::Result<()> {
    let database = "merging_selection";
    env::sql("default", &format!("CREATE DATABASE {database}"))?;
    let _database = env::database(database);
    let (mut large_too, mut small_alone) = (0, 0);
    for (case, kibibytes) in [
        &[20_000, 100, 100][..],
        &[6000, 100, 100, 100],
        &[12_000, 100, 100, 100],
        &[9000, 9000, 100],
        &[12_000, 3000, 700, 700],
        &[400, 12_000, 400, 400],
        &[100, 100],
        &[30_000, 100, 100, 100],
        &[15_000, 100, 100, 100, 100],
    ]
    .iter()
    .enumerate()
    {
        let table = format!("parts_{case}");
        let setting = "merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0";
        env::sql(
            database,
            &format!("CREATE TABLE {table} (k UInt64, s String) ENGINE = MergeTree ORDER BY k SETTINGS {setting}"),
        )?;
        for rows in *kibibytes {
            let one_part = "max_insert_block_size = 1000000, max_block_size = 1000000";
            let rows = format!("SELECT number, randomString(1016) FROM numbers({rows}) SETTINGS {one_part}");
            env::sql(database, &format!("INSERT INTO {table} {rows}"))?;
        }
        let of_table =
            format!("active AND database = currentDatabase() AND table = '{table}' ORDER BY min_block_number");
        let parts = |column: &str| env::sql(database, &format!("SELECT {column} FROM system.parts WHERE {of_table}"));
        let sizes = parts("bytes_on_disk")?.lines().map(str::parse::<u64>).collect::<Result<Vec<_>, _>>()?;
        ensure!(sizes.len() == kibibytes.len(), "{sizes:?}");
        let expected = selection(&sizes).context("a selection")?;
        env::sql(database, &format!("OPTIMIZE TABLE {table}"))?;
        let merged = parts("if(level = 1, max_block_number - min_block_number + 1, 0)")?;
        let merged = merged.lines().map(str::parse::<usize>).collect::<Result<Vec<_>, _>>()?;
        let found = merged.iter().position(|parts| *parts > 0).context("something was merged")?;
        ensure!(expected == (found..found + merged[found]), "{kibibytes:?}: {expected:?}, and merged {merged:?}");
        large_too += usize::from(expected.start == 0);
        small_alone += usize::from(expected.start > 0);
    }
    ensure!(large_too > 1 && small_alone > 1, "{large_too}, {small_alone}");
    Ok(())
}
