//! Makes a killed run harmless: removes what it wrote and did not commit.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::watch;
use trawl_core::primitives::{BlockRange, Coverage};
use trawl_core::schema::{BLOCK_TABLES, BlockPart, OPTIONAL_TABLES};
use trawl_core::store::{AnnouncedRange, FILL_RUNS, Head, Reader, StoreError, Writer, tables_of_part};

use crate::write::lease::{LeaseGuard, runs_apart};
use crate::write::retry::retry_transient;

/// How long inserts of a killed process are waited for before they are looked at again.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Runs whose intents are forgotten in one statement.
const RUNS_PER_STATEMENT: usize = 500;

/// Removes the rows of ranges that an earlier run announced and did not commit, as far as they are in what `guard` is
/// of. Returns those ranges.
///
/// The caller holds the lease, and read `committed` after [`wait_for_foreign_inserts`].
pub async fn recover(
    reader: &Reader,
    writer: &Writer,
    guard: &LeaseGuard,
    committed: &Coverage,
) -> Result<Vec<BlockRange>, StoreError> {
    let range = guard.scope().range();
    let mut announced = retry_transient(|| reader.abandoned_intents(writer.run())).await?;
    announced.retain(|intent| intent.range().is_some_and(|announced| announced.intersection(range).is_some()));
    let abandoned = announced.iter().filter_map(AnnouncedRange::abandoned);
    let abandoned = abandoned.filter_map(|announced| announced.intersection(range));
    let leftovers: Vec<BlockRange> = abandoned.flat_map(|range| committed.missing(range)).collect();
    for range in &leftovers {
        tracing::info!(blocks = %range, "removing rows of an interrupted run");
        remove(writer, guard, *range).await?;
    }
    let filled = announced.iter().filter(|intent| intent.run.starts_with(FILL_RUNS));
    for range in filled.filter_map(AnnouncedRange::range).filter_map(|filled| filled.intersection(range)) {
        remove_unfilled(reader, writer, guard, range).await?;
    }
    // Only those that were looked at, and only while no other run may have announced anything in this range. An intent
    // that reaches beyond it is still needed there.
    let runs: BTreeSet<String> = announced.into_iter().map(|range| range.run).collect();
    for runs in runs.into_iter().collect::<Vec<_>>().chunks(RUNS_PER_STATEMENT) {
        retry_transient(|| guard.write(writer.forget_intents(runs, range))).await?;
    }
    Ok(leftovers)
}

/// Removes the rows of parts that a run began to fill in for `range` and did not commit.
async fn remove_unfilled(
    reader: &Reader,
    writer: &Writer,
    guard: &LeaseGuard,
    range: BlockRange,
) -> Result<(), StoreError> {
    let head = retry_transient(|| Head::load(reader)).await?;
    let state = [&head.state, &head.state_but_system, &head.state_transactions];
    let state: Coverage = state.iter().flat_map(|part| part.settled().ranges()).copied().collect();
    for (part, coverage) in [(BlockPart::Traces, head.traces.settled()), (BlockPart::State, &state)] {
        for missing in coverage.missing(range) {
            tracing::info!(%part, blocks = %missing, "removing rows that an interrupted run filled in");
            for (table, column) in tables_of_part(part) {
                // A removal reads and marks a whole table.
                if retry_transient(|| reader.rows_of_range(table, column, missing)).await? > 0 {
                    retry_transient(|| guard.write(writer.delete_if_there(table, column, missing))).await?;
                }
            }
            if part == BlockPart::Traces {
                retry_transient(|| guard.write(writer.forget_traced_contracts(reader, missing))).await?;
            }
        }
    }
    Ok(())
}

/// Removes the rows of `range` from all tables of blocks. None of its blocks is committed, and the range is announced.
pub async fn remove(writer: &Writer, guard: &LeaseGuard, range: BlockRange) -> Result<(), StoreError> {
    for (table, column) in BLOCK_TABLES {
        retry_transient(|| guard.write(writer.delete(table, column, range))).await?;
    }
    for (table, column) in OPTIONAL_TABLES {
        retry_transient(|| guard.write(writer.delete_if_there(table, column, range))).await?;
    }
    Ok(())
}

/// Waits for inserts of earlier runs into what `guard` is of: one whose client is gone may still be going on in the
/// server, and its rows must not appear after they were removed. Ends early if `stop` becomes true.
pub async fn wait_for_foreign_inserts(
    reader: &Reader,
    run: &str,
    guard: &LeaseGuard,
    stop: &mut watch::Receiver<bool>,
) -> Result<(), StoreError> {
    let mut warned = false;
    loop {
        // Others may have begun since the last look.
        let mut spared = runs_apart(reader, guard.scope()).await?;
        spared.push(run.into());
        if retry_transient(|| reader.foreign_inserts(&spared)).await? == 0 {
            return Ok(());
        }
        if !std::mem::replace(&mut warned, true) {
            tracing::warn!("inserts of an earlier run are still running; waiting for them to finish");
        }
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return Ok(()),
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
    }
}
