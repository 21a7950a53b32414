//! The command line. Every flag has an environment variable.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use trawl::store::{Compression, StoreAddress};

/// Loads an EVM chain into the ClickHouse tables of Trawl.
#[derive(Debug, Parser)]
#[command(version = VERSION, about, after_help = EXIT_CODES)]
pub struct Flags {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub store: StoreFlags,
    /// Form of the log on stderr; RUST_LOG says how much.
    #[arg(long, env = "TRAWL_LOG_FORMAT", value_enum, default_value_t = LogFormat::Text, global = true, help_heading = "Log")]
    pub log_format: LogFormat,
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
    /// Blocks in a batch, at most. A batch is what is committed at once.
    #[arg(long, env = "TRAWL_BATCH_BLOCKS", default_value_t = 10_000, help_heading = "Speed",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub batch_blocks: u32,
    /// Chain the files belong to, if they do not say so themselves.
    #[arg(long, env = "TRAWL_CHAIN_ID", help_heading = "Source")]
    pub chain_id: Option<u64>,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct SourceFlags {
    /// A node's JSON-RPC endpoint (also ETH_RPC_URL).
    #[arg(long, env = "TRAWL_RPC_URL", hide_env_values = true, value_name = "URL", help_heading = "Source")]
    pub rpc_url: Option<String>,
    /// Dump files: one JSON object a line, plain or gzipped.
    #[arg(long, env = "TRAWL_DUMP", value_name = "FILE", num_args = 1.., help_heading = "Source")]
    pub dump: Vec<PathBuf>,
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

/// Where ClickHouse is.
#[derive(Debug, Args)]
pub struct StoreFlags {
    /// ClickHouse HTTP endpoint (also CLICKHOUSE_URL).
    #[arg(
        long,
        env = "TRAWL_CLICKHOUSE_URL",
        default_value = "http://127.0.0.1:8123",
        global = true,
        help_heading = "ClickHouse"
    )]
    pub clickhouse_url: String,
    /// Database with the tables.
    #[arg(
        long,
        env = "TRAWL_CLICKHOUSE_DATABASE",
        default_value = "trawl",
        global = true,
        help_heading = "ClickHouse"
    )]
    pub clickhouse_database: String,
    /// User (also CLICKHOUSE_USER).
    #[arg(long, env = "TRAWL_CLICKHOUSE_USER", default_value = "default", global = true, help_heading = "ClickHouse")]
    pub clickhouse_user: String,
    /// Password (also CLICKHOUSE_PASSWORD).
    #[arg(
        long,
        env = "TRAWL_CLICKHOUSE_PASSWORD",
        default_value = "",
        hide_env_values = true,
        hide_default_value = true,
        global = true,
        help_heading = "ClickHouse"
    )]
    pub clickhouse_password: String,
    /// File whose first line is the password.
    #[arg(long, env = "TRAWL_CLICKHOUSE_PASSWORD_FILE", global = true, help_heading = "ClickHouse")]
    pub clickhouse_password_file: Option<PathBuf>,
}

impl StoreFlags {
    /// The address; reads the password file if one is named.
    pub fn address(&self) -> std::io::Result<StoreAddress> {
        let password = match &self.clickhouse_password_file {
            Some(file) => std::fs::read_to_string(file)?.lines().next().unwrap_or("").to_owned(),
            None => self.clickhouse_password.clone(),
        };
        Ok(StoreAddress {
            url: self.clickhouse_url.clone(),
            database: self.clickhouse_database.clone(),
            user: self.clickhouse_user.clone(),
            password,
            compression: Compression::Auto,
        })
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum LogFormat {
    Text,
    Json,
}

/// Names other tools use, for flags that are given neither on the command line nor by their own variable.
const WELL_KNOWN: [(&str, &str, &str); 4] = [
    ("ETH_RPC_URL", "TRAWL_RPC_URL", "--rpc-url"),
    ("CLICKHOUSE_URL", "TRAWL_CLICKHOUSE_URL", "--clickhouse-url"),
    ("CLICKHOUSE_USER", "TRAWL_CLICKHOUSE_USER", "--clickhouse-user"),
    ("CLICKHOUSE_PASSWORD", "TRAWL_CLICKHOUSE_PASSWORD", "--clickhouse-password"),
];

/// The arguments, with flags added for well-known variables that are set.
pub fn with_well_known_names(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let loads = arguments.iter().any(|argument| argument == "load");
    let names_a_source = arguments.iter().any(|argument| {
        let text = argument.to_string_lossy();
        ["--rpc-url", "--dump"].iter().any(|flag| text == *flag || text.starts_with(&format!("{flag}=")))
    });
    for (name, ours, flag) in WELL_KNOWN {
        let given = arguments.iter().any(|argument| {
            let text = argument.to_string_lossy();
            text == flag || text.starts_with(&format!("{flag}="))
        });
        let applies = flag != "--rpc-url" || (loads && !names_a_source);
        if let Some(value) = std::env::var_os(name).filter(|_| applies && !given && std::env::var_os(ours).is_none()) {
            let mut argument = OsString::from(format!("{flag}="));
            argument.push(value);
            arguments.push(argument);
        }
    }
    arguments
}

/// Starts the log on stderr.
pub fn start_log(format: LogFormat) {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| "warn,trawl=info,trawl_ingest=info".into());
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colour);
    match format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().init(),
    }
}
