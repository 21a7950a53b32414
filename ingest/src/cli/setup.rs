//! What loading and following are set up with, from the flags.

use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use trawl_core::store::{StoreError, Writer};
use trawl_ingest::background::token_metadata::TokenQueue;
use trawl_ingest::load::pipeline::Options;
use trawl_ingest::load::prepare::OnRefusal;
use trawl_ingest::source::BlockSource;
use trawl_ingest::source::rpc::StateWish;
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

pub async fn node_client(urls: &[String], flags: &ReadingFlags) -> Result<NodeClient, Failure> {
    let timeout = flags.rpc_timeout;
    let concurrency = flags.concurrency.into();
    let node = NodeClient::new(urls, NodeSettings { timeout, concurrency, retry: RetryPolicy::PERSISTENT })?;
    node.chain_id().await?;
    Ok(node)
}

pub fn state_wish(flag: StateFlag) -> StateWish {
    match flag {
        StateFlag::Auto => StateWish::IfThere,
        StateFlag::Off => StateWish::Never,
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
        rules: Arc::new(Rules::new(genesis, chain_id)),
        tokens,
    }
}

/// Becomes true at the first Ctrl-C or SIGTERM; the second ends the process at once.
pub fn stop_on_signal() -> Result<watch::Receiver<bool>, Failure> {
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
