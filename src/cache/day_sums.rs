//! The sums of the settled blocks of runs, day by day: read once, for these reads are the longest of the figures.
//!
//! Entries are never invalidated: the key of an entry is that of [`settled_rows`](super::settled_rows). An entry lasts
//! a day, so that changes by hand are seen. Concurrent misses wait for one statement.
//!
//! Memory: at most 60,000 days, 20 MB.

use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;

use super::settled_rows::Key;
use crate::error::Problem;
use trawl_query::stats::days::DaySums;

/// Most days of all entries.
const MAX_DAYS: u64 = 60_000;
/// How long an entry lasts.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Days by what their rows depend on; its limit is a number of days.
pub(crate) struct DaySumsCache(Cache<Key, Arc<[DaySums]>>);

impl DaySumsCache {
    /// An empty cache.
    pub fn new() -> Self {
        let weigher = |_: &Key, days: &Arc<[DaySums]>| u32::try_from(days.len() + 1).unwrap_or(u32::MAX);
        Self(Cache::builder().max_capacity(MAX_DAYS).weigher(weigher).time_to_live(MAX_AGE).build())
    }

    /// The days that are cached under `key`, or those that `read` reads.
    ///
    /// # Errors
    ///
    /// When the read fails, for all callers that waited for it.
    pub async fn get_or_read(
        &self,
        key: Key,
        read: impl Future<Output = Result<Vec<DaySums>, Problem>>,
    ) -> Result<Arc<[DaySums]>, Problem> {
        let read = async { read.await.map(Arc::from) };
        self.0.try_get_with(key, read).await.map_err(|problem| Problem::clone(&problem))
    }
}
