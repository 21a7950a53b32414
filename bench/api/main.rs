//! Measurements over generated rows, as ratios between legs that take turns in one run.

use std::time::Instant;

use clap::{Parser, ValueEnum};
use xtask::process;

mod analysts;
mod anvil;
mod bed;
mod client;
mod duckdb;
mod generate;
mod growth;
mod hexed;
mod json_writer;
mod leg;
mod lists;
mod log_pages;
mod memory;
mod pages;
mod plot;
mod postgres;
mod processes;
mod report;
mod scans;
mod scattered;
mod short;
mod sql;
mod store;
mod wide;

/// Flags of the measurements.
#[derive(Debug, Clone, Parser)]
pub struct Flags {
    /// What to measure.
    #[arg(long, value_enum, default_value_t = Subject::Pages)]
    subject: Subject,
    /// Number of generated logs; for lists, of token transfers.
    #[arg(long, default_value_t = 20_000_000)]
    rows: u64,
    /// Scans: number of logs of the small data set that costs are compared with; 0 for none.
    #[arg(long, default_value_t = 1_000_000)]
    small_rows: u64,
    /// Measurements per leg.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Lists and scans: seconds for which each number of clients sends requests.
    #[arg(long, default_value_t = 5.)]
    seconds: f64,
    /// Legs to leave out, by a part of their name; the report lists them as missing.
    #[arg(long, value_delimiter = ',')]
    without: Vec<String>,
    /// Command that the report names.
    #[arg(long, default_value = "cargo xtask bench")]
    command: String,
    /// Of which build the programs are that are measured.
    #[arg(long, hide = true, default_value = "release")]
    profile: String,
    /// Serve what is in the PostgreSQL at this address; started by the measurement itself.
    #[arg(long, hide = true)]
    serve_postgres: Option<String>,
    /// Set by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Subject {
    /// Pages of eth_getLogs.
    Pages,
    /// Pages of an address with millions of token transfers.
    Lists,
    /// All logs of a contract, scattered logs, and all other guarantees about logs.
    Scans,
    /// Views for people who write SQL.
    Analysts,
    /// A few ratios in a short time; fails if one is far off.
    Short,
}

impl Flags {
    fn wants(&self, leg: &str) -> Result<(), report::SkippedLeg> {
        match self.without.iter().find(|without| leg.contains(without.as_str())) {
            Some(_) => Err(report::SkippedLeg { leg: leg.into(), reason: "left out with --without".into() }),
            None => Ok(()),
        }
    }
}

fn main() -> anyhow::Result<()> {
    let flags = Flags::parse();
    if let Some(address) = &flags.serve_postgres {
        return postgres::handler::serve(address);
    }
    let started = Instant::now();
    match flags.subject {
        Subject::Pages => pages::measure(&flags)?,
        Subject::Lists => drop(lists::measure(&flags)?.publish()?),
        Subject::Scans => drop(scans::measure(&flags)?.publish()?),
        Subject::Analysts => drop(analysts::measure(&flags)?.publish()?),
        Subject::Short => short::measure(&flags)?,
    }
    eprintln!("done in {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// Says what goes on.
fn progress(what: &str) {
    eprintln!("bench: {what}");
}

/// Ends a process by its id and waits for it.
fn end(child: &mut std::process::Child) {
    // A process that is gone already is as good as ended.
    let _ = process::end(child);
}
