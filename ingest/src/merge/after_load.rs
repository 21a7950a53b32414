//! Merges after a load, with progress; the load is complete without them.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::sync::watch;
use trawl_core::store::{Reader, StoreError, Writer};

use super::policy::Policy;
use super::{merge_once, mergeable};

/// Merges of one table, at most: ClickHouse may find none, as where its disk has no room.
const MERGES_PER_TABLE: usize = 12;
/// How long one merge is waited for; ClickHouse then goes on with it alone.
const MERGE_TIMEOUT: Duration = Duration::from_secs(20 * 60);

/// How merging ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeOutcome {
    /// No table is worth another merge, or ClickHouse found nothing to merge.
    Done,
    /// `stop` became true.
    Stopped,
}

/// Merges the parts of settled tables, a bounded number of them at a time, until `stop` becomes true.
///
/// # Errors
///
/// If ClickHouse cannot be reached or refuses a statement.
pub async fn merge_after_load(
    reader: &Reader,
    writer: &Writer,
    mut stop: watch::Receiver<bool>,
) -> Result<MergeOutcome, StoreError> {
    let tables = mergeable(reader, &Policy::AFTER_LOAD).await?;
    if tables.is_empty() {
        return Ok(MergeOutcome::Done);
    }
    let bar = progress(tables.len() as u64);
    let merging = async {
        for (table, _) in tables {
            bar.set_message(table.clone());
            merge_table(reader, writer, &table).await?;
            bar.inc(1);
        }
        Ok(())
    };
    let ended = tokio::select! {
        merged = merging => merged.map(|()| MergeOutcome::Done),
        _ = stop.wait_for(|stop| *stop) => Ok(MergeOutcome::Stopped),
    };
    bar.finish_and_clear();
    ended
}

/// Merges one table until it is not worth another merge.
async fn merge_table(reader: &Reader, writer: &Writer, table: &str) -> Result<(), StoreError> {
    let mut before = usize::MAX;
    for _ in 0..MERGES_PER_TABLE {
        let found = mergeable(reader, &Policy::AFTER_LOAD).await?.into_iter().find(|(name, _)| name == table);
        let Some((_, parts)) = found.filter(|(_, parts)| *parts < before) else { return Ok(()) };
        before = parts;
        match tokio::time::timeout(MERGE_TIMEOUT, merge_once(writer, table)).await {
            Ok(merged) => merged?,
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

fn progress(tables: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(tables), ProgressDrawTarget::stderr());
    let template = "merging the parts of {msg} {bar:30} {pos} of {len} tables [{elapsed_precise}]";
    bar.set_style(ProgressStyle::with_template(template).expect("a fixed template"));
    if bar.is_hidden() {
        eprintln!("merging the parts of {tables} tables; safe to interrupt");
    }
    bar
}
