//! Whether addresses ran code of their own, where the creations of contracts are not all loaded.
//!
//! Results are cached for the settled blocks of a generation; blocks that are not settled, and those settled a short
//! time ago, are searched each time. A lookup of new addresses takes two rounds: the newest settled blocks, which show
//! the busy addresses, and then all settled blocks for the rest. Each round reads a bounded number of rows, so an
//! address may stay unknown that a longer search would find.
//!
//! Memory: 16 MiB at most.

use std::collections::{HashMap, HashSet};

use futures_util::future::try_join_all;

use crate::cache::batch_loader::BatchLoader;
use crate::cache::generations::GenerationCache;
use trawl_core::primitives::{Address, BlockRange};
use trawl_core::readable::Span;
use trawl_core::store::{Head, Reader, StoreError};
use trawl_query::contracts::ran_code::ran_code;

/// Most bytes of the cache.
const MAX_CACHE_BYTES: u64 = 16 << 20;
/// Settled blocks in which the busy addresses are found.
const BUSY_BLOCKS: u64 = 1_000;

/// The cache, and the lookups in progress.
pub(crate) struct RanCodeCache {
    loader: BatchLoader<Address, ()>,
    known: GenerationCache<Address, bool>,
}

impl RanCodeCache {
    /// An empty cache.
    pub fn new() -> Self {
        Self { loader: BatchLoader::new(), known: GenerationCache::new(MAX_CACHE_BYTES) }
    }

    /// Those of `addresses` that ran code by a readable block; nothing is read where all code is known.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn of(
        &self,
        reader: &Reader,
        addresses: &[Address],
        head: &Head,
    ) -> Result<HashSet<Address>, StoreError> {
        if head.knows_all_code() {
            return Ok(HashSet::new());
        }
        let known = |address: &Address| self.known.get(head.contracts_view, *address);
        let mut found: HashSet<Address> =
            addresses.iter().filter(|address| known(address) == Some(true)).copied().collect();
        let unknown: Vec<Address> = addresses.iter().filter(|address| known(address).is_none()).copied().collect();
        if !unknown.is_empty() {
            let settled =
                Blocks { logs: head.receipts.span().only_settled(), calls: head.traces.span().only_settled() };
            let read = async |addresses: Vec<Address>| settled.search(reader, addresses).await;
            let read = self.loader.load(head.view, &unknown, read).await?;
            for address in unknown {
                let ran = read.contains_key(&address);
                self.known.insert(head.contracts_view, address, 0, ran);
                found.extend(ran.then_some(address));
            }
        }
        let rest: Vec<Address> = addresses.iter().filter(|address| !found.contains(*address)).copied().collect();
        let newest =
            Blocks { logs: head.receipts.span().without_settled(), calls: head.traces.span().without_settled() };
        let recent = Span { newest: head.recent_span(), ..Span::default() };
        let recent = Blocks { logs: recent.clone(), calls: recent };
        let (newest, recent) = tokio::try_join!(newest.all(reader, &rest), recent.all(reader, &rest))?;
        found.extend(newest.into_iter().chain(recent));
        Ok(found)
    }
}

/// The blocks that are searched: for logs, and for calls.
struct Blocks {
    logs: Span,
    calls: Span,
}

impl Blocks {
    /// Those of `addresses` that ran code in settled blocks.
    async fn search(&self, reader: &Reader, addresses: Vec<Address>) -> Result<HashMap<Address, ()>, StoreError> {
        let busy = self.busy().all(reader, &addresses).await?;
        let rest: Vec<Address> = addresses.into_iter().filter(|address| !busy.contains(address)).collect();
        let quiet = self.all(reader, &rest).await?;
        Ok(busy.into_iter().chain(quiet).map(|address| (address, ())).collect())
    }

    /// The newest of these blocks.
    fn busy(&self) -> Self {
        let newest = |span: &Span| {
            let last = span.highest()?;
            Some(span.within(BlockRange::new(last.saturating_sub(BUSY_BLOCKS - 1), last)?))
        };
        Self { logs: newest(&self.logs).unwrap_or_default(), calls: newest(&self.calls).unwrap_or_default() }
    }

    /// Those of `addresses` that ran code in these blocks.
    async fn all(&self, reader: &Reader, addresses: &[Address]) -> Result<HashSet<Address>, StoreError> {
        if addresses.is_empty() {
            return Ok(HashSet::new());
        }
        let statements = ran_code(addresses, &self.logs, &self.calls);
        let found = try_join_all(statements.iter().map(|statement| reader.rows(statement))).await?;
        Ok(found.into_iter().flatten().map(|row| row.address).collect())
    }
}
