//! `cargo xtask bench`: builds the programs and runs the measurements of the package `trawl-bench`.

use std::path::Path;

use clap::{Args, ValueEnum};
use xtask::{engine_library, process, workspace};

/// Flags of the measurements.
#[derive(Debug, Args)]
pub struct BenchFlags {
    /// What to measure.
    #[arg(value_enum, default_value_t = Subject::Pages)]
    subject: Subject,
    /// All but ingest: number of generated logs or token transfers; a data set is generated once per size, under
    /// `target/bench` [default: 20,000,000 logs, 12,000,000 transfers, 1,000,000 for the short form].
    #[arg(long, alias = "logs")]
    rows: Option<u64>,
    /// Scans: size of the small data set that costs are compared with; 0 for none.
    #[arg(long, default_value_t = 1_000_000)]
    small_rows: u64,
    /// Ingest: number of generated blocks, generated once like rows.
    #[arg(long, default_value_t = 1000)]
    blocks: u64,
    /// Measurements per leg, in turn with the other legs [default: 200 for pages, 40 for calls, 5 for the others].
    #[arg(long)]
    rounds: Option<u32>,
    /// Lists and scans: seconds for which each number of clients requests pages from each leg.
    #[arg(long, default_value_t = 5.)]
    seconds: f64,
    /// Lists and scans: legs to leave out, by parts of their names, comma-separated.
    #[arg(long, default_value = "")]
    without: String,
    /// Ingest: parts to measure, comma-separated.
    #[arg(long, default_value = "verify,parquet,memory")]
    parts: String,
    /// Head: one minute instead of five.
    #[arg(long)]
    short: bool,
    /// Head: ten minutes of small blocks, 56 clients and 8 WebSockets instead.
    #[arg(long)]
    soak: bool,
    /// Head: CPUs that engine, API and follow may use, as taskset takes them, such as 0,1.
    #[arg(long)]
    cores: Option<String>,
    /// Head: more flags of the measurement; `cargo xtask bench head -- --help` lists them.
    #[arg(last = true)]
    further: Vec<String>,
    /// Build and measure programs of this profile.
    #[arg(long, hide = true, default_value = "release", value_parser = ["release", "debug"])]
    profile: String,
}

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Subject {
    /// Pages of eth_getLogs against the same statement sent to the engine.
    Pages,
    /// Pages of an address with ten million token transfers, against the engine and PostgreSQL.
    Lists,
    /// All guarantees about logs, against the engine, PostgreSQL, anvil, DuckDB and others.
    Scans,
    /// Views for people who write SQL, against the same questions to raw tables, and dates against heights.
    Analysts,
    /// A few ratios of these in two minutes; fails if one is far off.
    Short,
    /// Calls that read many slots, over a large history of storage.
    Calls,
    /// Checks against stock alloy and against none, Parquet against rows that are ready, memory.
    Ingest,
    /// Reads at the head of a followed chain, and whether all answers are right.
    Head,
}

impl Subject {
    /// Its name, its rows and its rounds.
    fn defaults(self) -> (&'static str, u64, u32) {
        match self {
            Self::Pages => ("pages", 20_000_000, 200),
            Self::Lists => ("lists", 12_000_000, 5),
            Self::Scans => ("scans", 20_000_000, 5),
            Self::Analysts => ("analysts", 20_000_000, 5),
            Self::Short => ("short", 1_000_000, 10),
            Self::Calls => ("calls", 0, 40),
            Self::Ingest => ("ingest", 0, 5),
            Self::Head => ("head", 0, 5),
        }
    }
}

impl BenchFlags {
    /// Flags for the measurement at the head.
    fn of_head(&self) -> Vec<String> {
        let mut arguments = vec!["--profile".into(), self.profile.clone(), "--command".into(), typed()];
        let switches = [("--short", self.short), ("--soak", self.soak)];
        arguments.extend(switches.into_iter().filter(|(_, is_on)| *is_on).map(|(name, _)| name.into()));
        arguments.extend(self.cores.iter().flat_map(|cores| ["--cores".into(), cores.clone()]));
        arguments.extend(self.further.iter().cloned());
        arguments
    }
}

/// The command as it was typed.
fn typed() -> String {
    format!("cargo xtask {}", std::env::args().skip(1).collect::<Vec<_>>().join(" "))
}

/// Builds the programs and runs the named measurements.
pub fn run(flags: &BenchFlags) -> anyhow::Result<()> {
    let library = engine_library::ensure()?;
    let is_release = flags.profile == "release";
    let (optimised, profile): (&[&str], &[&str]) =
        if is_release { (&["--release"], &[]) } else { (&[], &["--profile", "dev"]) };
    let measure = |name: &str, arguments: &[&str]| {
        // Of the whole workspace and with the programs: packages built apart have other features and are built twice.
        let build = ["build", "--quiet", "--workspace", "--bins", "--bench", name];
        cargo(&library, &[&build[..], optimised].concat())?;
        let bench = ["bench", "--quiet", "--workspace", "--bench", name];
        cargo(&library, &[&bench[..], profile, &["--"], arguments].concat())
    };
    if flags.subject == Subject::Head {
        return measure("head", &flags.of_head().iter().map(String::as_str).collect::<Vec<_>>());
    }
    let (subject, rows, rounds) = flags.subject.defaults();
    let rounds = flags.rounds.unwrap_or(rounds).to_string();
    if flags.subject == Subject::Calls {
        return measure("calls", &["--rounds", &rounds]);
    }
    if flags.subject == Subject::Ingest {
        measure("verification", &[])?;
        let blocks = flags.blocks.to_string();
        return measure("load", &["--blocks", &blocks, "--rounds", &rounds, "--parts", &flags.parts]);
    }
    let (rows, small) = (flags.rows.unwrap_or(rows).to_string(), flags.small_rows.to_string());
    let (seconds, command) = (flags.seconds.to_string(), typed());
    let mut arguments = vec!["--subject", subject, "--rows", &rows, "--small-rows", &small, "--rounds", &rounds];
    arguments.extend(["--seconds", &seconds, "--command", &command, "--profile", &flags.profile]);
    if !flags.without.is_empty() {
        arguments.extend(["--without", &flags.without]);
    }
    measure("api", &arguments)
}

fn cargo(library: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    process::run(workspace::cargo().args(arguments).current_dir(workspace::root()).env("TRAWL_LIBRARY", library))
}
