//! What loading and following are set up with, from the flags.

use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use trawl_core::store::{StoreError, Writer};
use trawl_ingest::background::token_metadata::TokenQueue;
use trawl_ingest::load::pipeline::Options;
use trawl_ingest::load::prepare::OnRefusal;
use trawl_ingest::source::BlockSource;
use trawl_ingest::source::rpc::RequestedState;
use trawl_ingest::state::genesis::Genesis;
use trawl_ingest::state::rules::Rules;
use trawl_ingest::verify::Depth;
use trawl_ingest::write::batch::Limits;
use trawl_ingest::write::retry::retry_transient;
use trawl_node::{NodeClient, NodeSettings, RetryPolicy};

use super::error::Failure;
use super::flags::{ReadingFlags, StateFlag, Verify};

/// Remembers the rules a genesis file states, for those who run calls.
pub async fn record_configuration(writer: &Writer, genesis: Option<&Genesis>) -> Result<(), StoreError> {
    let stated = genesis.and_then(|genesis| Some((genesis.chain_id()?, genesis.configuration()?)));
    match stated {
        Some((chain_id, configuration)) => {
            retry_transient(|| writer.record_configuration(chain_id, configuration)).await
        }
        None => Ok(()),
    }
}

/// The source, if its chain is the one in the database or either is unknown.
pub fn of_chain<S: BlockSource>(source: S, expected: Option<u64>) -> Result<S, Failure> {
    match (expected, source.chain_id()) {
        (Some(expected), Some(found)) if expected != found => Err(Failure::OtherChain { expected, found }),
        _ => Ok(source),
    }
}

/// A client of the nodes at `urls`, of which none was called yet.
pub fn node_client(urls: &[String], flags: &ReadingFlags, stop: watch::Receiver<bool>) -> Result<NodeClient, Failure> {
    let timeout = flags.rpc_timeout;
    let concurrency = flags.concurrency.into();
    let node = NodeClient::new(
        urls,
        NodeSettings { timeout, concurrency, retry: RetryPolicy::persistent(flags.rpc_attempts) },
    )?;
    Ok(node.until(stop))
}

pub fn state_wish(flag: StateFlag) -> RequestedState {
    match flag {
        StateFlag::Auto => RequestedState::IfThere,
        StateFlag::Off => RequestedState::Never,
    }
}

/// Settings of a load from the flags, for a chain that may be known.
pub fn options(
    flags: &ReadingFlags,
    on_refusal: OnRefusal,
    genesis: Option<Genesis>,
    chain_id: Option<u64>,
    tokens: Option<TokenQueue>,
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
        family: None,
        rules: Arc::new(Rules::new(genesis, chain_id)),
        tokens,
    }
}

/// How long the work in hand may go on after the first signal: whatever is away then may stay away.
const STOP_LIMIT: Duration = Duration::from_secs(8);

/// Becomes true at the first Ctrl-C or SIGTERM. The second ends the process at once, and so does time.
pub fn stop_on_signal() -> Result<watch::Receiver<bool>, Failure> {
    let mut signals = Signals::new()?;
    let (sender, stop) = watch::channel(false);
    tokio::spawn(async move {
        signals.next().await;
        tracing::info!("stopping after the current batch; interrupt again to stop at once");
        sender.send_replace(true);
        if tokio::time::timeout(STOP_LIMIT, signals.next()).await.is_err() {
            tracing::warn!(
                ?STOP_LIMIT,
                "the work in progress does not finish, so it is abandoned; the next run cleans up"
            );
        }
        std::process::exit(INTERRUPTED);
    });
    Ok(stop)
}

/// Ends the process at the first signal: for what has nothing in hand. Process 1 of a container has no other end.
pub fn end_on_signal() -> Result<(), Failure> {
    let mut signals = Signals::new()?;
    tokio::spawn(async move {
        signals.next().await;
        std::process::exit(INTERRUPTED);
    });
    Ok(())
}

/// The exit code after a signal.
const INTERRUPTED: i32 = 130;

/// What asks a process to end.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> Result<Self, Failure> {
        let of = |kind| signal(kind).map_err(Failure::Signals);
        Ok(Self { interrupt: of(SignalKind::interrupt())?, terminate: of(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! { _ = self.interrupt.recv() => {}, _ = self.terminate.recv() => {} }
    }
}
