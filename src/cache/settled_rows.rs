//! Rows of settled blocks by the statement that reads them: a repeated read needs no statement.
//!
//! Entries are never invalidated. The key of an entry holds [`Head::rows_view`], under which the rows of a settled
//! block stay as they are, and the statement with all its values, the ranges of readable blocks among them. What
//! depends on more (whether a block is readable at all) is decided by the caller, from the head of the request. An
//! entry lasts ten minutes, so that changes by hand are seen. Concurrent misses wait for one statement.
//!
//! Memory: at most `--settled-cache-size` of messages and the descriptions of their columns; an answer larger than a
//! sixteenth of that is not cached. Rows that were read once do not evict rows that are read often.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;

use crate::error::Problem;
use trawl_core::primitives::B256;
use trawl_core::schema::Columns;
use trawl_core::statement::Statement;
use trawl_core::store::{Batch, Head};

/// Rows that several requests may share.
pub(crate) type SharedRows<R> = Arc<Vec<Batch<R>>>;

/// The key of rows: all that they depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    rows_view: u64,
    statement: B256,
}

impl Key {
    /// The key of the rows that a statement reads under a head.
    pub fn new<R>(head: &Head, statement: &Statement<R>) -> Self {
        Self { rows_view: head.rows_view, statement: statement.digest() }
    }

    /// The key of rows that belong to no block: they stay the same under `generation`.
    pub fn under<R>(generation: u64, statement: &Statement<R>) -> Self {
        Self { rows_view: generation, statement: statement.digest() }
    }
}

/// Rows of any kind, and their bytes.
#[derive(Clone)]
struct CachedRows {
    rows: Arc<dyn Any + Send + Sync>,
    weight: u32,
}

/// Why rows that were read are not cached.
enum NotCached<R> {
    Large(SharedRows<R>),
    Failed(Problem),
}

/// Rows by their keys; the limit is a number of bytes.
pub(crate) struct SettledRows {
    entries: Cache<Key, CachedRows>,
    /// The largest entry, in bytes.
    max_entry: usize,
}

/// Bytes of an entry beside its rows.
const ENTRY_OVERHEAD: usize = 512;
/// Bytes that describe a column of a batch, beside its values.
const COLUMN_BYTES: usize = 400;
/// How long an entry lasts.
const MAX_AGE: Duration = Duration::from_secs(600);

impl SettledRows {
    /// A cache of at most `bytes`; `None` for 0, which turns it off.
    pub fn new(bytes: u64) -> Option<Self> {
        let cache = Cache::builder().max_capacity(bytes).weigher(|_, entry: &CachedRows| entry.weight);
        let max_entry = usize::try_from(bytes / 16).unwrap_or(usize::MAX);
        (bytes > 0).then(|| Self { entries: cache.time_to_live(MAX_AGE).build(), max_entry })
    }

    /// The size of all entries, in bytes.
    pub async fn size_bytes(&self) -> u64 {
        // Recent insertions and evictions are counted only after this.
        self.entries.run_pending_tasks().await;
        self.entries.weighted_size()
    }

    /// The rows that are cached under `key`, or those that `read` reads. Concurrent callers with the same key wait for
    /// one of them.
    ///
    /// # Errors
    ///
    /// When the read fails, for all callers that waited for it.
    pub async fn get_or_read<R: Columns + 'static>(
        &self,
        key: Key,
        read: impl Future<Output = Result<Vec<Batch<R>>, Problem>>,
    ) -> Result<SharedRows<R>, Problem> {
        let read = async {
            let rows = Arc::new(read.await.map_err(NotCached::<R>::Failed)?);
            self.cached(&rows).ok_or(NotCached::Large(rows))
        };
        match self.entries.entry(key).or_try_insert_with(read).await {
            Ok(entry) => {
                count(if entry.is_fresh() { "miss" } else { "hit" });
                entry.into_value().rows.downcast().map_err(|_| mistaken())
            }
            Err(not_cached) => {
                count("miss");
                match &*not_cached {
                    NotCached::Large(rows) => Ok(Arc::clone(rows)),
                    NotCached::Failed(problem) => Err(problem.clone()),
                }
            }
        }
    }

    /// The rows that are cached under `key`.
    pub async fn get<R: Columns + 'static>(&self, key: Key) -> Option<SharedRows<R>> {
        let rows = self.entries.get(&key).await.and_then(|entry| entry.rows.downcast().ok());
        count(if rows.is_some() { "hit" } else { "miss" });
        rows
    }

    /// Caches rows, unless they are too large.
    pub async fn keep<R: Columns + 'static>(&self, key: Key, rows: &SharedRows<R>) {
        if let Some(entry) = self.cached(rows) {
            self.entries.insert(key, entry).await;
        }
    }

    fn cached<R: Columns + 'static>(&self, rows: &SharedRows<R>) -> Option<CachedRows> {
        let size = |batch: &Batch<R>| batch.size_bytes() + batch.record_batch().num_columns() * COLUMN_BYTES;
        let size = ENTRY_OVERHEAD + rows.iter().map(size).sum::<usize>();
        let weight = u32::try_from(size).ok().filter(|_| size <= self.max_entry)?;
        Some(CachedRows { rows: Arc::<Vec<Batch<R>>>::clone(rows), weight })
    }
}

/// A statement has one kind of rows, so this does not happen.
fn mistaken() -> Problem {
    tracing::error!("the cache has rows of another type under a statement");
    Problem::Internal
}

fn count(outcome: &'static str) {
    metrics::counter!("trawl_settled_cache_requests_total", "outcome" => outcome).increment(1);
}
