//! The command line of `trawl-api`. Every flag has an environment variable.

use std::net::SocketAddr;
use std::time::Duration;

use clap::{CommandFactory, FromArgMatches, Parser, ValueEnum};
use trawl::options::{Gaps, LimitSettings, Options, OracleSettings, SocketSettings};
use trawl::remote::prices::PriceWatch;
use trawl::remote::upstream::UpstreamError;
use trawl::web::Web;
use trawl::web::files::WebDir;
use trawl_core::flags::renamed::or_old_variable;
use trawl_core::flags::{StoreFlags, units};
use trawl_core::primitives::user_operation::EntryPoints;
use trawl_core::store::HeadSettings;
use trawl_log::LogFlags;
use trawl_serve::Limits;

pub use chains::ChainsError;
use chains::ChainsFlags;
use limits::LimitFlags;
use of_chain::ChainSettings;
use tls::TlsFlags;

mod api_keys;
mod chain;
mod chains;
mod limits;
mod of_chain;
pub mod plan;
mod prices;
mod tls;
mod upstream;

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("TRAWL_COMMIT"), ")");

/// Read-only explorer API over the ClickHouse tables of Trawl.
#[derive(Debug, Parser)]
#[command(name = "trawl-api", version = VERSION, about,
          after_help = "Exit codes: 0 stopped; 1 failed at run time; 2 wrong usage; 6 wrong ClickHouse user or \
                        password; 7 schema of another release. While ClickHouse or its tables are missing, \
                        /health/ready and all requests for data answer 503.")]
pub struct Flags {
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, env = "TRAWL_API_LISTEN", default_value = "127.0.0.1:4000", help_heading = "Server")]
    pub listen: SocketAddr,
    #[command(flatten)]
    pub tls: TlsFlags,
    #[command(flatten)]
    pub store: StoreFlags,
    /// Maximum run time of a query.
    #[arg(long, env = "TRAWL_QUERY_TIMEOUT", default_value = "30s", help_heading = "Limits", value_parser = units::seconds)]
    pub query_timeout: Duration,
    /// Maximum memory of a query in ClickHouse, at least 16 MiB.
    #[arg(long, alias = "query-memory-mib", env = "TRAWL_QUERY_MEMORY", default_value = "2GiB", help_heading = "Limits",
          value_parser = query_memory)]
    pub query_memory: u64,
    /// Maximum number of calls in a JSON-RPC batch at /api/eth-rpc.
    #[arg(long, env = "TRAWL_MAX_BATCH", default_value_t = 100, help_heading = "Limits")]
    max_batch: usize,
    /// Maximum number of calls in a JSON-RPC batch at /rpc.
    #[arg(long, env = "TRAWL_RPC_MAX_BATCH", default_value_t = 1_000, help_heading = "Limits")]
    rpc_max_batch: usize,
    /// Maximum size of the body of a JSON-RPC request, from 1 KiB to 1 GiB.
    #[arg(long, env = "TRAWL_MAX_BODY", default_value = "20MB", help_heading = "Limits", value_parser = body_size)]
    max_body: u64,
    /// Maximum number of logs that eth_getLogs returns at /api/eth-rpc, where longer answers are truncated; 0 =
    /// unlimited.
    #[arg(long, env = "TRAWL_MAX_LOGS", default_value_t = 1_000, help_heading = "Limits")]
    max_logs: u64,
    /// Maximum number of logs that eth_getLogs returns at /rpc, where queries with more are refused; 0 = unlimited.
    #[arg(long, env = "TRAWL_RPC_MAX_LOGS", default_value_t = 20_000, help_heading = "Limits")]
    rpc_max_logs: u64,
    /// Maximum number of WebSocket connections.
    #[arg(long, env = "TRAWL_MAX_WEBSOCKETS", default_value_t = 1_000, help_heading = "Limits",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_websockets: u32,
    /// Maximum number of WebSocket connections per client.
    #[arg(long, env = "TRAWL_MAX_WEBSOCKETS_PER_CLIENT", default_value_t = 250, help_heading = "Limits",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_websockets_per_client: u32,
    /// Maximum number of subscriptions per WebSocket connection.
    #[arg(long, env = "TRAWL_MAX_SUBSCRIPTIONS", default_value_t = 100, help_heading = "Limits")]
    max_subscriptions: usize,
    /// Maximum block range of eth_getLogs without address and topics, and of trace_filter without addresses.
    #[arg(long, env = "TRAWL_MAX_UNFILTERED_BLOCKS", default_value_t = 10_000, help_heading = "Limits")]
    max_unfiltered_blocks: u64,
    /// Maximum gas of eth_call and similar methods.
    #[arg(long, env = "TRAWL_CALL_GAS", default_value_t = 50_000_000, help_heading = "Limits")]
    call_gas: u64,
    /// Maximum run time of eth_call and similar methods.
    #[arg(long, alias = "call-timeout-ms", env = "TRAWL_CALL_TIMEOUT", default_value = "5s", help_heading = "Limits",
          value_parser = units::milliseconds)]
    call_timeout: Duration,
    /// Log statements whose first rows take longer than this, with the request id; 0 = log none.
    #[arg(long, env = "TRAWL_SLOW_STATEMENT", default_value = "5s", help_heading = "Log",
          value_parser = units::milliseconds)]
    slow_statement: Duration,
    /// Log one line per request: client, method, path, status, duration and size.
    #[arg(long, env = "TRAWL_ACCESS_LOG", help_heading = "Log")]
    access_log: bool,
    /// Approximate memory of the cache of chain state, which eth_call and similar methods read.
    #[arg(long, alias = "state-cache-mib", env = "TRAWL_STATE_CACHE_SIZE", default_value = "128MiB",
          help_heading = "Limits", value_parser = units::mebibytes)]
    state_cache_size: u64,
    /// Memory of the cache of answers; 0 = no cache.
    #[arg(long, alias = "cache-bytes", env = "TRAWL_CACHE_SIZE", default_value = "64MiB", help_heading = "Limits",
          value_parser = units::bytes)]
    cache_size: u64,
    /// Memory of the cache of rows of settled blocks; 0 = no cache.
    #[arg(long, env = "TRAWL_SETTLED_CACHE_SIZE", default_value = "128MiB", help_heading = "Limits",
          value_parser = units::bytes)]
    settled_cache_size: u64,
    /// Maximum number of waiting pages of different addresses that one statement reads together, up to 64; 1 = read
    /// each page alone.
    #[arg(long, env = "TRAWL_MAX_COALESCED_PAGES", default_value = "16", help_heading = "Limits",
          value_parser = clap::value_parser!(u8).range(1..=64))]
    pub max_coalesced_pages: u8,
    /// How to answer log queries over blocks that are not loaded.
    #[arg(long, env = "TRAWL_GAPS", value_enum, default_value_t = GapsFlag::Refuse, help_heading = "Answers")]
    gaps: GapsFlag,
    /// Number of newest blocks that the gas oracle reads, up to 1024.
    #[arg(long, env = "TRAWL_GAS_PRICE_BLOCKS", default_value_t = 200, help_heading = "Answers",
          value_parser = clap::value_parser!(u64).range(1..=1024))]
    gas_price_blocks: u64,
    /// Percentile of the priority fees in those blocks that the gas oracle returns.
    #[arg(long, env = "TRAWL_GAS_PRICE_PERCENTILE", default_value_t = 60, help_heading = "Answers",
          value_parser = clap::value_parser!(u64).range(0..=100))]
    gas_price_percentile: u64,
    /// Folder of a web page to serve instead of Trawl's own; paths without a file or route get its index.html.
    #[arg(long, env = "TRAWL_WEB_DIR", value_name = "DIR", help_heading = "Server", value_parser = WebDir::open)]
    web_dir: Option<WebDir>,
    /// Serve no web page: `/` and other paths without a route are 404.
    #[arg(long, env = "TRAWL_NO_WEB", help_heading = "Server", conflicts_with = "web_dir")]
    no_web: bool,
    /// Serve no tools for language models (MCP): /mcp is 404.
    #[arg(long, env = "TRAWL_NO_MCP", help_heading = "Server")]
    no_mcp: bool,
    /// Let visitors run SQL under their own read-only database accounts, on the page /sql and with a tool at /mcp.
    #[arg(long, env = "TRAWL_SQL_CONSOLE", help_heading = "Server")]
    sql_console: bool,
    /// How often to poll the database for new commits, at least 10ms.
    #[arg(long, alias = "head-interval-ms", env = "TRAWL_HEAD_INTERVAL", default_value = "500ms",
          help_heading = "Server", value_parser = head_interval)]
    head_interval: Duration,
    /// Memory for the newest blocks, which a reorganisation may still replace. If they do not fit, the oldest of them
    /// are read from the hot tables, which makes requests several times as expensive.
    #[arg(long, env = "TRAWL_HOT_MEMORY", default_value = "256MiB", help_heading = "Limits",
          value_parser = units::bytes)]
    hot_memory: u64,
    #[command(flatten)]
    chains: ChainsFlags,
    #[command(flatten)]
    of_chain: ChainSettings,
    #[command(flatten)]
    limits: LimitFlags,
    #[command(flatten)]
    pub log: LogFlags,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum GapsFlag {
    /// With an error that names the missing ranges.
    Refuse,
    /// With the logs that are loaded.
    Serve,
}

/// Flags whose environment variable was renamed, with the old name of the variable.
const OLD_VARIABLES: [(&str, &str); 7] = [
    ("listen", "TRAWL_LISTEN"),
    ("query_memory", "TRAWL_QUERY_MEMORY_MIB"),
    ("call_timeout", "TRAWL_CALL_TIMEOUT_MS"),
    ("state_cache_size", "TRAWL_STATE_CACHE_MIB"),
    ("cache_size", "TRAWL_CACHE_BYTES"),
    ("head_interval", "TRAWL_HEAD_INTERVAL_MS"),
    ("timeout", "TRAWL_UPSTREAM_TIMEOUT_MS"),
];

impl Flags {
    /// How the head of one of so many chains is followed.
    fn head(&self, chains: usize) -> HeadSettings {
        HeadSettings { interval: self.head_interval, memory_bytes: part(self.hot_memory, chains) }
    }

    /// The flags of this process; exits with a message if they are wrong.
    pub fn of_process() -> Self {
        let command = OLD_VARIABLES.into_iter().fold(Self::command(), |command, (flag, old)| {
            command.mut_arg(flag, |argument| or_old_variable(argument, old))
        });
        Self::from_arg_matches(&trawl_cli::matches(command, "api")).unwrap_or_else(|error| error.exit())
    }

    /// The limits of connections.
    pub fn limits(&self) -> Limits {
        self.limits.of_connections()
    }

    /// Whether several chains are served, or one below a name.
    pub fn has_names(&self) -> bool {
        !self.chains.chains.is_empty()
    }

    /// The settings of the API for one of so many chains, and the start of the task that follows its prices.
    ///
    /// # Errors
    ///
    /// When an upstream URL cannot be used.
    fn options(&self, own: &ChainSettings, chains: usize) -> Result<Options, UpstreamError> {
        Ok(Options {
            chain_id: own.names.chain_id,
            chain_name: own.names.chain_name.clone(),
            coin: own.names.coin.clone(),
            path_prefix: String::new(),
            mcp: !self.no_mcp,
            sql_console: self.sql_console,
            ens_registry: own.names.ens_registry.0,
            entry_points: EntryPoints::with(&own.names.entry_points),
            gaps: match self.gaps {
                GapsFlag::Refuse => Gaps::Refuse,
                GapsFlag::Serve => Gaps::Serve,
            },
            max_batch: self.max_batch,
            rpc_max_batch: self.rpc_max_batch,
            max_body: usize::try_from(self.max_body).unwrap_or(usize::MAX),
            max_logs: (self.max_logs > 0).then_some(self.max_logs),
            rpc_max_logs: (self.rpc_max_logs > 0).then_some(self.rpc_max_logs),
            sockets: SocketSettings {
                connections: self.max_websockets,
                connections_per_client: self.max_websockets_per_client,
                subscriptions: self.max_subscriptions,
            },
            limits: LimitSettings { chains, ..self.limits.settings() },
            rates: self.limits.rates(),
            client_header: self.limits.client_header.clone(),
            max_unfiltered_blocks: self.max_unfiltered_blocks,
            cache_bytes: part(self.cache_size, chains),
            settled_cache_bytes: part(self.settled_cache_size, chains),
            call_gas: self.call_gas,
            call_timeout: self.call_timeout,
            slow_statement: (!self.slow_statement.is_zero()).then_some(self.slow_statement),
            access_log: self.access_log,
            state_cache_bytes: part(self.state_cache_size, chains),
            oracle: OracleSettings { blocks: self.gas_price_blocks, percentile: self.gas_price_percentile },
            upstream: own.upstream.upstream()?,
            stale_after: own.stale_after.0,
            prices: own.prices.settings().map(PriceWatch::follow).unwrap_or_default(),
        })
    }

    /// The page at the paths of no route.
    fn web(&self) -> Web {
        match &self.web_dir {
            Some(folder) => Web::Folder(folder.clone()),
            None if self.no_web => Web::None,
            None => Web::Page,
        }
    }
}

/// The equal part that each of so many chains has of a memory.
fn part(bytes: u64, chains: usize) -> u64 {
    bytes / u64::try_from(chains).unwrap_or(u64::MAX).max(1)
}

fn query_memory(text: &str) -> Result<u64, String> {
    units::mebibytes(text)
        .and_then(|size| if size < 16 << 20 { Err("must be at least 16MiB".into()) } else { Ok(size) })
}

fn body_size(text: &str) -> Result<u64, String> {
    let size = units::bytes(text)?;
    if (1 << 10..=1 << 30).contains(&size) { Ok(size) } else { Err("must be from 1KiB to 1GiB".into()) }
}

fn head_interval(text: &str) -> Result<Duration, String> {
    let interval = units::milliseconds(text)?;
    if interval < Duration::from_millis(10) { Err("must be at least 10ms".into()) } else { Ok(interval) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Flags {
        Flags::try_parse_from([&["trawl-api"], arguments].concat()).expect("flags")
    }

    #[test]
    fn the_command_line_is_consistent() {
        Flags::command().debug_assert();
        for (flag, _) in OLD_VARIABLES {
            assert!(Flags::command().get_arguments().any(|argument| argument.get_id() == flag), "{flag}");
        }
    }

    #[test]
    fn old_spellings_still_work() {
        let new = read(&[
            "--query-timeout=40s",
            "--query-memory=1GiB",
            "--call-timeout=2s",
            "--state-cache-size=32MiB",
            "--cache-size=1MiB",
            "--head-interval=50ms",
            "--upstream-timeout=3s",
        ]);
        let old = read(&[
            "--query-timeout=40",
            "--query-memory-mib=1024",
            "--call-timeout-ms=2000",
            "--state-cache-mib=32",
            "--cache-bytes=1048576",
            "--head-interval-ms=50",
            "--upstream-timeout-ms=3000",
        ]);
        assert_eq!(format!("{new:?}"), format!("{old:?}"));
    }

    #[test]
    fn limits_are_enforced() {
        for bad in [
            "--query-memory=15MiB",
            "--max-body=1",
            "--head-interval=9ms",
            "--query-timeout=0",
            "--call-timeout=soon",
            "--stale-after=0",
        ] {
            assert!(Flags::try_parse_from(["trawl-api", bad]).is_err(), "{bad}");
        }
    }
}
