//! The filters of `eth_newFilter` and `eth_newBlockFilter` that this process keeps for its clients.
//!
//! They are bounded together: when [`MAX_BYTES`] or [`MAX_FILTERS`] is reached, the least recently used one is evicted,
//! as is one without a request for [`IDLE`]. Its client then gets `filter not found`, as after the restart of a node,
//! and creates it again. A client that has [`MAX_BYTES_OF_CLIENT`] is refused further ones, so that it cannot take
//! the slots of all others.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use tokio::sync::Mutex;

use super::orphans::Orphans;
use crate::app::App;
use crate::error::Problem;
use crate::limits::count_refused;
use trawl_core::primitives::{B256, BlockNumber};
use trawl_core::store::Head;
use trawl_serve::{Client, Quota, QuotaShare};

/// How long a filter is retained without a request, as in geth.
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
    /// Pending transactions, of which there are none here.
    Pending,
    /// Logs, by a filter object that was read without error: its JSON text.
    Logs(Box<str>),
}

/// How far the client of a filter knows the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The number of the view.
    pub view: u64,
    /// The newest block, with its hash if it is loaded; `None` if nothing was readable.
    pub block: Option<(BlockNumber, Option<B256>)>,
    /// Most blocks of the next answer, after one that was too long for its WebSocket; `None` for all.
    pub step: Option<u64>,
}

/// A filter of one client.
#[derive(Debug)]
pub(crate) struct Filter {
    /// What it selects.
    pub selected: FilterKind,
    /// The point of the chain up to which its client was answered; locked until an answer is written, so that two
    /// polls at the same time do not return the same logs.
    pub mark: Arc<Mutex<Mark>>,
    /// Its share of the quota of its client, until the filter is removed: the cache may drop the filter later.
    share: std::sync::Mutex<Option<QuotaShare>>,
}

impl FilterKind {
    /// Its weight in bytes.
    fn weight(&self) -> u32 {
        let bytes = match self {
            Self::Blocks | Self::Pending => 0,
            Self::Logs(text) => text.len(),
        };
        u32::try_from(bytes).unwrap_or(u32::MAX).max(MAX_BYTES.div_ceil(MAX_FILTERS))
    }
}

/// All filters, by their ids.
pub(crate) struct FilterStore {
    filters: Cache<String, Arc<Filter>>,
    clients: Arc<Quota>,
    orphans: Orphans,
}

impl FilterStore {
    /// A store without filters.
    pub fn new() -> Self {
        let cache = Cache::builder().max_capacity(MAX_BYTES.into()).time_to_idle(IDLE);
        let cache = cache.eviction_policy(EvictionPolicy::lru());
        let cache = cache.eviction_listener(|_, filter: Arc<Filter>, _| {
            drop(filter.share.lock().unwrap_or_else(PoisonError::into_inner).take());
        });
        let filters = cache.weigher(|_, filter: &Arc<Filter>| filter.selected.weight()).build();
        Self { filters, clients: Quota::new(u64::MAX, MAX_BYTES_OF_CLIENT.into()), orphans: Orphans::new(IDLE) }
    }

    /// Records the blocks that a step of the head removed, if there are filters.
    pub(super) async fn record_orphans(&self, app: &App, before: &Head, head: &Head) {
        if self.clients.taken() == 0 {
            self.forget_orphans(head.view);
        } else {
            self.orphans.record(app, before, head).await;
        }
    }

    /// Forgets the blocks that the steps up to a view removed.
    pub(super) fn forget_orphans(&self, view: u64) {
        self.orphans.skip(view);
    }

    /// The recorded blocks.
    pub(super) fn orphans(&self) -> &Orphans {
        &self.orphans
    }

    /// Adds a filter of a client.
    ///
    /// # Errors
    ///
    /// [`Problem::TooManyFilters`] when it has as many as one client may have.
    pub(crate) fn add(&self, client: Client, id: String, selected: FilterKind, mark: Mark) -> Result<(), Problem> {
        let share = self.share(client, selected.weight())?;
        let filter = Filter { selected, mark: Arc::new(Mutex::new(mark)), share: std::sync::Mutex::new(Some(share)) };
        self.filters.insert(id, Arc::new(filter));
        Ok(())
    }

    fn share(&self, client: Client, weight: u32) -> Result<QuotaShare, Problem> {
        let take = || self.clients.take(client, weight.into());
        take().or_else(|_| {
            // Expired filters still count until the cache runs its pending tasks.
            self.filters.run_pending_tasks();
            take().map_err(|full| {
                count_refused("filters", Some(client), full);
                Problem::TooManyFilters
            })
        })
    }

    /// The filter of an id.
    pub(crate) fn get(&self, id: &str) -> Option<Arc<Filter>> {
        self.filters.get(id)
    }

    /// Removes a filter. Returns whether there was one.
    pub(crate) fn remove(&self, id: &str) -> bool {
        self.filters.remove(id).is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const MARK: Mark = Mark { view: 1, block: None, step: None };

    fn client(number: u32) -> Client {
        Client::of(Ipv4Addr::from_bits(number).into())
    }

    #[test]
    fn filters_have_a_bound() {
        let store = FilterStore::new();
        for id in 0..3 * MAX_FILTERS {
            store.add(client(id), id.to_string(), FilterKind::Blocks, MARK).expect("a client's first");
        }
        store.filters.run_pending_tasks();
        let count = store.filters.entry_count();
        assert!(count <= MAX_FILTERS.into() && count > u64::from(MAX_FILTERS) / 2, "{count}");
        assert!(store.get("0").is_none() && store.get(&(3 * MAX_FILTERS - 1).to_string()).is_some());
        let taken = u64::from(FilterKind::Blocks.weight()) * count;
        assert_eq!(store.clients.taken(), taken, "evicted filters count for no client");
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
