//! What the subcommands do, and which exit code each failure has.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use trawl_core::primitives::{BlockRange, Coverage};
use trawl_core::store::{Choice, Head, MigrateError, Reader, StoreAddress, StoreError, Writer};
use trawl_ingest::audit::prove;
use trawl_ingest::audit::status::Status;
use trawl_ingest::background::token_metadata::{Asking, Offers, Unanswered};
use trawl_ingest::background::token_statistics::Counting;
use trawl_ingest::follow::FollowError;
use trawl_ingest::labels::LabelsError;
use trawl_ingest::load::completeness::{NotWhole, require_whole};
use trawl_ingest::load::error::LoadError;
use trawl_ingest::load::pipeline::{Ending, Known, Options, load};
use trawl_ingest::load::prepare::OnRefusal;
use trawl_ingest::source::cryo::CryoSource;
use trawl_ingest::source::dump::DumpSource;
use trawl_ingest::source::era1::Era1Source;
use trawl_ingest::source::etl::EtlSource;
use trawl_ingest::source::rpc::{NodeClient, NodeSettings, RpcSource, StateWish};
use trawl_ingest::source::{BlockSource, SourceError};
use trawl_ingest::state::genesis::{Genesis, GenesisError};
use trawl_ingest::state::rules::Rules;
use trawl_ingest::verify::Depth;
use trawl_ingest::write::batch::Limits;
use trawl_ingest::write::lease::{Held, Lease};
use trawl_ingest::write::recover::{recover, wait_for_foreign_inserts};
use trawl_ingest::write::retry::retry_transient;

use crate::cli::flags::{Command, Flags, LoadFlags, ReadingFlags, Source, StateFlag, Upto, Verify};

mod follow;
mod labels;

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
    Genesis(#[from] GenesisError),
    #[error(transparent)]
    PasswordFile(#[from] trawl_core::flags::PasswordFileError),
    #[error("no source: give --rpc-url URL (or set ETH_RPC_URL), --dump FILE, --cryo DIR, --etl DIR or --era1 FILE")]
    NoSource,
    #[error("no node to follow: give --rpc-url URL (or set ETH_RPC_URL)")]
    NoNode,
    #[error(transparent)]
    Follow(#[from] FollowError),
    #[error("metrics cannot be served")]
    Metrics(#[source] metrics_exporter_prometheus::BuildError),
    #[error(transparent)]
    Labels(#[from] LabelsError),
    #[error("nothing to load: no label, ABI or signature for this chain is in these files")]
    NothingFound,
    #[error("cannot wait for signals")]
    Signals(#[source] std::io::Error),
    #[error("--from {from} lies above --to {to}")]
    EmptyRange { from: u64, to: u64 },
    #[error("the source's chain is {found} and the database holds chain {expected}: use another --clickhouse-database")]
    OtherChain { expected: u64, found: u64 },
    #[error(transparent)]
    NotWhole(#[from] NotWhole),
    #[error("{0} things that are stored do not hold; block_verdicts names the blocks")]
    NotProven(usize),
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
            Self::EmptyRange { .. } | Self::NoSource | Self::NoNode => 2,
            Self::Load(error) | Self::Follow(FollowError::Load(error)) => load_code(error),
            Self::Labels(LabelsError::Refused { .. }) | Self::NothingFound => 3,
            Self::Labels(LabelsError::UnknownChain { .. }) => 2,
            Self::OtherChain { .. } | Self::NotProven(_) | Self::Follow(FollowError::BelowFinality { .. }) => 3,
            Self::Store(error)
            | Self::Labels(LabelsError::Store(error))
            | Self::Follow(FollowError::Store(error))
            | Self::Migrate(MigrateError::Store(error) | MigrateError::Step { source: error, .. })
                if error.is_unreachable() =>
            {
                5
            }
            Self::Interrupted => 130,
            _ => 1,
        }
    }
}

fn load_code(error: &LoadError) -> u8 {
    match error {
        LoadError::Verify(_)
        | LoadError::Decode(_)
        | LoadError::Timestamp { .. }
        | LoadError::Chain { .. }
        | LoadError::Source(SourceError::Malformed { .. } | SourceError::Chains { .. }) => 3,
        LoadError::Source(SourceError::Unreachable { .. }) => 4,
        LoadError::Sink(trawl_ingest::write::sink::SinkError { source, .. }) if source.is_unreachable() => 5,
        _ => 1,
    }
}

/// Runs the subcommand and says how it went.
pub async fn run(flags: Flags) -> ExitCode {
    match command(flags).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("trawl-ingest: {}", trawl_core::chain(&failure));
            ExitCode::from(failure.code())
        }
    }
}

async fn command(flags: Flags) -> Result<(), Failure> {
    let address = flags.store.address()?;
    let writer = Writer::new(&address, &run_name());
    match flags.command {
        Command::Migrate(flags) => {
            let applied = writer.migrate(&Choice { without: flags.without, with: flags.with }).await?;
            println!(
                "{}",
                if applied.is_empty() { "up to date".into() } else { format!("applied {}", applied.join(", ")) }
            );
            Ok(())
        }
        Command::Status { json } => {
            writer.require_schema().await?;
            let reader = reader(&address);
            let head = Head::load(&reader).await?;
            let pace = (reader.follow_pace().await?, reader.token_progress().await?);
            let status = Status::new(&head, pace, reader.lacking().await?, reader.verdicts().await?);
            if json {
                println!("{}", serde_json::to_string(&status).unwrap_or_default());
            } else {
                print!("{}", status.text());
            }
            Ok(())
        }
        Command::Verify { from, to } => verify_command(from, to, &reader(&address), &writer).await,
        Command::Labels(flags) => labels::labels_command(flags, &reader(&address), &writer).await,
        Command::Load(flags) => load_command(&flags, &address, writer).await,
        Command::Follow(flags) => follow::follow_command(&flags, &address, writer, &reader(&address)).await,
    }
}

async fn verify_command(from: u64, to: Option<Upto>, reader: &Reader, writer: &Writer) -> Result<(), Failure> {
    let to = to.map_or(u64::MAX, |to| if let Upto::Block(number) = to { number } else { u64::MAX });
    let asked = BlockRange::new(from, to).ok_or(Failure::EmptyRange { from, to })?;
    let stop = stop_on_signal()?;
    writer.require_schema().await?;
    let head = Head::load(reader).await?;
    let (ending, proof) = prove(reader, writer, &head, asked, &stop, &mut |refused| eprintln!("{refused}")).await?;
    println!("{} blocks: {} verified, {} in part", proof.blocks, proof.verified, proof.partial);
    match ending {
        Ending::Stopped => Err(Failure::Interrupted),
        Ending::Complete if proof.refused == 0 => Ok(()),
        Ending::Complete => Err(Failure::NotProven(proof.refused)),
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
        Ending::Complete => Ok(require_whole(&reader, asked(flags, u64::MAX)?, on_refusal(flags)).await?),
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
    let head = retry_transient(|| Head::load(reader)).await?;
    recover(reader, &writer, held, head.blocks.settled()).await?;
    let edges = retry_transient(|| reader.commit_edges()).await?;
    let known = Known { committed: head.blocks.settled().clone(), chain_id: head.chain_id, edges };
    let genesis = flags.reading.genesis.as_deref().map(Genesis::read).transpose()?;
    let stated = head.chain_id.or_else(|| genesis.as_ref()?.chain_id());
    let recorder = writer.clone();
    let options =
        |source: Option<u64>| options(&flags.reading, on_refusal(flags), genesis.clone(), source.or(stated), None);
    let counting = Counting::start(reader.clone(), writer.clone(), held.clone());
    let told = stop.clone();
    let ending = match source {
        Source::Rpc(urls) => {
            let node = node_client(&urls, &flags.reading).await?;
            let source = of_chain(node_source(node.clone(), flags, &head).await?, stated)?;
            let (offers, asking) =
                Asking::start(node, (reader.clone(), writer.clone()), held.clone(), Unanswered::LeftToTheNextRun);
            let options = Options { tokens: Some(offers), ..options(source.chain_id()) };
            match load(source, writer, held.clone(), known, options, stop.clone()).await {
                Ok((Ending::Complete, _)) => {
                    asking.finish(stop).await;
                    Ending::Complete
                }
                ended => {
                    asking.stop();
                    ended?.0
                }
            }
        }
        Source::Cryo(folder) => {
            let source = CryoSource::new(&folder, asked(flags, u64::MAX)?, head.blocks.settled(), flags.chain_id)?;
            let source = of_chain(source, stated)?;
            let options = options(source.chain_id());
            load(source, writer, held.clone(), known, options, stop).await?.0
        }
        Source::Era1(files) => {
            let source =
                Era1Source::new(&files, asked(flags, u64::MAX)?, head.blocks.settled().clone(), flags.chain_id)?;
            let source = of_chain(source, stated)?;
            let options = options(source.chain_id());
            load(source, writer, held.clone(), known, options, stop).await?.0
        }
        Source::Etl(folder) => {
            let chain_id = flags.chain_id.or(head.chain_id);
            let source = EtlSource::new(&folder, asked(flags, u64::MAX)?, head.blocks.settled().clone(), chain_id)?;
            let source = of_chain(source, stated)?;
            let options = options(source.chain_id());
            load(source, writer, held.clone(), known, options, stop).await?.0
        }
        Source::Dump(files) => {
            let wanted = asked(flags, u64::MAX)?;
            let source =
                of_chain(DumpSource::new(files, wanted, head.blocks.settled().clone(), flags.chain_id)?, stated)?;
            let options = options(source.chain_id());
            load(source, writer, held.clone(), known, options, stop).await?.0
        }
    };
    // Blocks that do not fit the genesis have ended the load by now.
    record_configuration(&recorder, genesis.as_ref()).await?;
    if ending == Ending::Complete {
        counting.finish(told).await;
    }
    Ok(ending)
}

/// Remembers the rules a genesis file states, for those who run calls.
async fn record_configuration(writer: &Writer, genesis: Option<&Genesis>) -> Result<(), StoreError> {
    let stated = genesis.and_then(|genesis| Some((genesis.chain_id()?, genesis.configuration()?)));
    match stated {
        Some((chain_id, configuration)) => {
            retry_transient(|| writer.record_configuration(chain_id, configuration)).await
        }
        None => Ok(()),
    }
}

/// The source, if its chain is the one in the database or either does not say.
fn of_chain<S: BlockSource>(source: S, expected: Option<u64>) -> Result<S, Failure> {
    match (expected, source.chain_id()) {
        (Some(expected), Some(found)) if expected != found => Err(Failure::OtherChain { expected, found }),
        _ => Ok(source),
    }
}

fn on_refusal(flags: &LoadFlags) -> OnRefusal {
    if flags.quarantine { OnRefusal::Quarantine } else { OnRefusal::Stop }
}

fn asked(flags: &LoadFlags, latest: u64) -> Result<BlockRange, Failure> {
    let to = match flags.to {
        Some(Upto::Block(number)) => number,
        Some(Upto::Latest) | None => latest,
    };
    BlockRange::new(flags.from, to).ok_or(Failure::EmptyRange { from: flags.from, to })
}

async fn node_client(urls: &[String], flags: &ReadingFlags) -> Result<NodeClient, Failure> {
    let timeout = Duration::from_millis(flags.rpc_timeout_ms);
    let node = NodeClient::new(urls, NodeSettings { timeout, concurrency: flags.concurrency.into() })?;
    node.chain_id().await?;
    Ok(node)
}

async fn node_source(node: NodeClient, flags: &LoadFlags, head: &Head) -> Result<RpcSource, Failure> {
    let latest = match flags.to {
        Some(Upto::Block(number)) => number,
        Some(Upto::Latest) | None => node.quantity("eth_blockNumber").await?,
    };
    let wanted: Coverage = head.blocks.settled().missing(asked(flags, latest)?).into_iter().collect();
    let (concurrency, traces) = (flags.reading.concurrency.into(), flags.reading.traces.choice());
    let source = RpcSource::new(node, wanted.ranges().to_vec(), concurrency, traces);
    Ok(source.await?.with_state(state_wish(flags.reading.state)))
}

fn state_wish(flag: StateFlag) -> StateWish {
    match flag {
        StateFlag::Auto => StateWish::IfThere,
        StateFlag::Off => StateWish::Never,
    }
}

/// Settings of a load from the flags, for a chain that may be known.
fn options(
    flags: &ReadingFlags,
    on_refusal: OnRefusal,
    genesis: Option<Genesis>,
    chain_id: Option<u64>,
    tokens: Option<Offers>,
) -> Options {
    Options {
        limits: Limits { blocks: flags.batch_blocks as usize, ..Limits::default() },
        decoders: std::thread::available_parallelism().map_or(2, std::num::NonZero::get),
        depth: match flags.verify {
            Verify::Full => Depth::Full,
            Verify::Header => Depth::Header,
            Verify::Off => Depth::Off,
        },
        on_refusal,
        rules: Arc::new(Rules::new(genesis, chain_id)),
        tokens,
    }
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
