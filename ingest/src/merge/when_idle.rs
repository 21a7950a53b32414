//! Merges beside `follow`: one at a time, after blocks were settled, and never in the way of a new block.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use trawl_core::store::{Reader, StoreError, Writer};

use super::policy::Policy;
use super::{merge_once, mergeable};

/// Most merges after each time that blocks were settled.
const MERGES_AT_ONCE: usize = 32;
/// How long merging pauses after a failure.
const RETRY_PAUSE: Duration = Duration::from_secs(60);

/// The task that merges; dropping this ends it.
#[derive(Debug)]
pub struct MergeTask(JoinHandle<()>);

impl MergeTask {
    /// Starts the task, which merges whenever `settled` reports new blocks.
    #[must_use]
    pub fn start(reader: Reader, writer: Writer, settled: Arc<Notify>) -> Self {
        Self(tokio::spawn(async move {
            loop {
                settled.notified().await;
                if let Err(error) = merge(&reader, &writer).await {
                    tracing::debug!(error = %trawl_core::error_chain(&error), "cannot merge parts; trying again later");
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
            }
        }))
    }
}

impl Drop for MergeTask {
    /// Aborts the task; a merge that ClickHouse has started goes on.
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Merges each table that is worth it once, and leaves the rest to the next time.
async fn merge(reader: &Reader, writer: &Writer) -> Result<(), StoreError> {
    for (table, _) in mergeable(reader, &Policy::WHEN_IDLE).await?.into_iter().take(MERGES_AT_ONCE) {
        merge_once(writer, &table).await?;
    }
    Ok(())
}
