//! Facts of addresses from the tables of contracts, proxies and tokens, cached by the generation of their table.
//!
//! Entries are never invalidated. A key holds the generation of the data: the settled blocks for contracts and proxies,
//! the number of rows in `tokens`, the number of steps in which transfers were counted. An entry stays valid for its
//! generation; the next one begins with an empty cache, and entries of the one before are evicted. An address without
//! facts is cached too. Contracts and proxies of blocks that are not settled are read from memory each time. What is
//! not cached is read by one statement for all kinds of facts: new addresses come with every block.
//!
//! Proxies that the state after the head shows are cached by the view of the chain.
//!
//! Memory: 4 × 16 MiB at most.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::cache::batch_loader::BatchLoader;
use crate::cache::generations::GenerationCache;
use trawl_core::primitives::Address;
use trawl_core::readable::Span;
use trawl_core::schema::{ProxyRow, TokenRow, TokenStatisticsRow};
use trawl_core::store::{Head, Reader, StoreError};
use trawl_json::addresses::address::Proxy;
use trawl_query::addresses::{self, AddressFact, KnownContract, RequestedFacts};

/// Most bytes of cached facts of one kind.
const MAX_CACHE_BYTES: u64 = 16 << 20;
/// Bytes of a row beside its texts.
const ROW_BYTES: usize = 120;

/// Facts of one kind, by generation and address.
type FactCache<V> = GenerationCache<Address, V>;

/// The creations that gave an address code, and its proxy records, from the oldest to the newest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ContractInfo {
    pub creations: Vec<CodeCreation>,
    /// Whether it was created without code, and can never have any: nothing else is created at such an address.
    pub is_codeless: bool,
    pub pointers: Vec<ProxyRow>,
}

/// A creation that left code, or one whose result the source did not have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CodeCreation {
    pub block_number: u64,
    pub transaction_index: u32,
    /// Whether a contract that is gone can be created again at the same address.
    pub is_repeatable: bool,
}

/// Contracts and proxies of some blocks, by address.
type ContractMap = HashMap<Address, ContractInfo>;

/// A kind of facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    Code,
    Token,
    Counted,
}

/// The facts that were read, by kind and address; nothing is known of other addresses.
type Read = HashMap<(Kind, Address), Vec<AddressFact>>;

/// The caches, and the lookups in progress.
pub(crate) struct ContractCache {
    loader: BatchLoader<(Kind, Address), Vec<AddressFact>>,
    /// Contracts and proxies of settled blocks, by the generation of these blocks.
    code: FactCache<Arc<ContractInfo>>,
    /// The newest metadata of each token, by the number of rows in `tokens`.
    tokens: FactCache<Option<Arc<TokenRow>>>,
    /// The newest statistics of each token, one row for each kind of its transfers, by the number of counting steps.
    counted: FactCache<Arc<[TokenStatisticsRow]>>,
    /// Proxies by the state after the head, by view. Contracts that are no proxies are cached too.
    state_proxies: FactCache<Option<Arc<Proxy>>>,
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
    /// Empty caches, each with its own limit of bytes.
    pub fn new() -> Self {
        Self {
            loader: BatchLoader::new(),
            code: FactCache::new(MAX_CACHE_BYTES),
            tokens: FactCache::new(MAX_CACHE_BYTES),
            counted: FactCache::new(MAX_CACHE_BYTES),
            state_proxies: FactCache::new(MAX_CACHE_BYTES),
        }
    }

    /// The cached proxy of a contract under the view of `head`; the inner `None` if it is no proxy.
    pub fn state_proxy(&self, head: &Head, contract: Address) -> Option<Option<Arc<Proxy>>> {
        self.state_proxies.get(head.view, contract)
    }

    /// Caches the proxy of a contract by the state after `head`.
    pub fn keep_state_proxy(&self, head: &Head, contract: Address, proxy: Option<Arc<Proxy>>) {
        let size = proxy.as_ref().map_or(0, |proxy| ROW_BYTES + proxy.others.len() * Address::len_bytes());
        self.state_proxies.insert(head.view, contract, size, proxy);
    }

    /// The facts of `shown` as of `head`, and the statistics of `tokens`. Facts that are not cached are read in one
    /// statement.
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
        let (mut code, unknown_code) = cached(&self.code, head.contracts_view, shown);
        let (mut tokens, unknown_tokens) = cached(&self.tokens, head.tokens, shown);
        let (mut statistics, uncounted) = cached(&self.counted, head.token_steps, &counted);
        let unknown = RequestedFacts { code: unknown_code, tokens: unknown_tokens, counted: uncounted };
        let (newest, recent) = (head.blocks.span().without_settled(), head.recent_span());
        let recent = Span { newest: recent, ..Span::default() };
        let (read, newest, recent) = tokio::try_join!(
            self.read(reader, &unknown, head),
            read_code(reader, shown, &newest),
            read_code(reader, shown, &recent)
        )?;
        code.extend(self.keep_code(&unknown.code, &read, head));
        tokens.extend(self.keep_tokens(&unknown.tokens, &read, head));
        statistics.extend(self.keep_counted(&unknown.counted, &read, head));
        overlay(&mut code, &recent, &newest);
        Ok(ContractFacts { code, tokens: known(tokens), counted: statistics })
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
        let (mut tokens, unknown) = cached(&self.tokens, head.tokens, shown);
        let unknown = RequestedFacts { tokens: unknown, ..RequestedFacts::default() };
        let read = self.read(reader, &unknown, head).await?;
        tokens.extend(self.keep_tokens(&unknown.tokens, &read, head));
        Ok(known(tokens))
    }

    /// Reads the requested facts from the tables, together with those of concurrent requests.
    async fn read(&self, reader: &Reader, requested: &RequestedFacts, head: &Head) -> Result<Arc<Read>, StoreError> {
        let named = |kind: Kind| move |address: &Address| (kind, *address);
        let code = requested.code.iter().map(named(Kind::Code));
        // There are no facts before the first row, or the first counting step.
        let tokens = requested.tokens.iter().filter(|_| head.tokens > 0).map(named(Kind::Token));
        let counted = requested.counted.iter().filter(|_| head.token_steps > 0).map(named(Kind::Counted));
        let keys: Vec<(Kind, Address)> = code.chain(tokens).chain(counted).collect();
        if keys.is_empty() {
            return Ok(Arc::default());
        }
        let settled = head.blocks.span().only_settled();
        let read = async |keys: Vec<(Kind, Address)>| {
            let of = |kind: Kind| keys.iter().filter(|key| key.0 == kind).map(|key| key.1).collect();
            let facts = RequestedFacts { code: of(Kind::Code), tokens: of(Kind::Token), counted: of(Kind::Counted) };
            match addresses::facts(&facts, &settled) {
                Some(statement) => Ok(by_key(reader.rows(&statement).await?)),
                None => Ok(Read::default()),
            }
        };
        self.loader.load(head.view, &keys, read).await
    }

    fn keep_code(&self, addresses: &[Address], read: &Read, head: &Head) -> Vec<(Address, Arc<ContractInfo>)> {
        let keep = |address: &Address| {
            let code = Arc::new(read.get(&(Kind::Code, *address)).map(|rows| contract_info(rows)).unwrap_or_default());
            let rows = code.pointers.len() + code.creations.len();
            self.code.insert(head.contracts_view, *address, rows * ROW_BYTES, Arc::clone(&code));
            (*address, code)
        };
        addresses.iter().map(keep).collect()
    }

    fn keep_tokens(&self, addresses: &[Address], read: &Read, head: &Head) -> Vec<(Address, Option<Arc<TokenRow>>)> {
        let keep = |address: &Address| {
            let newest = |rows: &Vec<AddressFact>| rows.iter().max_by_key(|row| row.block_number).map(token_row);
            let token = read.get(&(Kind::Token, *address)).and_then(newest).map(Arc::new);
            let texts = token.iter().flat_map(|token| [&token.name, &token.symbol]).flatten();
            let size = texts.map(String::len).sum::<usize>() + ROW_BYTES;
            self.tokens.insert(head.tokens, *address, size, token.clone());
            (*address, token)
        };
        addresses.iter().map(keep).collect()
    }

    fn keep_counted(
        &self,
        addresses: &[Address],
        read: &Read,
        head: &Head,
    ) -> Vec<(Address, Arc<[TokenStatisticsRow]>)> {
        let keep = |address: &Address| {
            let counted: Arc<[_]> =
                read.get(&(Kind::Counted, *address)).map_or_else(Arc::default, |rows| newest_of_kinds(rows));
            self.counted.insert(head.token_steps, *address, counted.len() * ROW_BYTES, Arc::clone(&counted));
            (*address, counted)
        };
        addresses.iter().map(keep).collect()
    }
}

/// Lays contracts and proxies of newer blocks over those of the tables.
fn overlay(code: &mut HashMap<Address, Arc<ContractInfo>>, recent: &ContractMap, newest: &ContractMap) {
    for (address, code) in code {
        for newer in recent.get(address).into_iter().chain(newest.get(address)) {
            let code = Arc::make_mut(code);
            // What was read may include recently settled blocks.
            let unknown: Vec<_> =
                newer.creations.iter().filter(|creation| !code.creations.contains(creation)).cloned().collect();
            code.creations.extend(unknown);
            code.creations.sort();
            code.is_codeless |= newer.is_codeless;
            let unknown: Vec<_> =
                newer.pointers.iter().filter(|pointer| !code.pointers.contains(pointer)).cloned().collect();
            code.pointers.extend(unknown);
            // A block that is not settled may lie in a gap between settled ones.
            code.pointers.sort_by_key(|pointer| pointer.block_number);
        }
    }
}

/// The addresses that are tokens.
fn known(tokens: HashMap<Address, Option<Arc<TokenRow>>>) -> HashMap<Address, Arc<TokenRow>> {
    tokens.into_iter().filter_map(|(address, token)| Some((address, token?))).collect()
}

/// The cached facts of `shown` in a `generation`, and the addresses without cached facts.
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
        let (block, index) = (contract.block_number, contract.transaction_index);
        let info = code.entry(contract.address).or_default();
        info.add_creation(block, index, &contract.creation_type, contract.code_size);
    }
    for proxy in proxies {
        code.entry(proxy.address).or_default().pointers.push(proxy);
    }
    code
}

fn by_key(rows: Vec<AddressFact>) -> Read {
    let mut read = Read::new();
    for row in rows {
        let kind = match row.fact.as_str() {
            "token" => Kind::Token,
            "counted" => Kind::Counted,
            _ => Kind::Code,
        };
        read.entry((kind, row.address)).or_default().push(row);
    }
    read
}

fn contract_info(rows: &[AddressFact]) -> ContractInfo {
    let pointer = |row: &AddressFact| ProxyRow {
        address: row.address,
        block_number: row.block_number,
        kind: row.kind.clone(),
        implementation: row.implementation,
    };
    let (contracts, proxies): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.fact == "contract");
    let mut pointers: Vec<ProxyRow> = proxies.into_iter().map(pointer).collect();
    pointers.sort_by_key(|pointer| pointer.block_number);
    let mut info = ContractInfo { pointers, ..ContractInfo::default() };
    for row in contracts {
        info.add_creation(row.block_number, row.transaction_index, &row.kind, row.code_size);
    }
    info.creations.sort();
    info
}

impl ContractInfo {
    /// Adds a creation at a position. A contract by CREATE2 that left no code may have been destroyed, and come again.
    fn add_creation(&mut self, block_number: u64, transaction_index: u32, kind: &str, code_size: Option<u32>) {
        let is_repeatable = kind == "create2";
        if code_size == Some(0) {
            self.is_codeless |= !is_repeatable;
        } else {
            self.creations.push(CodeCreation { block_number, transaction_index, is_repeatable });
        }
    }
}

fn token_row(row: &AddressFact) -> TokenRow {
    TokenRow {
        address: row.address,
        block_number: row.block_number,
        token_type: row.kind.clone(),
        name: row.name.clone(),
        symbol: row.symbol.clone(),
        decimals: row.decimals,
        total_supply: row.total_supply,
    }
}

/// The newest row for each kind of transfers.
fn newest_of_kinds(rows: &[AddressFact]) -> Arc<[TokenStatisticsRow]> {
    let mut kinds: Vec<TokenStatisticsRow> = Vec::new();
    let mut rows: Vec<&AddressFact> = rows.iter().collect();
    rows.sort_by_key(|row| row.block_number);
    for row in rows {
        kinds.retain(|kind| kind.token_type != row.kind);
        kinds.push(TokenStatisticsRow {
            token_address: row.address,
            token_type: row.kind.clone(),
            block_number: row.block_number,
            holders_count: row.holders_count,
            total_supply: row.total_supply,
        });
    }
    kinds.into()
}
