//! What the tables say of addresses, remembered under what it depends on.
//!
//! Nothing is ever invalidated. A key names the state that was asked: what is settled for contracts and proxies, the
//! number of words on tokens, the number of steps in which transfers were counted. What is remembered of one state stays
//! true of it; the next begins with nothing remembered, and leaves no room for the one before. That an address is
//! nothing is remembered like anything else. What hot blocks say of contracts and proxies is little: it is read whole,
//! once for each view of the chain.
//!
//! Memory: 3 × 16 MiB at most, and at most 2 × 20,000 rows of the hot blocks of one view.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use tokio::sync::Mutex;

use crate::cache::batch_loader::BatchLoader;
use trawl_core::primitives::{Address, Span};
use trawl_core::schema::{ProxyRow, TokenRow, TokenStatisticsRow};
use trawl_core::store::{Head, Reader, StoreError};
use trawl_query::addresses::{self, KnownContract};

/// Bytes that facts of a kind may take.
const LIMIT: u64 = 16 << 20;
/// Bytes that anything remembered takes beside its rows.
const OVERHEAD: usize = 160;
/// Bytes of a row beside its texts.
const ROW: usize = 120;

/// Facts of addresses, each under the state it is true of, with about how many bytes it takes.
type Remembered<V> = Cache<(u64, Address), (u32, V)>;

fn remembered<V: Clone + Send + Sync + 'static>() -> Remembered<V> {
    let cache = Cache::builder().max_capacity(LIMIT).weigher(|_, (weight, _): &(u32, V)| *weight);
    // The default policy would prefer what was asked often, which is what the states before were.
    cache.eviction_policy(EvictionPolicy::lru()).build()
}

fn weight(rows: usize) -> u32 {
    u32::try_from(OVERHEAD + rows).unwrap_or(u32::MAX)
}

/// Whether an address was created as a contract, and where it forwards its calls to, from the oldest word to the newest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Code {
    pub is_created: bool,
    pub pointers: Vec<ProxyRow>,
}

/// What some blocks say of addresses.
type Said = HashMap<Address, Code>;

/// What is remembered, and what is being asked.
pub(crate) struct ContractCache {
    code_loader: BatchLoader<Address, Code>,
    token_loader: BatchLoader<Address, Arc<TokenRow>>,
    /// By what is settled.
    code: Remembered<Arc<Code>>,
    /// The newest word of each on itself, by the number of words.
    tokens: Remembered<Option<Arc<TokenRow>>>,
    /// The newest word on each, by kind of its transfers, by the number of steps.
    counted: Remembered<Arc<[TokenStatisticsRow]>>,
    /// Of the view that was asked last; `None` if there is too much of it to be read whole.
    newest: Mutex<(u64, Option<Arc<Said>>)>,
}

/// Whatever is known of the addresses of a page; what is nothing is in none of them.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub code: HashMap<Address, Arc<Code>>,
    pub tokens: HashMap<Address, Arc<TokenRow>>,
    pub counted: HashMap<Address, Arc<[TokenStatisticsRow]>>,
}

impl ContractCache {
    /// With nothing remembered.
    pub fn new() -> Self {
        Self {
            code_loader: BatchLoader::new(),
            token_loader: BatchLoader::new(),
            code: remembered(),
            tokens: remembered(),
            counted: remembered(),
            newest: Mutex::default(),
        }
    }

    /// What is known of `shown` as of `head`, and what transfers of `tokens` tell: what is not remembered is read side by
    /// side, however many there are.
    pub async fn facts(
        &self,
        reader: &Reader,
        shown: &[Address],
        tokens: &BTreeSet<Address>,
        head: &Head,
    ) -> Result<Facts, StoreError> {
        let counted: Vec<Address> = tokens.iter().copied().collect();
        let (code, tokens, counted) = tokio::try_join!(
            self.code(reader, shown, head),
            self.tokens(reader, shown, head),
            self.counted(reader, &counted, head)
        )?;
        Ok(Facts { code, tokens, counted })
    }

    /// What tokens among `shown` said of themselves.
    pub async fn tokens(
        &self,
        reader: &Reader,
        shown: &[Address],
        head: &Head,
    ) -> Result<HashMap<Address, Arc<TokenRow>>, StoreError> {
        let (mut found, unknown) = recall(&self.tokens, head.tokens, shown);
        if !unknown.is_empty() && head.tokens > 0 {
            // The newest word comes last.
            let read = async |unknown: Vec<Address>| {
                let rows = reader.rows(&addresses::tokens(&unknown)).await?;
                Ok(rows.into_iter().map(|row| (row.address, Arc::new(row))).collect())
            };
            let newest = self.token_loader.load(head.view, &unknown, read).await?;
            for address in unknown {
                let token = newest.get(&address).cloned();
                let texts = token.iter().flat_map(|token| [&token.name, &token.symbol]).flatten();
                let size = texts.map(String::len).sum::<usize>() + ROW;
                self.tokens.insert((head.tokens, address), (weight(size), token.clone()));
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
        let (mut found, unknown) = recall(&self.counted, head.token_steps, shown);
        // Before the first step nothing was counted.
        if !unknown.is_empty() && head.token_steps > 0 {
            let mut kinds: HashMap<Address, Vec<TokenStatisticsRow>> = HashMap::new();
            for row in reader.rows(&addresses::statistics(&unknown)).await? {
                let kinds = kinds.entry(row.token_address).or_default();
                kinds.retain(|kind| kind.token_type != row.token_type);
                kinds.push(row);
            }
            for address in unknown {
                let counted: Arc<[_]> = kinds.remove(&address).unwrap_or_default().into();
                let remembered = (weight(counted.len() * ROW), Arc::clone(&counted));
                self.counted.insert((head.token_steps, address), remembered);
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
    ) -> Result<HashMap<Address, Arc<Code>>, StoreError> {
        let blocks = head.blocks.span();
        let settled = Span { settled: blocks.settled.clone(), hot: Vec::new() };
        let (mut found, unknown) = recall(&self.code, head.settled_view, shown);
        let (read, newest) = tokio::try_join!(
            async {
                if unknown.is_empty() || settled.is_empty() {
                    return Ok(Arc::default());
                }
                let read = async |unknown: Vec<Address>| read_code(reader, &unknown, &settled).await;
                self.code_loader.load(head.view, &unknown, read).await
            },
            self.newest(reader, shown, &blocks, head.view)
        )?;
        for address in unknown {
            let code = Arc::new(read.get(&address).cloned().unwrap_or_default());
            let remembered = (weight(code.pointers.len() * ROW), Arc::clone(&code));
            self.code.insert((head.settled_view, address), remembered);
            found.insert(address, code);
        }
        for (address, code) in &mut found {
            if let Some(newer) = newest.get(address) {
                let code = Arc::make_mut(code);
                code.is_created |= newer.is_created;
                code.pointers.extend(newer.pointers.iter().cloned());
                // A hot block may lie in a hole between settled ones.
                code.pointers.sort_by_key(|pointer| pointer.block_number);
            }
        }
        Ok(found)
    }

    /// What hot blocks say of `shown`, and maybe of others.
    async fn newest(
        &self,
        reader: &Reader,
        shown: &[Address],
        blocks: &Span,
        view: u64,
    ) -> Result<Arc<Said>, StoreError> {
        if blocks.hot.is_empty() || shown.is_empty() {
            return Ok(Arc::default());
        }
        // Who comes while it is read waits for it.
        let mut kept = self.newest.lock().await;
        if kept.0 != view {
            let (contracts, proxies) = (addresses::newest_contracts(blocks), addresses::newest_proxies(blocks));
            let (contracts, proxies) = tokio::try_join!(reader.rows(&contracts), reader.rows(&proxies))?;
            let is_whole = (contracts.len().max(proxies.len()) as u64) < addresses::NEWEST;
            *kept = (view, is_whole.then(|| Arc::new(by_address(contracts, proxies))));
        }
        let newest = kept.1.clone();
        drop(kept);
        match newest {
            Some(newest) => Ok(newest),
            None => {
                let hot = Span { settled: Vec::new(), hot: blocks.hot.clone() };
                read_code(reader, shown, &hot).await.map(Arc::new)
            }
        }
    }
}

/// What is remembered of `shown` in a `state`, and those of whom nothing is.
fn recall<V: Clone + Send + Sync + 'static>(
    remembered: &Remembered<V>,
    state: u64,
    shown: &[Address],
) -> (HashMap<Address, V>, Vec<Address>) {
    let (mut found, mut unknown) = (HashMap::new(), Vec::new());
    for address in shown {
        match remembered.get(&(state, *address)) {
            Some((_, value)) => drop(found.insert(*address, value)),
            None => unknown.push(*address),
        }
    }
    (found, unknown)
}

/// What `blocks` say of some `addresses`.
async fn read_code(reader: &Reader, addresses: &[Address], blocks: &Span) -> Result<Said, StoreError> {
    let (contracts, proxies) = (addresses::contracts(addresses, blocks), addresses::proxies(addresses, blocks));
    let (contracts, proxies) = tokio::try_join!(reader.rows(&contracts), reader.rows(&proxies))?;
    Ok(by_address(contracts, proxies))
}

fn by_address(contracts: Vec<KnownContract>, proxies: Vec<ProxyRow>) -> Said {
    let mut code = Said::new();
    for contract in contracts {
        code.entry(contract.address).or_default().is_created = true;
    }
    for proxy in proxies {
        code.entry(proxy.address).or_default().pointers.push(proxy);
    }
    code
}
