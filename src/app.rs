//! The state that all requests share: store, head, caches and settings. It is passive: `main` builds it and starts
//! tasks.

use std::sync::{Arc, Once};

use alloy_chains::NamedChain;

use crate::cache::responses::ResponseCache;
use crate::cache::run_sums::RunSums;
use crate::cache::settled_rows::SettledRows;
use crate::cache::state_loads::StateLoads;
use crate::enrich::contracts::ContractCache;
use crate::enrich::labels::LabelCache;
use crate::enrich::primary_names::PrimaryNames;
use crate::enrich::ran_code::RanCodeCache;
use crate::enrich::selectors::SelectorCache;
use crate::error::Problem;
use crate::limits::{Limits, RateLimits};
use crate::options::Options;
use trawl_chains::Family;
use trawl_core::store::{Head, HeadWatch, Reader};
use trawl_evm::StateCache;
use trawl_metrics::Exposition;
use trawl_query::blocks::withdrawals::WithdrawalSums;
use trawl_query::stats::days::DaySums;

/// The state that all requests share.
#[derive(Clone)]
pub struct App(Arc<AppState>);

struct AppState {
    reader: Reader,
    head: HeadWatch,
    responses: Option<ResponseCache>,
    settled_rows: Option<SettledRows>,
    day_sums: RunSums<DaySums>,
    withdrawal_sums: RunSums<WithdrawalSums>,
    options: Options,
    metrics: Option<Exposition>,
    labels: LabelCache,
    contracts: ContractCache,
    names: PrimaryNames,
    ran_code: RanCodeCache,
    selectors: SelectorCache,
    other_chain: Once,
    state_cache: StateCache,
    state_loads: StateLoads,
    limits: Arc<Limits>,
    rates: Option<Arc<RateLimits>>,
}

impl App {
    /// An application over a store.
    #[must_use]
    pub fn new(reader: Reader, head: HeadWatch, options: Options, metrics: Option<Exposition>) -> Self {
        let limits = Limits::new(&options.limits, options.sockets);
        let rates = options.rates.as_ref().map(RateLimits::new);
        Self::with(reader, head, options, metrics, limits, rates)
    }

    /// That of another chain in the same server: what clients may take is divided among all chains, and shared in part.
    #[must_use]
    pub fn of_another_chain(&self, reader: Reader, head: HeadWatch, options: Options) -> Self {
        let (limits, rates) = (self.limits().of_another_chain(), self.rates().cloned());
        Self::with(reader, head, options, None, limits, rates)
    }

    fn with(
        reader: Reader,
        head: HeadWatch,
        options: Options,
        metrics: Option<Exposition>,
        limits: Limits,
        rates: Option<Arc<RateLimits>>,
    ) -> Self {
        Self(Arc::new(AppState {
            reader,
            head,
            responses: ResponseCache::new(options.cache_bytes),
            settled_rows: SettledRows::new(options.settled_cache_bytes),
            day_sums: RunSums::new(),
            withdrawal_sums: RunSums::new(),
            metrics,
            labels: LabelCache::new(),
            contracts: ContractCache::new(),
            names: PrimaryNames::new(),
            ran_code: RanCodeCache::new(),
            selectors: SelectorCache::new(),
            other_chain: Once::new(),
            state_cache: StateCache::new(options.state_cache_bytes),
            state_loads: StateLoads::new(),
            limits: Arc::new(limits),
            rates,
            options,
        }))
    }

    pub(crate) fn reader(&self) -> &Reader {
        &self.0.reader
    }

    pub(crate) fn state_cache(&self) -> &StateCache {
        &self.0.state_cache
    }

    pub(crate) fn state_loads(&self) -> &StateLoads {
        &self.0.state_loads
    }

    /// What clients may take at the same time.
    pub(crate) fn limits(&self) -> &Arc<Limits> {
        &self.0.limits
    }

    /// How many requests are answered in a time, where that has a limit.
    pub(crate) fn rates(&self) -> Option<&Arc<RateLimits>> {
        self.0.rates.as_ref()
    }

    /// Runs CPU-bound work on a thread of its own, as soon as a core is free.
    ///
    /// # Errors
    ///
    /// [`Problem::Busy`] when too many wait for a core, [`Problem::Internal`] when the work panics.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let _slot = self.limits().computing.enter().await?;
        tokio::task::spawn_blocking(work).await.map_err(|error| {
            tracing::error!(%error, "a computation panicked");
            Problem::Internal
        })
    }

    /// What settled blocks add up to by day.
    pub(crate) fn day_sums(&self) -> &RunSums<DaySums> {
        &self.0.day_sums
    }

    /// What the withdrawals of settled blocks add up to.
    pub(crate) fn withdrawal_sums(&self) -> &RunSums<WithdrawalSums> {
        &self.0.withdrawal_sums
    }

    pub(crate) fn labels(&self) -> &LabelCache {
        &self.0.labels
    }

    pub(crate) fn contracts(&self) -> &ContractCache {
        &self.0.contracts
    }

    /// Names of addresses in the state after the head.
    pub(crate) fn names(&self) -> &PrimaryNames {
        &self.0.names
    }

    pub(crate) fn ran_code(&self) -> &RanCodeCache {
        &self.0.ran_code
    }

    pub(crate) fn selectors(&self) -> &SelectorCache {
        &self.0.selectors
    }

    pub(crate) fn responses(&self) -> Option<&ResponseCache> {
        self.0.responses.as_ref()
    }

    /// The cache of rows of settled blocks; `None` if it is off.
    pub(crate) fn settled_rows(&self) -> Option<&SettledRows> {
        self.0.settled_rows.as_ref()
    }

    pub(crate) fn options(&self) -> &Options {
        &self.0.options
    }

    pub(crate) fn metrics(&self) -> Option<&Exposition> {
        self.0.metrics.as_ref()
    }

    /// A watch of the head.
    pub(crate) fn head_watch(&self) -> HeadWatch {
        self.0.head.clone()
    }

    /// The current head, for answers that need the store; a request takes it once. They fail at once while the store is
    /// away, rather than after a time limit.
    ///
    /// # Errors
    ///
    /// [`Problem::NotReady`] while the store has not answered yet, [`Problem::NothingLoaded`] while there is no block,
    /// [`Problem::Damaged`] when what is newest, or which rows count, is lost, [`Problem::Unreachable`] while the store
    /// is away.
    pub(crate) fn head(&self) -> Result<Arc<Head>, Problem> {
        self.known_head().and_then(|head| self.usable(head))
    }

    /// A head, if answers can be read under it.
    ///
    /// # Errors
    ///
    /// [`Problem::Damaged`], [`Problem::Unreachable`] and [`Problem::NothingLoaded`], as of [`App::head`].
    pub(crate) fn usable(&self, head: Arc<Head>) -> Result<Arc<Head>, Problem> {
        if head.damage.hits_bookkeeping() || head.is_cut() {
            return Err(Problem::Damaged);
        }
        if self.0.head.is_away() {
            return Err(Problem::Unreachable);
        }
        head.number().is_some().then_some(head).ok_or(Problem::NothingLoaded)
    }

    /// The newest head that is known, whether or not anything can be answered from it.
    ///
    /// # Errors
    ///
    /// [`Problem::NotReady`] while the store has not answered yet.
    pub(crate) fn known_head(&self) -> Result<Arc<Head>, Problem> {
        self.0.head.now().ok_or(Problem::NotReady)
    }

    /// The chain id. The options were compared with the data at the start; data that was loaded since takes precedence.
    pub(crate) fn chain_id(&self, head: &Head) -> Option<u64> {
        self.options().served_chain(head).unwrap_or_else(|error| {
            self.0.other_chain.call_once(|| tracing::warn!(%error, "using the chain id of the data"));
            Some(error.data)
        })
    }

    /// The chain id, also while nothing can be answered: that of the newest known head, else that of the options.
    pub(crate) fn known_chain_id(&self) -> Option<u64> {
        self.known_head().ok().and_then(|head| self.chain_id(&head)).or(self.options().chain_id)
    }

    /// The symbol of the chain's coin: the one that its operator stated, or that of its id.
    pub(crate) fn coin(&self, head: &Head) -> Option<&str> {
        let by_id = |id: u64| {
            let listed = trawl_chains::chain(id).and_then(|chain| chain.coin);
            listed.or_else(|| NamedChain::try_from(id).ok()?.native_currency_symbol())
        };
        self.options().coin.as_deref().or_else(|| by_id(self.chain_id(head)?))
    }

    /// The family of the chain: the one that its operator stated, or that of its id.
    pub(crate) fn family(&self, head: &Head) -> Option<&'static Family> {
        Some(trawl_chains::of_chain(self.chain_id(head)?, head.family.as_deref()))
    }
}
