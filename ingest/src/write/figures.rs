//! What is counted of writes.

use std::time::Instant;

use trawl_core::store::StoreError;

/// Counts blocks that were written as one batch, which began then.
pub(crate) fn count_batch(to: &'static str, blocks: u64, started: Instant) {
    metrics::counter!("trawl_ingest_blocks_total", "to" => to).increment(blocks);
    metrics::histogram!("trawl_ingest_batch_duration_seconds", "to" => to).record(started.elapsed());
}

/// Counts a statement that is sent again.
pub(super) fn count_retry(error: &StoreError) {
    let cause = match error {
        error if error.is_full_disk() => "disk_full",
        error if error.is_unreachable() => "unreachable",
        _ => "refused",
    };
    metrics::counter!("trawl_ingest_retries_total", "cause" => cause).increment(1);
}

/// Shows whether this run has the right to write.
pub(super) fn show_lease(is_held: bool) {
    metrics::gauge!("trawl_ingest_lease_held").set(f64::from(u8::from(is_held)));
}
