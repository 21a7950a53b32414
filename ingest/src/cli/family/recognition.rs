//! Which family a chain is of whose id is not listed, before the first of its blocks is stored: they may show it.

use std::time::Duration;

use tokio::sync::watch;
use trawl_core::primitives::{BlockRange, Coverage};
use trawl_core::store::Head;
use trawl_ingest::load::recognition::{RecognisedChain, recognise};
use trawl_ingest::source::BlockSource;
use trawl_ingest::source::cryo::CryoSource;
use trawl_ingest::source::dump::DumpSource;
use trawl_ingest::source::era1::Era1Source;
use trawl_ingest::source::rpc::{RequestedState, RpcSource, TraceChoice};
use trawl_node::NodeClient;

use super::super::error::Failure;
use super::super::flags::{LoadFlags, ReadingFlags, Source};
use super::super::requested::requested;
use super::super::setup::node_client;

/// Blocks that are requested of a node: some may be empty.
const BLOCKS: u64 = 16;
/// How often the newest blocks are requested where a node fails.
const ATTEMPTS: usize = 3;
/// How long to wait for the next attempt.
const PAUSE: Duration = Duration::from_secs(1);

/// Whether the blocks of a chain say of which family it is: nothing else does.
fn is_open(reading: &ReadingFlags, chain_id: Option<u64>, head: &Head) -> bool {
    let is_listed = chain_id.is_some_and(|id| trawl_chains::listed(id).is_some());
    reading.chain_family.is_none() && head.number().is_none() && !is_listed
}

/// What the first requested blocks of a source show, where nothing else tells the family. `stated`: the chain as far as
/// it is known beyond the source.
pub async fn recognised(
    flags: &LoadFlags,
    source: &Source,
    head: &Head,
    stated: Option<u64>,
    stop: &watch::Receiver<bool>,
) -> Result<Option<RecognisedChain>, Failure> {
    if !is_open(&flags.reading, stated, head) {
        return Ok(None);
    }
    let range = requested(flags, u64::MAX)?;
    Ok(match source {
        Source::Rpc(urls) => {
            let node = node_client(urls, &flags.reading, stop.clone())?;
            let first = BlockRange::new(range.first(), range.last().min(range.first().saturating_add(BLOCKS - 1)));
            of_node(&flags.reading, node, head, first).await?
        }
        Source::Dump(files) => {
            let source = DumpSource::new(files.clone(), range, Coverage::default(), flags.chain_id)?;
            match is_open(&flags.reading, source.chain_id(), head) {
                true => recognise(source).await?,
                false => None,
            }
        }
        // Columns of files do not have what such transactions are made of.
        Source::Cryo(_) | Source::Era1(_) | Source::Etl(_) => None,
    })
}

/// What the newest blocks of a node show. None also if it fails at them, which it may do at any time: the chain is
/// followed all the same.
pub async fn recognised_by_newest(reading: &ReadingFlags, node: &NodeClient, head: &Head) -> Option<RecognisedChain> {
    for _ in 0..ATTEMPTS {
        match of_node(reading, node.clone(), head, None).await {
            Ok(shown) => return shown,
            Err(failure) => {
                let error = trawl_core::error_chain(&failure);
                tracing::warn!(error, "the newest blocks, which may show the chain's family, could not be read");
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
    None
}

/// What the first of `blocks` show, or the newest ones.
async fn of_node(
    reading: &ReadingFlags,
    node: NodeClient,
    head: &Head,
    blocks: Option<BlockRange>,
) -> Result<Option<RecognisedChain>, Failure> {
    if !is_open(reading, None, head) || !is_open(reading, Some(node.chain_id().await?), head) {
        return Ok(None);
    }
    let newest = node.quantity("eth_blockNumber").await?;
    let first = blocks.map_or(newest.saturating_sub(BLOCKS - 1), |blocks| blocks.first());
    let blocks = BlockRange::new(first, blocks.map_or(newest, |blocks| blocks.last().min(newest)));
    let source = RpcSource::new(node, blocks.into_iter().collect(), 1, TraceChoice::Off).await?;
    Ok(recognise(source.with_state(RequestedState::Never)).await?)
}

/// The chain that a source names, before anything is read of it.
pub async fn chain_of_source(
    flags: &LoadFlags,
    source: &Source,
    stop: &watch::Receiver<bool>,
) -> Result<Option<u64>, Failure> {
    let (range, none) = (requested(flags, u64::MAX)?, Default::default);
    Ok(match source {
        Source::Rpc(urls) => Some(node_client(urls, &flags.reading, stop.clone())?.chain_id().await?),
        Source::Cryo(folder) => CryoSource::new(folder, range, &none(), flags.chain_id)?.chain_id(),
        Source::Era1(files) => Era1Source::new(files, range, none(), flags.chain_id)?.chain_id(),
        Source::Etl(_) => flags.chain_id,
        Source::Dump(files) => DumpSource::new(files.clone(), range, none(), flags.chain_id)?.chain_id(),
    })
}
