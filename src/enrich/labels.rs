//! Labels, ABIs and dictionaries that operators loaded, cached by the number of loads.
//!
//! A load adds rows and never changes any, so an entry stays valid for its number of loads; the next load begins with
//! an empty cache. An entry may be slightly newer than its number of loads, and never older.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use alloy_primitives::Selector;

use super::stored_labels::{apply_label, parsed, size};
use crate::cache::generations::GenerationCache;
use trawl_core::primitives::abi::KnownEvent;
use trawl_core::primitives::{Address, B256, Coverage};
use trawl_core::schema::{Columns, ProxyRow};
use trawl_core::statement::Statement;
use trawl_core::store::{Reader, StoreError};
use trawl_json::addresses::address::Labels;
use trawl_json::vocabulary::{Entry, Vocabulary, selector};
use trawl_query::labels::KnownEntry;

/// The logs and calls of a page that need a vocabulary, and the tokens that need statistics.
#[derive(Debug, Clone, Default)]
pub(crate) struct LabelQuery {
    /// Tokens whose holders and supply are shown.
    pub tokens: BTreeSet<Address>,
    /// Contracts shown with their implementations, including those that only the state names.
    pub proxies: BTreeSet<Address>,
    /// Addresses whose primary names are looked up in the state after the head.
    pub names: BTreeSet<Address>,
    events: BTreeSet<(Address, B256)>,
    calls: BTreeSet<Pair>,
    errors: BTreeSet<Selector>,
}

impl LabelQuery {
    /// Adds a log of `emitter` whose first topic is `hash`.
    pub fn event(&mut self, emitter: Address, hash: B256) {
        self.events.insert((emitter, hash));
    }

    /// Adds a call of `contract` with an input; a creation has no contract to call.
    pub fn call(&mut self, contract: Option<Address>, input: &[u8]) {
        if let (Some(contract), Some(selector)) = (contract, input.get(..4)) {
            self.calls.insert((contract, Selector::from_slice(selector)));
        }
    }

    /// Adds the revert data of a call that ran the code of `contracts`.
    pub fn error(&mut self, contracts: &[Address], output: &[u8]) {
        if let Some(selector) = output.get(..4).map(Selector::from_slice) {
            self.errors.insert(selector);
            self.calls.extend(contracts.iter().map(|contract| (*contract, selector)));
        }
    }

    /// The contracts whose ABIs are looked up.
    pub fn contracts(&self) -> BTreeSet<Address> {
        self.pairs().map(|(contract, _)| contract).collect()
    }

    fn pairs(&self) -> impl Iterator<Item = (Address, Selector)> + '_ {
        self.events.iter().map(|(emitter, hash)| (*emitter, selector(hash))).chain(self.calls.iter().copied())
    }
}

/// Prefix of the kind of a pointer without a record, read from the state after the head.
pub(crate) const BY_STATE: &str = "by state";

/// Most bytes of each of the caches.
const MAX_CACHE_BYTES: u64 = 24 << 20;
/// Bytes of a parsed ABI entry for each byte of its text.
const PARSED_BYTES_PER_BYTE: usize = 4;

/// Values by number of loads and key, each with its approximate size in bytes.
type LoadCache<K, V> = GenerationCache<K, V>;
/// A contract and the selector of an entry of its ABI.
type Pair = (Address, Selector);

/// The caches of labels, at most 4 × 24 MiB in all.
pub(crate) struct LabelCache {
    labels: LoadCache<Address, Arc<Labels>>,
    entries: LoadCache<Pair, Arc<[Entry]>>,
    events: LoadCache<B256, Arc<[KnownEvent]>>,
    functions: LoadCache<Selector, Arc<[String]>>,
}

impl LabelCache {
    /// Empty caches, each with its own limit of bytes.
    pub fn new() -> Self {
        Self {
            labels: LoadCache::new(MAX_CACHE_BYTES),
            entries: LoadCache::new(MAX_CACHE_BYTES),
            events: LoadCache::new(MAX_CACHE_BYTES),
            functions: LoadCache::new(MAX_CACHE_BYTES),
        }
    }

    /// Looks up the labels of all `shown` and the vocabulary that `label_query` names, reading what is not
    /// cached. Nothing is read before the first load.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn lookup<'c>(
        &'c self,
        reader: &Reader,
        loads: u64,
        shown: &[Address],
        label_query: LabelQuery,
    ) -> Result<Lookup<'c>, StoreError> {
        let mut lookup = Lookup::new(self, loads, shown.to_vec(), label_query);
        if loads == 0 {
            return Ok(lookup);
        }
        let mut vocabulary = Vocabulary::default();
        let hashes = self.unknown_events(loads, &lookup.label_query, &mut vocabulary);
        let selectors = self.unknown_functions(loads, &lookup.label_query, &mut vocabulary);
        let unlabelled = lookup.unlabelled(shown.iter().copied());
        let unread = lookup.unread(lookup.label_query.pairs().collect());
        let (events, functions, ()) = tokio::try_join!(
            rows_unless(hashes.is_empty(), reader, trawl_query::labels::events(&hashes)),
            rows_unless(selectors.is_empty(), reader, trawl_query::labels::functions(&selectors)),
            lookup.read(reader, unlabelled, unread),
        )?;
        for hash in hashes {
            let texts = events.iter().filter(|event| event.hash == hash).map(|event| event.signature.as_str());
            let known: Arc<[KnownEvent]> = texts.filter_map(|text| KnownEvent::parse(text).ok()).collect();
            let size = known.iter().map(|known| known.text().len() * PARSED_BYTES_PER_BYTE).sum();
            self.events.insert(loads, hash, size, Arc::clone(&known));
            vocabulary.events.insert(hash, known);
        }
        for selector in selectors {
            let rows = functions.iter().filter(|function| function.selector == selector);
            let known: Arc<[String]> = rows.map(|function| function.signature.clone()).collect();
            let size = known.iter().map(|text| text.len() + 24).sum();
            self.functions.insert(loads, selector, size, Arc::clone(&known));
            vocabulary.functions.insert(selector, known);
        }
        lookup.vocabulary = vocabulary;
        Ok(lookup)
    }

    /// The event hashes that are not cached; cached events go into `vocabulary`.
    fn unknown_events(&self, loads: u64, label_query: &LabelQuery, vocabulary: &mut Vocabulary) -> Vec<B256> {
        let hashes: BTreeSet<B256> = label_query.events.iter().map(|(_, hash)| *hash).collect();
        let is_unknown = |hash: &B256| match self.events.get(loads, *hash) {
            Some(known) => vocabulary.events.insert(*hash, known).is_some(),
            None => true,
        };
        hashes.into_iter().filter(is_unknown).collect()
    }

    /// The selectors that are not cached; cached functions go into `vocabulary`.
    fn unknown_functions(&self, loads: u64, label_query: &LabelQuery, vocabulary: &mut Vocabulary) -> Vec<Selector> {
        let calls = label_query.calls.iter().map(|(_, selector)| *selector);
        let selectors: BTreeSet<Selector> = calls.chain(label_query.errors.iter().copied()).collect();
        let is_unknown = |selector: &Selector| match self.functions.get(loads, *selector) {
            Some(known) => vocabulary.functions.insert(*selector, known).is_some(),
            None => true,
        };
        selectors.into_iter().filter(is_unknown).collect()
    }
}

/// The rows of a statement; none, without a read, if there are no keys.
async fn rows_unless<R: Columns>(
    has_no_keys: bool,
    reader: &Reader,
    statement: Statement<R>,
) -> Result<Vec<R>, StoreError> {
    if has_no_keys { Ok(Vec::new()) } else { reader.rows(&statement).await }
}

/// The first half of a lookup for one page: the proxies of the page are not known yet.
pub(crate) struct Lookup<'c> {
    cache: &'c LabelCache,
    loads: u64,
    shown: Vec<Address>,
    label_query: LabelQuery,
    /// Labels that were cached or read.
    labels: HashMap<Address, Arc<Labels>>,
    /// Entries that were cached.
    entries: HashMap<Pair, Arc<[Entry]>>,
    /// Entries that were read; only those of the generation of a contract's ABI are used.
    rows: HashMap<Pair, Vec<KnownEntry>>,
    /// Addresses whose labels were read; labels of all their implementations were read with them.
    labelled: HashSet<Address>,
    /// Pairs whose entries were read; entries of all implementations were read with them.
    read: HashSet<Pair>,
    vocabulary: Vocabulary,
}

impl<'c> Lookup<'c> {
    fn new(cache: &'c LabelCache, loads: u64, shown: Vec<Address>, label_query: LabelQuery) -> Self {
        Self {
            cache,
            loads,
            shown,
            label_query,
            labels: HashMap::new(),
            entries: HashMap::new(),
            rows: HashMap::new(),
            labelled: HashSet::new(),
            read: HashSet::new(),
            vocabulary: Vocabulary::default(),
        }
    }

    /// The addresses whose labels must be read. Cached labels are copied at once, since they may be evicted at any
    /// moment.
    fn unlabelled(&mut self, addresses: impl Iterator<Item = Address>) -> Vec<Address> {
        let mut unlabelled = Vec::new();
        for address in addresses.filter(|address| !self.labelled.contains(address)) {
            match self.cache.labels.get(self.loads, address) {
                Some(labels) => drop(self.labels.insert(address, labels)),
                None => unlabelled.push(address),
            }
        }
        unlabelled
    }

    /// The pairs whose entries must be read. A contract without an ABI has no entries.
    fn unread(&mut self, pairs: BTreeSet<Pair>) -> BTreeSet<Pair> {
        let mut unread = BTreeSet::new();
        for (contract, selector) in pairs.into_iter().filter(|pair| !self.read.contains(pair)) {
            if self.labels.get(&contract).is_some_and(|labels| labels.abi.is_none()) {
                continue;
            }
            match self.cache.entries.get(self.loads, (contract, selector)) {
                Some(entries) => drop(self.entries.insert((contract, selector), entries)),
                None => drop(unread.insert((contract, selector))),
            }
        }
        unread
    }

    /// Reads labels of some addresses and entries of some ABIs, and those of all implementations that settled blocks
    /// name for them.
    async fn read(
        &mut self,
        reader: &Reader,
        addresses: Vec<Address>,
        pairs: BTreeSet<Pair>,
    ) -> Result<(), StoreError> {
        let contracts: BTreeSet<Address> = pairs.iter().map(|(contract, _)| *contract).collect();
        let contracts: Vec<Address> = contracts.into_iter().collect();
        let selectors: BTreeSet<Selector> = pairs.iter().map(|(_, selector)| *selector).collect();
        let selectors: Vec<Selector> = selectors.into_iter().collect();
        let (labels, entries) = tokio::try_join!(
            rows_unless(addresses.is_empty(), reader, trawl_query::labels::of_addresses(&addresses)),
            rows_unless(contracts.is_empty(), reader, trawl_query::labels::abi_entries(&contracts, &selectors)),
        )?;
        self.labelled.extend(addresses);
        self.read.extend(pairs);
        let mut by_address: HashMap<Address, Labels> = HashMap::new();
        for label in labels {
            apply_label(by_address.entry(label.address).or_default(), label);
        }
        self.labels.extend(by_address.into_iter().map(|(address, labels)| (address, Arc::new(labels))));
        let mut by_pair: HashMap<Pair, Vec<KnownEntry>> = HashMap::new();
        for entry in entries {
            by_pair.entry((entry.address, entry.selector)).or_default().push(entry);
        }
        self.rows.extend(by_pair);
        Ok(())
    }

    /// The labels of all addresses and of their implementations, and the vocabulary of the query. `pointers` are proxy
    /// records by proxy, `beacons` those by beacon.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn with_pointers(
        mut self,
        reader: &Reader,
        settled: &Coverage,
        pointers: HashMap<Address, Vec<ProxyRow>>,
        beacons: HashMap<Address, Vec<ProxyRow>>,
    ) -> Result<(HashMap<Address, Arc<Labels>>, Vocabulary), StoreError> {
        if self.loads == 0 {
            return Ok((HashMap::new(), Vocabulary::default()));
        }
        let named = |rows: Option<&Vec<ProxyRow>>| -> BTreeSet<Address> {
            let rows = rows.into_iter().flatten().map(|row| row.implementation);
            rows.filter(|implementation| !implementation.is_zero()).collect()
        };
        // Implementations that a beacon or a hot block names were not read with the proxy.
        let read_with = |contract: &Address| -> BTreeSet<Address> {
            let is_record = |row: &&ProxyRow| settled.contains(row.block_number) && !row.kind.starts_with(BY_STATE);
            let rows = pointers.get(contract).into_iter().flatten().filter(is_record);
            rows.map(|row| row.implementation).filter(|implementation| !implementation.is_zero()).collect()
        };
        let read_too: Vec<Address> = self.labelled.iter().flat_map(read_with).collect();
        self.labelled.extend(read_too);
        let direct = |(contract, selector): &Pair| {
            let selector = *selector;
            read_with(contract).into_iter().map(move |implementation| (implementation, selector))
        };
        let read_too: Vec<_> = self.read.iter().flat_map(direct).collect();
        self.read.extend(read_too);
        let implementations = |contract: &Address| -> BTreeSet<Address> {
            let direct = named(pointers.get(contract));
            let by_beacon: Vec<Address> = direct.iter().flat_map(|beacon| named(beacons.get(beacon))).collect();
            direct.into_iter().chain(by_beacon).collect()
        };
        let of_pair = |(contract, selector): &Pair| {
            let selector = *selector;
            implementations(contract).into_iter().map(move |implementation| (implementation, selector))
        };
        let addresses: BTreeSet<Address> =
            self.shown.iter().copied().chain(self.shown.iter().flat_map(implementations)).collect();
        let query_pairs: BTreeSet<_> = self.label_query.pairs().collect();
        let pairs: BTreeSet<_> = query_pairs.iter().copied().chain(query_pairs.iter().flat_map(of_pair)).collect();
        let unlabelled = self.unlabelled(addresses.iter().copied());
        let unread = self.unread(pairs.clone());
        if !unlabelled.is_empty() || !unread.is_empty() {
            self.read(reader, unlabelled, unread).await?;
        }
        let labels = addresses.into_iter().map(|address| (address, self.labels_of(address))).collect();
        let vocabulary = self.vocabulary(pairs);
        Ok((labels, Vocabulary { pointers, beacons, ..vocabulary }))
    }

    fn labels_of(&mut self, address: Address) -> Arc<Labels> {
        let labels = Arc::clone(self.labels.entry(address).or_default());
        if self.labelled.contains(&address) {
            self.cache.labels.insert(self.loads, address, size(&labels), Arc::clone(&labels));
        }
        labels
    }

    fn vocabulary(mut self, pairs: BTreeSet<Pair>) -> Vocabulary {
        for (contract, selector) in pairs {
            // Without an ABI there are no entries.
            let Some(generation) = self.labels.get(&contract).and_then(|labels| labels.abi) else { continue };
            let entries = self.entries_of((contract, selector), generation);
            if !entries.is_empty() {
                self.vocabulary.entries.insert((contract, selector), entries);
            }
        }
        self.vocabulary
    }

    fn entries_of(&self, pair: Pair, generation: u64) -> Arc<[Entry]> {
        if let Some(entries) = self.entries.get(&pair) {
            return Arc::clone(entries);
        }
        let rows = self.rows.get(&pair).map_or(&[][..], Vec::as_slice);
        let of_abi = || rows.iter().filter(|row| row.generation == generation);
        let entries: Arc<[Entry]> = of_abi().filter_map(parsed).collect();
        let size = of_abi().map(|row| row.entry.len() * PARSED_BYTES_PER_BYTE).sum();
        self.cache.entries.insert(self.loads, pair, size, Arc::clone(&entries));
        entries
    }
}
