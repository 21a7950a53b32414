//! Parquet files of cryo's layout against the rows they become, sent as they are.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::ensure;

use crate::Flags;
use crate::legs::Legs;
use crate::programs::{self, RunCost};
use crate::store::Store;

/// Blocks in a file, as cryo has it.
const CHUNK: u64 = 1000;

/// Loads Parquet with every check that it allows, and inserts the rows of all tables that this gives.
pub fn measure(store: &Store, folder: &Path, dump: &Path, flags: &Flags) -> anyhow::Result<()> {
    let cryo = folder.join(format!("cryo-{}", flags.blocks));
    if !cryo.join("complete").exists() {
        programs::empty(store, "bench")?;
        programs::ingest(store, "bench").args(["load", "--verify", "off", "--dump"]).arg(dump).run()?;
        export_cryo(store, &cryo, flags.blocks)?;
    }
    let load = |name| {
        programs::empty(store, name)?;
        programs::ingest(store, name).args(["load", "--cryo"]).arg(&cryo).run()
    };
    load("loaded")?;
    let held = "SELECT countIf(has(checked, 'receipts root')) FROM loaded.block_verdicts";
    ensure!(store.text(held)? == flags.blocks.to_string(), "the receipts root of every block is checked");
    let rows = export_rows(store, &folder.join("rowbinary"))?;
    let total: u64 = rows.iter().map(|(_, _, rows)| rows).sum();
    let mut legs = Legs::default();
    for _ in 0..flags.rounds {
        legs.add(LOAD, load("bench")?);
        for (name, insert) in [(ONE, one_by_one as fn(&Store, &[Rows]) -> _), (ALL, all_at_once)] {
            programs::empty(store, "peer")?;
            let (engine, started) = (store.processor()?, Instant::now());
            insert(store, &rows)?;
            let wall = started.elapsed().as_secs_f64();
            legs.add(name, RunCost { wall, processor: store.processor()? - engine, peak: 0.0, quarters: [0.0; 2] });
        }
    }
    println!("\n{} blocks, {total} rows in {} tables, {} rounds\n", flags.blocks, rows.len(), flags.rounds);
    legs.print();
    let peer = legs.median(ONE).min(legs.median(ALL));
    let processors = legs.processor(ONE).min(legs.processor(ALL)) / legs.processor(LOAD);
    let rate = peer / legs.median(LOAD);
    println!(
        "\nrate of the load / rate of the faster insert: {rate:.2} (goal: at least 0.6); of processors: {processors:.2}"
    );
    Ok(())
}

const LOAD: &str = "load of Parquet, every check it allows";
const ONE: &str = "RowBinary, one table after another";
const ALL: &str = "RowBinary, all tables at once";

/// A table, the file with its rows, and how many.
type Rows = (String, PathBuf, u64);

/// Three datasets with all columns that cryo has for them.
fn export_cryo(store: &Store, folder: &Path, blocks: u64) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    let datasets = [
        ("blocks", include_str!("cryo_blocks.sql")),
        ("transactions", include_str!("cryo_transactions.sql")),
        ("logs", include_str!("cryo_logs.sql")),
    ];
    for first in (1..=blocks).step_by(CHUNK as usize) {
        let last = (first + CHUNK - 1).min(blocks);
        for (dataset, sql) in datasets {
            let sql = sql.replace("{first}", &first.to_string()).replace("{last}", &last.to_string());
            store.save(&sql, &folder.join(format!("ethereum__{dataset}__{first:08}_to_{last:08}.parquet")))?;
        }
    }
    std::fs::write(folder.join("complete"), "")?;
    Ok(())
}

/// Every table of the loaded database in its own order.
fn export_rows(store: &Store, folder: &Path) -> anyhow::Result<Vec<Rows>> {
    std::fs::create_dir_all(folder)?;
    let mut exported = Vec::new();
    for (table, key, rows) in store.tables("loaded")? {
        let file = folder.join(&table);
        store.save(&format!("SELECT * FROM loaded.{table} ORDER BY {key} FORMAT RowBinary"), &file)?;
        exported.push((table, file, rows));
    }
    Ok(exported)
}

fn one_by_one(store: &Store, rows: &[Rows]) -> anyhow::Result<()> {
    rows.iter().try_for_each(|(table, file, _)| store.insert(&format!("peer.{table}"), file))
}

fn all_at_once(store: &Store, rows: &[Rows]) -> anyhow::Result<()> {
    std::thread::scope(|scope| {
        let insert = |(table, file, _): &Rows| store.insert(&format!("peer.{table}"), file);
        let all: Vec<_> = rows.iter().map(|rows| scope.spawn(move || insert(rows))).collect();
        all.into_iter().try_for_each(|one| one.join().expect("an insert does not panic"))
    })
}
