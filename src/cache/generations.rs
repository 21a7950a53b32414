//! Facts by generation: a value is true of the state that a number names, and stays true under it. The next generation
//! begins empty and evicts the one before.

use std::hash::Hash;

use moka::policy::EvictionPolicy;
use moka::sync::Cache;

/// Bytes of an entry beside its value.
const ENTRY_OVERHEAD: usize = 160;

/// A cache by generation and key, bounded in bytes.
pub(crate) struct GenerationCache<K, V>(Cache<(u64, K), (u32, V)>);

impl<K, V> GenerationCache<K, V>
where
    K: Copy + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// An empty cache of at most `max_bytes`.
    pub fn new(max_bytes: u64) -> Self {
        let cache = Cache::builder().max_capacity(max_bytes).weigher(|_, (weight, _): &(u32, V)| *weight);
        // The default policy would prefer frequent keys, which are those of earlier generations.
        Self(cache.eviction_policy(EvictionPolicy::lru()).build())
    }

    /// The value of a key in a generation.
    pub fn get(&self, generation: u64, key: K) -> Option<V> {
        self.0.get(&(generation, key)).map(|(_, value)| value)
    }

    /// Keeps a value of about `size` bytes.
    pub fn insert(&self, generation: u64, key: K, size: usize, value: V) {
        let weight = u32::try_from(ENTRY_OVERHEAD + size).unwrap_or(u32::MAX);
        self.0.insert((generation, key), (weight, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generation_begins_empty() {
        let cache = GenerationCache::new(1 << 20);
        cache.insert(1, 'a', 10, "old");
        assert_eq!((cache.get(1, 'a'), cache.get(2, 'a')), (Some("old"), None));
        cache.insert(2, 'a', 10, "new");
        assert_eq!((cache.get(1, 'a'), cache.get(2, 'a')), (Some("old"), Some("new")));
    }

    #[test]
    fn its_size_is_bounded() {
        let cache = GenerationCache::new(10_000);
        for key in 0..1_000 {
            cache.insert(1, key, 1_000, key);
        }
        cache.0.run_pending_tasks();
        assert!(cache.0.weighted_size() <= 10_000 && cache.0.entry_count() >= 5, "{}", cache.0.entry_count());
    }
}
