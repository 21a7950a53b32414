//! Makes a killed run harmless: removes what it wrote and did not commit.

use std::time::Duration;

use trawl::primitives::{BlockRange, Coverage};
use trawl::schema::BLOCK_TABLES;
use trawl::store::{Reader, StoreError, Writer};

use crate::sink::patiently;

/// How long inserts of a killed process are waited for before they are looked at again.
const PAUSE: Duration = Duration::from_millis(200);

/// Removes the rows of ranges that an earlier run announced and did not commit. Returns those ranges.
///
/// An insert whose client is gone may still be going on in the server; rows must not appear after they were
/// removed, so this waits for such inserts first.
pub async fn recover(reader: &Reader, writer: &Writer, committed: &Coverage) -> Result<Vec<BlockRange>, StoreError> {
    wait_for_foreign_inserts(reader, writer.run()).await?;
    let abandoned = patiently(|| reader.abandoned_intents(writer.run())).await?;
    let leftovers: Vec<BlockRange> = abandoned.into_iter().flat_map(|range| committed.missing(range)).collect();
    for range in &leftovers {
        tracing::info!(blocks = %range, "removing what an interrupted run left");
        for (table, column) in BLOCK_TABLES {
            patiently(|| writer.delete(table, column, *range)).await?;
        }
    }
    patiently(|| writer.forget_intents()).await?;
    Ok(leftovers)
}

async fn wait_for_foreign_inserts(reader: &Reader, run: &str) -> Result<(), StoreError> {
    let mut told = false;
    while patiently(|| reader.foreign_inserts(run)).await? > 0 {
        if !std::mem::replace(&mut told, true) {
            tracing::warn!("another run is still inserting; waiting for it to end");
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}
