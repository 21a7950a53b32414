//! The sums of the settled blocks of runs: read once, for these reads are the longest of the figures.
//!
//! Entries are never invalidated: the key of an entry is that of [`settled_rows`](super::settled_rows). An entry lasts
//! a day, so that changes by hand are seen. Concurrent misses wait for one statement.
//!
//! Memory: at most 60,000 rows, 20 MB of sums by day.

use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;

use super::settled_rows::Key;
use crate::error::Problem;

/// Most rows of all entries.
const MAX_ROWS: u64 = 60_000;
/// How long an entry lasts.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Sums by what they depend on; the limit is a number of rows.
pub(crate) struct RunSums<R>(Cache<Key, Arc<[R]>>);

impl<R: Send + Sync + 'static> RunSums<R> {
    /// An empty cache.
    pub fn new() -> Self {
        let weigher = |_: &Key, rows: &Arc<[R]>| u32::try_from(rows.len() + 1).unwrap_or(u32::MAX);
        Self(Cache::builder().max_capacity(MAX_ROWS).weigher(weigher).time_to_live(MAX_AGE).build())
    }

    /// The sums that are cached under `key`, or those that `read` reads.
    ///
    /// # Errors
    ///
    /// When the read fails, for all callers that waited for it.
    pub async fn get_or_read(
        &self,
        key: Key,
        read: impl Future<Output = Result<Vec<R>, Problem>>,
    ) -> Result<Arc<[R]>, Problem> {
        let read = async { read.await.map(Arc::from) };
        self.0.try_get_with(key, read).await.map_err(|problem| Problem::clone(&problem))
    }
}
