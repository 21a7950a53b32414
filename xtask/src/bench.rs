//! `cargo xtask bench`: builds the programs and runs the measurements of `tests/bench` and `ingest/benches`.

use std::path::Path;
use std::process::Command;

use clap::{Args, ValueEnum};
use xtask::{engine_library, process, workspace};

/// Flags of the measurements.
#[derive(Debug, Args)]
pub struct BenchFlags {
    /// What is measured.
    #[arg(value_enum, default_value_t = Subject::Pages)]
    subject: Subject,
    /// Of pages and scans: generated logs; the data set is kept under `target/bench` and made once for each size.
    #[arg(long, default_value_t = 20_000_000)]
    logs: u64,
    /// Of ingest: generated blocks, kept in the same way.
    #[arg(long, default_value_t = 1000)]
    blocks: u64,
    /// How often each leg is measured; the legs take turns [default: 200 for pages, 40 for calls, 5 for scans and ingest].
    #[arg(long)]
    rounds: Option<u32>,
    /// Of ingest: which parts, comma-separated.
    #[arg(long, default_value = "verify,parquet,memory")]
    parts: String,
}

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Subject {
    /// Pages of eth_getLogs against the same statement sent to the engine.
    Pages,
    /// Answers of all logs of a contract against the same read straight from the engine.
    Scans,
    /// Calls that read many slots, over a large history of storage.
    Calls,
    /// Checks against stock alloy and against none, Parquet against rows that are ready, memory.
    Ingest,
}

/// Measures.
pub fn run(flags: &BenchFlags) -> anyhow::Result<()> {
    let library = engine_library::ensure()?;
    cargo(&library, &["build", "--release", "--quiet", "--workspace", "--bins"])?;
    let rounds = |default: u32| flags.rounds.unwrap_or(default).to_string();
    match flags.subject {
        Subject::Pages | Subject::Scans => {
            let (subject, default) = if flags.subject == Subject::Pages { ("pages", 200) } else { ("scans", 5) };
            let (logs, rounds) = (flags.logs.to_string(), rounds(default));
            let bench = ["bench", "-q", "--bench", "trawl-bench", "--", "--subject", subject];
            cargo(&library, &[&bench[..], &["--logs", &logs, "--rounds", &rounds]].concat())
        }
        Subject::Calls => cargo(&library, &["bench", "-q", "--bench", "trawl-calls", "--", "--rounds", &rounds(40)]),
        Subject::Ingest => {
            let bench = ["bench", "-q", "-p", "trawl-ingest", "--bench"];
            cargo(&library, &[&bench[..], &["verification"]].concat())?;
            let (blocks, rounds) = (flags.blocks.to_string(), rounds(5));
            let load = ["load", "--", "--blocks", &blocks, "--rounds", &rounds, "--parts", &flags.parts];
            cargo(&library, &[&bench[..], &load].concat())
        }
    }
}

fn cargo(library: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    process::run(Command::new("cargo").args(arguments).current_dir(workspace::root()).env("TRAWL_LIBRARY", library))
}
