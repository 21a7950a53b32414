//! Publishes heads: to readers through `ingest_heads`, to operators through metrics.

use std::time::{Duration, Instant};

use trawl_core::schema::HeadRow;
use trawl_core::store::StoreError;

use super::hot::HotSink;

/// How often an unchanged head is published again, to show that the follower lives.
const REPEAT_AFTER: Duration = Duration::from_secs(10);

/// When a head is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Publish {
    /// In any case.
    Now,
    /// If it differs from the last one, or that one is old.
    IfStale,
}

/// Remembers the last head.
#[derive(Debug, Default)]
pub(super) struct Publisher {
    last: Option<(HeadRow, Instant)>,
}

impl Publisher {
    /// Publishes `head`, if it is time.
    pub(super) async fn publish(&mut self, sink: &mut HotSink, head: HeadRow, when: Publish) -> Result<(), StoreError> {
        if when == Publish::Now || self.is_stale(&head) {
            sink.publish(head.clone()).await?;
            report(&head);
            self.last = Some((HeadRow { blocks: Vec::new(), ..head }, Instant::now()));
        }
        Ok(())
    }

    /// The last head that was published.
    pub(super) fn last(&self) -> Option<HeadRow> {
        self.last.as_ref().map(|(head, _)| head.clone())
    }

    fn is_stale(&self, head: &HeadRow) -> bool {
        self.last.as_ref().is_none_or(|(last, published_at)| {
            // That the hot tables are filled is no news on its own: it goes with the next head.
            let (written_at, tables_through) = (head.written_at, head.tables_through);
            let is_same = HeadRow { written_at, tables_through, ..last.clone() } == *head;
            !is_same || published_at.elapsed() >= REPEAT_AFTER
        })
    }
}

/// The names follow <https://prometheus.io/docs/practices/naming/>.
fn report(head: &HeadRow) {
    metrics::gauge!("trawl_ingest_head_block").set(head.head_block as f64);
    metrics::gauge!("trawl_ingest_finalized_block").set(head.finalized_block.unwrap_or(0) as f64);
}
