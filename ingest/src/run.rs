//! What the subcommands do, and which exit code each failure has.

use std::process::ExitCode;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use trawl::primitives::{BlockRange, Coverage};
use trawl::store::{Head, MigrateError, Reader, StoreAddress, StoreError, Writer};
use trawl_ingest::batch::Limits;
use trawl_ingest::lease::{Held, Lease};
use trawl_ingest::pipeline::{Ending, Known, LoadError, Options, load};
use trawl_ingest::recover::{recover, wait_for_foreign_inserts};
use trawl_ingest::source::dump::DumpSource;
use trawl_ingest::source::rpc::{NodeClient, RpcSource};
use trawl_ingest::source::{BlockSource, SourceError};
use trawl_ingest::status::Status;

use crate::flags::{Command, Flags, LoadFlags, Source, Upto};

/// Everything a subcommand can fail with.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Migrate(#[from] MigrateError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    PasswordFile(#[from] trawl::flags::PasswordFileError),
    #[error("no source: give --rpc-url URL (or set ETH_RPC_URL) or --dump FILE")]
    NoSource,
    #[error("cannot wait for signals")]
    Signals(#[source] std::io::Error),
    #[error("--from {from} lies above --to {to}")]
    EmptyRange { from: u64, to: u64 },
    #[error("the source's chain is {found} and the database holds chain {expected}: use another --clickhouse-database")]
    OtherChain { expected: u64, found: u64 },
    #[error("interrupted; what was committed stays")]
    Interrupted,
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        Self::Load(error.into())
    }
}

impl Failure {
    fn code(&self) -> u8 {
        match self {
            Self::EmptyRange { .. } | Self::NoSource => 2,
            Self::Load(
                LoadError::Verify(_) | LoadError::Decode(_) | LoadError::Timestamp { .. } | LoadError::Chain { .. },
            )
            | Self::OtherChain { .. } => 3,
            Self::Load(LoadError::Source(SourceError::Unreachable { .. })) => 4,
            Self::Store(StoreError::Unreachable(_))
            | Self::Migrate(MigrateError::Store(StoreError::Unreachable(_)))
            | Self::Load(LoadError::Sink(trawl_ingest::sink::SinkError {
                source: StoreError::Unreachable(_), ..
            })) => 5,
            Self::Interrupted => 130,
            _ => 1,
        }
    }
}

/// Runs the subcommand and says how it went.
pub async fn run(flags: Flags) -> ExitCode {
    match command(flags).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("trawl-ingest: {}", trawl::chain(&failure));
            ExitCode::from(failure.code())
        }
    }
}

async fn command(flags: Flags) -> Result<(), Failure> {
    let address = flags.store.address()?;
    let writer = Writer::new(&address, &run_name());
    match flags.command {
        Command::Migrate => {
            let applied = writer.migrate().await?;
            println!(
                "{}",
                if applied.is_empty() { "up to date".into() } else { format!("applied {}", applied.join(", ")) }
            );
            Ok(())
        }
        Command::Status { json } => {
            writer.require_schema().await?;
            let status = Status::new(&Head::load(&reader(&address)).await?);
            if json {
                println!("{}", serde_json::to_string(&status).unwrap_or_default());
            } else {
                print!("{}", status.text());
            }
            Ok(())
        }
        Command::Load(flags) => load_command(&flags, &address, writer).await,
    }
}

/// Bookkeeping reads are small; the limits only stop what has gone wrong.
fn reader(address: &StoreAddress) -> Reader {
    Reader::new(address, Duration::from_secs(120), 4 << 30)
}

/// Differs between any two runs, on this machine or another.
fn run_name() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", since.as_nanos(), std::process::id())
}

async fn load_command(flags: &LoadFlags, address: &StoreAddress, writer: Writer) -> Result<(), Failure> {
    let source = flags.source.source().ok_or(Failure::NoSource)?;
    let mut stop = stop_on_signal()?;
    writer.require_schema().await?;
    let reader = reader(address);
    let Some(lease) = Lease::acquire(&reader, &writer, &mut stop).await? else { return Err(Failure::Interrupted) };
    let ending = load_held(flags, source, (&reader, writer), &lease.held(), stop).await;
    lease.release().await;
    match ending? {
        Ending::Complete => Ok(()),
        Ending::Stopped => Err(Failure::Interrupted),
    }
}

/// The load itself. What is committed is read once nobody else can commit any more.
async fn load_held(
    flags: &LoadFlags,
    source: Source,
    (reader, writer): (&Reader, Writer),
    held: &Held,
    mut stop: watch::Receiver<bool>,
) -> Result<Ending, Failure> {
    wait_for_foreign_inserts(reader, writer.run(), &mut stop).await?;
    if *stop.borrow() {
        return Ok(Ending::Stopped);
    }
    let head = Head::load(reader).await?;
    recover(reader, &writer, held, &head.blocks).await?;
    let edges = reader.commit_edges().await?;
    let known = Known { committed: head.blocks.clone(), chain_id: head.chain_id, edges };
    let limits = Limits { blocks: flags.batch_blocks as usize, ..Limits::default() };
    let options = Options { limits, decoders: std::thread::available_parallelism().map_or(2, std::num::NonZero::get) };
    Ok(match source {
        Source::Rpc(url) => {
            let source = of_chain(node_source(&url, flags, &head).await?, head.chain_id)?;
            load(source, writer, held.clone(), known, options, stop).await?.0
        }
        Source::Dump(files) => {
            let wanted = asked(flags, u64::MAX)?;
            let source = of_chain(DumpSource::new(files, wanted, head.blocks, flags.chain_id)?, head.chain_id)?;
            load(source, writer, held.clone(), known, options, stop).await?.0
        }
    })
}

/// The source, if its chain is the one in the database or either does not say.
fn of_chain<S: BlockSource>(source: S, expected: Option<u64>) -> Result<S, Failure> {
    match (expected, source.chain_id()) {
        (Some(expected), Some(found)) if expected != found => Err(Failure::OtherChain { expected, found }),
        _ => Ok(source),
    }
}

fn asked(flags: &LoadFlags, latest: u64) -> Result<BlockRange, Failure> {
    let to = match flags.to {
        Some(Upto::Block(number)) => number,
        Some(Upto::Latest) | None => latest,
    };
    BlockRange::new(flags.from, to).ok_or(Failure::EmptyRange { from: flags.from, to })
}

async fn node_source(url: &str, flags: &LoadFlags, head: &Head) -> Result<RpcSource, Failure> {
    let node = NodeClient::new(url)?;
    let latest = match flags.to {
        Some(Upto::Block(number)) => number,
        Some(Upto::Latest) | None => node.quantity("eth_blockNumber").await?,
    };
    let wanted: Coverage = head.blocks.missing(asked(flags, latest)?).into_iter().collect();
    Ok(RpcSource::new(node, wanted.ranges().to_vec(), flags.concurrency.into(), flags.traces.choice()).await?)
}

/// Becomes true at the first Ctrl-C or SIGTERM; the second ends the process at once.
fn stop_on_signal() -> Result<watch::Receiver<bool>, Failure> {
    let mut interrupt = signal(SignalKind::interrupt()).map_err(Failure::Signals)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(Failure::Signals)?;
    let (sender, stop) = watch::channel(false);
    tokio::spawn(async move {
        tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
        tracing::info!("stopping after the batch in hand; once more to stop at once");
        sender.send_replace(true);
        tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
        std::process::exit(130);
    });
    Ok(stop)
}
