//! `trawl-ingest load --slice`: loads a share of a range, beside those who load the others.
//!
//! What follows from all blocks in their order, the holders of tokens, and merges are for whoever completes the range:
//! it takes the right to write everything, unless another run has it by then.

use tokio::sync::watch;
use trawl_core::store::{Head, Reader, Writer};
use trawl_ingest::background::token_metadata::{RetryPolicy, TokenFetcher};
use trawl_ingest::background::token_statistics::{PollSchedule, StatisticsTask};
use trawl_ingest::load::completeness::require_complete;
use trawl_ingest::load::pipeline::Ending;
use trawl_ingest::state::genesis::Genesis;
use trawl_ingest::verify::links::check_seams;
use trawl_ingest::write::lease::{ContentionPolicy, Lease, LeaseError, LeaseScope};
use trawl_ingest::write::leased_database::LeasedDatabase;
use trawl_ingest::write::recover::{recover, wait_for_foreign_inserts};
use trawl_ingest::write::retry::retry_transient;

use super::error::Failure;
use super::family::likely_family;
use super::family::recognition::{chain_of_source, recognised};
use super::flags::{LoadFlags, Source};
use super::load::{load_leased, merge, on_refusal};
use super::requested::{requested, whole};
use super::setup::{node_client, stop_on_signal};

/// Loads the share that the flags name; `finisher` then writes what only a complete range allows.
pub async fn slice_command(
    flags: &LoadFlags,
    reader: &Reader,
    writer: Writer,
    finisher: Writer,
) -> Result<(), Failure> {
    let source = flags.source.source().ok_or(Failure::NoSource)?;
    let range = requested(flags, u64::MAX)?;
    let mut stop = stop_on_signal()?;
    writer.require_schema().await?;
    let chain = chain(flags, &source, reader, &stop).await?;
    let scope = LeaseScope::Blocks { range, chain };
    let lease = Lease::acquire(reader, &writer, &scope, flags.lease.contention(), &mut stop).await?;
    let Some(lease) = lease else { return Err(Failure::Interrupted) };
    let database = LeasedDatabase { reader: reader.clone(), writer, guard: lease.guard() };
    let ending = load_share(flags, source.clone(), &database, stop.clone()).await;
    lease.release().await;
    if ending? == Ending::Stopped {
        return Err(Failure::Interrupted);
    }
    require_complete(reader, range, on_refusal(flags)).await?;
    finish(flags, source, reader, finisher, stop).await
}

/// Loads the share, once it is sure that all who load go by the same rules, and looks whether it fits those beside it.
async fn load_share(
    flags: &LoadFlags,
    source: Source,
    database: &LeasedDatabase,
    stop: watch::Receiver<bool>,
) -> Result<Ending, Failure> {
    let LeasedDatabase { reader, guard, .. } = database;
    let LeaseScope::Blocks { range, chain: ours } = guard.scope() else { return Ok(Ending::Complete) };
    // Before the claim, another one may have stated its family, and ended since.
    let theirs = chain(flags, &source, reader, &stop).await?;
    if *ours != theirs {
        return Err(LeaseError::OtherChain { ours: ours.clone(), theirs }.into());
    }
    let ending = load_leased(flags, source, database, stop).await?;
    let edges = retry_transient(|| reader.commit_edges()).await?;
    check_seams(&edges, *range).map_err(trawl_ingest::load::error::LoadError::from)?;
    Ok(ending)
}

/// The chain of the source and its family, by which slices that are loaded at once know each other.
async fn chain(
    flags: &LoadFlags,
    source: &Source,
    reader: &Reader,
    stop: &watch::Receiver<bool>,
) -> Result<String, Failure> {
    let head = retry_transient(|| Head::load(reader)).await?;
    let genesis = flags.reading.genesis.as_deref().map(Genesis::read).transpose()?;
    let stated = head.chain_id.or_else(|| genesis?.chain_id());
    let found = chain_of_source(flags, source, stop).await?;
    match (stated, found) {
        (Some(expected), Some(found)) if expected != found => Err(Failure::OtherChain { expected, found }),
        (stated, found) => {
            let chain_id = stated.or(found).ok_or(Failure::SliceOfNoChain)?;
            let shown = recognised(flags, source, &head, Some(chain_id), stop).await?.map(|found| found.family);
            Ok(format!("{chain_id} {}", likely_family(flags.reading.chain_family, shown, chain_id, reader).await?))
        }
    }
}

/// What the last one does: once all shares are loaded, and no other run writes.
async fn finish(
    flags: &LoadFlags,
    source: Source,
    reader: &Reader,
    writer: Writer,
    mut stop: watch::Receiver<bool>,
) -> Result<(), Failure> {
    let head = retry_transient(|| Head::load(reader)).await?;
    let missing = head.blocks.settled().missing(whole(flags, u64::MAX)?).iter().map(|range| range.count()).sum::<u64>();
    if missing > 0 {
        tracing::info!(
            missing,
            "this slice is loaded; token holders are counted and parts merged once all slices are loaded"
        );
        return Ok(());
    }
    let lease = Lease::acquire(reader, &writer, &LeaseScope::Database, ContentionPolicy::Leave, &mut stop).await?;
    let Some(lease) = lease else {
        tracing::info!("all slices are loaded; the run that is still going counts token holders and merges parts");
        return if *stop.borrow() { Err(Failure::Interrupted) } else { Ok(()) };
    };
    let database = LeasedDatabase { reader: reader.clone(), writer, guard: lease.guard() };
    let ended = finish_leased(flags, source, &database, stop).await;
    lease.release().await;
    ended
}

async fn finish_leased(
    flags: &LoadFlags,
    source: Source,
    database: &LeasedDatabase,
    mut stop: watch::Receiver<bool>,
) -> Result<(), Failure> {
    let LeasedDatabase { reader, writer, guard } = database;
    wait_for_foreign_inserts(reader, writer.run(), guard, &mut stop).await?;
    let head = retry_transient(|| Head::load(reader)).await?;
    recover(reader, writer, guard, head.blocks.settled()).await?;
    if let Source::Rpc(urls) = source {
        let node = node_client(&urls, &flags.reading, stop.clone())?;
        let (queue, fetcher) = TokenFetcher::start(node, database.clone(), RetryPolicy::NextRun);
        drop(queue);
        fetcher.finish(stop.clone()).await;
    }
    let statistics = StatisticsTask::start(database.clone(), PollSchedule::Often);
    statistics.finish(stop.clone()).await;
    merge(flags, reader, writer, stop.clone()).await;
    if *stop.borrow() { Err(Failure::Interrupted) } else { Ok(()) }
}
