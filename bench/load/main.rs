//! What loading costs: checks against none, Parquet against rows that are ready, and memory.
//!
//! Ratios between legs that take turns in one run, over a generated chain of real blocks' shape. `cargo xtask bench
//! ingest` builds the programs and runs it.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use clap::Parser;
use xtask::workspace;

mod chain;
mod legs;
mod memory;
mod parquet;
mod programs;
mod stock;
mod store;

use legs::Legs;
use store::Store;

#[derive(Debug, Parser)]
struct Flags {
    /// Number of blocks of the generated chain, generated once per length under `target/bench`.
    #[arg(long, default_value_t = 1000)]
    blocks: u64,
    /// Measurements per leg.
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Parts to measure.
    #[arg(long, value_delimiter = ',', default_value = "verify,parquet,memory")]
    parts: Vec<String>,
    /// Set by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let flags = Flags::parse();
    let folder = workspace::target().join("bench");
    std::fs::create_dir_all(&folder)?;
    let dump = dump(&folder, flags.blocks)?;
    let store = Store::start(&folder.join("load"))?;
    let wants = |part: &str| flags.parts.iter().any(|requested| requested == part);
    if wants("verify") {
        verification(&store, &dump, &flags)?;
    }
    if wants("parquet") {
        parquet::measure(&store, &folder, &dump, &flags)?;
    }
    if wants("memory") {
        memory::measure(&store, &folder, &dump)?;
    }
    store.stop()
}

/// The generated chain.
fn dump(folder: &Path, blocks: u64) -> anyhow::Result<PathBuf> {
    let file = folder.join(format!("chain-{blocks}")).join("chain.ndjson");
    if !file.exists() {
        let parent_folder = file.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent_folder)?;
        std::fs::write(parent_folder.join("meta.json"), r#"{"chainId":"0x1"}"#)?;
        chain::generate(&file, &workspace::fixture("mainnet/chain.ndjson.gz"), blocks)?;
    }
    Ok(file)
}

/// The same dump with every check, with those of headers, and with none.
fn verification(store: &Store, dump: &Path, flags: &Flags) -> anyhow::Result<()> {
    let mut legs = Legs::default();
    for _ in 0..flags.rounds {
        for depth in ["off", "header", "full"] {
            programs::empty(store, "bench")?;
            let run = programs::ingest(store, "bench").args(["load", "--verify", depth, "--dump"]).arg(dump);
            legs.add(&format!("load, `--verify {depth}`"), run.run()?);
        }
        let verified = store.text("SELECT countIf(verdict = 'verified') FROM bench.block_verdicts")?;
        ensure!(verified == flags.blocks.to_string(), "{verified} of {} blocks are verified", flags.blocks);
    }
    let sums = "SELECT (SELECT count() FROM bench.transactions), (SELECT count() FROM bench.logs)";
    let sums = store.text(sums)?.replace('\t', " transactions and ");
    println!("\n{} blocks with {sums} logs from a dump, {} rounds\n", flags.blocks, flags.rounds);
    legs.print();
    let [wall, processor] = legs.ratios("load, `--verify full`", "load, `--verify off`");
    println!("\nfull / off: {wall:.2} (goal: at most 1.25); of processors: {processor:.2}");
    Ok(())
}
