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
use trawl::api::{App, GRACE, Gaps, Options, accept, keep_up, trim_slash};
use trawl::flags::{LogFlags, StoreFlags};
use trawl::store::{HeadWatch, Reader};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
    /// Widest range of blocks that eth_getLogs reads without address and topics.
    #[arg(long, env = "TRAWL_MAX_UNFILTERED_BLOCKS", default_value_t = 10_000, help_heading = "Limits")]
    max_unfiltered_blocks: u64,
    /// What a log query gets that touches blocks which are not indexed.
    #[arg(long, env = "TRAWL_GAPS", value_enum, default_value_t = GapsFlag::Refuse, help_heading = "Answers")]
    gaps: GapsFlag,
    /// The chain, for as long as the loaded data does not tell it; refused if the data tells another.
    #[arg(long, env = "TRAWL_CHAIN_ID", help_heading = "Answers")]
    chain_id: Option<u64>,
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
    fn options(&self) -> Options {
        Options {
            chain_id: self.chain_id,
            gaps: match self.gaps {
                GapsFlag::Refuse => Gaps::Refuse,
                GapsFlag::Serve => Gaps::Serve,
            },
            max_batch: self.max_batch,
            max_unfiltered_blocks: self.max_unfiltered_blocks,
            prices: self.prices.settings().map(PriceWatch::follow).unwrap_or_default(),
        }
    }
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    flags.log.start();
    match run(flags) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("trawl-api: {error:#}");
            ExitCode::from(exit_code(&error))
        }
    }
}

fn exit_code(error: &anyhow::Error) -> u8 {
    if matches!(error.downcast_ref(), Some(Unfit::Chain(_))) { 2 } else { 1 }
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
    let options = flags.options();
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
    let router = App::new(reader.clone(), head, options.clone(), Some(metrics)).router();
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
        served = serve(listener, router) => served,
        Err(unfit) = becoming_fit => Err(Unfit::into(unfit)),
    }
}

/// Serves until the order to stop, and then until the requests in hand are answered.
async fn serve(listener: TcpListener, router: Router) -> anyhow::Result<()> {
    let service = MapRequestLayer::new(trim_slash).layer(router);
    let (stopping, stopped) = tokio::sync::oneshot::channel::<()>();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let serving = accept::serve(listener.tap_io(prepare), service, accept::HEAD_LIMIT, async move {
        tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
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
