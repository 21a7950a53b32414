//! The filters of `eth_newFilter` and `eth_newBlockFilter` that this process keeps for its clients.
//!
//! They are bounded together: when [`MAX_BYTES`] or [`MAX_FILTERS`] is reached, the one that was asked least recently
//! goes, as does one that nobody asks for [`IDLE`]. Its client then hears `filter not found`, as after the restart of a
//! node, and makes it again. A client that has [`MAX_BYTES_OF_CLIENT`] is refused further ones, so that it cannot take
//! the slots of all others.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use tokio::sync::Mutex;

use crate::error::Problem;
use crate::limits::count_refused;
use trawl_core::primitives::{B256, BlockNumber};
use trawl_serve::{Client, Quota, QuotaShare};

/// The longest that a filter is kept without a request for it, as in geth.
const IDLE: Duration = Duration::from_secs(5 * 60);
/// Most filters: a small one counts as if it took its share of [`MAX_BYTES`].
const MAX_FILTERS: u32 = 10_000;
/// Most bytes of their JSON text.
const MAX_BYTES: u32 = 16 << 20;
/// Most bytes of one client, which are an eighth of [`MAX_FILTERS`] small filters.
const MAX_BYTES_OF_CLIENT: u32 = MAX_BYTES / 8;

/// What a filter selects.
#[derive(Debug)]
pub(crate) enum FilterKind {
    /// New blocks, by their hashes.
    Blocks,
    /// Logs, by a filter object that was read without error: its JSON text.
    Logs(Box<str>),
}

/// How far the client of a filter knows the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The number of the view.
    pub view: u64,
    /// The newest block; `None` if nothing was readable.
    pub block: Option<(BlockNumber, B256)>,
}

/// A filter of one client.
#[derive(Debug)]
pub(crate) struct Filter {
    /// What it selects.
    pub selected: FilterKind,
    /// Up to where its client was told.
    pub mark: Mutex<Mark>,
    /// What its client has of the quota, until it is forgotten: the cache may drop it later than that.
    share: std::sync::Mutex<Option<QuotaShare>>,
}

impl FilterKind {
    /// Its weight in bytes.
    fn weight(&self) -> u32 {
        let bytes = match self {
            Self::Blocks => 0,
            Self::Logs(text) => text.len(),
        };
        u32::try_from(bytes).unwrap_or(u32::MAX).max(MAX_BYTES.div_ceil(MAX_FILTERS))
    }
}

/// All filters, by their ids.
pub(crate) struct FilterStore {
    kept: Cache<String, Arc<Filter>>,
    clients: Arc<Quota>,
}

impl FilterStore {
    /// Without any filter.
    pub fn new() -> Self {
        let cache = Cache::builder().max_capacity(MAX_BYTES.into()).time_to_idle(IDLE);
        let cache = cache.eviction_policy(EvictionPolicy::lru());
        let cache = cache.eviction_listener(|_, filter: Arc<Filter>, _| {
            drop(filter.share.lock().unwrap_or_else(PoisonError::into_inner).take());
        });
        let kept = cache.weigher(|_, filter: &Arc<Filter>| filter.selected.weight()).build();
        Self { kept, clients: Quota::new(u64::MAX, MAX_BYTES_OF_CLIENT.into()) }
    }

    /// Keeps a filter of a client.
    ///
    /// # Errors
    ///
    /// [`Problem::TooManyFilters`] when it has as many as one client may have.
    pub(crate) fn add(&self, client: Client, id: String, selected: FilterKind, mark: Mark) -> Result<(), Problem> {
        let share = self.share(client, selected.weight())?;
        let filter = Filter { selected, mark: Mutex::new(mark), share: std::sync::Mutex::new(Some(share)) };
        self.kept.insert(id, Arc::new(filter));
        Ok(())
    }

    fn share(&self, client: Client, weight: u32) -> Result<QuotaShare, Problem> {
        let take = || self.clients.take(client, weight.into());
        take().or_else(|_| {
            // Filters that nobody asked for long enough still count until the cache looks at them.
            self.kept.run_pending_tasks();
            take().map_err(|full| {
                count_refused("filters", Some(client), full);
                Problem::TooManyFilters
            })
        })
    }

    /// The filter of an id.
    pub(crate) fn get(&self, id: &str) -> Option<Arc<Filter>> {
        self.kept.get(id)
    }

    /// Forgets a filter; whether there was one.
    pub(crate) fn remove(&self, id: &str) -> bool {
        self.kept.remove(id).is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const MARK: Mark = Mark { view: 1, block: None };

    fn client(number: u32) -> Client {
        Client::of(Ipv4Addr::from_bits(number).into())
    }

    #[test]
    fn filters_have_a_bound() {
        let store = FilterStore::new();
        for id in 0..3 * MAX_FILTERS {
            store.add(client(id), id.to_string(), FilterKind::Blocks, MARK).expect("a client's first");
        }
        store.kept.run_pending_tasks();
        let kept = store.kept.entry_count();
        assert!(kept <= MAX_FILTERS.into() && kept > u64::from(MAX_FILTERS) / 2, "{kept}");
        assert!(store.get("0").is_none() && store.get(&(3 * MAX_FILTERS - 1).to_string()).is_some());
        let taken = u64::from(FilterKind::Blocks.weight()) * kept;
        assert_eq!(store.clients.taken(), taken, "what went counts for nobody");
    }

    #[test]
    fn a_client_cannot_take_the_slots_of_others() {
        let store = FilterStore::new();
        let add = |number, id: &str| store.add(client(number), id.into(), FilterKind::Blocks, MARK);
        add(1, "of another").expect("a slot");
        let made = (0..MAX_FILTERS).take_while(|id| add(2, &id.to_string()).is_ok()).count();
        assert_eq!(made, 1_249, "an eighth, rounded down to whole weights");
        assert_eq!(add(2, "more"), Err(Problem::TooManyFilters));
        assert!(store.get("of another").is_some() && add(1, "more of another").is_ok());
        assert!(store.remove("0") && add(2, "more").is_ok(), "a slot comes free");
        let long = FilterKind::Logs(" ".repeat(20_000).into());
        assert_eq!(store.add(client(2), "long".into(), long, MARK), Err(Problem::TooManyFilters));
    }

    #[test]
    fn long_filters_weigh_more() {
        assert_eq!(FilterKind::Logs(" ".repeat(20_000).into()).weight(), 20_000);
    }
}
