//! `trawl-api`: flags, tracing, listener, graceful shutdown; no logic.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use axum::serve::ListenerExt;
use clap::{Args, Parser, ValueEnum};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tower::Layer;
use tower::util::MapRequestLayer;
use trawl::api::fit::{self, Unfit};
use trawl::api::prices::{PriceSettings, PriceWatch};
use trawl::api::rpc::{OracleSettings, SocketSettings};
use trawl::api::{App, GRACE, Gaps, Options, Upstream, UpstreamError, UpstreamSettings, accept, keep_up, trim_slash};
use trawl_core::flags::{LogFlags, StoreFlags};
use trawl_core::store::{HeadWatch, Reader};

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("TRAWL_COMMIT"), ")");

/// Read-only explorer API over the ClickHouse tables of Trawl.
#[derive(Debug, Parser)]
#[command(version = VERSION, about,
          after_help = "Exit codes: 0 stopped; 1 failed at run time; 2 wrong usage. While ClickHouse or its tables are \
                        not there, /health/ready says so and answers are 503.")]
struct Flags {
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, env = "TRAWL_LISTEN", default_value = "127.0.0.1:4000", help_heading = "Server")]
    listen: SocketAddr,
    #[command(flatten)]
    store: StoreFlags,
    /// Longest a query may run, in seconds.
    #[arg(long, env = "TRAWL_QUERY_TIMEOUT", default_value_t = 30, help_heading = "Limits",
          value_parser = clap::value_parser!(u64).range(1..))]
    query_timeout: u64,
    /// Most memory of a query on the ClickHouse server, in MiB.
    #[arg(long, env = "TRAWL_QUERY_MEMORY_MIB", default_value_t = 2048, help_heading = "Limits",
          value_parser = clap::value_parser!(u64).range(16..))]
    query_memory_mib: u64,
    /// Most calls in a JSON-RPC batch.
    #[arg(long, env = "TRAWL_MAX_BATCH", default_value_t = 100, help_heading = "Limits")]
    max_batch: usize,
    /// Longest body of a JSON-RPC request, in bytes.
    #[arg(long, env = "TRAWL_MAX_BODY", default_value_t = 20_000_000, help_heading = "Limits",
          value_parser = clap::value_parser!(u64).range(1_024..=1_073_741_824))]
    max_body: u64,
    /// Most logs in an answer of eth_getLogs; 0 for all there are.
    #[arg(long, env = "TRAWL_MAX_LOGS", default_value_t = 1_000, help_heading = "Limits")]
    max_logs: u64,
    /// Most WebSocket connections.
    #[arg(long, env = "TRAWL_MAX_WEBSOCKETS", default_value_t = 1_000, help_heading = "Limits",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_websockets: u32,
    /// Most subscriptions of one WebSocket connection.
    #[arg(long, env = "TRAWL_MAX_SUBSCRIPTIONS", default_value_t = 100, help_heading = "Limits")]
    max_subscriptions: usize,
    /// Widest range of blocks that eth_getLogs reads without address and topics.
    #[arg(long, env = "TRAWL_MAX_UNFILTERED_BLOCKS", default_value_t = 10_000, help_heading = "Limits")]
    max_unfiltered_blocks: u64,
    /// Most gas of eth_call and its like.
    #[arg(long, env = "TRAWL_CALL_GAS", default_value_t = 50_000_000, help_heading = "Limits")]
    call_gas: u64,
    /// Longest eth_call and its like may take, in milliseconds.
    #[arg(long, env = "TRAWL_CALL_TIMEOUT_MS", default_value_t = 5_000, help_heading = "Limits",
          value_parser = clap::value_parser!(u64).range(1..))]
    call_timeout_ms: u64,
    /// About how much memory state that was read for calls may take, in MiB.
    #[arg(long, env = "TRAWL_STATE_CACHE_MIB", default_value_t = 128, help_heading = "Limits")]
    state_cache_mib: u64,
    /// Memory for answers that are asked for again, in bytes; 0 keeps none.
    #[arg(long, env = "TRAWL_CACHE_BYTES", default_value_t = 64 << 20, help_heading = "Limits")]
    cache_bytes: u64,
    /// What a log query gets that touches blocks which are not indexed.
    #[arg(long, env = "TRAWL_GAPS", value_enum, default_value_t = GapsFlag::Refuse, help_heading = "Answers")]
    gaps: GapsFlag,
    /// The chain, for as long as the loaded data does not tell it; refused if the data tells another.
    #[arg(long, env = "TRAWL_CHAIN_ID", help_heading = "Answers")]
    chain_id: Option<u64>,
    /// How many of the newest blocks the gas oracle looks at.
    #[arg(long, env = "TRAWL_GAS_PRICE_BLOCKS", default_value_t = 200, help_heading = "Answers",
          value_parser = clap::value_parser!(u64).range(1..=1024))]
    gas_price_blocks: u64,
    /// Which percentile of what their transactions paid above the base fee it takes.
    #[arg(long, env = "TRAWL_GAS_PRICE_PERCENTILE", default_value_t = 60, help_heading = "Answers",
          value_parser = clap::value_parser!(u64).range(0..=100))]
    gas_price_percentile: u64,
    #[command(flatten)]
    upstream: UpstreamFlags,
    /// How often to look for newly committed blocks, in milliseconds.
    #[arg(long, env = "TRAWL_HEAD_INTERVAL_MS", default_value_t = 500, help_heading = "Server",
          value_parser = clap::value_parser!(u64).range(10..))]
    head_interval_ms: u64,
    #[command(flatten)]
    prices: PriceFlags,
    #[command(flatten)]
    log: LogFlags,
}

/// Where prices of tokens come from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Token prices")]
struct PriceFlags {
    /// File or http(s) address of a JSON document with the prices of tokens, read again and again; prices are null
    /// without. docs/tokens.md describes it.
    #[arg(long, env = "TRAWL_TOKEN_PRICES", value_name = "FILE|URL")]
    token_prices: Option<String>,
    /// Between two reads of it, in seconds.
    #[arg(long, env = "TRAWL_TOKEN_PRICES_INTERVAL", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    token_prices_interval: u64,
    /// How old a price may be, in seconds; an older one is null.
    #[arg(long, env = "TRAWL_TOKEN_PRICES_MAX_AGE", default_value_t = 3600)]
    token_prices_max_age: u64,
}

impl PriceFlags {
    fn settings(&self) -> Option<PriceSettings> {
        Some(PriceSettings {
            source: self.token_prices.clone()?,
            interval: Duration::from_secs(self.token_prices_interval),
            max_age: Duration::from_secs(self.token_prices_max_age),
        })
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum GapsFlag {
    /// An error that names the missing ranges.
    Refuse,
    /// What there is.
    Serve,
}

impl Flags {
    fn options(&self) -> Result<Options, UpstreamError> {
        Ok(Options {
            chain_id: self.chain_id,
            gaps: match self.gaps {
                GapsFlag::Refuse => Gaps::Refuse,
                GapsFlag::Serve => Gaps::Serve,
            },
            max_batch: self.max_batch,
            max_body: usize::try_from(self.max_body).unwrap_or(usize::MAX),
            max_logs: (self.max_logs > 0).then_some(self.max_logs),
            sockets: SocketSettings { connections: self.max_websockets, subscriptions: self.max_subscriptions },
            max_unfiltered_blocks: self.max_unfiltered_blocks,
            cache_bytes: self.cache_bytes,
            call_gas: self.call_gas,
            call_timeout: Duration::from_millis(self.call_timeout_ms),
            state_cache_bytes: self.state_cache_mib << 20,
            oracle: OracleSettings { blocks: self.gas_price_blocks, percentile: self.gas_price_percentile },
            upstream: self.upstream.upstream()?,
            prices: self.prices.settings().map(PriceWatch::follow).unwrap_or_default(),
        })
    }
}

/// The nodes behind this server.
#[derive(Debug, Args)]
#[command(next_help_heading = "Upstream")]
struct UpstreamFlags {
    /// A node for eth_sendRawTransaction and for what the tables do not cover; several: the next stands in for one that fails.
    #[arg(
        long = "upstream-rpc-url",
        env = "TRAWL_UPSTREAM_RPC_URL",
        value_name = "URL",
        value_delimiter = ',',
        hide_env_values = true
    )]
    urls: Vec<String>,
    /// How long a node may take to answer, in milliseconds.
    #[arg(long = "upstream-timeout-ms", env = "TRAWL_UPSTREAM_TIMEOUT_MS", value_name = "MS", default_value_t = 10_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    timeout_ms: u64,
    /// Most calls to nodes at the same time.
    #[arg(long = "upstream-connections", env = "TRAWL_UPSTREAM_CONNECTIONS", value_name = "N", default_value_t = 32,
          value_parser = clap::value_parser!(u16).range(1..))]
    connections: u16,
}

impl UpstreamFlags {
    fn upstream(&self) -> Result<Option<Upstream>, UpstreamError> {
        let settings =
            UpstreamSettings { timeout: Duration::from_millis(self.timeout_ms), connections: self.connections.into() };
        (!self.urls.is_empty()).then(|| Upstream::new(&self.urls, settings)).transpose()
    }
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    flags.log.start();
    keep_freed_memory();
    match run(flags) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("trawl-api: {error:#}");
            ExitCode::from(exit_code(&error))
        }
    }
}

/// Batches of a megabyte come and go: given back to the kernel each time, their pages would have to be cleared anew, which
/// was a third of what an Arrow answer costs here. What is free at the top of an arena of the allocator is kept up to so much.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn keep_freed_memory() {
    const KEPT: libc::c_int = 8 << 20;
    // SAFETY: called before there are other threads; values that are out of range change nothing.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, KEPT / 2);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn keep_freed_memory() {}

fn exit_code(error: &anyhow::Error) -> u8 {
    let is_usage = matches!(error.downcast_ref(), Some(Unfit::Chain(_))) || error.is::<UpstreamError>();
    if is_usage { 2 } else { 1 }
}

/// How long the start waits for a first look at the database. Whatever it is, this listens then, and says if it is ready.
const FIRST_LOOK: Duration = Duration::from_secs(5);

#[tokio::main]
async fn run(flags: Flags) -> anyhow::Result<()> {
    let metrics =
        metrics_exporter_prometheus::PrometheusBuilder::new().install_recorder().context("cannot keep metrics")?;
    tokio::spawn(keep_up(metrics.clone()));
    let address = flags.store.address()?;
    let reader = Reader::new(&address, Duration::from_secs(flags.query_timeout), flags.query_memory_mib << 20);
    // It fails only where another provider is installed already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let options = flags.options()?;
    if let Ok(Err(unfit)) = tokio::time::timeout(FIRST_LOOK, fit::check(&reader, &options)).await
        && !unfit.may_pass()
    {
        return Err(unfit.into());
    }
    let (fits, fitting) = tokio::sync::oneshot::channel();
    let interval = Duration::from_millis(flags.head_interval_ms);
    let head = HeadWatch::follow(reader.clone(), interval, async {
        // It is dropped only when all of this ends.
        let _ = fitting.await;
    });
    let app = App::new(reader.clone(), head, options.clone(), Some(metrics));
    let router = app.clone().router();
    let listener =
        TcpListener::bind(flags.listen).await.with_context(|| format!("cannot listen on {}", flags.listen))?;
    println!("listening on http://{}", listener.local_addr()?);
    let becoming_fit = async move {
        fit::until_fit(&reader, &options).await?;
        // Nobody follows the commits any more if the server has ended.
        let _ = fits.send(());
        Ok(())
    };
    tokio::select! {
        served = serve(listener, app, router) => served,
        Err(unfit) = becoming_fit => Err(Unfit::into(unfit)),
    }
}

/// Serves until the order to stop, and then until the requests in hand are answered.
async fn serve(listener: TcpListener, app: App, router: Router) -> anyhow::Result<()> {
    let service = MapRequestLayer::new(trim_slash).layer(router);
    let (stopping, stopped) = tokio::sync::oneshot::channel::<()>();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let serving = accept::serve(listener.tap_io(prepare), service, accept::HEAD_LIMIT, async move {
        tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
        app.end_sockets().await;
        // Whoever waits has gone only if the server has ended already.
        let _ = stopping.send(());
    });
    tokio::select! {
        () = serving => {}
        () = async { let _ = stopped.await; tokio::time::sleep(GRACE).await } => {}
    }
    Ok(())
}

/// Silence after which a client's machine is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(60);
/// Between further such questions. After four without an answer, that is two minutes in all, the connection ends.
const REPEATED: Duration = Duration::from_secs(15);

/// Sets a client's connection up.
fn prepare(connection: &mut TcpStream) {
    // Small answers must not wait for the acknowledgement of the piece before them.
    if let Err(error) = connection.set_nodelay(true) {
        tracing::debug!(%error, "a connection keeps Nagle's algorithm");
    }
    // A client whose machine has vanished would hold its connection, and a query behind it, for ever.
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE).with_interval(REPEATED).with_retries(4);
    if let Err(error) = SockRef::from(&*connection).set_tcp_keepalive(&keepalive) {
        tracing::debug!(%error, "a connection goes without keepalive");
    }
}
