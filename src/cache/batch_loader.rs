//! Coalesces lookups: those that arrive while others are running go into one statement together, so many clients cost
//! few statements, and a single client never waits.
//!
//! A batch belongs to one view of the chain, so a result is never older than the head of the request. Memory: the keys
//! and results of the waiting requests.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OnceCell, Semaphore};

use trawl_core::store::StoreError;

/// Most keys of one statement: they are part of the URL of its request, which has room for 64 KB.
const MAX_KEYS: usize = 800;
/// Most statements of a kind at the same time; keys that arrive in the meantime wait and form the next batch.
const MAX_STATEMENTS: usize = 2;

/// Coalesces lookups of one kind; a `W` says of which view of the chain one is.
pub(crate) struct BatchLoader<K, V, W = u64> {
    /// The batch that new keys join.
    open: Mutex<Arc<Batch<K, V, W>>>,
    running: Semaphore,
    max_keys: usize,
}

struct Batch<K, V, W> {
    view: W,
    keys: Mutex<BTreeSet<K>>,
    answer: OnceCell<Arc<HashMap<K, V>>>,
}

impl<K: Ord, V, W> Batch<K, V, W> {
    fn new(view: W) -> Arc<Self> {
        Arc::new(Self { view, keys: Mutex::default(), answer: OnceCell::new() })
    }
}

impl<K: Copy + Ord + Hash, V, W: Copy + PartialEq + Default> BatchLoader<K, V, W> {
    /// A loader without pending lookups, for keys of about the length of an address.
    pub fn new() -> Self {
        Self::of_keys(MAX_KEYS)
    }

    /// A loader without pending lookups, for statements of at most `max_keys` keys.
    pub fn of_keys(max_keys: usize) -> Self {
        Self { open: Mutex::new(Batch::new(W::default())), running: Semaphore::new(MAX_STATEMENTS), max_keys }
    }

    /// The values that `read` finds for `keys`, no more than a statement may have, under `view`, and maybe values of
    /// other keys: one of the waiting callers reads for all. If that read fails or is cancelled, the next caller reads.
    ///
    /// # Errors
    ///
    /// When this caller's own read fails.
    pub async fn load<F, Fut>(&self, view: W, keys: &[K], read: F) -> Result<Arc<HashMap<K, V>>, StoreError>
    where
        F: FnOnce(Vec<K>) -> Fut,
        Fut: Future<Output = Result<HashMap<K, V>, StoreError>>,
    {
        let batch = self.join(view, keys);
        let make = async || {
            // The semaphore is never closed.
            let _permit = self.running.acquire().await;
            let keys = self.close(&batch);
            read(keys).await.map(Arc::new)
        };
        batch.answer.get_or_try_init(make).await.cloned()
    }

    fn join(&self, view: W, keys: &[K]) -> Arc<Batch<K, V, W>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = |batch: &Batch<K, V, W>| {
            let known = batch.keys.lock().unwrap_or_else(PoisonError::into_inner);
            batch.view == view && known.len() + keys.len() <= self.max_keys
        };
        if !has_room(&open) {
            *open = Batch::new(view);
        }
        open.keys.lock().unwrap_or_else(PoisonError::into_inner).extend(keys);
        Arc::clone(&open)
    }

    /// Closes a batch, so that no more keys join it, and returns its keys.
    fn close(&self, batch: &Arc<Batch<K, V, W>>) -> Vec<K> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&open, batch) {
            *open = Batch::new(batch.view);
        }
        batch.keys.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use futures_util::future::join_all;

    use super::*;

    #[tokio::test]
    async fn concurrent_lookups_share_a_statement() {
        let loader = BatchLoader::<u64, u64>::new();
        let reads = AtomicUsize::new(0);
        let load = async |view: u64, key: u64| {
            let read = async |keys: Vec<u64>| {
                reads.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(20)).await;
                Ok(keys.into_iter().map(|key| (key, key * 10 + view)).collect())
            };
            loader.load(view, &[key], read).await.map(|found| found[&key])
        };
        let found = join_all((0..50).map(|key| load(1, key))).await;
        let found: Vec<u64> = found.into_iter().map(|value| value.expect("found")).collect();
        assert_eq!(found, (0..50).map(|key| key * 10 + 1).collect::<Vec<_>>());
        assert!(reads.load(Ordering::Relaxed) <= MAX_STATEMENTS + 1, "{reads:?}");
        assert_eq!(load(2, 7).await.expect("found"), 72, "another view is another batch");
    }

    #[tokio::test]
    async fn after_a_failed_read_the_next_caller_reads() {
        let loader = BatchLoader::<u64, u64>::new();
        let fails = async |_| Err(StoreError::silent());
        let works = async |keys: Vec<u64>| Ok(keys.into_iter().map(|key| (key, key)).collect());
        let (one, other) = tokio::join!(loader.load(1, &[1], fails), loader.load(1, &[2], works));
        assert!(one.is_err());
        assert_eq!(other.expect("found")[&2], 2);
    }
}
