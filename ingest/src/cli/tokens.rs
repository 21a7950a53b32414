//! `trawl-ingest tokens`: asks the token contracts that no load could ask, or all of them again.

use trawl_core::store::{Head, Reader, Writer};
use trawl_ingest::background::token_metadata::{fetch_missing, refresh};
use trawl_ingest::write::lease::{ContentionPolicy, Lease, LeaseGuard, LeaseScope};
use trawl_ingest::write::leased_database::LeasedDatabase;
use trawl_ingest::write::retry::retry_transient;
use trawl_node::{NodeClient, NodeSettings, RetryPolicy};

use super::error::Failure;
use super::flags::TokensFlags;
use super::setup::stop_on_signal;

/// Requests at the same time, at most.
const CONCURRENCY: usize = 16;

/// Asks until every contract that is known has answered, and prints how many did. Who asks again adds rows to one table
/// alone, and waits for no other run.
pub async fn tokens_command(flags: TokensFlags, reader: &Reader, writer: Writer) -> Result<(), Failure> {
    let mut stop = stop_on_signal()?;
    writer.require_schema().await?;
    if flags.refresh {
        return tokio::select! {
            ended = refresh_all(flags, reader, writer) => ended,
            _ = stop.wait_for(|stop| *stop) => Err(Failure::Interrupted),
        };
    }
    let acquired = Lease::acquire(reader, &writer, &LeaseScope::Database, ContentionPolicy::Wait, &mut stop).await?;
    let Some(lease) = acquired else { return Err(Failure::Interrupted) };
    let ended = tokio::select! {
        ended = fetch(flags, reader, writer, lease.guard()) => ended,
        _ = stop.wait_for(|stop| *stop) => Err(Failure::Interrupted),
    };
    lease.release().await;
    ended
}

async fn fetch(flags: TokensFlags, reader: &Reader, writer: Writer, guard: LeaseGuard) -> Result<(), Failure> {
    let node = node(&flags, reader).await?;
    let database = LeasedDatabase { reader: reader.clone(), writer, guard };
    let count = fetch_missing(node, database).await?;
    println!("{count} token contracts answered");
    Ok(())
}

async fn refresh_all(flags: TokensFlags, reader: &Reader, writer: Writer) -> Result<(), Failure> {
    let node = node(&flags, reader).await?;
    let found = refresh(node, reader, writer).await?;
    println!("{} token contracts answered, {} of them with changes", found.called, found.changed);
    Ok(())
}

/// The endpoint, which must be of the chain that is loaded.
async fn node(flags: &TokensFlags, reader: &Reader) -> Result<NodeClient, Failure> {
    let head = retry_transient(|| Head::load(reader)).await?;
    let settings =
        NodeSettings { timeout: flags.rpc_timeout, concurrency: CONCURRENCY, retry: RetryPolicy::PERSISTENT };
    let node = NodeClient::new(&flags.rpc_url, settings)?;
    let found = node.chain_id().await?;
    match head.chain_id.filter(|expected| *expected != found) {
        Some(expected) => Err(Failure::OtherChain { expected, found }),
        None => Ok(node),
    }
}
