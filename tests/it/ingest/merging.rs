//! What ClickHouse merges beside `follow`.

use std::time::Duration;

use anyhow::ensure;

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
