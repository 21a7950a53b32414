//! `trawl-ingest load`: acquires the right to write, cleans up, loads from whichever source is named.

use tokio::sync::watch;
use trawl_core::primitives::{BlockNumber, Coverage};
use trawl_core::store::{Head, Reader, Writer};
use trawl_ingest::background::token_metadata::{RetryPolicy, TokenFetcher};
use trawl_ingest::background::token_statistics::{PollSchedule, StatisticsTask};
use trawl_ingest::load::completeness::require_complete;
use trawl_ingest::load::pipeline::{Ending, Options, ResumePoint, load};
use trawl_ingest::load::prepare::OnRefusal;
use trawl_ingest::merge::{MergeOutcome, merge_after_load};
use trawl_ingest::source::BlockSource;
use trawl_ingest::source::cryo::CryoSource;
use trawl_ingest::source::dump::DumpSource;
use trawl_ingest::source::era1::Era1Source;
use trawl_ingest::source::etl::EtlSource;
use trawl_ingest::source::rpc::RpcSource;
use trawl_ingest::state::genesis::Genesis;
use trawl_ingest::write::lease::{Lease, LeaseScope};
use trawl_ingest::write::leased_database::LeasedDatabase;
use trawl_ingest::write::recover::{recover, wait_for_foreign_inserts};
use trawl_ingest::write::retry::retry_transient;
use trawl_node::NodeClient;

use super::error::Failure;
use super::family::family;
use super::family::recognition::recognised;
use super::flags::{LoadFlags, MergeFlag, RangeEnd, Slice, Source};
use super::requested::{below, requested, source_range};
use super::setup::{node_client, of_chain, options, record_configuration, state_wish, stop_on_signal};

/// Loads the range that the flags name.
pub async fn load_command(flags: &LoadFlags, reader: &Reader, writer: Writer) -> Result<(), Failure> {
    let source = flags.source.source().ok_or(Failure::NoSource)?;
    let mut stop = stop_on_signal()?;
    writer.require_schema().await?;
    let acquired = Lease::acquire(reader, &writer, &LeaseScope::Database, flags.lease.contention(), &mut stop).await?;
    let Some(lease) = acquired else { return Err(Failure::Interrupted) };
    let database = LeasedDatabase { reader: reader.clone(), writer, guard: lease.guard() };
    let ending = load_leased(flags, source, &database, stop).await;
    lease.release().await;
    match ending? {
        Ending::Complete => Ok(require_complete(reader, requested(flags, u64::MAX)?, on_refusal(flags)).await?),
        Ending::Stopped => Err(Failure::Interrupted),
    }
}

/// The load itself. Committed ranges are read once no other run can commit within the scope of the lease.
pub(super) async fn load_leased(
    flags: &LoadFlags,
    source: Source,
    database: &LeasedDatabase,
    mut stop: watch::Receiver<bool>,
) -> Result<Ending, Failure> {
    let LeasedDatabase { reader, writer, guard } = database;
    wait_for_foreign_inserts(reader, writer.run(), guard, &mut stop).await?;
    if *stop.borrow() {
        return Ok(Ending::Stopped);
    }
    let head = retry_transient(|| Head::load(reader)).await?;
    require_books(reader).await?;
    recover(reader, writer, guard, head.blocks.settled()).await?;
    let committed = head.blocks.settled().clone();
    load_missing(flags, source, database, &head, committed, stop).await
}

/// Refuses to write while bookkeeping tables are damaged: rows would be written twice.
pub async fn require_books(reader: &Reader) -> Result<(), Failure> {
    let damage = retry_transient(|| reader.damage()).await?;
    let books = |table: &&String| ["ingest_commits", "ingest_intents"].contains(&table.as_str());
    match damage.others.into_iter().find(|table| books(&table)) {
        Some(table) => Err(Failure::Damaged { table }),
        None => Ok(()),
    }
}

/// Loads the requested blocks that are not `committed`.
pub async fn load_missing(
    flags: &LoadFlags,
    source: Source,
    database: &LeasedDatabase,
    head: &Head,
    committed: Coverage,
    stop: watch::Receiver<bool>,
) -> Result<Ending, Failure> {
    let LeasedDatabase { reader, writer, guard } = database;
    let edges = retry_transient(|| reader.commit_edges()).await?;
    let below = below(flags, &committed)?;
    let known = ResumePoint { committed: committed.clone(), chain_id: head.chain_id, edges, below };
    let genesis = flags.reading.genesis.as_deref().map(Genesis::read).transpose()?;
    let stated = head.chain_id.or_else(|| genesis.as_ref()?.chain_id());
    let shown = recognised(flags, &source, head, stated, &stop).await?;
    let options = async |source: Option<u64>| -> Result<Options, Failure> {
        let chain_id = source.or(stated);
        let family = family(flags.reading.chain_family, shown, chain_id, reader, writer, head).await?;
        Ok(Options { family, ..options(&flags.reading, on_refusal(flags), genesis.clone(), chain_id, None) })
    };
    let start = || StatisticsTask::start(database.clone(), PollSchedule::Often);
    let statistics = flags.slice.is_none().then(start);
    let stopped = stop.clone();
    let ending = match source {
        Source::Rpc(urls) => {
            let node = node_client(&urls, &flags.reading, stop.clone())?;
            let source = of_chain(node_source(node.clone(), flags, below, &committed).await?, stated)?;
            let options = options(source.chain_id()).await?;
            let source = source.with_family(options.family);
            let (queue, fetcher) = TokenFetcher::start(node, database.clone(), RetryPolicy::NextRun);
            let options = Options { tokens: Some(queue), ..options };
            match load(source, writer.clone(), guard.clone(), known, options, stop.clone()).await {
                Ok((Ending::Complete, _)) => {
                    fetcher.finish(stop).await;
                    Ending::Complete
                }
                ended => {
                    fetcher.stop();
                    ended?.0
                }
            }
        }
        Source::Cryo(folder) => {
            let source = CryoSource::new(&folder, source_range(flags, u64::MAX, below)?, &committed, flags.chain_id)?;
            let source = of_chain(source, stated)?;
            let options = options(source.chain_id()).await?;
            load(source, writer.clone(), guard.clone(), known, options, stop).await?.0
        }
        Source::Era1(files) => {
            let source = Era1Source::new(&files, source_range(flags, u64::MAX, below)?, committed, flags.chain_id)?;
            let source = of_chain(source, stated)?;
            let options = options(source.chain_id()).await?;
            load(source, writer.clone(), guard.clone(), known, options, stop).await?.0
        }
        Source::Etl(folder) => {
            let chain_id = flags.chain_id.or(head.chain_id);
            let source = EtlSource::new(&folder, source_range(flags, u64::MAX, below)?, committed, chain_id)?;
            let source = of_chain(source, stated)?;
            let options = options(source.chain_id()).await?;
            load(source, writer.clone(), guard.clone(), known, options, stop).await?.0
        }
        Source::Dump(files) => {
            let range = source_range(flags, u64::MAX, below)?;
            let source = of_chain(DumpSource::new(files, range, committed, flags.chain_id)?, stated)?;
            let options = options(source.chain_id()).await?;
            load(source, writer.clone(), guard.clone(), known, options, stop).await?.0
        }
    };
    // Blocks that do not fit the genesis have ended the load by now.
    if flags.slice.is_none_or(Slice::is_first) {
        record_configuration(writer, genesis.as_ref()).await?;
    }
    if let (Ending::Complete, Some(statistics)) = (ending, statistics) {
        statistics.finish(stopped.clone()).await;
        merge(flags, reader, writer, stopped).await;
    }
    Ok(ending)
}

/// Merges what was loaded, unless the flags say otherwise. A failed merge does not fail the load.
pub(super) async fn merge(flags: &LoadFlags, reader: &Reader, writer: &Writer, stop: watch::Receiver<bool>) {
    if flags.merge == MergeFlag::Off {
        return;
    }
    match merge_after_load(reader, writer, stop).await {
        Ok(MergeOutcome::Done) => {}
        Ok(MergeOutcome::Stopped) => {
            tracing::info!("all blocks are loaded; ClickHouse merges the remaining parts in the background");
        }
        Err(error) => {
            tracing::warn!(error = %trawl_core::error_chain(&error), "all blocks are loaded; cannot merge their parts");
        }
    }
}

pub(super) fn on_refusal(flags: &LoadFlags) -> OnRefusal {
    if flags.quarantine { OnRefusal::Quarantine } else { OnRefusal::Stop }
}

async fn node_source(
    node: NodeClient,
    flags: &LoadFlags,
    below: Option<BlockNumber>,
    committed: &Coverage,
) -> Result<RpcSource, Failure> {
    node.chain_id().await?;
    let latest = match flags.to {
        Some(RangeEnd::Block(number)) => number,
        Some(RangeEnd::Latest) | None => node.quantity("eth_blockNumber").await?,
    };
    let missing: Coverage = committed.missing(source_range(flags, latest, below)?).into_iter().collect();
    let (concurrency, traces) = (flags.reading.concurrency.into(), flags.reading.traces.choice());
    let source = RpcSource::new(node, missing.ranges().to_vec(), concurrency, traces);
    Ok(source.await?.with_state(state_wish(flags.reading.state)))
}
