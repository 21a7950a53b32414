//! `trawl-ingest follow`: acquires the right to write, cleans up, follows.

use std::sync::Arc;

use tokio::sync::{Notify, watch};
use trawl_chains::ETHEREUM;
use trawl_core::store::{Head, Reader, StoreAddress, Writer};
use trawl_ingest::background::token_metadata::{RetryPolicy, TokenFetcher};
use trawl_ingest::background::token_statistics::{PollSchedule, StatisticsTask};
use trawl_ingest::follow::{Settings, Tools, follow};
use trawl_ingest::load::pipeline::Options;
use trawl_ingest::load::prepare::OnRefusal;
use trawl_ingest::merge::MergeTask;
use trawl_ingest::source::BlockSource;
use trawl_ingest::source::rpc::RpcSource;
use trawl_ingest::state::genesis::Genesis;
use trawl_ingest::watch::{FollowProgress, Subjects, WatchTask};
use trawl_ingest::write::lease::{Lease, LeaseScope};
use trawl_ingest::write::leased_database::LeasedDatabase;
use trawl_ingest::write::recover::{recover, wait_for_foreign_inserts};
use trawl_ingest::write::retry::retry_transient;

use super::error::Failure;
use super::family::family;
use super::family::recognition::recognised_by_newest;
use super::flags::FollowFlags;
use super::load::require_books;
use super::probes::serve_probes;
use super::setup::{node_client, of_chain, options, record_configuration, state_wish, stop_on_signal};

/// Follows until `stop` becomes true.
pub async fn follow_command(
    flags: &FollowFlags,
    address: &StoreAddress,
    writer: Writer,
    reader: &Reader,
) -> Result<(), Failure> {
    let urls = flags.nodes().ok_or(Failure::NoNode)?;
    let mut stop = stop_on_signal()?;
    let progress = FollowProgress::default();
    if let Some(listen) = flags.probes.metrics_listen {
        serve_probes(listen, Some(progress.clone())).await?;
    }
    writer.require_schema().await?;
    tracing::debug!(database = address.database, "following");
    let acquired = Lease::acquire(reader, &writer, &LeaseScope::Database, flags.lease.contention(), &mut stop).await?;
    let Some(lease) = acquired else { return Err(Failure::Interrupted) };
    let database = LeasedDatabase { reader: reader.clone(), writer, guard: lease.guard() };
    let ended = follow_leased(flags, &urls, database, progress, stop).await;
    lease.release().await;
    ended?;
    Err(Failure::Interrupted)
}

async fn follow_leased(
    flags: &FollowFlags,
    urls: &[String],
    database: LeasedDatabase,
    progress: FollowProgress,
    mut stop: watch::Receiver<bool>,
) -> Result<(), Failure> {
    let LeasedDatabase { reader, writer, guard } = &database;
    wait_for_foreign_inserts(reader, writer.run(), guard, &mut stop).await?;
    if *stop.borrow() {
        return Ok(());
    }
    let head = retry_transient(|| Head::load(reader)).await?;
    require_books(reader).await?;
    recover(reader, writer, guard, head.blocks.settled()).await?;
    let genesis = flags.reading.genesis.as_deref().map(Genesis::read).transpose()?;
    let stated = head.chain_id.or_else(|| genesis.as_ref()?.chain_id());
    record_configuration(writer, genesis.as_ref()).await?;
    let node = node_client(urls, &flags.reading, stop.clone())?;
    node.chain_id().await?;
    let (concurrency, traces) = (flags.reading.concurrency.into(), flags.reading.traces.choice());
    let source = RpcSource::new(node.clone(), Vec::new(), concurrency, traces).await?;
    let source = of_chain(source.with_state(state_wish(flags.reading.state)), stated)?;
    let chain_id = source.chain_id().or(stated);
    let shown = recognised_by_newest(&flags.reading, &node, &head).await;
    let family = family(flags.reading.chain_family, shown, chain_id, reader, writer, &head).await?;
    let source = source.with_family(family);
    let settled = Arc::new(Notify::new());
    let statistics = StatisticsTask::start(database.clone(), PollSchedule::When(Arc::clone(&settled)));
    let to_merge = Arc::new(Notify::new());
    let merges = MergeTask::start(reader.clone(), writer.clone(), Arc::clone(&to_merge));
    let (queue, fetcher) =
        TokenFetcher::start(node.clone(), database.clone(), RetryPolicy::Forever(flags.tokens_interval));
    let options = Options { family, ..options(&flags.reading, OnRefusal::Stop, genesis, chain_id, Some(queue)) };
    let tools = Tools {
        node,
        source,
        database: database.clone(),
        options,
        settled: vec![settled, to_merge],
        progress: progress.clone(),
    };
    let watch = WatchTask::start(Subjects {
        node: tools.node.clone(),
        source: tools.source.clone(),
        database: database.clone(),
        interval: flags.watch_interval,
        progress,
    });
    let by_family = family.unwrap_or(&ETHEREUM).finality;
    let settings = Settings {
        from: flags.from,
        poll: flags.poll_interval,
        finality: flags.final_after.map_or(by_family, |depth| by_family.with_depth(depth)),
        settle_blocks: flags.settle_blocks,
        settle_interval: flags.settle_interval,
        tables_interval: flags.hot_tables_interval,
    };
    let ended = follow(tools, settings, stop).await;
    fetcher.stop();
    drop((statistics, merges));
    match &ended {
        Ok(()) => watch.end().await,
        // What ended it is not known to readers, so it does not count as an end on request.
        Err(_) => watch.abort(),
    }
    Ok(ended?)
}
