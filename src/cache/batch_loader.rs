//! Coalesces lookups: those that arrive while others are running go into one statement together, so many clients cost few
//! statements, and a lone client waits for none.
//!
//! What is gathered belongs to one view of the chain, so that an answer is never older than the head of who asked.
//! Memory: what those who wait ask for.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OnceCell, Semaphore};

use trawl_core::store::StoreError;

/// Most keys of one statement: they travel in the address of a request, which has room for 64 KB.
const MOST: usize = 800;
/// Statements of a kind at once; what comes meanwhile waits and is asked together.
const AT_ONCE: usize = 2;

/// Gathers questions of one kind.
pub(crate) struct BatchLoader<K, V> {
    /// Where questions are put that come now.
    open: Mutex<Arc<Batch<K, V>>>,
    running: Semaphore,
}

struct Batch<K, V> {
    view: u64,
    keys: Mutex<BTreeSet<K>>,
    answer: OnceCell<Arc<HashMap<K, V>>>,
}

impl<K: Ord, V> Batch<K, V> {
    fn new(view: u64) -> Arc<Self> {
        Arc::new(Self { view, keys: Mutex::default(), answer: OnceCell::new() })
    }
}

impl<K: Copy + Ord + Hash, V> BatchLoader<K, V> {
    /// With nothing asked.
    pub fn new() -> Self {
        Self { open: Mutex::new(Batch::new(0)), running: Semaphore::new(AT_ONCE) }
    }

    /// What `read` finds for `keys` under `view`, and maybe for others: one of those who wait reads for all. If that
    /// fails or is given up, the next one tries.
    pub async fn load<F, Fut>(&self, view: u64, keys: &[K], read: F) -> Result<Arc<HashMap<K, V>>, StoreError>
    where
        F: FnOnce(Vec<K>) -> Fut,
        Fut: Future<Output = Result<HashMap<K, V>, StoreError>>,
    {
        let batch = self.join(view, keys);
        let make = async || {
            // Nothing closes it.
            let _permit = self.running.acquire().await;
            let keys = self.close(&batch);
            read(keys).await.map(Arc::new)
        };
        batch.answer.get_or_try_init(make).await.cloned()
    }

    fn join(&self, view: u64, keys: &[K]) -> Arc<Batch<K, V>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = |batch: &Batch<K, V>| {
            let known = batch.keys.lock().unwrap_or_else(PoisonError::into_inner);
            batch.view == view && known.len() + keys.len() <= MOST
        };
        if !has_room(&open) {
            *open = Batch::new(view);
        }
        open.keys.lock().unwrap_or_else(PoisonError::into_inner).extend(keys);
        Arc::clone(&open)
    }

    /// What is asked; from here on nobody joins.
    fn close(&self, batch: &Arc<Batch<K, V>>) -> Vec<K> {
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
    async fn who_comes_meanwhile_is_answered_together() {
        let loader = BatchLoader::<u64, u64>::new();
        let reads = AtomicUsize::new(0);
        let ask = async |view: u64, key: u64| {
            let read = async |keys: Vec<u64>| {
                reads.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(20)).await;
                Ok(keys.into_iter().map(|key| (key, key * 10 + view)).collect())
            };
            loader.load(view, &[key], read).await.map(|found| found[&key])
        };
        let found = join_all((0..50).map(|key| ask(1, key))).await;
        let found: Vec<u64> = found.into_iter().map(|value| value.expect("found")).collect();
        assert_eq!(found, (0..50).map(|key| key * 10 + 1).collect::<Vec<_>>());
        assert!(reads.load(Ordering::Relaxed) <= AT_ONCE + 1, "{reads:?}");
        assert_eq!(ask(2, 7).await.expect("found"), 72, "another view is asked anew");
    }

    #[tokio::test]
    async fn when_one_fails_the_next_one_tries() {
        let loader = BatchLoader::<u64, u64>::new();
        let fails = async |_| Err(StoreError::silent());
        let works = async |keys: Vec<u64>| Ok(keys.into_iter().map(|key| (key, key)).collect());
        let (one, other) = tokio::join!(loader.load(1, &[1], fails), loader.load(1, &[2], works));
        assert!(one.is_err());
        assert_eq!(other.expect("found")[&2], 2);
    }
}
