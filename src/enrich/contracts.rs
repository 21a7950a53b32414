//! Facts of addresses from the tables of contracts, proxies and tokens, cached by the generation of their table.
//!
//! Entries are never invalidated. A key holds the generation of the data: the settled blocks for contracts and proxies,
//! the number of rows in `tokens`, the number of steps in which transfers were counted. An entry stays valid for its
//! generation; the next one begins with an empty cache, and entries of the one before are evicted. An address without
//! facts is cached too. Contracts and proxies of blocks that are not settled are read from memory each time.
//!
//! Memory: 3 × 16 MiB at most.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::cache::batch_loader::BatchLoader;
use crate::cache::generations::GenerationCache;
use trawl_core::primitives::Address;
use trawl_core::readable::Span;
use trawl_core::schema::{ProxyRow, TokenRow, TokenStatisticsRow};
use trawl_core::store::{Head, Reader, StoreError};
use trawl_query::addresses::{self, KnownContract};

/// Most bytes of cached facts of one kind.
const MAX_CACHE_BYTES: u64 = 16 << 20;
/// Bytes of a row beside its texts.
const ROW_BYTES: usize = 120;

/// Facts of one kind, by generation and address.
type FactCache<V> = GenerationCache<Address, V>;

/// Whether an address was created as a contract, and its proxy records, from the oldest to the newest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ContractInfo {
    pub is_created: bool,
    pub pointers: Vec<ProxyRow>,
}

/// Contracts and proxies of some blocks, by address.
type ContractMap = HashMap<Address, ContractInfo>;

/// The caches, and the lookups in progress.
pub(crate) struct ContractCache {
    code_loader: BatchLoader<Address, ContractInfo>,
    token_loader: BatchLoader<Address, Arc<TokenRow>>,
    /// Contracts and proxies of settled blocks, by the generation of these blocks.
    code: FactCache<Arc<ContractInfo>>,
    /// The newest metadata of each token, by the number of rows in `tokens`.
    tokens: FactCache<Option<Arc<TokenRow>>>,
    /// The newest statistics of each token, one row for each kind of its transfers, by the number of counting steps.
    counted: FactCache<Arc<[TokenStatisticsRow]>>,
}

/// The facts of the addresses of a page. An address without facts is absent from a map or has the default value in it.
#[derive(Debug, Default)]
pub(crate) struct ContractFacts {
    /// Contracts and proxies.
    pub code: HashMap<Address, Arc<ContractInfo>>,
    /// Metadata of tokens.
    pub tokens: HashMap<Address, Arc<TokenRow>>,
    /// Statistics of tokens.
    pub counted: HashMap<Address, Arc<[TokenStatisticsRow]>>,
}

impl ContractCache {
    /// Empty caches.
    pub fn new() -> Self {
        Self {
            code_loader: BatchLoader::new(),
            token_loader: BatchLoader::new(),
            code: FactCache::new(MAX_CACHE_BYTES),
            tokens: FactCache::new(MAX_CACHE_BYTES),
            counted: FactCache::new(MAX_CACHE_BYTES),
        }
    }

    /// The facts of `shown` as of `head`, and the statistics of `tokens`. Facts that are not cached are read
    /// concurrently, one statement for each kind.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn facts(
        &self,
        reader: &Reader,
        shown: &[Address],
        tokens: &BTreeSet<Address>,
        head: &Head,
    ) -> Result<ContractFacts, StoreError> {
        let counted: Vec<Address> = tokens.iter().copied().collect();
        let (code, tokens, counted) = tokio::try_join!(
            self.code(reader, shown, head),
            self.tokens(reader, shown, head),
            self.counted(reader, &counted, head)
        )?;
        Ok(ContractFacts { code, tokens, counted })
    }

    /// The metadata of the tokens among `shown`.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn tokens(
        &self,
        reader: &Reader,
        shown: &[Address],
        head: &Head,
    ) -> Result<HashMap<Address, Arc<TokenRow>>, StoreError> {
        let (mut found, unknown) = cached(&self.tokens, head.tokens, shown);
        if !unknown.is_empty() && head.tokens > 0 {
            // The newest row comes last.
            let read = async |unknown: Vec<Address>| {
                let rows = reader.rows(&addresses::tokens(&unknown)).await?;
                Ok(rows.into_iter().map(|row| (row.address, Arc::new(row))).collect())
            };
            let newest = self.token_loader.load(head.view, &unknown, read).await?;
            for address in unknown {
                let token = newest.get(&address).cloned();
                let texts = token.iter().flat_map(|token| [&token.name, &token.symbol]).flatten();
                let size = texts.map(String::len).sum::<usize>() + ROW_BYTES;
                self.tokens.insert(head.tokens, address, size, token.clone());
                found.insert(address, token);
            }
        }
        Ok(found.into_iter().filter_map(|(address, token)| Some((address, token?))).collect())
    }

    async fn counted(
        &self,
        reader: &Reader,
        shown: &[Address],
        head: &Head,
    ) -> Result<HashMap<Address, Arc<[TokenStatisticsRow]>>, StoreError> {
        let (mut found, unknown) = cached(&self.counted, head.token_steps, shown);
        // Before the first counting step there are no statistics.
        if !unknown.is_empty() && head.token_steps > 0 {
            let mut kinds: HashMap<Address, Vec<TokenStatisticsRow>> = HashMap::new();
            for row in reader.rows(&addresses::statistics(&unknown)).await? {
                let kinds = kinds.entry(row.token_address).or_default();
                kinds.retain(|kind| kind.token_type != row.token_type);
                kinds.push(row);
            }
            for address in unknown {
                let counted: Arc<[_]> = kinds.remove(&address).unwrap_or_default().into();
                self.counted.insert(head.token_steps, address, counted.len() * ROW_BYTES, Arc::clone(&counted));
                found.insert(address, counted);
            }
        }
        Ok(found)
    }

    async fn code(
        &self,
        reader: &Reader,
        shown: &[Address],
        head: &Head,
    ) -> Result<HashMap<Address, Arc<ContractInfo>>, StoreError> {
        let blocks = head.blocks.span();
        let (settled, newest) = (blocks.only_settled(), blocks.without_settled());
        let recent = Span { newest: head.recent_span(), ..Span::default() };
        let (mut found, unknown) = cached(&self.code, head.contracts_view, shown);
        let (read, newest, recent) = tokio::try_join!(
            async {
                if unknown.is_empty() || settled.is_empty() {
                    return Ok(Arc::default());
                }
                let read = async |unknown: Vec<Address>| read_code(reader, &unknown, &settled).await;
                self.code_loader.load(head.view, &unknown, read).await
            },
            read_code(reader, shown, &newest),
            read_code(reader, shown, &recent)
        )?;
        for address in unknown {
            let code = Arc::new(read.get(&address).cloned().unwrap_or_default());
            self.code.insert(head.contracts_view, address, code.pointers.len() * ROW_BYTES, Arc::clone(&code));
            found.insert(address, code);
        }
        for (address, code) in &mut found {
            for newer in recent.get(address).into_iter().chain(newest.get(address)) {
                let code = Arc::make_mut(code);
                code.is_created |= newer.is_created;
                // What was read may include recently settled blocks.
                let unknown: Vec<_> =
                    newer.pointers.iter().filter(|pointer| !code.pointers.contains(pointer)).cloned().collect();
                code.pointers.extend(unknown);
                // A block that is not settled may lie in a gap between settled ones.
                code.pointers.sort_by_key(|pointer| pointer.block_number);
            }
        }
        Ok(found)
    }
}

/// The cached facts of `shown` of a `generation`, and the addresses that have none cached.
fn cached<V: Clone + Send + Sync + 'static>(
    cache: &FactCache<V>,
    generation: u64,
    shown: &[Address],
) -> (HashMap<Address, V>, Vec<Address>) {
    let (mut found, mut unknown) = (HashMap::new(), Vec::new());
    for address in shown {
        match cache.get(generation, *address) {
            Some(value) => drop(found.insert(*address, value)),
            None => unknown.push(*address),
        }
    }
    (found, unknown)
}

/// Contracts and proxies of `blocks` among `addresses`.
async fn read_code(reader: &Reader, addresses: &[Address], blocks: &Span) -> Result<ContractMap, StoreError> {
    let (contracts, proxies) = (addresses::contracts(addresses, blocks), addresses::proxies(addresses, blocks));
    let (contracts, proxies) = tokio::try_join!(reader.rows(&contracts), reader.rows(&proxies))?;
    Ok(by_address(contracts, proxies))
}

fn by_address(contracts: Vec<KnownContract>, proxies: Vec<ProxyRow>) -> ContractMap {
    let mut code = ContractMap::new();
    for contract in contracts {
        code.entry(contract.address).or_default().is_created = true;
    }
    for proxy in proxies {
        code.entry(proxy.address).or_default().pointers.push(proxy);
    }
    code
}
