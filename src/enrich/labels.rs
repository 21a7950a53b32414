//! What operators loaded: labels, ABIs and dictionaries, remembered by the number of loads there were.
//!
//! A load adds and never changes, so what is true of so many loads stays true; the next load begins with nothing
//! remembered. What was read may be newer than its number by a moment, and never older.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use alloy_primitives::Selector;
use moka::sync::Cache;

use trawl_core::primitives::abi::KnownEvent;
use trawl_core::primitives::{Address, B256, Coverage};
use trawl_core::schema::{Columns, ProxyRow};
use trawl_core::statement::Statement;
use trawl_core::store::{Reader, StoreError};
use trawl_json::address::{Labels, Tag};
use trawl_json::vocabulary::{Entry, Vocabulary, selector};
use trawl_query::labels::{KnownEntry, KnownLabel};

/// What a page needs words for, and more than words.
#[derive(Debug, Clone, Default)]
pub(crate) struct LabelQuery {
    /// Tokens whose holders and supply are shown.
    pub tokens: BTreeSet<Address>,
    events: BTreeSet<(Address, B256)>,
    calls: BTreeSet<Pair>,
}

impl LabelQuery {
    /// A log of `emitter` whose first topic is `hash`.
    pub fn event(&mut self, emitter: Address, hash: B256) {
        self.events.insert((emitter, hash));
    }

    /// A call of `contract` with such an input; a creation calls nothing.
    pub fn call(&mut self, contract: Option<Address>, input: &[u8]) {
        if let (Some(contract), Some(selector)) = (contract, input.get(..4)) {
            self.calls.insert((contract, Selector::from_slice(selector)));
        }
    }

    /// The contracts whose ABI is looked at.
    pub fn contracts(&self) -> BTreeSet<Address> {
        self.pairs().map(|(contract, _)| contract).collect()
    }

    fn pairs(&self) -> impl Iterator<Item = (Address, Selector)> + '_ {
        self.events.iter().map(|(emitter, hash)| (*emitter, selector(hash))).chain(self.calls.iter().copied())
    }
}

/// Bytes that labels, entries of ABIs and dictionaries may take, each.
const LIMIT: u64 = 24 << 20;
/// Bytes that anything remembered takes beside its text.
const OVERHEAD: usize = 160;
/// A parsed entry against its text.
const PARSED: usize = 4;

/// What is remembered of keys, each under the number of loads, with about how many bytes it takes.
type Remembered<K, V> = Cache<(u64, K), (u32, V)>;
/// An entry by its contract.
type Pair = (Address, Selector);

/// What is remembered, bounded by 4 × 24 MiB in all.
pub(crate) struct LabelCache {
    labels: Remembered<Address, Arc<Labels>>,
    entries: Remembered<Pair, Arc<[Entry]>>,
    events: Remembered<B256, Arc<[KnownEvent]>>,
    functions: Remembered<Selector, Arc<[String]>>,
}

fn remembered<K, V>() -> Remembered<K, V>
where
    K: std::hash::Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    Cache::builder().max_capacity(LIMIT).weigher(|_, (weight, _): &(u32, V)| *weight).build()
}

fn weight(text: usize) -> u32 {
    u32::try_from(OVERHEAD + text).unwrap_or(u32::MAX)
}

impl LabelCache {
    pub fn new() -> Self {
        Self { labels: remembered(), entries: remembered(), events: remembered(), functions: remembered() }
    }

    /// Looks up what is not remembered: of all `shown` what is said of them, and the words for what is `wanted`.
    /// Nothing is read while nothing was ever loaded.
    pub async fn lookup<'c>(
        &'c self,
        reader: &Reader,
        loads: u64,
        shown: &[Address],
        wanted: LabelQuery,
    ) -> Result<Lookup<'c>, StoreError> {
        let mut lookup = Lookup::new(self, loads, shown.to_vec(), wanted);
        if loads == 0 {
            return Ok(lookup);
        }
        let mut words = Vocabulary::default();
        let hashes = self.unknown_events(loads, &lookup.wanted, &mut words);
        let selectors = self.unknown_functions(loads, &lookup.wanted, &mut words);
        let unlabelled = lookup.unlabelled(shown.iter().copied());
        let unread = lookup.unread(lookup.wanted.pairs().collect());
        let (events, functions, ()) = tokio::try_join!(
            unless(hashes.is_empty(), reader, trawl_query::labels::events(&hashes)),
            unless(selectors.is_empty(), reader, trawl_query::labels::functions(&selectors)),
            lookup.read(reader, unlabelled, unread),
        )?;
        for hash in hashes {
            let texts = events.iter().filter(|event| event.hash == hash).map(|event| event.signature.as_str());
            let known: Arc<[KnownEvent]> = texts.filter_map(|text| KnownEvent::parse(text).ok()).collect();
            let size = known.iter().map(|known| known.text().len() * PARSED).sum();
            self.events.insert((loads, hash), (weight(size), Arc::clone(&known)));
            words.events.insert(hash, known);
        }
        for selector in selectors {
            let rows = functions.iter().filter(|function| function.selector == selector);
            let names: BTreeSet<&str> = rows.filter_map(|function| function.signature.split('(').next()).collect();
            let size = names.iter().map(|name| name.len() + 24).sum();
            let names: Arc<[String]> = names.into_iter().map(Into::into).collect();
            self.functions.insert((loads, selector), (weight(size), Arc::clone(&names)));
            words.functions.insert(selector, names);
        }
        lookup.words = words;
        Ok(lookup)
    }

    /// The hashes that are not remembered; what is goes into `words`.
    fn unknown_events(&self, loads: u64, wanted: &LabelQuery, words: &mut Vocabulary) -> Vec<B256> {
        let hashes: BTreeSet<B256> = wanted.events.iter().map(|(_, hash)| *hash).collect();
        let is_unknown = |hash: &B256| match self.events.get(&(loads, *hash)) {
            Some((_, known)) => words.events.insert(*hash, known).is_some(),
            None => true,
        };
        hashes.into_iter().filter(is_unknown).collect()
    }

    /// The selectors that are not remembered; what is goes into `words`.
    fn unknown_functions(&self, loads: u64, wanted: &LabelQuery, words: &mut Vocabulary) -> Vec<Selector> {
        let selectors: BTreeSet<Selector> = wanted.calls.iter().map(|(_, selector)| *selector).collect();
        let is_unknown = |selector: &Selector| match self.functions.get(&(loads, *selector)) {
            Some((_, names)) => words.functions.insert(*selector, names).is_some(),
            None => true,
        };
        selectors.into_iter().filter(is_unknown).collect()
    }
}

/// The rows of a statement, unless there is nothing to ask.
async fn unless<R: Columns>(is_idle: bool, reader: &Reader, statement: Statement<R>) -> Result<Vec<R>, StoreError> {
    if is_idle { Ok(Vec::new()) } else { reader.rows(&statement).await }
}

/// A look-up for one page, half done: who runs the calls of whom is yet to be said.
pub(crate) struct Lookup<'c> {
    catalogue: &'c LabelCache,
    loads: u64,
    shown: Vec<Address>,
    wanted: LabelQuery,
    /// What was remembered or read.
    labels: HashMap<Address, Arc<Labels>>,
    /// Entries that were remembered.
    entries: HashMap<Pair, Arc<[Entry]>>,
    /// Entries that were read, of which only those of an ABI that counts are used.
    rows: HashMap<Pair, Vec<KnownEntry>>,
    /// Of whom labels were read, and with them those of whom their calls were ever forwarded to.
    labelled: HashSet<Address>,
    /// Of which entries were read, with the same.
    read: HashSet<Pair>,
    words: Vocabulary,
}

impl<'c> Lookup<'c> {
    fn new(catalogue: &'c LabelCache, loads: u64, shown: Vec<Address>, wanted: LabelQuery) -> Self {
        Self {
            catalogue,
            loads,
            shown,
            wanted,
            labels: HashMap::new(),
            entries: HashMap::new(),
            rows: HashMap::new(),
            labelled: HashSet::new(),
            read: HashSet::new(),
            words: Vocabulary::default(),
        }
    }

    /// Those whose labels must be read. What is remembered is kept here at once, as it may be forgotten at any moment.
    fn unlabelled(&mut self, addresses: impl Iterator<Item = Address>) -> Vec<Address> {
        let mut unlabelled = Vec::new();
        for address in addresses.filter(|address| !self.labelled.contains(address)) {
            match self.catalogue.labels.get(&(self.loads, address)) {
                Some((_, labels)) => drop(self.labels.insert(address, labels)),
                None => unlabelled.push(address),
            }
        }
        unlabelled
    }

    /// Those whose entries must be read. A contract that is known to have no ABI has none.
    fn unread(&mut self, pairs: BTreeSet<Pair>) -> BTreeSet<Pair> {
        let mut unread = BTreeSet::new();
        for (contract, selector) in pairs.into_iter().filter(|pair| !self.read.contains(pair)) {
            if self.labels.get(&contract).is_some_and(|labels| labels.abi.is_none()) {
                continue;
            }
            match self.catalogue.entries.get(&(self.loads, (contract, selector))) {
                Some((_, entries)) => drop(self.entries.insert((contract, selector), entries)),
                None => drop(unread.insert((contract, selector))),
            }
        }
        unread
    }

    /// Reads labels of some addresses and entries of some ABIs, and of those settled blocks ever forwarded their calls to.
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
            unless(addresses.is_empty(), reader, trawl_query::labels::of_addresses(&addresses)),
            unless(contracts.is_empty(), reader, trawl_query::labels::abi_entries(&contracts, &selectors)),
        )?;
        self.labelled.extend(addresses);
        self.read.extend(pairs);
        let mut by_address: HashMap<Address, Labels> = HashMap::new();
        for label in labels {
            said(by_address.entry(label.address).or_default(), label);
        }
        self.labels.extend(by_address.into_iter().map(|(address, labels)| (address, Arc::new(labels))));
        let mut by_pair: HashMap<Pair, Vec<KnownEntry>> = HashMap::new();
        for entry in entries {
            by_pair.entry((entry.address, entry.selector)).or_default().push(entry);
        }
        self.rows.extend(by_pair);
        Ok(())
    }

    /// What is known of all addresses and those they forward their calls to, and the words for what is wanted.
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
        // What a beacon or a hot block names was not read with the proxy.
        let read_with = |contract: &Address| -> BTreeSet<Address> {
            let rows = pointers.get(contract).into_iter().flatten().filter(|row| settled.contains(row.block_number));
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
        let behind = |contract: &Address| -> BTreeSet<Address> {
            let direct = named(pointers.get(contract));
            let by_beacon: Vec<Address> = direct.iter().flat_map(|beacon| named(beacons.get(beacon))).collect();
            direct.into_iter().chain(by_beacon).collect()
        };
        let of_pair = |(contract, selector): &Pair| {
            let selector = *selector;
            behind(contract).into_iter().map(move |implementation| (implementation, selector))
        };
        let addresses: BTreeSet<Address> =
            self.shown.iter().copied().chain(self.shown.iter().flat_map(behind)).collect();
        let wanted: BTreeSet<_> = self.wanted.pairs().collect();
        let pairs: BTreeSet<_> = wanted.iter().copied().chain(wanted.iter().flat_map(of_pair)).collect();
        let unlabelled = self.unlabelled(addresses.iter().copied());
        let unread = self.unread(pairs.clone());
        if !unlabelled.is_empty() || !unread.is_empty() {
            self.read(reader, unlabelled, unread).await?;
        }
        let labels = addresses.into_iter().map(|address| (address, self.labels_of(address))).collect();
        let words = self.vocabulary(pairs);
        Ok((labels, Vocabulary { pointers, beacons, ..words }))
    }

    fn labels_of(&mut self, address: Address) -> Arc<Labels> {
        let labels = Arc::clone(self.labels.entry(address).or_default());
        if self.labelled.contains(&address) {
            let remembered = (weight(size(&labels)), Arc::clone(&labels));
            self.catalogue.labels.insert((self.loads, address), remembered);
        }
        labels
    }

    fn vocabulary(mut self, pairs: BTreeSet<Pair>) -> Vocabulary {
        for (contract, selector) in pairs {
            // Without an ABI that counts there are no entries that do.
            let Some(generation) = self.labels.get(&contract).and_then(|labels| labels.abi) else { continue };
            let entries = self.entries_of((contract, selector), generation);
            if !entries.is_empty() {
                self.words.entries.insert((contract, selector), entries);
            }
        }
        self.words
    }

    fn entries_of(&self, pair: Pair, generation: u64) -> Arc<[Entry]> {
        if let Some(entries) = self.entries.get(&pair) {
            return Arc::clone(entries);
        }
        let rows = self.rows.get(&pair).map_or(&[][..], Vec::as_slice);
        let counting = || rows.iter().filter(|row| row.generation == generation);
        let entries: Arc<[Entry]> = counting().filter_map(parsed).collect();
        let size = counting().map(|row| row.entry.len() * PARSED).sum();
        self.catalogue.entries.insert((self.loads, pair), (weight(size), Arc::clone(&entries)));
        entries
    }
}

/// An entry as it was stored; one that cannot be used is none.
fn parsed(row: &KnownEntry) -> Option<Entry> {
    match row.entry_type.as_str() {
        "event" => Some(Entry::Event(Box::new(KnownEvent::from_json(&row.entry).ok()?))),
        _ => Some(Entry::Function(row.signature.split('(').next()?.into())),
    }
}

/// Notes what a row says.
fn said(labels: &mut Labels, label: KnownLabel) {
    match label.label_type.as_str() {
        "name" => labels.name = Some(label.value),
        "ens_domain_name" => labels.ens_domain_name = Some(label.value),
        "contract_name" => labels.contract_name = Some(label.value),
        "abi" => labels.abi = Some(label.generation),
        "public_tag" => labels.tags.push(Tag {
            slug: label.slug,
            name: label.value,
            tag_type: label.tag_type,
            ordinal: label.ordinal,
            meta: label.meta,
        }),
        // Of a later release.
        _ => {}
    }
}

fn size(labels: &Labels) -> usize {
    let texts = [&labels.name, &labels.ens_domain_name, &labels.contract_name];
    let tags = labels.tags.iter().map(|tag| tag.slug.len() + tag.name.len() + tag.meta.len() + OVERHEAD);
    texts.into_iter().flatten().map(String::len).chain(tags).sum()
}
