//! The command line. Every flag has an environment variable.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use trawl::flags::{LogFlags, StoreFlags, well_known};
use trawl_ingest::source::rpc::TraceChoice;

/// Loads an EVM chain into the ClickHouse tables of Trawl.
#[derive(Debug, Parser)]
#[command(version = VERSION, about, after_help = EXIT_CODES)]
pub struct Flags {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub store: StoreFlags,
    #[command(flatten)]
    pub log: LogFlags,
}

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("TRAWL_COMMIT"), ")");

const EXIT_CODES: &str = "Exit codes: 0 done; 1 failed at run time; 2 wrong usage; 3 data refused; 4 node unreachable; \
                          5 ClickHouse unreachable; 130 interrupted after a clean stop.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create the database and its tables, or bring them up to date.
    Migrate,
    /// Load a range of blocks; goes on where it stopped.
    Load(LoadFlags),
    /// Show what is loaded and what is missing.
    Status {
        /// As one JSON object.
        #[arg(long, env = "TRAWL_JSON")]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct LoadFlags {
    #[command(flatten)]
    pub source: SourceFlags,
    /// First block.
    #[arg(long, env = "TRAWL_FROM", default_value_t = 0, help_heading = "Range")]
    pub from: u64,
    /// Last block, or `latest` [default: latest of a node, everything of files].
    #[arg(long, env = "TRAWL_TO", help_heading = "Range")]
    pub to: Option<Upto>,
    /// Blocks asked of the node at the same time.
    #[arg(long, env = "TRAWL_CONCURRENCY", default_value_t = 8, help_heading = "Speed",
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub concurrency: u16,
    /// Call frames to ask of the node: `auto` takes what it has, and says so of blocks without.
    #[arg(long, env = "TRAWL_TRACES", value_enum, default_value_t = TracesFlag::Auto, help_heading = "Source")]
    pub traces: TracesFlag,
    /// Blocks in a batch, at most. A batch is what is committed at once.
    #[arg(long, env = "TRAWL_BATCH_BLOCKS", default_value_t = 10_000, help_heading = "Speed",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub batch_blocks: u32,
    /// Chain the files belong to, if they do not say so themselves.
    #[arg(long, env = "TRAWL_CHAIN_ID", help_heading = "Source")]
    pub chain_id: Option<u64>,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct SourceFlags {
    /// A node's JSON-RPC endpoint (also ETH_RPC_URL) [env: TRAWL_RPC_URL=].
    // Not clap's `env`: a variable of the shell must not stand against a source that is named on the command line.
    #[arg(long, value_name = "URL", help_heading = "Source")]
    rpc_url: Option<String>,
    /// Dump files: one JSON object a line, plain or gzipped [env: TRAWL_DUMP=].
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Source")]
    dump: Vec<PathBuf>,
}

/// `--traces`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TracesFlag {
    /// `trace_block` if the node has it, else `callTracer`, else none.
    Auto,
    /// `debug_traceBlockByHash` or `debug_traceBlockByNumber` with `callTracer`.
    CallTracer,
    /// `trace_block`.
    TraceBlock,
    /// None.
    Off,
}

impl TracesFlag {
    /// The same as the source knows it.
    pub fn choice(self) -> TraceChoice {
        match self {
            Self::Auto => TraceChoice::Auto,
            Self::CallTracer => TraceChoice::CallTracer,
            Self::TraceBlock => TraceChoice::TraceBlock,
            Self::Off => TraceChoice::Off,
        }
    }
}

/// The end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upto {
    /// This block.
    Block(u64),
    /// The newest the source has.
    Latest,
}

impl std::str::FromStr for Upto {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "latest" => Ok(Self::Latest),
            number => number.parse().map(Self::Block).map_err(|_| "give a block number or `latest`".into()),
        }
    }
}

/// Where blocks come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A node.
    Rpc(String),
    /// Files.
    Dump(Vec<PathBuf>),
}

impl SourceFlags {
    /// The source that is named; the environment counts where no flag names one.
    pub fn source(&self) -> Option<Source> {
        if !self.dump.is_empty() {
            return Some(Source::Dump(self.dump.clone()));
        }
        let dump = || Some(Source::Dump(vec![well_known("TRAWL_DUMP")?.into()]));
        let node = || well_known("TRAWL_RPC_URL").or_else(|| well_known("ETH_RPC_URL")).map(Source::Rpc);
        self.rpc_url.clone().map(Source::Rpc).or_else(dump).or_else(node)
    }
}
