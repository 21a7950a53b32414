//! The filters of `eth_newFilter` and `eth_newBlockFilter` that this process keeps for its clients.
//!
//! They are bounded together: when [`MAX_BYTES`] or [`MAX_FILTERS`] is reached, the one that was asked least recently
//! goes, as does one that nobody asks for [`IDLE`]. Its client then hears `filter not found`, as after the restart of a
//! node, and makes it again.

use std::sync::Arc;
use std::time::Duration;

use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use tokio::sync::Mutex;

use trawl_core::primitives::{B256, BlockNumber};

/// The longest that a filter is kept without a request for it, as in geth.
const IDLE: Duration = Duration::from_secs(5 * 60);
/// Most filters: a small one counts as if it took its share of [`MAX_BYTES`].
const MAX_FILTERS: u32 = 10_000;
/// Most bytes of their JSON text.
const MAX_BYTES: u32 = 16 << 20;

/// What a filter selects.
#[derive(Debug)]
pub(super) enum Selected {
    /// New blocks.
    Blocks,
    /// Logs, by a filter object that was read without error: its JSON text.
    Logs(Box<str>),
}

/// How far the client of a filter knows the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// The number of the view.
    pub view: u64,
    /// The newest block; `None` if nothing was readable.
    pub block: Option<(BlockNumber, B256)>,
}

/// A filter.
#[derive(Debug)]
pub(super) struct Filter {
    /// What it selects.
    pub selected: Selected,
    /// Up to where its client was told.
    pub mark: Mutex<Mark>,
}

impl Filter {
    /// Its weight in bytes.
    fn weight(&self) -> u32 {
        let bytes = match &self.selected {
            Selected::Blocks => 0,
            Selected::Logs(text) => text.len(),
        };
        u32::try_from(bytes).unwrap_or(u32::MAX).max(MAX_BYTES.div_ceil(MAX_FILTERS))
    }
}

/// All filters, by their ids.
pub(crate) struct FilterStore(Cache<String, Arc<Filter>>);

impl FilterStore {
    /// Without any filter.
    pub fn new() -> Self {
        let cache = Cache::builder().max_capacity(MAX_BYTES.into()).time_to_idle(IDLE);
        let cache = cache.eviction_policy(EvictionPolicy::lru());
        Self(cache.weigher(|_, filter: &Arc<Filter>| filter.weight()).build())
    }

    /// Keeps a filter.
    pub(super) fn add(&self, id: String, selected: Selected, mark: Mark) {
        self.0.insert(id, Arc::new(Filter { selected, mark: Mutex::new(mark) }));
    }

    /// The filter of an id.
    pub(super) fn get(&self, id: &str) -> Option<Arc<Filter>> {
        self.0.get(id)
    }

    /// Forgets a filter; whether there was one.
    pub(super) fn remove(&self, id: &str) -> bool {
        self.0.remove(id).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_have_a_bound() {
        let store = FilterStore::new();
        let mark = Mark { view: 1, block: None };
        for id in 0..3 * MAX_FILTERS {
            store.add(id.to_string(), Selected::Blocks, mark);
        }
        store.0.run_pending_tasks();
        let kept = store.0.entry_count();
        assert!(kept <= MAX_FILTERS.into() && kept > u64::from(MAX_FILTERS) / 2, "{kept}");
        assert!(store.get("0").is_none() && store.get(&(3 * MAX_FILTERS - 1).to_string()).is_some());
    }

    #[test]
    fn long_filters_weigh_more() {
        let text = " ".repeat(20_000).into();
        let filter = Filter { selected: Selected::Logs(text), mark: Mutex::new(Mark { view: 1, block: None }) };
        assert_eq!(filter.weight(), 20_000);
    }
}
