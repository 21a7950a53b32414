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

const EXIT_CODES: &str = "Exit codes: 0 done; 1 failed at run time; 2 wrong usage; 3 data refused; 4 node unreachable; \
                          5 ClickHouse unreachable; 6 wrong user or password of ClickHouse; 7 schema of another release; 8 \
                          damage; 9 something is to be migrated (migrate --check); 130 interrupted after a clean stop.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create the database and its tables, or bring them up to date.
    Migrate(MigrateFlags),
    /// Load a range of blocks; goes on where it stopped.
    Load(LoadFlags),
    /// Keep up with the head of a node, over reorganisations; goes on where it stopped.
    Follow(FollowFlags),
    /// Prove again what is stored, from the tables alone; exit code 3 if something does not hold.
    Verify {
        /// First block.
        #[arg(long, env = "TRAWL_VERIFY_FROM", default_value_t = 0)]
        from: u64,
        /// Last block, or `latest` [default: the newest that is loaded].
        #[arg(long, env = "TRAWL_VERIFY_TO")]
        to: Option<RangeEnd>,
    },
    /// Load again what was lost: ranges of blocks of which tables have fewer rows than were committed. Safe to be ended
    /// at any moment and run again.
    Repair(RepairFlags),
    /// Load names, tags, ENS names, ABIs and signatures; also while a load or follow runs.
    Labels(LabelsFlags),
    /// Ask the token contracts that no load could ask for their names, symbols and decimals: after a load from files,
    /// or from a node without calls. trawl-api's own `/rpc` answers if the state is loaded. With --refresh all of them,
    /// also while a load or follow runs.
    Tokens(TokensFlags),
    /// Make views with one column for each parameter of an event, for people who write SQL.
    Views {
        #[command(subcommand)]
        command: ViewsCommand,
    },
    /// Copy the database into a folder of ClickHouse's machine; also while a load or follow runs.
    Backup(BackupFlags),
    /// Make the database from a backup, as it was at a commit, and prove all of it. Safe to be ended at any moment and
    /// run again.
    Restore(RestoreFlags),
    /// List the backups in a folder; remove old ones.
    Backups(BackupsFlags),
    /// Check that this machine, the database and the nodes are fit, and say what to do; changes nothing.
    Doctor(DoctorFlags),
    /// Show what is loaded and what is missing.
    Status(StatusFlags),
}

#[derive(Debug, Args)]
pub struct LabelsFlags {
    /// CSV, JSON or text files, folders of artifacts, or ADDRESS=FILE for the ABI of a contract.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<LabelSource>,
    /// Take back the labels and ABIs of these files, where no other has replaced them since.
    #[arg(long)]
    pub remove: bool,
    /// The chain, for files that name theirs, while no blocks are loaded.
    #[arg(long, env = "TRAWL_CHAIN_ID")]
    pub chain_id: Option<u64>,
}

#[derive(Debug, Args)]
pub struct LoadFlags {
    #[command(flatten)]
    pub source: SourceFlags,
    /// First block.
    #[arg(long, env = "TRAWL_LOAD_FROM", default_value_t = 0, help_heading = "Range")]
    pub from: u64,
    /// Last block, or `latest` [default: latest of a node, everything of files].
    #[arg(long, env = "TRAWL_LOAD_TO", help_heading = "Range")]
    pub to: Option<RangeEnd>,
    /// Only the Kth of N shares of the range, which must have an end (--to N): the other shares may be loaded at the
    /// same time, by a process each. N is at most 32.
    #[arg(long, env = "TRAWL_LOAD_SLICE", value_name = "K/N", help_heading = "Range")]
    pub slice: Option<Slice>,
    #[command(flatten)]
    pub reading: ReadingFlags,
    #[command(flatten)]
    pub lease: LeaseFlags,
    #[command(flatten)]
    pub probes: ProbeFlags,
    /// Set refused blocks aside, with the reason in block_verdicts, instead of ending with exit code 3.
    #[arg(long, env = "TRAWL_QUARANTINE", help_heading = "Verification")]
    pub quarantine: bool,
    /// Merges of the tables' parts at the end, which make reads cheaper: some, or none.
    #[arg(long, env = "TRAWL_LOAD_MERGE", value_enum, default_value_t = MergeFlag::On, help_heading = "Speed")]
    pub merge: MergeFlag,
    /// Chain of the files, if they do not name it themselves.
    #[arg(long, env = "TRAWL_CHAIN_ID", help_heading = "Source")]
    pub chain_id: Option<u64>,
}

#[derive(Debug, Args)]
pub struct TokensFlags {
    /// A JSON-RPC endpoint that answers `eth_call`: a node's, or that of trawl-api, such as http://localhost:3000/rpc.
    /// Several stand in for each other, separated by commas in the environment.
    #[arg(long, value_name = "URL", env = "TRAWL_RPC_URL", value_delimiter = ',', required = true)]
    pub rpc_url: Vec<String>,
    /// Time the endpoint may take for one answer.
    #[arg(long, env = "TRAWL_RPC_TIMEOUT", value_name = "DURATION", default_value = "60s", value_parser = milliseconds)]
    pub rpc_timeout: Duration,
    /// Ask again the contracts that answered before, all of them, and write what has changed.
    #[arg(long)]
    pub refresh: bool,
}

#[derive(Debug, Args)]
pub struct RepairFlags {
    #[command(flatten)]
    pub source: SourceFlags,
    /// Also fill in what blocks were loaded without, as far as the node of --rpc-url has it: `traces`, `state`, or
    /// both, separated by a comma.
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
    /// Chain of the files, if they do not name it themselves.
    #[arg(long, env = "TRAWL_CHAIN_ID", help_heading = "Source")]
    pub chain_id: Option<u64>,
}

/// How blocks are read and checked, whatever for.
#[derive(Debug, Clone, Args)]
pub struct ReadingFlags {
    /// Blocks requested from a node at the same time, at most; fewer while it reports overload.
    #[arg(long, env = "TRAWL_CONCURRENCY", default_value_t = 8, help_heading = "Speed",
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub concurrency: u16,
    /// Time a node may take for one answer.
    #[arg(long, alias = "rpc-timeout-ms", env = "TRAWL_RPC_TIMEOUT", value_name = "DURATION", default_value = "60s",
          help_heading = "Speed", value_parser = milliseconds)]
    pub rpc_timeout: Duration,
    /// How often a call to a node is made, with growing pauses, before it has failed: 10 take about a minute. Where the
    /// node says that it is busy, four times as often.
    #[arg(long, env = "TRAWL_RPC_ATTEMPTS", value_name = "COUNT", default_value_t = RetryPolicy::ATTEMPTS,
          help_heading = "Source", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rpc_attempts: u32,
    /// Call frames to request from the node: `auto` takes what it has, and warns of blocks without.
    #[arg(long, env = "TRAWL_TRACES", value_enum, default_value_t = TracesFlag::Auto, help_heading = "Source")]
    pub traces: TracesFlag,
    /// Blocks in a batch, at most. A batch is what is committed at once.
    #[arg(long, env = "TRAWL_BATCH_BLOCKS", default_value_t = 10_000, help_heading = "Speed",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub batch_blocks: u32,
    /// How much is proven of each block before it is written.
    #[arg(long, env = "TRAWL_VERIFY", default_value = "full", help_heading = "Verification")]
    pub verify: Verify,
    /// State of the accounts from the node's tracers: as far as it has it, or none.
    #[arg(long, env = "TRAWL_STATE", value_enum, default_value_t = StateFlag::Auto, help_heading = "Parts")]
    pub state: StateFlag,
    /// The family of the chain, whose rules its blocks follow: for a chain whose id is not listed in
    /// docs/explain/chains.md. Stored with the first blocks, and then that of the database.
    #[arg(long, env = "TRAWL_CHAIN_FAMILY", value_name = "NAME", help_heading = "Source", value_parser = chain_family())]
    pub chain_family: Option<&'static Family>,
    /// Genesis file in geth's form: the accounts at block 0, and the rules of the chain.
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
    /// A node's JSON-RPC endpoint: http, https, ws or wss. Given several times, the nodes stand in for each other. In
    /// the environment they are separated by commas (also ETH_RPC_URL) [env: TRAWL_RPC_URL=].
    #[arg(long, value_name = "URL", help_heading = "Source")]
    pub rpc_url: Vec<String>,
    /// First block [default: the one after the newest that is loaded].
    #[arg(long, env = "TRAWL_FOLLOW_FROM", help_heading = "Range")]
    pub from: Option<u64>,
    /// Pause between two polls of the node.
    #[arg(long, alias = "poll-interval-ms", env = "TRAWL_POLL_INTERVAL", value_name = "DURATION", default_value = "1s",
          help_heading = "Following", value_parser = milliseconds)]
    pub poll_interval: Duration,
    /// A block this far below the newest counts as final, if the node does not know `finalized` [default: by the
    /// chain's family, 128 on Ethereum].
    #[arg(long, env = "TRAWL_FINAL_AFTER", value_name = "BLOCKS", help_heading = "Following")]
    pub final_after: Option<u64>,
    /// Final blocks are moved to the settled tables so many at once, at least.
    #[arg(long, env = "TRAWL_SETTLE_BLOCKS", value_name = "BLOCKS", default_value_t = 32, help_heading = "Following")]
    pub settle_blocks: u64,
    /// Between two such moves, at least: fewer and larger writes. Readers have the blocks before.
    #[arg(long, env = "TRAWL_SETTLE_INTERVAL", value_name = "DURATION", default_value = "5m",
          help_heading = "Following", value_parser = milliseconds)]
    pub settle_interval: Duration,
    /// How long new blocks may be missing in the typed hot tables, which readers of SQL use. The API does not wait for
    /// them, and blocks that are settled sooner are never written there. Where this is not longer than the pause
    /// between two polls, the tables are filled before any reader sees the blocks.
    #[arg(long, env = "TRAWL_HOT_TABLES_INTERVAL", value_name = "DURATION", default_value = "30s",
          help_heading = "Following", value_parser = milliseconds)]
    pub hot_tables_interval: Duration,
    /// How often it checks how far the nodes are and what readers see, and reports it. The log names what is wrong
    /// after 5 of these intervals, and then after each 30.
    #[arg(long, env = "TRAWL_WATCH_INTERVAL", value_name = "DURATION", default_value = "2s",
          help_heading = "Following", value_parser = milliseconds)]
    pub watch_interval: Duration,
    /// How often it calls some token contracts again for their names, symbols, decimals and supplies, which may have
    /// changed: up to 64 each time, in turn.
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
    /// Header hash, links, senders, and every root the source gives the means to recompute.
    Full,
    /// Header hash and links.
    Header,
    /// Only what rows could not be written without.
    Off,
}

/// Whether the parts of tables are merged after a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum MergeFlag {
    /// Until each table has few.
    On,
    /// ClickHouse does it when it gets round to it.
    Off,
}

/// Whether state is requested from a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum StateFlag {
    /// As far as the node has it.
    Auto,
    /// Not at all.
    Off,
}

/// `--fill`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FillFlag {
    /// Call frames, with rewards where the node reports them.
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
