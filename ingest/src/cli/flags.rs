//! The command line. Every flag has an environment variable, but for `--with`, `--without`, `--remove`,
//! `--take-over` and those of `views add`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use trawl_chains::Family;
use trawl_core::flags::units::milliseconds;
use trawl_core::flags::{StoreFlags, well_known};
use trawl_ingest::fill::FillPart;
use trawl_ingest::labels::Source as LabelSource;
use trawl_ingest::source::rpc::TraceChoice;
use trawl_log::LogFlags;
use trawl_node::RetryPolicy;

pub use backup::{BackupFlags, BackupsFlags, RestoreFlags};
pub use doctor::DoctorFlags;
use lease::LeaseFlags;
pub use migrate::{MigrateFlags, ShardFlags};
pub use probes::ProbeFlags;
pub use slice::Slice;
use source::separated;
pub use source::{Source, SourceFlags};
pub use status::StatusFlags;
pub use views::{ViewsCommand, ViewsFlags};

mod backup;
mod doctor;
mod lease;
mod migrate;
mod probes;
mod slice;
mod source;
mod status;
mod views;

/// Loads an EVM chain into the ClickHouse tables of Trawl.
#[derive(Debug, Parser)]
#[command(version = VERSION, about, after_help = EXIT_CODES)]
pub struct Flags {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub store: StoreFlags,
    #[command(flatten)]
    pub shards: ShardFlags,
    #[command(flatten)]
    pub log: LogFlags,
}

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("TRAWL_COMMIT"), ")");

const EXIT_CODES: &str = "Exit codes: 0 done; 1 failed at run time; 2 wrong usage; 3 data refused; 4 node \
                          unreachable; 5 ClickHouse unreachable; 6 wrong ClickHouse user or password; 7 schema of \
                          another release; 8 damage; 9 migrations pending (migrate --check); 130 interrupted after a \
                          clean stop.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create the database and its tables, or bring them up to date.
    Migrate(MigrateFlags),
    /// Load a range of blocks; resumes where it stopped.
    Load(LoadFlags),
    /// Follow the head of a node, across reorganisations; resumes where it stopped.
    Follow(FollowFlags),
    /// Verify the stored blocks again, from the tables alone; exit code 3 if a check fails.
    Verify {
        /// First block to verify
        #[arg(long, env = "TRAWL_VERIFY_FROM", default_value_t = 0)]
        from: u64,
        /// Last block, or `latest` [default: the newest loaded block].
        #[arg(long, env = "TRAWL_VERIFY_TO")]
        to: Option<RangeEnd>,
    },
    /// Load lost rows again: ranges of blocks for which tables have fewer rows than were committed. Safe to interrupt
    /// and run again.
    Repair(RepairFlags),
    /// Load names, tags, ENS names, ABIs and signatures; also while a load or follow runs.
    Labels(LabelsFlags),
    /// Call the token contracts whose names, symbols and decimals no load could fetch: after a load from files, or from
    /// a node without eth_call. The `/rpc` of trawl-api can answer, if the state is loaded. With --refresh all
    /// contracts, also while a load or follow runs.
    Tokens(TokensFlags),
    /// Create views with one column per event parameter, for people who write SQL.
    Views {
        #[command(subcommand)]
        command: ViewsCommand,
    },
    /// Back up the database to a folder on ClickHouse's machine; also while a load or follow runs.
    Backup(BackupFlags),
    /// Restore the database from a backup, as of a commit, and verify all of it. Safe to interrupt and run again.
    Restore(RestoreFlags),
    /// List the backups in a folder; remove old ones with --keep.
    Backups(BackupsFlags),
    /// Check this machine, the database and the nodes, and suggest fixes; changes nothing.
    Doctor(DoctorFlags),
    /// Show what is loaded and what is missing.
    Status(StatusFlags),
}

#[derive(Debug, Args)]
pub struct LabelsFlags {
    /// CSV, JSON or text files, folders of build artifacts or of Sourcify's export, or ADDRESS=FILE for the ABI of a
    /// contract.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<LabelSource>,
    /// Remove the labels and ABIs of these files, unless other files have replaced them since.
    #[arg(long)]
    pub remove: bool,
    /// Chain id, for files that name one, while no blocks are loaded.
    #[arg(long, env = "TRAWL_CHAIN_ID")]
    pub chain_id: Option<u64>,
}

#[derive(Debug, Args)]
pub struct LoadFlags {
    #[command(flatten)]
    pub source: SourceFlags,
    /// First block to load
    #[arg(long, env = "TRAWL_LOAD_FROM", default_value_t = 0, help_heading = "Range")]
    pub from: u64,
    /// Last block, or `latest` [default: `latest` for a node, all blocks for files].
    #[arg(long, env = "TRAWL_LOAD_TO", help_heading = "Range")]
    pub to: Option<RangeEnd>,
    /// Load only the Kth of N slices of the range, which needs --to; the other slices may be loaded at the same time,
    /// one process each. N is at most 32.
    #[arg(long, env = "TRAWL_LOAD_SLICE", value_name = "K/N", help_heading = "Range")]
    pub slice: Option<Slice>,
    #[command(flatten)]
    pub reading: ReadingFlags,
    #[command(flatten)]
    pub lease: LeaseFlags,
    #[command(flatten)]
    pub probes: ProbeFlags,
    /// Quarantine refused blocks, with the reason in block_verdicts, instead of ending with exit code 3.
    #[arg(long, env = "TRAWL_QUARANTINE", help_heading = "Verification")]
    pub quarantine: bool,
    /// Whether to merge parts of the tables after the load, which makes reads cheaper.
    #[arg(long, env = "TRAWL_LOAD_MERGE", value_enum, default_value_t = MergeFlag::On, help_heading = "Speed")]
    pub merge: MergeFlag,
    /// Chain id of the files, if they do not name it.
    #[arg(long, env = "TRAWL_CHAIN_ID", help_heading = "Source")]
    pub chain_id: Option<u64>,
}

#[derive(Debug, Args)]
pub struct TokensFlags {
    /// JSON-RPC endpoint that answers `eth_call`: a node, or trawl-api, such as http://localhost:3000/rpc. Repeat the
    /// flag for several: the next one is used when one fails; in the environment they are separated by commas.
    #[arg(long, value_name = "URL", env = "TRAWL_RPC_URL", value_delimiter = ',', required = true)]
    pub rpc_url: Vec<String>,
    /// Maximum time that the endpoint may take to answer.
    #[arg(long, env = "TRAWL_RPC_TIMEOUT", value_name = "DURATION", default_value = "60s", value_parser = milliseconds)]
    pub rpc_timeout: Duration,
    /// Call again all contracts that answered before, and write what has changed.
    #[arg(long)]
    pub refresh: bool,
}

#[derive(Debug, Args)]
pub struct RepairFlags {
    #[command(flatten)]
    pub source: SourceFlags,
    /// Also fill in what blocks were loaded without, if the node of --rpc-url has it: `traces`, `state`, or both,
    /// separated by a comma.
    #[arg(
        long,
        env = "TRAWL_REPAIR_FILL",
        value_name = "PART",
        value_enum,
        value_delimiter = ',',
        help_heading = "Parts"
    )]
    pub fill: Vec<FillFlag>,
    #[command(flatten)]
    pub reading: ReadingFlags,
    #[command(flatten)]
    pub lease: LeaseFlags,
    /// Chain id of the files, if they do not name it.
    #[arg(long, env = "TRAWL_CHAIN_ID", help_heading = "Source")]
    pub chain_id: Option<u64>,
}

/// How blocks are read and checked, whatever for.
#[derive(Debug, Clone, Args)]
pub struct ReadingFlags {
    /// Maximum number of blocks requested from a node at the same time; fewer while it reports overload.
    #[arg(long, env = "TRAWL_CONCURRENCY", default_value_t = 8, help_heading = "Speed",
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub concurrency: u16,
    /// Maximum time that a node may take to answer.
    #[arg(long, alias = "rpc-timeout-ms", env = "TRAWL_RPC_TIMEOUT", value_name = "DURATION", default_value = "60s",
          help_heading = "Speed", value_parser = milliseconds)]
    pub rpc_timeout: Duration,
    /// Number of attempts at a call to a node, with growing pauses, before it fails: 16 take about a minute. While the
    /// node reports overload, four times as many.
    #[arg(long, env = "TRAWL_RPC_ATTEMPTS", value_name = "COUNT", default_value_t = RetryPolicy::ATTEMPTS,
          help_heading = "Source", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rpc_attempts: u32,
    /// Which call frames to request from the node: `auto` uses what it supports, and warns about blocks without traces.
    #[arg(long, env = "TRAWL_TRACES", value_enum, default_value_t = TracesFlag::Auto, help_heading = "Source")]
    pub traces: TracesFlag,
    /// Maximum number of blocks in a batch, which is committed at once.
    #[arg(long, env = "TRAWL_BATCH_BLOCKS", default_value_t = 10_000, help_heading = "Speed",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub batch_blocks: u32,
    /// How much to verify of each block before it is written.
    #[arg(long, env = "TRAWL_VERIFY", default_value = "full", help_heading = "Verification")]
    pub verify: Verify,
    /// Whether to request the account state from the node's tracers.
    #[arg(long, env = "TRAWL_STATE", value_enum, default_value_t = StateFlag::Auto, help_heading = "Parts")]
    pub state: StateFlag,
    /// Family of the chain, which defines the rules of its blocks: for a chain id that is not listed in
    /// docs/explain/chains.md, and whose first blocks do not show it. Stored in the database with the first blocks.
    #[arg(long, env = "TRAWL_CHAIN_FAMILY", value_name = "NAME", help_heading = "Source", value_parser = chain_family())]
    pub chain_family: Option<&'static Family>,
    /// Genesis file in geth's format: the accounts at block 0, and the fork rules of the chain.
    #[arg(long, env = "TRAWL_GENESIS", value_name = "FILE", help_heading = "Source")]
    pub genesis: Option<PathBuf>,
}

/// Names of families.
fn chain_family() -> impl TypedValueParser<Value = &'static Family> {
    PossibleValuesParser::new(trawl_chains::names())
        .try_map(|name| trawl_chains::by_name(&name).ok_or("there is no such family"))
}

#[derive(Debug, Args)]
pub struct FollowFlags {
    /// JSON-RPC endpoint of a node: http, https, ws or wss. Repeat the flag for several: the next one is used when one
    /// fails; in the environment they are separated by commas (also ETH_RPC_URL) [env: TRAWL_RPC_URL=].
    #[arg(long, value_name = "URL", help_heading = "Source")]
    pub rpc_url: Vec<String>,
    /// First block [default: the one after the newest loaded block].
    #[arg(long, env = "TRAWL_FOLLOW_FROM", help_heading = "Range")]
    pub from: Option<u64>,
    /// Pause between two polls of the node.
    #[arg(long, alias = "poll-interval-ms", env = "TRAWL_POLL_INTERVAL", value_name = "DURATION", default_value = "1s",
          help_heading = "Following", value_parser = milliseconds)]
    pub poll_interval: Duration,
    /// Depth below the newest block from which blocks count as final, if the node does not support `finalized`
    /// [default: by the chain's family, 128 on Ethereum].
    #[arg(long, env = "TRAWL_FINAL_AFTER", value_name = "BLOCKS", help_heading = "Following")]
    pub final_after: Option<u64>,
    /// Minimum number of final blocks to move to the settled tables at once.
    #[arg(long, env = "TRAWL_SETTLE_BLOCKS", value_name = "BLOCKS", default_value_t = 32, help_heading = "Following")]
    pub settle_blocks: u64,
    /// Minimum time between two such moves; longer means fewer and larger writes. Readers see the
    /// blocks before they are moved.
    #[arg(long, env = "TRAWL_SETTLE_INTERVAL", value_name = "DURATION", default_value = "5m",
          help_heading = "Following", value_parser = milliseconds)]
    pub settle_interval: Duration,
    /// How long new blocks may be missing from the typed hot tables, which people who write SQL read. The API does not
    /// wait for them, and blocks that are settled sooner are never written there. If not longer than --poll-interval,
    /// the tables are filled before any reader sees the blocks.
    #[arg(long, env = "TRAWL_HOT_TABLES_INTERVAL", value_name = "DURATION", default_value = "30s",
          help_heading = "Following", value_parser = milliseconds)]
    pub hot_tables_interval: Duration,
    /// How often to check and report the progress of the nodes and of readers. Problems are logged after 5 of these
    /// intervals, and then every 30.
    #[arg(long, env = "TRAWL_WATCH_INTERVAL", value_name = "DURATION", default_value = "2s",
          help_heading = "Following", value_parser = milliseconds)]
    pub watch_interval: Duration,
    /// How often to call up to 64 token contracts again, in turn, for their names, symbols, decimals and supplies,
    /// which may have changed.
    #[arg(long, env = "TRAWL_TOKENS_INTERVAL", value_name = "DURATION", default_value = "60s",
          help_heading = "Following", value_parser = milliseconds)]
    pub tokens_interval: Duration,
    #[command(flatten)]
    pub probes: ProbeFlags,
    #[command(flatten)]
    pub reading: ReadingFlags,
    #[command(flatten)]
    pub lease: LeaseFlags,
}

impl FollowFlags {
    /// The nodes; the environment counts where no flag names one.
    pub fn nodes(&self) -> Option<Vec<String>> {
        let named = (!self.rpc_url.is_empty()).then(|| self.rpc_url.clone());
        named.or_else(|| well_known("TRAWL_RPC_URL").or_else(|| well_known("ETH_RPC_URL")).map(separated))
    }
}

/// How much is checked of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Verify {
    /// Header hash, parent links, senders, and every root that can be recomputed from what the source has.
    Full,
    /// Header hash and parent links.
    Header,
    /// Only what rows cannot be written without.
    Off,
}

/// Whether the parts of tables are merged after a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum MergeFlag {
    /// Until each table has few parts.
    On,
    /// No merges; ClickHouse merges in the background.
    Off,
}

/// Whether state is requested from a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum StateFlag {
    /// What the node has.
    Auto,
    /// No account state.
    Off,
}

/// Values of `--fill`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FillFlag {
    /// Call frames, with block rewards if the node reports them.
    Traces,
    /// State of the accounts.
    State,
}

impl FillFlag {
    /// The same as a fill knows it.
    pub fn part(self) -> FillPart {
        match self {
            Self::Traces => FillPart::Traces,
            Self::State => FillPart::State,
        }
    }
}

/// Values of `--traces`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TracesFlag {
    /// `trace_block` if the node supports it, else `callTracer`, else none.
    Auto,
    /// `debug_traceBlockByHash` or `debug_traceBlockByNumber` with `callTracer`.
    CallTracer,
    /// `trace_block`.
    TraceBlock,
    /// No traces at all.
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
pub enum RangeEnd {
    /// This height, inclusive.
    Block(u64),
    /// The newest the source has.
    Latest,
}

impl std::str::FromStr for RangeEnd {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "latest" => Ok(Self::Latest),
            number => number.parse().map(Self::Block).map_err(|_| "give a block number or `latest`".into()),
        }
    }
}
